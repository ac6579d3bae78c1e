from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from broker_core.events import Event, EventKind
from broker_core.recording.markers import markers_of
from broker_core.snapshots import GateView, PartitionView, TopicView, TransactionView

#: Start, end and markers of a partition.
Bounds = tuple[int, int, int]
#: (messages, reader) of the slowest reader of a topic with so many partitions.
Deepest = Callable[[str, Sequence[Bounds]], tuple[int, str]]


class FoldedGates:
    """All gates, by the topic or queue that they guard."""

    def __init__(self, gates: Iterable[GateView | None], time_ns: int) -> None:
        # Their time is that of producers that were unblocked; that of blocked ones still runs.
        self._gates = {view.target: _blocked_for(view, -1, time_ns) for view in gates if view is not None}
        kinds = (EventKind.PRODUCER_BLOCKED, EventKind.PRODUCER_UNBLOCKED, EventKind.REJECTED, EventKind.DROPPED)
        self.handlers: dict[EventKind, Callable[[Event], object]] = dict.fromkeys(kinds, self._add)

    def _add(self, event: Event) -> None:
        # The gate of the subscription that had no room, if that is why; else of the topic or queue.
        gate = self._gates.get(event.group or event.topic)
        if gate is None:
            return
        blocked, blocked_ns, dropped, rejected = dict(gate.blocked), gate.blocked_ns_total, gate.dropped, gate.rejected
        match event.kind:
            case EventKind.PRODUCER_BLOCKED:
                blocked[event.client] = event.time_ns
            case EventKind.PRODUCER_UNBLOCKED:
                blocked_ns += event.time_ns - blocked.pop(event.client, event.time_ns)
            case EventKind.DROPPED:
                dropped += event.count
            case _ if not event.cause.startswith("schema "):  # what a schema refuses never reaches the gate
                rejected += event.count
        told = {"blocked_ns_total": blocked_ns, "dropped": dropped, "rejected": rejected}
        self._gates[gate.target] = msgspec.structs.replace(gate, blocked=tuple(blocked.items()), **told)

    def view(self, target: str, time_ns: int, depth: int, slowest: str) -> GateView | None:
        gate = self._gates.get(target)
        if gate is None:
            return None
        return msgspec.structs.replace(_blocked_for(gate, 1, time_ns), depth=depth, slowest=slowest)


def _blocked_for(gate: GateView, sign: int, time_ns: int) -> GateView:
    """With, or without, the time of those that are blocked now."""
    running_ns = sum(time_ns - since_ns for _, since_ns in gate.blocked)
    return msgspec.structs.replace(gate, blocked_ns_total=gate.blocked_ns_total + sign * running_ns)


class _Topic:
    __slots__ = ("partitions", "published", "published_bytes", "shown", "view")

    def __init__(self, view: TopicView) -> None:
        self.view = view
        self.shown: TopicView | None = None  # as it is now; None if it is to be made
        self.partitions = list(view.partitions)
        self.published = view.published
        self.published_bytes = view.published_bytes

    def change(self, partition: int, **fields: object) -> None:
        self.partitions[partition] = msgspec.structs.replace(self.partitions[partition], **fields)


