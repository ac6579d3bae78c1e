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
        self.handlers: dict[EventKind, Callable[[Event], object]] = {
            EventKind.PRODUCER_BLOCKED: self._blocked,
            EventKind.PRODUCER_UNBLOCKED: self._unblocked,
            EventKind.REJECTED: self._rejected,
            EventKind.DROPPED: self._dropped,
        }

    def _gate_of(self, event: Event) -> _Gate | None:
        """Of the subscription that had no room, where that is why; else of the topic or queue."""
        return self._gates.get(event.group or event.topic)

    def _blocked(self, event: Event) -> None:
        gate = self._gate_of(event)
        if gate is not None:
            gate.blocked[event.client] = event.time_ns

    def _unblocked(self, event: Event) -> None:
        gate = self._gate_of(event)
        if gate is not None:
            gate.blocked_ns += event.time_ns - gate.blocked.pop(event.client, event.time_ns)

    def _rejected(self, event: Event) -> None:
        gate = self._gate_of(event)
        # What a schema refuses never reaches the gate.
        if gate is not None and not event.cause.startswith("schema "):
            gate.rejected += event.count

    def _dropped(self, event: Event) -> None:
        gate = self._gate_of(event)
        if gate is not None:
            gate.dropped += event.count

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


class _Topic:
    __slots__ = ("ends", "markers", "published", "published_bytes", "sizes", "starts", "transactions", "view")

    def __init__(self, view: TopicView) -> None:
        self.view = view
        self.starts = [part.start_offset for part in view.partitions]
        self.ends = [part.end_offset for part in view.partitions]
        self.sizes = [part.size_bytes for part in view.partitions]
        self.markers = [part.markers for part in view.partitions]
        # Of each partition that has any, the first offset of open transactions by producer id.
        self.transactions: dict[int, dict[int, int]] = {
            part.partition: dict(part.transactions) for part in view.partitions if part.transactions
        }
        self.published = view.published
        self.published_bytes = view.published_bytes

    def grow_to(self, partitions: int) -> None:
        for numbers in (self.starts, self.ends, self.sizes, self.markers):
            numbers.extend([0] * (partitions - len(numbers)))


class FoldedTopics:
    """The topics that are listed. Of the logs of queues and dead-letter queues only counts are known."""

    def __init__(
        self, topics: tuple[TopicView, ...], gates: FoldedGates, transactions: tuple[TransactionView, ...] = ()
    ) -> None:
        self._topics = {view.name: _Topic(view) for view in topics}
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
        topic = self._topics.get(event.topic)
        if topic is not None and event.partition is not None and event.offset is not None:
            topic.published += event.count
            topic.published_bytes += event.size_bytes
            if event.partition < len(topic.ends):
                topic.ends[event.partition] = event.offset + event.count
            if self._open and (producer_id := self._open.get(event.client)) is not None:
                topic.transactions.setdefault(event.partition, {}).setdefault(producer_id, event.offset)

    def remove(self, name: str) -> None:
        self._topics.pop(name, None)

    def _created(self, event: Event) -> None:
        topic = self._topics.get(event.topic)
        if topic is None:
            compacted = event.told.get("cleanup") == "compact"
            topic = self._topics[event.topic] = _Topic(TopicView(event.topic, (), 0, 0, None, compacted=compacted))
        topic.grow_to(event.count)

    def _deleted(self, event: Event) -> None:
        topic = self._topics.get(event.topic)
        if topic is not None and event.partition is not None and event.offset is not None:
            topic.starts[event.partition] = event.offset + event.count
            topic.markers[event.partition] -= event.told.get("markers", 0)

    def _begun(self, event: Event) -> None:
        self._open[event.client] = int(event.told.get("producer_id", -1))

    def _marked(self, event: Event) -> None:
        self._open.pop(event.client, None)
        producer_id = int(event.told.get("producer_id", -1))
        for (name, partition), offset in markers_of(event):
            topic = self._topics.get(name)
            if topic is not None and partition < len(topic.ends):
                topic.transactions.get(partition, {}).pop(producer_id, None)
                topic.ends[partition] = offset + 1
                topic.markers[partition] += 1

    def _buried(self, event: Event) -> None:
        """The dead-letter queue of a topic with a schema is listed as a topic."""
        topic = self._topics.get(event.to_topic)
        if topic is not None and event.to_partition is not None and event.to_offset is not None:
            topic.ends[event.to_partition] = event.to_offset + 1

    def partition_count(self, topic: str) -> int:
        found = self._topics.get(topic)
        return 0 if found is None else len(found.ends)

    def end_offset(self, topic: str, partition: int) -> int:
        found = self._topics.get(topic)
        return found.ends[partition] if found is not None and partition < len(found.ends) else 0

    def views(self, time_ns: int, deepest: Deepest) -> tuple[TopicView, ...]:
        return tuple(self._view(name, topic, time_ns, deepest) for name, topic in self._topics.items())

    def _view(self, name: str, topic: _Topic, time_ns: int, deepest: Deepest) -> TopicView:
        depth, slowest = (
            deepest(name, list(zip(topic.starts, topic.ends, topic.markers, strict=True)))
            if topic.view.gate is not None
            else (0, "")
        )
        return TopicView(
            name,
            tuple(
                PartitionView(number, start, end, size, (), markers, tuple(topic.transactions.get(number, {}).items()))
                for number, (start, end, size, markers) in enumerate(
                    zip(topic.starts, topic.ends, topic.sizes, topic.markers, strict=True)
                )
            ),
            topic.published,
            topic.published_bytes,
            self._gates.view(name, time_ns, depth, slowest),
            topic.view.schema,
            topic.view.compacted,
        )
