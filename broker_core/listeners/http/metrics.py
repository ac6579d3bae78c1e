"""Metrics for Prometheus, named by OpenTelemetry's conventions for messaging if these have a name.

messaging.client.sent.messages becomes messaging_client_sent_messages_total, and so on; attributes become labels. What
the conventions have no name for begins with brokerscope_. Counters begin at 0 when the listener is opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request

from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.listeners.awaiting import ServedHost
from broker_core.listeners.connections import Connections
from broker_core.snapshots import GateView, GroupView, QueueView, Snapshot, TopicView

SYSTEM = "brokerscope"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_SINCE = "since the listener was opened"

_WORDS = {
    EventKind.ACKNOWLEDGED: "that were committed or acknowledged",
    EventKind.DEAD_LETTERED: "that became dead letters",
    EventKind.REDRIVEN: "that were redriven",
    EventKind.REJECTED: "that were refused",
    EventKind.DROPPED: "that were dropped by a policy",
    EventKind.EXPIRED: "that expired",
}
_COUNTED = (EventKind.PUBLISHED, EventKind.DELIVERED, *_WORDS)
_TOPIC, _GROUP = "messaging_destination_name", "messaging_consumer_group_name"
_PARTITION = "messaging_destination_partition_id"


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

    def text(self) -> bytes:
        return generate_latest(self.registry)

    # -- collected when asked

    def describe(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """No metrics are known before they are collected."""
        return iter(())

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        def look(now_ns: int) -> tuple[Snapshot, dict[EventKind, dict[tuple[str, str], int]]]:
            counts = {kind: dict(counted) for kind, counted in self._counts.items()}
            return self._host.broker.snapshot(now_ns, max_leases=0, max_dead_letters=0), counts

        state, counts = self._host.call(look)
        yield from _counters(counts)
        yield from _of_topics(state.topics)
        yield from _of_groups(state.groups)
        yield from _of_queues(state.queues)
        limited: tuple[TopicView | QueueView, ...] = (*state.topics, *state.queues)
        yield from _of_gates([(each.name, each.gate) for each in limited if each.gate is not None])
        listeners = (([listener], self._connections.count(listener)) for listener in ("http", "kafka"))
        yield _gauge("brokerscope_connections", "Open connections", ["listener"], listeners)


F = TypeVar("F", CounterMetricFamily, GaugeMetricFamily)


def _family(
    kind: type[F], name: str, about: str, labels: Sequence[str], rows: Iterable[tuple[Sequence[str], float | None]]
) -> F:
    """`rows` are the values of the labels and the figure, None if it is not known."""
    family = kind(name, about, labels=labels)
    for values, figure in rows:
        if figure is not None:
            family.add_metric(values, figure)
    return family


_counter, _gauge = partial(_family, CounterMetricFamily), partial(_family, GaugeMetricFamily)


def _counters(counts: dict[EventKind, dict[tuple[str, str], int]]) -> Iterator[CounterMetricFamily]:
    labels = ["messaging_system", "messaging_operation_name", _TOPIC]
    yield _counter(
        "messaging_client_sent_messages",
        f"Messages that were stored {_SINCE} (messaging.client.sent.messages)",
        labels,
        (((SYSTEM, "publish", topic), count) for (topic, _), count in counts[EventKind.PUBLISHED].items()),
    )
    yield _counter(
        "messaging_client_consumed_messages",
        f"Messages that were delivered {_SINCE} (messaging.client.consumed.messages)",
        [*labels, _GROUP],
        (((SYSTEM, "receive", *place), count) for place, count in counts[EventKind.DELIVERED].items()),
    )
    for kind, words in _WORDS.items():
        about = f"Messages {words} {_SINCE}"
        yield _counter(f"brokerscope_{kind}_messages", about, [_TOPIC, _GROUP], counts[kind].items())


def _of_topics(topics: tuple[TopicView, ...]) -> Iterator[GaugeMetricFamily]:
    partitions = [((topic.name, str(each.partition)), each) for topic in topics for each in topic.partitions]
    for field, about in (
        ("end_offset", "The offset after the last message"),
        ("start_offset", "The first offset that is still stored"),
        ("size_bytes", "Bytes in the segments"),
    ):
        rows = ((place, getattr(each, field)) for place, each in partitions)
        yield _gauge(f"brokerscope_partition_{field}", about, [_TOPIC, _PARTITION], rows)


def _of_groups(groups: tuple[GroupView, ...]) -> Iterator[GaugeMetricFamily]:
    offsets = [((group.name, at.topic, str(at.partition)), at) for group in groups for at in group.offsets]
    labels = [_GROUP, _TOPIC, _PARTITION]
    lag = "Messages from the committed offset, or the start, to the end"
    yield _gauge("brokerscope_consumer_lag_messages", lag, labels, ((place, at.lag) for place, at in offsets))
    ages = ((place, None if at.lag_ns is None else at.lag_ns / NS_PER_S) for place, at in offsets)
    yield _gauge("brokerscope_consumer_lag_seconds", "Age of the oldest uncommitted message", labels, ages)
    members = (([group.name], len(group.members)) for group in groups)
    yield _gauge("brokerscope_group_members", "Members of the group", [_GROUP], members)


def _of_queues(queues: tuple[QueueView, ...]) -> Iterator[GaugeMetricFamily]:
    for name, field, about in (
        ("ready_messages", "ready", "Ready to be taken"),
        ("delayed_messages", "delayed", "Wait for a retry"),
        ("in_flight_messages", "in_flight", "Are leased"),
        ("dead_letters", "dead", "Dead letters of the queue"),
    ):
        rows = (([queue.name], getattr(queue, field)) for queue in queues)
        yield _gauge(f"brokerscope_queue_{name}", about, ["queue"], rows)


def _of_gates(gates: list[tuple[str, GateView]]) -> Iterator[GaugeMetricFamily]:
    depths, limits = (([name], gate.depth) for name, gate in gates), (([name], gate.limit) for name, gate in gates)
    blocked = (([name], len(gate.blocked)) for name, gate in gates)
    yield _gauge("brokerscope_depth_messages", "Not finished by the slowest reader", [_TOPIC], depths)
    yield _gauge("brokerscope_depth_limit_messages", "Maximum number of waiting messages", [_TOPIC], limits)
    yield _gauge("brokerscope_blocked_producers", "Producers that wait for room", [_TOPIC], blocked)
