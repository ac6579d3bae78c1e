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


class _Gate:
    __slots__ = ("blocked", "blocked_ns", "dropped", "rejected", "view")

    def __init__(self, view: GateView, time_ns: int) -> None:
        self.view = view
        self.rejected, self.dropped = view.rejected, view.dropped
        self.blocked = dict(view.blocked)
        # Of producers that were unblocked; the time of blocked ones still runs.
        self.blocked_ns = view.blocked_ns_total - sum(time_ns - since_ns for since_ns in self.blocked.values())


class FoldedGates:
    """All gates, by the topic or queue that they guard."""

    def __init__(self, gates: Iterable[GateView | None], time_ns: int) -> None:
        self._gates = {view.target: _Gate(view, time_ns) for view in gates if view is not None}
        kinds = (EventKind.PRODUCER_BLOCKED, EventKind.PRODUCER_UNBLOCKED, EventKind.REJECTED, EventKind.DROPPED)
        self.handlers: dict[EventKind, Callable[[Event], object]] = dict.fromkeys(kinds, self._add)

    def _add(self, event: Event) -> None:
        # The gate of the subscription that had no room, if that is why; else of the topic or queue.
        gate = self._gates.get(event.group or event.topic)
        if gate is None:
            return
        match event.kind:
            case EventKind.PRODUCER_BLOCKED:
                gate.blocked[event.client] = event.time_ns
            case EventKind.PRODUCER_UNBLOCKED:
                gate.blocked_ns += event.time_ns - gate.blocked.pop(event.client, event.time_ns)
            case EventKind.DROPPED:
                gate.dropped += event.count
            case _ if not event.cause.startswith("schema "):  # what a schema refuses never reaches the gate
                gate.rejected += event.count

    def view(self, target: str, time_ns: int, depth: int, slowest: str) -> GateView | None:
        gate = self._gates.get(target)
        if gate is None:
            return None
        return msgspec.structs.replace(
            gate.view,
            depth=depth,
            slowest=slowest,
            blocked=tuple(gate.blocked.items()),
            blocked_ns_total=gate.blocked_ns + sum(time_ns - since_ns for since_ns in gate.blocked.values()),
            rejected=gate.rejected,
            dropped=gate.dropped,
        )


class _Partition:
    __slots__ = ("end", "markers", "number", "size", "start", "transactions")

    def __init__(self, view: PartitionView) -> None:
        self.number, self.start, self.end = view.partition, view.start_offset, view.end_offset
        self.size, self.markers = view.size_bytes, view.markers
        self.transactions = dict(view.transactions)  # the first offset of open ones by producer id

    def view(self) -> PartitionView:
        open_ones = tuple(self.transactions.items())
        return PartitionView(self.number, self.start, self.end, self.size, (), self.markers, open_ones)


class _Topic:
    __slots__ = ("partitions", "published", "published_bytes", "view")

    def __init__(self, view: TopicView) -> None:
        self.view = view
        self.partitions = [_Partition(part) for part in view.partitions]
        self.published = view.published
        self.published_bytes = view.published_bytes


class FoldedTopics:
    """The topics that are listed. Of the logs of queues and dead-letter queues only counts are known."""

    def __init__(
        self, topics: tuple[TopicView, ...], gates: FoldedGates, transactions: tuple[TransactionView, ...] = ()
    ) -> None:
        self.by_name = {view.name: _Topic(view) for view in topics}
        self._gates = gates
        self._open = {each.client: each.producer_id for each in transactions}
        self.handlers: dict[EventKind, Callable[[Event], object]] = {
            EventKind.TOPIC_CREATED: self._created,
            EventKind.PARTITIONS_ADDED: self._created,
            EventKind.RECORDS_DELETED: self._deleted,
            EventKind.DEAD_LETTERED: self._buried,
            EventKind.TRANSACTION_STARTED: self._begun,
            EventKind.TRANSACTION_ENDED: self._marked,
        }

    def published(self, event: Event) -> None:
        topic = self.by_name.get(event.topic)
        if topic is not None and event.partition is not None and event.offset is not None:
            topic.published += event.count
            topic.published_bytes += event.size_bytes
            if event.partition < len(topic.partitions):
                part = topic.partitions[event.partition]
                part.end = event.offset + event.count
                if self._open and (producer_id := self._open.get(event.client)) is not None:
                    part.transactions.setdefault(producer_id, event.offset)

    def _created(self, event: Event) -> None:
        topic = self.by_name.get(event.topic)
        if topic is None:
            compacted = event.told.get("cleanup") == "compact"
            topic = self.by_name[event.topic] = _Topic(TopicView(event.topic, (), 0, 0, None, compacted=compacted))
        for number in range(len(topic.partitions), event.count):
            topic.partitions.append(_Partition(PartitionView(number, 0, 0, 0)))

    def _deleted(self, event: Event) -> None:
        topic = self.by_name.get(event.topic)
        if topic is not None and event.partition is not None and event.offset is not None:
            part = topic.partitions[event.partition]
            part.start = event.offset + event.count
            part.markers -= event.told.get("markers", 0)

    def _begun(self, event: Event) -> None:
        self._open[event.client] = int(event.told.get("producer_id", -1))

    def _marked(self, event: Event) -> None:
        self._open.pop(event.client, None)
        producer_id = int(event.told.get("producer_id", -1))
        for (name, partition), offset in markers_of(event):
            if partition < self.partition_count(name):
                part = self.by_name[name].partitions[partition]
                part.transactions.pop(producer_id, None)
                part.end = offset + 1
                part.markers += 1

    def _buried(self, event: Event) -> None:
        """The dead-letter queue of a topic with a schema is listed as a topic."""
        topic = self.by_name.get(event.to_topic)
        if topic is not None and event.to_partition is not None and event.to_offset is not None:
            topic.partitions[event.to_partition].end = event.to_offset + 1

    def partition_count(self, topic: str) -> int:
        found = self.by_name.get(topic)
        return 0 if found is None else len(found.partitions)

    def end_offset(self, topic: str, partition: int) -> int:
        return self.by_name[topic].partitions[partition].end if partition < self.partition_count(topic) else 0

    def views(self, time_ns: int, deepest: Deepest) -> tuple[TopicView, ...]:
        return tuple(self._view(name, topic, time_ns, deepest) for name, topic in self.by_name.items())

    def _view(self, name: str, topic: _Topic, time_ns: int, deepest: Deepest) -> TopicView:
        depth, slowest = 0, ""
        if topic.view.gate is not None:
            depth, slowest = deepest(name, [(part.start, part.end, part.markers) for part in topic.partitions])
        return msgspec.structs.replace(
            topic.view,
            partitions=tuple(part.view() for part in topic.partitions),
            published=topic.published,
            published_bytes=topic.published_bytes,
            gate=self._gates.view(name, time_ns, depth, slowest),
        )
