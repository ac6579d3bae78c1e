"""One client's connection and its connection to the cluster, with stand-ins for both sockets and for the loop."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Any, cast

import pytest

from broker_core.faults.client_faults import ClientFault, Effect
from broker_core.listeners.access.limits import Budget, GuardConfig
from broker_core.listeners.between.asked_requests import TopicNames
from broker_core.listeners.between.passing import ClientSide, ClusterSide
from broker_core.listeners.between.ports import Ports
from broker_core.listeners.kafka.codec import Header, response
from broker_core.observation.kafka.config import connection_config
from tests.broker_core.listeners.between.test_misuse import KeptFrames, request

METADATA = 3


class VirtualLoop:
    """Time passes in `run` only."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = itertools.count()

    def call_later(self, delay_s: float, action: Callable[[], object]) -> None:
        heapq.heappush(self._due, (self._now_s + delay_s, next(self._numbers), action))

    def call_soon(self, action: Callable[[], object]) -> None:
        self.call_later(0, action)

    def call_soon_threadsafe(self, action: Callable[[], object]) -> None:
        action()

    def run(self, for_s: float) -> None:
        until_s = self._now_s + for_s
        while self._due and self._due[0][0] <= until_s:
            self._now_s, _number, action = heapq.heappop(self._due)
            action()
        self._now_s = until_s


class Socket:
    """Keeps what is written; nothing may be written behind its end."""

    def __init__(self) -> None:
        self.sent = b""
        self.ends = self.closes = False

    def get_extra_info(self, _name: str) -> tuple[str, int]:
        return "127.0.0.1", 9092

    def is_closing(self) -> bool:
        return self.closes

    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    def can_write_eof(self) -> bool:
        return True

    def write(self, data: bytes) -> None:
        assert not (self.ends or self.closes)
        self.sent += bytes(data)

    def write_eof(self) -> None:
        self.ends = True

    def close(self) -> None:
        self.closes = True


class Passed:
    """`client` and `cluster` are the sockets of the two sides."""

    def __init__(self, ports: Ports) -> None:
        self.faults, self.client, self.cluster = ports.client_faults, Socket(), Socket()
        self.run = cast(VirtualLoop, ports.loop).run
        self.side = ClientSide(ports, lambda: ("cluster", 9092))
        self.side.connection_made(self.client)  # type: ignore[arg-type]
        self.up = self.side._up = ClusterSide(self.side)
        self.up.connection_made(self.cluster)  # type: ignore[arg-type]

    def begin(self, effect: Effect, **settings: Any) -> None:
        """Begin a fault of that effect and name."""
        self.faults.begin(0, ClientFault(effect=effect, name=effect, **settings))

    def at_cluster(self) -> list[int]:
        """The correlation ids of the requests that the cluster has got, in their order."""
        found, rest = [], self.cluster.sent
        while rest:
            size = 4 + int.from_bytes(rest[:4], "big")
            found.append(int.from_bytes(rest[8:12], "big"))
            rest = rest[size:]
        return found


@pytest.fixture
def ports() -> Ports:
    config = connection_config("cluster:9092")
    made = Ports(config, KeptFrames(), lambda _event: None, TopicNames(), now_ns=lambda: 0)
    made.loop.close()
    made.loop = VirtualLoop()  # type: ignore[assignment]
    made.begin = lambda work: work.close()  # type: ignore[method-assign]  # it does not connect
    return made


@pytest.fixture
def passed(ports: Ports) -> Passed:
    return Passed(ports)


def metadata(correlation_id: int) -> bytes:
    """A request for the metadata of all topics."""
    return request(METADATA, b"\xff\xff\xff\xff", correlation_id, 1)


def empty_metadata(correlation_id: int) -> bytes:
    return response(Header(METADATA, 1, correlation_id), {"brokers": [], "controller_id": -1, "topics": []})


@pytest.mark.parametrize(("effect", "delay_ms"), [("delay", 500), ("hold", 0)])
def test_no_request_overtakes_another_that_a_fault_holds(passed: Passed, effect: Effect, delay_ms: int):
    passed.begin("throttle", delay_ms=100, times=1)
    passed.side.data_received(metadata(1))
    passed.begin(effect, delay_ms=delay_ms)
    passed.side.data_received(metadata(2) + request(999, b"", 3))
    passed.up.data_received(empty_metadata(1))
    passed.run(0.2)  # the throttle is over
    assert passed.at_cluster() == [1]
    passed.faults.end(0, effect)
    passed.run(1)
    assert passed.at_cluster() == [1, 2, 3]


@pytest.mark.parametrize("effect", ["slice", "throttle"])
def test_an_answer_behind_one_in_pieces_waits_for_it_and_both_are_owed(passed: Passed, effect: Effect):
    passed.begin("slice", slice_bytes=5, delay_ms=100, times=1)
    passed.side.data_received(metadata(1))
    passed.begin(effect, delay_ms=100, **({"slice_bytes": 5} if effect == "slice" else {}))
    passed.side.data_received(metadata(2))
    answers = empty_metadata(1) + empty_metadata(2)
    passed.up.data_received(answers)
    passed.run(0.25)
    assert passed.client.sent == answers[:10] and passed.side.owes
    passed.run(10)
    assert passed.client.sent == answers and not passed.side.owes


def test_answers_in_pieces_go_out_to_their_end_where_the_cluster_closes_meanwhile(passed: Passed):
    passed.begin("slice", slice_bytes=5, delay_ms=100, times=1)
    passed.side.data_received(metadata(1) + metadata(2))
    answers = empty_metadata(1) + empty_metadata(2)
    passed.up.data_received(answers)
    passed.cluster.close()
    passed.up.connection_lost(None)
    passed.run(0.15)
    assert passed.client.sent == answers[:5] and not passed.client.closes
    passed.run(10)
    assert passed.client.sent == answers and passed.client.closes


def test_a_half_closed_client_gets_the_answer_to_a_request_that_a_fault_holds(passed: Passed):
    passed.begin("delay", delay_ms=500, times=1)
    passed.side.data_received(metadata(1) + metadata(2))
    assert passed.side.eof_received()
    assert not passed.cluster.ends
    passed.run(1)
    assert passed.at_cluster() == [1, 2] and passed.cluster.ends
    passed.up.data_received(empty_metadata(1) + empty_metadata(2))
    assert passed.client.sent == empty_metadata(1) + empty_metadata(2)


def test_a_connection_that_is_closing_gives_back_what_it_holds_when_others_need_it(ports: Ports):
    ports.open_ones.budget = Budget(GuardConfig(max_buffered_bytes=100))
    closing, other = Passed(ports), Passed(ports)
    half = (1_000).to_bytes(4, "big") + bytes(60)
    closing.side.data_received(half)
    closing.up.connection_lost(None)
    assert closing.client.closes
    other.side.data_received(half)
    assert (closing.side.held_bytes, other.side.held_bytes) == (0, len(half))
    assert list(ports.open_ones.all) == [other.side]
