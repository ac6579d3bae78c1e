"""Who is connected: counters, rates, and cutting."""

from __future__ import annotations

import threading
import time

import pytest

from broker_core.clock import NS_PER_S
from broker_core.listeners.connections import ApiView, Connection, Connections, Served, quantile


class Clock:
    now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


def nothing() -> None:
    pass


def test_a_connection_is_seen_while_it_is_open():
    clock = Clock()
    connections = Connections(clock)
    clock.now_ns = 7
    first = connections.open("kafka", "127.0.0.1:50000", nothing, client="shop")
    second = connections.open("http", "127.0.0.1:50001", nothing)
    first.requests, first.bytes_in, first.messages_in = 1, 120, 10
    second.failed("no such topic")
    seen = connections.views()
    assert [view.id for view in seen] == [first.id, second.id]
    first_seen = seen[0]
    assert (first_seen.listener, first_seen.peer) == ("kafka", "127.0.0.1:50000")
    assert (first_seen.client, first_seen.opened_ns) == ("shop", 7)
    assert (seen[0].requests, seen[0].messages_in, seen[0].bytes_in, seen[0].bytes_out) == (1, 10, 120, 0)
    assert (seen[1].errors, seen[1].last_error) == (1, "no such topic")
    assert (connections.count(), connections.count("kafka")) == (2, 1)
    connections.closed(first)
    connections.closed(first)
    assert [view.listener for view in connections.views()] == ["http"]
    assert [(view.id, view.messages_in, view.ended_ns) for view in connections.gone()] == [(first.id, 10, 7)]
    assert connections.views()[0].ended_ns is None


def test_rates_are_those_of_the_last_second_or_two_however_often_somebody_looks():
    clock = Clock()
    connections = Connections(clock)
    connection = connections.open("kafka", "", nothing)
    for tenth in range(1, 31):
        clock.now_ns = tenth * NS_PER_S // 10
        connection.messages_in += 50
        seen_per_s = connections.views()[0].messages_in_per_s
        assert tenth < 10 or abs(seen_per_s - 500) < 1e-6
    for second in range(4, 8):
        clock.now_ns = second * NS_PER_S
        quiet = connections.views()[0]
    assert quiet.messages_in_per_s == 0 and quiet.messages_in == 1_500


def test_cutting_calls_the_listener_once_and_says_why():
    connections = Connections(Clock())
    cut: list[str] = []
    connection = connections.open("kafka", "", lambda: cut.append("first"))
    connections.open("kafka", "", lambda: cut.append("second"))
    assert connections.cut(connection.id)
    assert cut == ["first"] and connections.views()[0].last_error == "cut by the user"
    connections.closed(connection)
    assert not connections.cut(connection.id) and not connections.cut(99)
    assert cut == ["first"]


def test_a_listener_may_close_the_connection_from_within_the_cut():
    connections = Connections(Clock())
    connection = connections.open("kafka", "", lambda: connections.closed(connection))
    worker = threading.Thread(target=connections.cut, args=(connection.id,), daemon=True)
    worker.start()
    worker.join(5)
    assert not worker.is_alive() and connections.count() == 0


def test_the_requests_of_a_connection_are_counted_by_api_and_outlive_it(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = Connections(lambda: 0)
    one, other = (connections.open("kafka", "", lambda: None) for _ in range(2))

    def answer(connection: Connection, api: str, latency_ns: int, error: str = "") -> None:
        served = Served(api, 1, 1, 100, 0, connection.errors)
        if error:
            connection.failed(error)
        with monkeypatch.context() as clock:
            clock.setattr(time, "perf_counter_ns", lambda: latency_ns)
            connections.answered(connection, served, 10)

    for latency_ns in range(1, 201):
        answer(one, "Produce", latency_ns)
    answer(one, "Metadata", 5, "first")
    answer(one, "Metadata", 7, "last")
    answer(other, "Fetch", 1)
    expected = (
        ApiView("Produce", 200, 150, 199, 20_000, 2_000, 0, ""),  # of the last 100
        ApiView("Metadata", 2, 5, 7, 200, 20, 2, "last"),
    )
    assert connections.apis(one.id) == expected
    connections.closed(one)
    assert connections.apis(one.id) == expected
    assert [view.api for view in connections.apis(other.id)] == ["Fetch"]
    assert connections.apis(99) == ()


def test_a_quantile_is_the_least_value_that_such_a_part_does_not_exceed() -> None:
    values = range(100, 0, -1)
    assert [quantile(values, part) for part in (0.0, 0.5, 0.99, 1.0)] == [1, 50, 99, 100]
    assert (quantile([3, 7], 0.5), quantile([7], 0.99), quantile((), 0.5)) == (3, 7, 0)
