from __future__ import annotations

from collections import deque
from itertools import islice

import msgspec

from broker_core.broker.logs import Logs, Topic, totals_of
from broker_core.broker.queues import Queues
from broker_core.broker.recently_deleted import RecentlyDeleted
from broker_core.broker.topics import Topics
from broker_core.events import Event, EventStream
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.groups.fetches import Fetches
from broker_core.queues.queue import Queue
from broker_core.snapshots import GroupView, PartitionView, QueueView, RebalanceView, SlowReader, TopicView, Totals

MOST_EVENTS = 50_000  # about 20 MB


class RecentEvents:
    """Keeps events from the first look on: a broker that nobody observes keeps none."""

    def __init__(self, events: EventStream) -> None:
        self._events = events
        self._kept: deque[Event] | None = None

    def since(self, seen: int | None) -> tuple[list[Event], int]:
        """The events behind the first `seen`, and how many of them are not kept; None sees none."""
        if self._kept is None:
            self._kept = deque(maxlen=MOST_EVENTS)
            self._events.attach(self._kept.append)
        count, kept = self._events.count, self._kept
        new = 0 if seen is None else max(0, count - seen)
        events = list(islice(kept, max(0, len(kept) - new), None))
        return events, new - len(events)


def topic_view(now_ns: int, topic: Topic) -> TopicView:
    partitions = tuple(
        PartitionView(
            number,
            log.start_offset,
            log.end_offset,
            log.size_bytes,
            tuple((lost.start_offset, lost.end_offset) for lost in log.lost),
            log.markers_between(log.start_offset, log.end_offset),
            tuple(log.open_transactions.items()),
        )
        for number, log in enumerate(topic.log.partitions)
    )
    gate = topic.gate.view(now_ns) if topic.gate is not None and topic.is_limited else None
    subject = "" if topic.schema is None else topic.schema.subject
    compacted = topic.log.config.cleanup == "compact"
    return TopicView(topic.name, partitions, topic.published, topic.published_bytes, gate, subject, compacted)


def queue_view(now_ns: int, queue: Queue, topic: Topic, max_leases: int, max_dead_letters: int) -> QueueView:
    view = queue.view(now_ns, max_leases, max_dead_letters)
    subscription, gate = topic.subscriptions.get(queue.name), topic.gate
    if subscription is not None:
        backlog = subscription.gate_view()
        if backlog is not None and gate is not None:
            backlog = gate.held_by(now_ns, queue.name, backlog)
        return msgspec.structs.replace(view, gate=backlog)
    if gate is None:
        return view
    gauges = msgspec.structs.replace(gate.view(now_ns), evicted=queue.counts.evicted)
    return msgspec.structs.replace(view, gate=gauges)


class Views(msgspec.Struct, eq=False):
    """Totals, and topics, groups and queues at one moment."""

    _logs: Logs
    _topics: Topics
    _queues: Queues
    _groups: GroupCoordinator
    _fetches: Fetches
    _recently_deleted: RecentlyDeleted

    def totals(self) -> Totals:
        """All counts since the session began, those of deleted topics and queues included."""
        fetches = self._fetches
        of_groups = Totals(
            delivered=fetches.delivered,
            acknowledged=fetches.acknowledged,
            redelivered=fetches.redelivered,
            rebalances=self._groups.rebalances_started,
            fetched_again=fetches.fetched_again,
        )
        there = totals_of(self._logs, map(self._queues.queue, self._queues.names()))
        return self._recently_deleted.counted.plus(there).plus(of_groups)

    def all(
        self, now_ns: int, *, max_leases: int, max_dead_letters: int
    ) -> tuple[tuple[TopicView, ...], tuple[GroupView, ...], tuple[QueueView, ...]]:
        """All topics, groups and queues, with at most so many leases and dead letters of each queue."""
        topics = tuple(self.topic(now_ns, name) for name in self._topics.names())
        queues = tuple(self.queue(now_ns, name, max_leases, max_dead_letters) for name in self._queues.names())
        return topics, self._groups.views(now_ns), queues

    def topic(self, now_ns: int, name: str) -> TopicView:
        """One topic. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return topic_view(now_ns, self._logs.topic(name))

    def queue(self, now_ns: int, name: str, max_leases: int = 100, max_dead_letters: int = 100) -> QueueView:
        """One queue or subscription. Raises UNKNOWN_QUEUE."""
        queue = self._queues.queue(name)
        return queue_view(now_ns, queue, self._queues.topic_of(name), max_leases, max_dead_letters)

    def rebalances(self) -> tuple[RebalanceView, ...]:
        return tuple(self._groups.rebalances)

    def slow_readers(self, now_ns: int, max_lag: int | None, max_lag_ns: int | None) -> tuple[SlowReader, ...]:
        """Groups and queues that are further behind, in messages or in time, the furthest first; None is no limit.

        A group is behind by what it has not committed, a queue by what is not finished.
        """
        found = [
            SlowReader(group.name, offset.owner, offset.topic, offset.partition, offset.lag, offset.lag_ns or 0)
            for group in self._groups.views(now_ns)
            for offset in group.offsets
            if offset.lag
        ]
        for name in self._queues.names():
            for table in self._queues.queue(name).levels.tables:
                head = table.head()
                unfinished = (0 if head is None else table.ready) + table.delayed + table.in_flight
                if unfinished:
                    age_ns = 0 if head is None else max(0, now_ns - head[0])
                    found.append(SlowReader(name, "", table.log.topic, table.log.partition, unfinished, age_ns))
        late = [
            each
            for each in found
            if (max_lag is not None and each.lag > max_lag) or (max_lag_ns is not None and each.lag_ns > max_lag_ns)
        ]
        return tuple(sorted(late, key=lambda each: (-each.lag, -each.lag_ns, each.reader, each.topic, each.partition)))
