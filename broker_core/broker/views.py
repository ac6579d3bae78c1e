"""The half of the broker that is looked at."""

from __future__ import annotations

import msgspec

from broker_core.broker.state import BrokerState
from broker_core.log.config import LogConfig
from broker_core.log.partitioners import PartitionerKind
from broker_core.snapshots import GroupView, PartitionView, QueueView, RebalanceView, TopicView, Totals


class SlowReader(msgspec.Struct, frozen=True):
    """A group or a queue that is behind in one partition, and, of a group, the client that reads it.

    `lag_ns` is the age of the oldest message that waits.
    """

    reader: str
    client: str
    topic: str
    partition: int
    lag: int
    lag_ns: int


class BrokerViews(BrokerState):
    """Totals, and plain values of what there is."""

    def totals(self) -> Totals:
        """Counted where it happens, not from the event stream, so that the two can be compared."""
        queues = self._queues.values()
        gates = [topic.gate for topic in self._topics.values() if topic.gate is not None]
        fetches, former = self.fetches, self._former
        return Totals(
            published=former.published + sum(topic.published for topic in self._topics.values()),
            delivered=former.delivered + fetches.delivered + sum(queue.counts.delivered for queue in queues),
            acknowledged=former.acknowledged
            + fetches.acknowledged
            + sum(queue.counts.acknowledged for queue in queues),
            redelivered=former.redelivered + fetches.redelivered + sum(queue.counts.redelivered for queue in queues),
            dead_lettered=former.dead_lettered
            + sum(queue.counts.dead_lettered for queue in queues)
            + sum(topic.buried for topic in self._topics.values()),
            redriven=former.redriven
            + sum(queue.dead_letters.redriven(queue.name) for queue in queues)
            + sum(letters.redriven() for letters in self._bins.values()),
            rejected=former.rejected
            + sum(gate.counts.rejected for gate in gates)
            + sum(topic.refused for topic in self._topics.values()),
            dropped=former.dropped + sum(gate.counts.dropped for gate in gates),
            expired=former.expired + sum(queue.counts.expired for queue in queues),
            evicted=former.evicted + sum(queue.counts.evicted for queue in queues),
            purged=former.purged + sum(queue.counts.purged for queue in queues),
            rebalances=self.groups.rebalances_started,
        )

    def topic_names(self) -> tuple[str, ...]:
        """Topics in the order of creation, without the logs of queues and bins."""
        own_logs = self._queues.keys() - self._subscriptions.keys()
        hidden = own_logs | {queue.dead_letters.name for queue in self._queues.values()}
        return tuple(name for name in self._topics if name not in hidden)

    def subscription_names(self) -> tuple[str, ...]:
        """Those of the queues that are fan-out subscriptions."""
        return tuple(self._subscriptions)

    def queue_names(self) -> tuple[str, ...]:
        """Queues and subscriptions in the order of creation."""
        return tuple(self._queues)

    def views(
        self, now_ns: int, *, max_leases: int, max_dead_letters: int
    ) -> tuple[tuple[TopicView, ...], tuple[GroupView, ...], tuple[QueueView, ...]]:
        """Topics, groups and queues; bins are not listed as topics, nor are the logs of queues."""
        topics = tuple(self.topic_view(now_ns, name) for name in self.topic_names())
        queues = tuple(self.queue_view(now_ns, name, max_leases, max_dead_letters) for name in self._queues)
        return topics, self.groups.views(now_ns), queues

    def slow_readers(self, now_ns: int, max_lag: int | None, max_lag_ns: int | None) -> tuple[SlowReader, ...]:
        """Groups and queues that are further behind, in messages or in time, the furthest first; None is no limit.

        A group is behind by what it has not committed, a queue by what is not finished.
        """
        found = [
            SlowReader(group.name, offset.owner, offset.topic, offset.partition, offset.lag, offset.lag_ns or 0)
            for group in self.groups.views(now_ns)
            for offset in group.offsets
            if offset.lag
        ]
        for name, queue in self._queues.items():
            for table in queue.levels.tables:
                head = table.head()
                if head is not None:
                    age_ns = max(0, now_ns - head[0])
                    found.append(SlowReader(name, "", table.log.topic, table.log.partition, table.ready, age_ns))
        late = [
            each
            for each in found
            if (max_lag is not None and each.lag > max_lag) or (max_lag_ns is not None and each.lag_ns > max_lag_ns)
        ]
        return tuple(sorted(late, key=lambda each: (-each.lag, -each.lag_ns, each.reader, each.topic, each.partition)))

    def rebalances(self) -> tuple[RebalanceView, ...]:
        """The last rebalances of all groups, oldest first."""
        return tuple(self.groups.rebalances)

    def topic_view(self, now_ns: int, name: str) -> TopicView:
        """One topic. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        topic = self._topic(name)
        partitions = tuple(
            PartitionView(
                number,
                log.start_offset,
                log.end_offset,
                log.size_bytes,
                tuple((lost.start_offset, lost.end_offset) for lost in log.lost),
            )
            for number, log in enumerate(topic.log.partitions)
        )
        gate = topic.gate.view(now_ns) if topic.gate is not None and topic.is_limited else None
        subject = "" if topic.schema is None else topic.schema.subject
        return TopicView(name, partitions, topic.published, topic.published_bytes, gate, subject)

    def topic_config(self, name: str) -> LogConfig:
        """How the topic's log is kept. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._topic(name).log.config

    def partitioner_kind(self, name: str) -> PartitionerKind:
        """How the topic chooses partitions by keys. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        return self._topic(name).log.partitioner.kind

    def queue_view(self, now_ns: int, name: str, max_leases: int = 100, max_dead_letters: int = 100) -> QueueView:
        """One queue or subscription. Raises UNKNOWN_QUEUE."""
        view = self.queue(name).view(now_ns, max_leases, max_dead_letters)
        subscription = self._subscriptions.get(name)
        if subscription is not None:
            backlog, held = subscription.gate_view(), self._topics[subscription.topic].gate
            if backlog is not None and held is not None:
                backlog = held.held_by(now_ns, name, backlog)
            return msgspec.structs.replace(view, gate=backlog)
        gate = self._topics[name].gate
        if gate is None:
            return view
        gauges = msgspec.structs.replace(gate.view(now_ns), evicted=self.queue(name).counts.evicted)
        return msgspec.structs.replace(view, gate=gauges)
