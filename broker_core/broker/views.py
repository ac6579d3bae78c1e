from __future__ import annotations

from collections import deque
from itertools import islice

import msgspec

from broker_core.broker.delivery_record import DeliveryRecord
from broker_core.broker.logs import Logs, totals_of
from broker_core.broker.queues import Queues
from broker_core.broker.recently_deleted import RecentlyDeleted
from broker_core.broker.topics import Topics
from broker_core.events import Event, EventStream
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.snapshots import PartitionView, QueueView, SlowReader, TopicView, Totals

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


class Views(msgspec.Struct, eq=False):
    _logs: Logs
    _topics: Topics
    _queues: Queues
    _groups: GroupCoordinator
    _delivery_record: DeliveryRecord
    _recently_deleted: RecentlyDeleted
    _baseline: Totals = Totals()

    def count_from_now(self) -> None:
        """Set the totals to zero; the counts of queues from before a restart stay their own."""
        self._baseline = self._baseline.plus(self.totals())

    def totals(self) -> Totals:
        """All counts since the session began, those of deleted topics and queues included."""
        record = self._delivery_record
        of_groups = Totals(
            delivered=record.delivered,
            acknowledged=record.acknowledged,
            redelivered=record.redelivered,
            rebalances=self._groups.history.started,
            fetched_again=record.fetched_again,
        )
        there = totals_of(self._logs, map(self._queues.queue, self._queues.names()))
        return self._recently_deleted.counted.plus(there).plus(of_groups).minus(self._baseline)

    def topic(self, now_ns: int, name: str) -> TopicView:
        """One topic. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        topic = self._logs.topic(name)
        partitions = tuple(
            PartitionView(
                number,
                log.start_offset,
                log.end_offset,
                log.size_bytes,
                tuple((lost.start_offset, lost.end_offset) for lost in log.lost),
                log.segments.markers_between(log.start_offset, log.end_offset),
                tuple(log.segments.open_transactions.items()),
            )
            for number, log in enumerate(topic.log.partitions)
        )
        gate = topic.gate.view(now_ns) if topic.gate is not None and topic.is_limited else None
        subject = "" if topic.schema is None else topic.schema.subject
        sums = (topic.published, topic.published_bytes)
        return TopicView(topic.name, partitions, *sums, gate, subject, topic.log.was_compacted)

    def queue(self, now_ns: int, name: str, max_leases: int = 100, max_dead_letters: int = 100) -> QueueView:
        """One queue or subscription. Raises UNKNOWN_QUEUE."""
        queue, topic = self._queues.queue(name), self._queues.topic_of(name)
        view = queue.view(max_leases, max_dead_letters)
        subscription, gate = topic.subscriptions.get(name), topic.gate
        if subscription is not None:
            gauges = subscription.gate_view()
            if gauges is not None and gate is not None:
                gauges = gate.held_by(now_ns, name, gauges)
        elif gate is not None:
            gauges = msgspec.structs.replace(gate.view(now_ns), evicted=queue.counts.evicted)
        else:
            return view
        return msgspec.structs.replace(view, gate=gauges)

    def slow_readers(self, now_ns: int, max_lag: int | None, max_lag_ns: int | None) -> list[SlowReader]:
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
        return sorted(late, key=lambda each: (-each.lag, -each.lag_ns, each.reader, each.topic, each.partition))
