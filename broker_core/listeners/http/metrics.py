"""Metrics for Prometheus, named by OpenTelemetry's conventions for messaging where these have a name.

messaging.client.sent.messages becomes messaging_client_sent_messages_total, and so on; attributes become labels. What
the conventions have no name for begins with brokerscope_. Counters begin at 0 when the listener is opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.listeners.connections import Connections
from broker_core.listeners.served import ServedHost
from broker_core.snapshots import GateView, GroupView, QueueView, TopicView

SYSTEM = "brokerscope"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_SINCE = "since the listener was opened"

_COUNTED = frozenset(
    {
        EventKind.PUBLISHED,
        EventKind.DELIVERED,
        EventKind.ACKNOWLEDGED,
        EventKind.DEAD_LETTERED,
        EventKind.REDRIVEN,
        EventKind.REJECTED,
        EventKind.DROPPED,
        EventKind.EXPIRED,
    }
)
_Views = tuple[tuple[TopicView, ...], tuple[GroupView, ...], tuple[QueueView, ...]]


class Metrics(Collector):
    """Counts events under the host's lock; reads lag and depth when the metrics are collected."""

    def __init__(self, host: ServedHost, connections: Connections) -> None:
        self._host = host
        self._connections = connections
        self._counts: dict[EventKind, Counter[tuple[str, str]]] = {kind: Counter() for kind in _COUNTED}
        self.registry = CollectorRegistry()
        self.registry.register(self)
        self._durations = Histogram(
            "http_server_request_duration_seconds",
            "Duration of HTTP requests (http.server.request.duration)",
            ("http_request_method", "http_route", "http_response_status_code"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        host.call(lambda _now: host.events.attach(self._count))

    def close(self) -> None:
        if not self._host.closing:
            self._host.call(lambda _now: self._host.events.detach(self._count))

    def _count(self, event: Event) -> None:
        counted = self._counts.get(event.kind)
        if counted is not None:
            counted[event.topic, event.group] += event.count

    def served(self, request: Request, status: int, duration_s: float) -> None:
        """Count an answered request. Unknown paths have no label, or labels would grow without bound."""
        route = getattr(request.scope.get("route"), "path", "")
        self._durations.labels(request.method if route else "", route, str(status)).observe(duration_s)

    def retry_after_s(self, error: BrokerError) -> float:
        """Seconds until a refused producer may be served, by the topic's rate."""
        if error.code is not ErrorCode.THROTTLED:
            return 1.0
        names = [name for name in self._host.broker.topics.names() if name == error.about]
        gate = self._host.call(lambda now_ns: self._host.broker.views.topic(now_ns, names[0]).gate) if names else None
        if gate is None or gate.rate_limit_per_s is None or gate.tokens is None or gate.tokens >= 1:
            return 1.0
        return min(60.0, (1 - gate.tokens) / gate.rate_limit_per_s)

    def text(self) -> bytes:
        return generate_latest(self.registry)

    # -- collected when asked

    def describe(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """No metrics are known before they are collected."""
        return iter(())

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        def look(now_ns: int) -> tuple[_Views, dict[EventKind, dict[tuple[str, str], int]]]:
            counts = {kind: dict(counted) for kind, counted in self._counts.items()}
            return self._host.broker.views.all(now_ns, max_leases=0, max_dead_letters=0), counts

        (topics, groups, queues), counts = self._host.call(look)
        yield from _counters(counts)
        yield from _of_topics(topics)
        yield from _of_groups(groups)
        yield from _of_queues(queues)
        yield from _of_gates(
            [(topic.name, topic.gate) for topic in topics] + [(each.name, each.gate) for each in queues]
        )
        open_connections = GaugeMetricFamily("brokerscope_connections", "Open connections", labels=["listener"])
        for listener in ("http", "kafka"):
            open_connections.add_metric([listener], self._connections.count(listener))
        yield open_connections


def _counters(counts: dict[EventKind, dict[tuple[str, str], int]]) -> Iterator[CounterMetricFamily]:
    labels = ["messaging_system", "messaging_operation_name", "messaging_destination_name"]
    sent = CounterMetricFamily(
        "messaging_client_sent_messages",
        f"Messages that were stored {_SINCE} (messaging.client.sent.messages)",
        labels=labels,
    )
    for (topic, _group), count in counts[EventKind.PUBLISHED].items():
        sent.add_metric([SYSTEM, "publish", topic], count)
    yield sent
    consumed = CounterMetricFamily(
        "messaging_client_consumed_messages",
        f"Messages that were handed out {_SINCE} (messaging.client.consumed.messages)",
        labels=[*labels, "messaging_consumer_group_name"],
    )
    for (topic, group), count in counts[EventKind.DELIVERED].items():
        consumed.add_metric([SYSTEM, "receive", topic, group], count)
    yield consumed
    rest = {
        EventKind.ACKNOWLEDGED: ("acknowledged", "that were committed or acknowledged"),
        EventKind.DEAD_LETTERED: ("dead_lettered", "that became dead letters"),
        EventKind.REDRIVEN: ("redriven", "that were redriven"),
        EventKind.REJECTED: ("rejected", "that were refused"),
        EventKind.DROPPED: ("dropped", "that were dropped by a policy"),
        EventKind.EXPIRED: ("expired", "whose time was over"),
    }
    for kind, (name, words) in rest.items():
        family = CounterMetricFamily(
            f"brokerscope_{name}_messages",
            f"Messages {words} {_SINCE}",
            labels=["messaging_destination_name", "messaging_consumer_group_name"],
        )
        for (topic, group), count in counts[kind].items():
            family.add_metric([topic, group], count)
        yield family


def _of_topics(topics: tuple[TopicView, ...]) -> Iterator[GaugeMetricFamily]:
    labels = ["messaging_destination_name", "messaging_destination_partition_id"]
    end = GaugeMetricFamily("brokerscope_partition_end_offset", "The offset after the last message", labels=labels)
    start = GaugeMetricFamily("brokerscope_partition_start_offset", "The first offset still there", labels=labels)
    size = GaugeMetricFamily("brokerscope_partition_size_bytes", "Bytes in the segments", labels=labels)
    for topic in topics:
        for partition in topic.partitions:
            place = [topic.name, str(partition.partition)]
            end.add_metric(place, partition.end_offset)
            start.add_metric(place, partition.start_offset)
            size.add_metric(place, partition.size_bytes)
    yield from (end, start, size)


def _of_groups(groups: tuple[GroupView, ...]) -> Iterator[GaugeMetricFamily]:
    labels = ["messaging_consumer_group_name", "messaging_destination_name", "messaging_destination_partition_id"]
    lag = GaugeMetricFamily(
        "brokerscope_consumer_lag_messages",
        "Messages from the committed offset, or the start, to the end",
        labels=labels,
    )
    late = GaugeMetricFamily("brokerscope_consumer_lag_seconds", "Age of the oldest uncommitted message", labels=labels)
    members = GaugeMetricFamily("brokerscope_group_members", "Members of the group", labels=labels[:1])
    for group in groups:
        members.add_metric([group.name], len(group.members))
        for each in group.offsets:
            place = [group.name, each.topic, str(each.partition)]
            if each.lag is not None:
                lag.add_metric(place, each.lag)
            if each.lag_ns is not None:
                late.add_metric(place, each.lag_ns / NS_PER_S)
    yield from (lag, late, members)


def _of_queues(queues: tuple[QueueView, ...]) -> Iterator[GaugeMetricFamily]:
    families = {
        "ready": GaugeMetricFamily("brokerscope_queue_ready_messages", "Can be taken now", labels=["queue"]),
        "delayed": GaugeMetricFamily("brokerscope_queue_delayed_messages", "Wait for a retry", labels=["queue"]),
        "in_flight": GaugeMetricFamily("brokerscope_queue_in_flight_messages", "Are leased", labels=["queue"]),
        "dead": GaugeMetricFamily("brokerscope_queue_dead_letters", "Lie in the bin", labels=["queue"]),
    }
    for queue in queues:
        for field, family in families.items():
            family.add_metric([queue.name], getattr(queue, field))
    yield from families.values()


def _of_gates(gates: list[tuple[str, GateView | None]]) -> Iterator[GaugeMetricFamily]:
    labels = ["messaging_destination_name"]
    depth = GaugeMetricFamily("brokerscope_depth_messages", "Not finished by the slowest reader", labels=labels)
    limit = GaugeMetricFamily("brokerscope_depth_limit_messages", "The most that the gate lets wait", labels=labels)
    blocked = GaugeMetricFamily("brokerscope_blocked_producers", "Producers that wait for room", labels=labels)
    for name, gate in gates:
        if gate is not None:
            depth.add_metric([name], gate.depth)
            blocked.add_metric([name], len(gate.blocked))
            if gate.limit is not None:
                limit.add_metric([name], gate.limit)
    yield from (depth, limit, blocked)
