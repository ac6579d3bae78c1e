from __future__ import annotations

from collections.abc import Iterable

import msgspec

from broker_core.broker.delivery_record import DeliveryRecord
from broker_core.broker.logs import Logs, Topic
from broker_core.events import EventStream
from broker_core.flow.config import FlowConfig
from broker_core.flow.gate import Answer, Gate, Obstacle
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.timers import Timers


class Backpressure(msgspec.Struct, eq=False):
    """A topic has a gate if it is limited, or if one of its subscriptions holds up producers."""

    _logs: Logs
    _groups: GroupCoordinator
    _delivery_record: DeliveryRecord
    _events: EventStream
    _timers: Timers

    def config(self, name: str) -> FlowConfig | None:
        """The limits of a topic or queue; None without any. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        topic = self._logs.topic(name)
        return topic.gate.config if topic.gate is not None and topic.is_limited else None

    def limit(self, now_ns: int, topic: Topic, flow: FlowConfig) -> None:
        """Set the topic's limits; producers that wait are admitted as far as the new ones allow."""
        topic.is_limited = True
        if topic.gate is None:
            self._add_gate(topic, flow)
        else:
            topic.counts_bytes = flow.max_bytes is not None
            topic.gate.configure(now_ns, flow)

    def watch_subscriptions(self, topic: Topic) -> None:
        """Apply the backlog policies of the topic's subscriptions to its producers."""
        if topic.gate is None:
            self._add_gate(topic, FlowConfig())
            self._logs.revision += 1

    def disconnect(self, now_ns: int, client: str) -> None:
        """The connection of `client` is lost: its parked offers fail with CLOSED, its leases expire later."""
        for topic in self._logs:
            if topic.gate is not None:
                topic.gate.leave(now_ns, client)

    def fill(self, now_ns: int, topic: Topic, *, full: bool) -> None:
        """Have `topic` refuse every message, whatever its limits, until `full` is False."""
        if topic.gate is None:
            self._add_gate(topic, FlowConfig())
        assert topic.gate is not None
        topic.gate.full = full
        topic.gate.room(now_ns)

    def _add_gate(self, topic: Topic, flow: FlowConfig) -> None:
        def evict(now_ns: int, messages: int, size_bytes: int, than: int | None) -> bool:
            # Nothing is evicted from a topic's log.
            return topic.queue is not None and topic.queue.evict(now_ns, messages, size_bytes, than)

        topic.counts_bytes = flow.max_bytes is not None
        topic.gate = Gate(
            topic.name,
            flow,
            lambda: self._depth(topic),
            self._events,
            self._timers,
            evict=evict,
            reader_obstacle=lambda count: _obstacle(topic, count),
        )

    def _depth(self, topic: Topic) -> tuple[int, int, str]:
        name, queue = topic.name, topic.queue
        if queue is not None:
            return queue.ready + queue.delayed + queue.in_flight, queue.size_bytes, name
        # After a restart a group is known by its commits before a member fetches.
        groups = dict.fromkeys((*self._delivery_record.readers(name), *self._groups.readers(name)))
        readers = [group for group in groups if not self._groups.has_left(group, name)]
        if readers:
            return max((*self._unfinished(topic, (group,), begun=True), group) for group in readers)
        if topic.subscriptions:
            return 0, 0, ""  # each of them has a limit of its own
        # A new reader finds what none has finished with.
        return (*self._unfinished(topic, groups, begun=False), "")

    def _unfinished(self, topic: Topic, groups: Iterable[str], *, begun: bool) -> tuple[int, int]:
        """Messages and bytes that none of `groups` has finished with.

        If they have not begun with a partition, all of it counts, or nothing if only what was `begun` does.
        """
        messages = size_bytes = 0
        name = topic.name
        for number, log in enumerate(topic.log.partitions):
            starts = []
            for group in groups:
                start = self._groups.commits.next_offset(group, name, number)
                starts += [] if start is None else [start]
            if starts or not begun:
                start = max((log.start_offset, *starts))
                whole = start == log.start_offset
                messages += log.messages_count if whole else log.messages_between(start, log.end_offset)
                if topic.counts_bytes:
                    size_bytes += sum(run.size_bytes for run in log.runs(start, log.end_offset))
        return messages, size_bytes


def _obstacle(topic: Topic, count: int) -> Obstacle | None:
    """The subscription that is full; one that refuses comes before one that waits."""
    found: Obstacle | None = None
    for subscriber, each in topic.subscriptions.items():
        if cause := each.obstacle(count):
            refuses = each.policy == "reject" or each.never_fits(count)
            if refuses or found is None:
                found = Obstacle(Answer.REFUSE if refuses else Answer.PARK, cause, subscriber)
            if refuses:
                break
    return found
