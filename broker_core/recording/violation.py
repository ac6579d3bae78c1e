from __future__ import annotations

from collections.abc import Iterable, Sequence

from broker_core.events import Event, EventKind, describe

MAX_HISTORY = 40
_OWNERSHIP = frozenset(
    {
        EventKind.PARTITIONS_ASSIGNED,
        EventKind.PARTITIONS_REVOKED,
        EventKind.MEMBER_LEFT,
        EventKind.REBALANCE_STARTED,
        EventKind.REBALANCE_COMPLETED,
    }
)


class Violation(Exception):
    """A promise that a run broke, with the events that show it. `is_loss`: a reader passed a message over."""

    def __init__(self, promise: str, history: Iterable[Event], *, is_loss: bool = False) -> None:
        self.promise = promise
        self.is_loss = is_loss
        self.history = tuple(history)
        told = "\n".join(f"  {describe(event)}" for event in self.history)
        super().__init__(f"{promise}\n{told}" if told else promise)


def bearing_on(last: Event, events: Iterable[Event], topic: str, offset: int | None) -> list[Event]:
    """The latest of the `events` that bear on `last`: those of its message, or of its partition if it has none, and of
    the owners in its group. What another group does with the message does not.
    """
    offset = last.offset if offset is None else offset

    def bears(event: Event) -> bool:
        is_of_message = event.topic == topic and _covers(event, last.partition, offset)
        is_of_no_other_group = not last.group or event.group in {"", last.group}
        becomes_message = offset is not None and (event.to_topic, event.to_offset) == (topic, offset)
        moves_partitions = last.group != "" and event.group == last.group and event.kind in _OWNERSHIP
        return (is_of_message and is_of_no_other_group) or becomes_message or moves_partitions

    told = list(filter(bears, events))
    return told[-MAX_HISTORY:] if last in told else [*told[-MAX_HISTORY + 1 :], last]


def life_of(events: Iterable[Event], topic: str, partition: int, offset: int) -> list[Event]:
    return [
        event
        for event in events
        if (event.topic == topic and event.kind is not EventKind.READING_BEGAN and _covers(event, partition, offset))
        or (event.to_topic, event.to_partition, event.to_offset) == (topic, partition, offset)
    ]


def ownership(events: Sequence[Event], group: str, topic: str, partition: int) -> list[Event]:
    """How one partition was given and taken in `group`, since it was given to the one before the last."""
    place = (group, topic, partition)
    told = [
        event
        for event in events
        if event.group == group
        and event.kind in _OWNERSHIP
        and (place in event.partitions or "partitions" not in event.told)
    ]
    given = [at for at, event in enumerate(told) if event.kind is EventKind.PARTITIONS_ASSIGNED]
    return told[max(given[-2:][0], len(told) - MAX_HISTORY) :]


def _covers(event: Event, partition: int | None, offset: int | None) -> bool:
    if partition is not None and event.partition != partition:
        return False
    if offset is None or event.offset is None:
        return offset is None
    return event.offset <= offset < event.offset + max(1, event.count)
