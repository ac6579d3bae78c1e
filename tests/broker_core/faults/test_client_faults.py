"""Which requests meet a fault, and what the event stream tells of it. No sockets, no clock."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.clock import ns_from_s
from broker_core.errors import BrokerError
from broker_core.events import Event, EventKind, EventStream
from broker_core.faults.client_faults import ClientFault, ClientFaults, ClientRequest
from broker_core.timers import Timers

PRODUCE = ClientRequest("shop-1", "Produce", topics=("orders", "mail"), partitions=(("orders", 2), ("mail", 0)))
JOIN = ClientRequest("biller", "JoinGroup", "billing")


class Bench:
    """Faults with their timers and the events that they emit."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        stream = EventStream()
        stream.attach(self.events.append)
        self.timers = Timers()
        self.faults = ClientFaults(stream, self.timers)


@pytest.mark.parametrize(
    ("fault", "produce", "join"),
    [
        ({}, True, True),
        ({"client": "shop-*"}, True, False),
        ({"client": "shop"}, False, False),
        ({"api": "Produce"}, True, False),
        ({"api": "*Group"}, False, True),
        ({"group": "billing"}, False, True),
        ({"topic": "orders"}, True, False),
        ({"topic": "ord*", "client": "biller"}, False, False),
        ({"partition": 2}, True, False),
        ({"partition": 1}, False, False),
        ({"topic": "orders", "partition": 0}, False, False),
        ({"topic": "ma*", "partition": 0}, True, False),
    ],
)
def test_a_request_must_match_every_pattern(fault: dict[str, Any], produce: bool, join: bool):
    found = ClientFault(effect="drop", **fault)
    assert (found.matches(PRODUCE), found.matches(JOIN)) == (produce, join)


@pytest.mark.parametrize(
    ("effect", "answer", "apis"),
    [
        ("leader_change", "NOT_LEADER_OR_FOLLOWER", {"Produce", "Fetch"}),
        ("coordinator_change", "NOT_COORDINATOR", {"JoinGroup", "OffsetCommit", "ShareGroupHeartbeat", "EndTxn"}),
    ],
)
def test_a_change_is_told_by_whom_it_concerns(effect: Any, answer: str, apis: set[str]):
    fault = ClientFault(effect=effect, client="shop")
    asked = (
        "Produce",
        "Fetch",
        "JoinGroup",
        "OffsetCommit",
        "ShareGroupHeartbeat",
        "EndTxn",
        "Metadata",
        "ApiVersions",
    )
    assert {api for api in asked if fault.matches(ClientRequest("shop", api))} == apis
    assert fault.answer == answer
    assert not ClientFault(effect=effect, api="Metadata").matches(ClientRequest("shop", "Metadata"))


@given(st.integers(0, 5), st.integers(1, 4), st.none() | st.integers(1, 5), st.integers(0, 40))
def test_the_same_requests_meet_it_whoever_counts(skip: int, every: int, times: int | None, asked: int):
    bench = Bench()
    bench.faults.begin(0, ClientFault(effect="drop", skip=skip, every=every, times=times, api="Produce"))
    met = []
    for number in range(1, asked + 1):
        bench.faults.judge(0, JOIN)
        if bench.faults.judge(0, PRODUCE) is not None:
            met.append(number)
    expected = [number for number in range(1, asked + 1) if number > skip and (number - skip) % every == 0]
    assert met == expected[:times]
    assert bench.faults.any == (times is None or len(expected) < times)


def test_it_is_told_when_it_begins_and_when_its_time_is_over():
    bench = Bench()
    fault = bench.faults.begin(5, ClientFault(effect="error", error="NOT_LEADER_OR_FOLLOWER", topic="orders", for_s=2))
    assert fault.name == "fault-1"
    assert [view.what for view in bench.faults.views().values()] == ["NOT_LEADER_OR_FOLLOWER: every request to orders"]
    assert bench.faults.views()["fault-1"].until_ns == 5 + ns_from_s(2)
    assert bench.faults.judge(6, PRODUCE) == fault
    bench.timers.fire_next(5 + ns_from_s(2))
    assert not bench.faults.any
    assert bench.faults.judge(7, PRODUCE) is None
    begun, over = bench.events
    assert (begun.kind, begun.topic, begun.cause) == (EventKind.FAULT, "orders", fault.what)
    assert (over.time_ns, over.cause) == (5 + ns_from_s(2), "fault fault-1 is over after one request")
    assert over.detail == {"ended": "fault fault-1"}


@pytest.mark.parametrize(
    ("every", "said"), [(2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (21, "21st"), (112, "112th")]
)
def test_how_often_it_is_met_is_said_in_words(every: int, said: str):
    assert ClientFault(effect="drop", every=every).what == f"connection dropped: every request, every {said}"


def test_the_first_that_is_due_is_met_and_each_counts():
    bench = Bench()
    slow = bench.faults.begin(0, ClientFault(effect="delay", delay_ms=10, every=2, name="slow"))
    gone = bench.faults.begin(0, ClientFault(effect="drop", every=2, skip=1, name="gone"))
    assert [bench.faults.judge(0, PRODUCE) for _ in range(4)] == [None, slow, gone, slow]


def test_what_it_holds_goes_on_at_its_end():
    bench = Bench()
    held = bench.faults.begin(0, ClientFault(effect="hold", api="JoinGroup", client="biller", times=1))
    assert bench.faults.judge(1, JOIN) == held
    over = bench.faults.ended(held.name)
    assert not over.done
    bench.faults.end(2, held.name)
    assert over.done


def test_names_are_its_own():
    bench = Bench()
    bench.faults.begin(0, ClientFault(effect="drop", name="mine"))
    with pytest.raises(BrokerError, match="there is already a fault mine"):
        bench.faults.begin(0, ClientFault(effect="drop", name="mine"))
    with pytest.raises(BrokerError, match="There is no such fault: other"):
        bench.faults.end(0, "other")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"effect": "explode"}, "effect"),
        ({"effect": "error"}, "effect error needs error"),
        ({"effect": "error", "error": "NO_SUCH"}, "is not one of"),
        ({"effect": "drop", "error": "NOT_CONTROLLER"}, "only goes with effect error"),
        ({"effect": "delay"}, "effect delay needs delay_ms"),
        ({"effect": "drop", "delay_ms": 5}, "delay_ms only goes with effect delay or throttle or slice"),
        ({"effect": "slice", "delay_ms": 5}, "effect slice needs slice_bytes"),
        ({"effect": "throttle", "delay_ms": 5, "jitter_ms": 1}, "jitter_ms only goes with effect delay"),
        ({"effect": "drop", "api": "Nope"}, "is not one of"),
        ({"effect": "drop", "every": 0}, "every"),
        ({"effect": "drop", "times": 0}, "times"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(wrong: dict[str, Any], told: str):
    with pytest.raises(BrokerError, match=told):
        ClientFault(**wrong)


def test_a_hold_meets_as_many_as_it_may_and_goes_on():
    bench = Bench()
    bench.faults.begin(0, ClientFault(effect="hold", times=1))
    assert [bench.faults.judge(0, PRODUCE) is not None for _ in range(3)] == [True, False, False]
    assert bench.faults.any and bench.faults.met("fault-1") == 1
