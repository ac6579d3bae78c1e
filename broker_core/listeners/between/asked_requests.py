"""What has to be known of a request that is passed on, or that a fault answers instead of the cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple
from uuid import UUID

from broker_core.messages import TopicPartition

_NO_TOPIC_ID: Final = UUID(int=0)
CLIENT_ID_AT: Final = 14


class TopicNames:
    """Names of topics by their ids. Filled in the observer's thread, read in all."""

    def __init__(self) -> None:
        self.by_id: dict[UUID, str] = {}
        self.ids: dict[str, UUID] = {}

    def know(self, name: str, topic_id: UUID | None) -> None:
        if topic_id is not None and topic_id.int:
            self.by_id[topic_id], self.ids[name] = name, topic_id

    def of(self, row: Any) -> str | None:
        name: str | None = getattr(row, "topic", None) or getattr(row, "name", None)
        return name or self.by_id.get(getattr(row, "topic_id", _NO_TOPIC_ID))


class AskedRequest(NamedTuple):
    """See `refused.Refusable`."""

    client: str
    version: int
    this_node: Mapping[str, Any]
    names: TopicNames
    fetched: Callable[[], Iterable[TopicPartition]]

    def in_session(self, request: Any) -> Iterable[TopicPartition]:
        return self.fetched() if request.session_epoch > 0 else ()

    def name_of(self, row: Any) -> str | None:
        return self.names.of(row)

    def topic_id(self, name: str) -> UUID:
        return self.names.ids.get(name, _NO_TOPIC_ID)

    def topic_names(self) -> Iterable[str]:
        return tuple(self.names.ids)


def acks(frame: bytes, version: int) -> int:
    """The `acks` of a Produce request; with 0 there is no response."""
    at = CLIENT_ID_AT + max(0, int.from_bytes(frame[12:14], "big", signed=True))
    if version >= 9:
        at += 1  # clients send no tags in the header
        size = frame[at] - 1  # a transactional id of more than 126 bytes is longer by one, and not without acks
        at += 1 + max(0, size)
    elif version >= 3:
        at += 2 + max(0, int.from_bytes(frame[at : at + 2], "big", signed=True))
    return int.from_bytes(frame[at : at + 2], "big", signed=True)
