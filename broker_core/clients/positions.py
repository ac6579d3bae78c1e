"""The starting offsets of a consumer, and checks of offsets given by the application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from broker_core.broker.broker import Broker
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.protocol import TopicPartition

Reset = Literal["earliest", "latest", "none"]


def starting_offset(broker: Broker, group: str, place: TopicPartition, reset: Reset) -> int:
    """The committed offset of the group, otherwise as `reset` says. Raises OFFSET_OUT_OF_RANGE where that is `none`."""
    if reset == "none":
        if broker.groups.committed(group, *place) is None:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{group} has committed nothing for {place[0]}/{place[1]}")
        reset = "earliest"
    return broker.offsets.starting(group, *place, reset)


def reset_strays(broker: Broker, positions: dict[TopicPartition, int], reset: Reset) -> bool:
    """Reset positions beyond the end of a truncated log, in place. False where there was nothing to reset."""
    strays = [place for place, at in positions.items() if at > broker.logs.end_offset(*place)]
    if reset == "none" or not strays:
        return False
    for place in strays:
        bound = broker.logs.start_offset if reset == "earliest" else broker.logs.end_offset
        positions[place] = bound(*place)
    return True


def check_offsets(offsets: Mapping[Any, Any]) -> None:
    """Raises INVALID_REQUEST unless `offsets` maps (topic, partition) to whole numbers."""
    for place, offset in offsets.items():
        if not isinstance(place, tuple) or len(place) != 2:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{place!r} is not (topic, partition)")
        if not isinstance(offset, int):
            about = f"the offset {offset!r} of {place[0]}/{place[1]} is not a whole number"
            raise BrokerError(ErrorCode.INVALID_REQUEST, about)