class FoldedTopics:
    """The topics that are listed. Of the logs of queues and dead-letter queues only counts are known."""

    def __init__(
        self, topics: tuple[TopicView, ...], gates: FoldedGates, transactions: tuple[TransactionView, ...] = ()
    ) -> None:
        self.by_name = {view.name: _Topic(view) for view in topics}
        self._gates = gates
        self._open = {each.client: each.producer_id for each in transactions}
        self.handlers: dict[EventKind, Callable[[Event], object]] = {
            EventKind.PUBLISHED: self._published,
            EventKind.TOPIC_CREATED: self._created,
            EventKind.PARTITIONS_ADDED: self._created,
            EventKind.USER_ACTION: self._compacts,
            EventKind.RECORDS_DELETED: self._deleted,
            EventKind.DEAD_LETTERED: self._buried,
            EventKind.TRANSACTION_STARTED: self._begun,
            EventKind.TRANSACTION_ENDED: self._marked,
            EventKind.LEADERS_MOVED: self._placed,
            EventKind.IN_SYNC_SHRUNK: self._placed,
            EventKind.IN_SYNC_GROWN: self._placed,
            EventKind.PARTITIONS_PLACED: self._placed,
        }

    def _changes(self, name: str) -> _Topic | None:
        topic = self.by_name.get(name)
        if topic is not None:
            topic.shown = None
        return topic

    def _published(self, event: Event) -> None:
        topic = self._changes(event.topic)
        if topic is not None and event.partition is not None and event.offset is not None:
            topic.published += event.count
            topic.published_bytes += event.size_bytes
            if event.partition < len(topic.partitions):
                topic.change(event.partition, end_offset=event.offset + event.count)
                if self._open and (producer_id := self._open.get(event.client)) is not None:
                    begun = topic.partitions[event.partition].transactions
                    if producer_id not in dict(begun):
                        topic.change(event.partition, transactions=(*begun, (producer_id, event.offset)))

    def _created(self, event: Event) -> None:
        topic = self._changes(event.topic)
        if topic is None:
            topic = self.by_name[event.topic] = _Topic(TopicView(event.topic, (), 0, 0, None))
        self._compacts(event)
        for number in range(len(topic.partitions), event.count):
            topic.partitions.append(PartitionView(number, 0, 0, 0))

    def _compacts(self, event: Event) -> None:
        if event.compacts and (topic := self._changes(event.topic)) is not None:
            topic.view = msgspec.structs.replace(topic.view, compacted=True)

    def _deleted(self, event: Event) -> None:
        topic = self._changes(event.topic)
        if topic is not None and event.partition is not None and event.offset is not None:
            left = topic.partitions[event.partition].markers - event.told.get("markers", 0)
            topic.change(event.partition, start_offset=event.offset + event.count, markers=left)

    def _begun(self, event: Event) -> None:
        self._open[event.client] = int(event.told.get("producer_id", -1))

    def _marked(self, event: Event) -> None:
        self._open.pop(event.client, None)
        producer_id = int(event.told.get("producer_id", -1))
        for (name, partition), offset in markers_of(event):
            topic = self._changes(name)
            if topic is not None and partition < len(topic.partitions):
                part = topic.partitions[partition]
                left = tuple(each for each in part.transactions if each[0] != producer_id)
                end = max(part.end_offset, offset + 1)
                topic.change(partition, transactions=left, end_offset=end, markers=part.markers + 1)

    def _placed(self, event: Event) -> None:
        for name, partition, *row in event.told.get("changes", ()):
            topic = self._changes(name)
            if topic is None or partition >= len(topic.partitions):
                continue
            if event.kind is EventKind.LEADERS_MOVED:
                topic.change(partition, leader=row[1])
            else:
                topic.change(partition, in_sync=tuple(row[-1]))
            if event.kind is EventKind.PARTITIONS_PLACED:
                topic.change(partition, leader=row[0], replicas=tuple(row[1]))
        for name, least in event.told.get("min_in_sync", {}).items():
            if (found := self._changes(name)) is not None:
                found.view = msgspec.structs.replace(found.view, min_in_sync=least)

    def _buried(self, event: Event) -> None:
        """The dead-letter queue of a topic with a schema is listed as a topic."""
        topic = self._changes(event.to_topic)
        if topic is not None and event.to_partition is not None and event.to_offset is not None:
            topic.change(event.to_partition, end_offset=event.to_offset + 1)

    def partition_count(self, topic: str) -> int:
        found = self.by_name.get(topic)
        return 0 if found is None else len(found.partitions)

    def shown(self, topic: str) -> TopicView | None:
        """The view of `topic` that was shown last; None or another object once it has changed."""
        found = self.by_name.get(topic)
        return None if found is None else found.shown

    def part(self, topic: str, partition: int) -> PartitionView:
        """The current view of a partition; an empty one if it is not listed."""
        found = self.by_name.get(topic)
        if found is None or partition >= len(found.partitions):
            return PartitionView(partition, 0, 0, 0)
        return found.partitions[partition]

    def views(self, time_ns: int, deepest: Deepest) -> tuple[TopicView, ...]:
        return tuple(self._view(name, topic, time_ns, deepest) for name, topic in self.by_name.items())

    def _view(self, name: str, topic: _Topic, time_ns: int, deepest: Deepest) -> TopicView:
        gate = None
        if topic.view.gate is not None:
            bounds = [(part.start_offset, part.end_offset, part.markers) for part in topic.partitions]
            gate = self._gates.view(name, time_ns, *deepest(name, bounds))
        if topic.shown is None or gate is not None:
            topic.shown = msgspec.structs.replace(
                topic.view,
                partitions=tuple(topic.partitions),
                published=topic.published,
                published_bytes=topic.published_bytes,
                gate=gate,
            )
        return topic.shown
