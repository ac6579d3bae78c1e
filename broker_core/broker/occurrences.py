"""Events, and the state right after them, as filters ask for both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from broker_core.events import MESSAGE_KINDS, Event, EventKind, describe
from broker_core.filters import Field, Fields, Filter
from broker_core.filters.field import folded

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker


class Occurrence(NamedTuple):
    """An event, and the group or queue whose state is asked for: a publish concerns everybody who reads."""

    event: Event
    reader: str
    broker: Broker


def _lag(at: Occurrence) -> int | None:
    """Of the group, in all partitions of the event's topic; of the queue, what is not finished."""
    broker, topic = at.broker, at.event.topic
    if at.reader in broker.queues.names():
        return _depth(at)
    if not at.reader or topic not in broker.topics.names():
        return None
    found = None
    for partition in range(broker.logs.partition_count(topic)):
        start = broker.groups.committed(at.reader, topic, partition)
        if start is None:
            start = broker.fetches.start(at.reader, topic, partition)
        if start is not None:
            log = broker.logs.partition(topic, partition)
            found = (found or 0) + log.messages_between(min(start, log.end_offset), log.end_offset)
    return found


def _queue(at: Occurrence) -> Any:
    broker = at.broker
    for name in (at.reader, at.event.group, at.event.topic):
        if name in broker.queues.names():
            return broker.queues.queue(name)
    return None


def _depth(at: Occurrence) -> int | None:
    queue = _queue(at)
    if queue is not None:
        return int(queue.ready + queue.delayed + queue.in_flight)
    broker, topic = at.broker, at.event.topic
    if topic not in broker.topics.names():
        return None
    return max(
        (_lag(Occurrence(at.event, group, at.broker)) or 0 for group in broker.groups.readers(topic)),
        default=0,
    )


def _of_queue(name: str) -> Callable[[Occurrence], int | None]:
    def get(at: Occurrence) -> int | None:
        queue = _queue(at)
        return None if queue is None else int(getattr(queue, name))

    return get


def _dead(at: Occurrence) -> int | None:
    queue = _queue(at)
    return None if queue is None else int(queue.dead_letters.count(queue.name))


COLUMNS: tuple[tuple[Field, Callable[[Occurrence], Any]], ...] = (
    (
        Field("kind", "text", "The kind of event: published, nacked, rebalance_started, fault..."),
        lambda at: at.event.kind,
    ),
    (Field("topic"), lambda at: at.event.topic),
    (Field("partition", "number"), lambda at: at.event.partition),
    (Field("offset", "number"), lambda at: at.event.offset),
    (Field("key"), lambda at: at.event.key),
    (Field("group", "text", "The group or queue; of what is published, each that reads it."), lambda at: at.reader),
    (Field("client"), lambda at: at.event.client),
    (Field("cause"), lambda at: at.event.cause),
    (Field("attempt", "number"), lambda at: at.event.attempt),
    (Field("generation", "number"), lambda at: at.event.generation),
    (Field("count", "number", "Messages in the event."), lambda at: at.event.count),
    (Field("size", "size"), lambda at: at.event.size_bytes),
    (Field("time", "time", "Session time."), lambda at: at.event.time_ns),
    (Field("lag", "number", "Messages of the topic that the group has not committed."), _lag),
    (Field("depth", "number", "Unfinished messages of the queue, or of the slowest reader of the topic."), _depth),
    (Field("ready", "number", "Messages ready for delivery."), _of_queue("ready")),
    (Field("in_flight", "number", "Messages of the queue under a lease."), _of_queue("in_flight")),
    (Field("dead", "number", "Dead letters of the queue."), _dead),
    (Field("dlq", "flag", "A message was dead-lettered."), lambda at: at.event.kind is EventKind.DEAD_LETTERED),
    (Field("redriven", "flag", "A message was redriven."), lambda at: at.event.kind is EventKind.REDRIVEN),
    (Field("mine", "flag", "One of my own actions."), lambda at: at.event.kind is EventKind.USER_ACTION),
    (Field("control", "flag", "Not about messages."), lambda at: at.event.kind not in MESSAGE_KINDS),
)
FIELDS = Fields(field for field, _ in COLUMNS)


def tester(condition: Filter) -> Callable[[Occurrence], bool]:
    """What says whether an occurrence fits `condition`."""
    getters = {folded(field.name): get for field, get in COLUMNS}
    return condition.tester(getters, lambda at: describe(at.event).casefold())


def occurrences(event: Event, broker: Broker) -> Iterator[Occurrence]:
    """`event`, for everybody whom it concerns."""
    yield Occurrence(event, event.group, broker)
    if event.kind is EventKind.PUBLISHED:
        for group in broker.groups.readers(event.topic):
            yield Occurrence(event, group, broker)
        if event.topic in broker.queues.names():
            yield Occurrence(event, event.topic, broker)
