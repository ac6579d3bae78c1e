"""What happens at the limit."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.config import FlowConfig
from broker_core.flow.gate import ANSWERS, Answer, Obstacle, OfferResult
from tests.broker_core.flow.gate_setup import GateSetup
from tests.long_form import examples


def fails(reply) -> ErrorCode:
    with pytest.raises(BrokerError) as caught:
        reply.result()
    return caught.value.code


def test_block_parks_producers_and_lets_them_in_in_the_order_in_which_they_came():
    setup = GateSetup(max_messages=2)
    replies = [setup.offer(name, client) for name, client in [("1", "p"), ("2", "p"), ("3", "q"), ("4", "p")]]
    assert [reply.done for reply in replies] == [True, True, False, False]
    assert setup.events[0].cause == "builds is full: 2 of 2 messages, slowest reader mailer-1"
    setup.now_ms = 5
    assert setup.consume() == ["1"]
    assert setup.names() == ["2", "3"]
    setup.now_ms = 9
    setup.consume(2)
    assert setup.names() == ["4"]
    assert [reply.result() for reply in replies] == [OfferResult.ADMITTED] * 4
    assert setup.kinds() == [
        ("producer_blocked", "q"),
        ("producer_blocked", "p"),
        ("producer_unblocked", "q"),
        ("producer_unblocked", "p"),
    ]
    assert setup.gate.view(setup.now_ns).blocked_ns_total == (5 + 9) * NS_PER_MS


def test_nobody_overtakes_those_who_wait_even_where_a_small_one_would_fit():
    setup = GateSetup(max_bytes=10)
    setup.offer("1", size=6)
    large, small = setup.offer("large", size=8), setup.offer("small", size=1)
    assert not small.done
    setup.consume()
    assert setup.names() == ["large", "small"]
    assert large.done


def test_block_gives_up_after_its_timeout_and_the_next_may_fit():
    setup = GateSetup(max_bytes=10, block_timeout_ms=100)
    setup.offer("1", size=6)
    large = setup.offer("large", "q", size=8)
    setup.now_ms = 50
    small = setup.offer("small", size=1)
    setup.until(99)
    assert not large.done
    setup.until(100)
    assert fails(large) is ErrorCode.THROTTLED
    assert small.result() is OfferResult.ADMITTED
    assert setup.gate.counts.rejected == 1
    assert ("rejected", "q") in setup.kinds()


def test_what_waits_behind_another_gives_up_with_a_cause_too():
    setup = GateSetup(max_bytes=10, block_timeout_ms=100)
    setup.offer("1", size=6)
    setup.offer("large", "q", size=8)
    setup.gate.config = FlowConfig(max_bytes=10, block_timeout_ms=10)
    small = setup.offer("small", size=1)
    setup.until(10)
    assert str(small.error) == "The limit is reached; try again later: others wait for builds."


def test_an_offer_gives_up_at_its_own_deadline_where_that_is_sooner():
    setup = GateSetup(max_messages=1, block_timeout_ms=100)
    setup.offer("1")
    hasty = setup.gate.offer(0, "hasty", 1, 1, lambda _now: None, deadline_ns=30 * NS_PER_MS)
    patient = setup.gate.offer(0, "patient", 1, 1, lambda _now: None, deadline_ns=500 * NS_PER_MS)
    setup.until(29)
    assert not hasty.done
    setup.until(30)
    assert fails(hasty) is ErrorCode.THROTTLED and not patient.done
    setup.until(100)
    assert fails(patient) is ErrorCode.THROTTLED


def test_reject_refuses_and_says_why():
    setup = GateSetup(max_messages=1, policy="reject")
    assert setup.offer("1").result() is OfferResult.ADMITTED
    assert setup.offer("2").result() is OfferResult.REFUSED
    [event] = setup.events
    assert (event.kind.value, event.topic, event.client, event.count) == ("rejected", "builds", "p", 1)
    assert event.cause == "builds is full: 1 of 1 messages, slowest reader mailer-1"


def test_drop_newest_drops_the_new_one():
    setup = GateSetup(max_messages=1, policy="drop_newest")
    setup.offer("1")
    assert setup.offer("2").result() is OfferResult.DROPPED
    assert setup.names() == ["1"]
    assert setup.gate.counts.dropped == 1


def test_drop_oldest_makes_room():
    setup = GateSetup(max_messages=2, policy="drop_oldest")
    for name in "1234":
        assert setup.offer(name).result() is OfferResult.ADMITTED
    assert setup.names() == ["3", "4"]


def test_drop_oldest_drops_the_new_one_where_nothing_can_go():
    setup = GateSetup(max_messages=1, policy="drop_oldest", evicts=False)
    setup.offer("1")
    assert setup.offer("2").result() is OfferResult.DROPPED


def test_priority_evict_makes_room_only_at_the_cost_of_the_less_urgent():
    setup = GateSetup(max_messages=2, policy="priority_evict")
    setup.offer("low", priority=2)
    setup.offer("mid", priority=1)
    assert setup.offer("mid 2", priority=1).result() is OfferResult.ADMITTED
    assert setup.names() == ["mid", "mid 2"]
    assert setup.offer("low 2", priority=2).result() is OfferResult.DROPPED
    assert setup.offer("mid 3", priority=1).result() is OfferResult.DROPPED
    assert setup.offer("high", priority=0).result() is OfferResult.ADMITTED
    assert setup.names() == ["mid 2", "high"]


def test_bytes_are_limited_as_messages_are():
    setup = GateSetup(max_messages=100, max_bytes=10, policy="reject")
    assert setup.offer("1", size=10).result() is OfferResult.ADMITTED
    assert setup.offer("2", size=1).result() is OfferResult.REFUSED
    assert setup.events[0].cause == "builds is full: 10 of 10 bytes, slowest reader mailer-1"


@pytest.mark.parametrize("policy", list(ANSWERS))
def test_what_can_never_fit_is_refused_at_once(policy):
    setup = GateSetup(max_messages=3, policy=policy)
    assert setup.offer("batch", count=4, size=4).result() is OfferResult.REFUSED
    assert setup.events[0].cause == "4 messages of 4 bytes are more than builds can ever take (3 messages)"
    assert setup.names() == []
    large = GateSetup(max_bytes=1_500, policy=policy)
    large.offer("one", size=2_000)
    assert large.events[0].cause == "1 message of 2000 bytes is more than builds can ever take (1,500 bytes)"


@pytest.mark.promise("A16")
def test_a_rate_lets_blocked_producers_in_when_their_time_comes():
    setup = GateSetup(rate_per_s=0.5, burst=1)
    replies = [setup.offer(name, name) for name in "123"]
    assert [reply.done for reply in replies] == [True, False, False]
    assert setup.events[0].cause == "builds takes at most 0.5 messages/s"
    setup.until(1_999)
    assert setup.names() == ["1"]
    setup.until(2_000)
    assert setup.names() == ["1", "2"]
    setup.until(3_000)
    assert setup.gate.view(setup.now_ns).tokens == 0.5
    setup.until(4_000)
    assert setup.names() == ["1", "2", "3"]
    assert [event.time_ns // NS_PER_MS for event in setup.events if event.kind.value == "producer_unblocked"] == [
        2_000,
        4_000,
    ]


@pytest.mark.parametrize(
    ("policy", "verdict"),
    [
        ("reject", OfferResult.REFUSED),
        ("drop_newest", OfferResult.DROPPED),
        ("drop_oldest", OfferResult.DROPPED),
        ("priority_evict", OfferResult.DROPPED),
    ],
)
def test_above_the_rate_nothing_is_evicted(policy, verdict):
    setup = GateSetup(rate_per_s=1, burst=1, policy=policy)
    setup.offer("1", priority=5)
    assert setup.offer("2").result() is verdict
    assert setup.names() == ["1"]
    setup.until(1_000)
    assert setup.offer("3").result() is OfferResult.ADMITTED


def test_room_and_rate_must_both_be_there():
    setup = GateSetup(max_messages=1, rate_per_s=1, burst=1)
    setup.offer("1")
    waiting = setup.offer("2")
    setup.now_ms = 400
    setup.consume()
    assert not waiting.done
    setup.until(1_000)
    assert setup.names() == ["2"]


def test_a_producer_that_stops_leaves_the_line():
    setup = GateSetup(max_messages=1)
    setup.offer("1")
    gone, next_one = setup.offer("2", "q"), setup.offer("3", "p")
    assert setup.gate.leave(setup.now_ns, "q") == 1
    assert fails(gone) is ErrorCode.CLOSED
    setup.consume()
    assert setup.names() == ["3"]
    assert next_one.result() is OfferResult.ADMITTED


def test_a_producer_that_stops_may_withdraw_the_rest_itself():
    setup = GateSetup(max_messages=1)
    setup.offer("1")
    first, second = setup.offer("2", "q"), setup.offer("3", "q")
    first.then(lambda _reply: setup.gate.withdraw(setup.now_ns, second))
    assert setup.gate.leave(setup.now_ns, "q") == 1
    assert (fails(first), fails(second)) == (ErrorCode.CLOSED, ErrorCode.REQUEST_TIMED_OUT)
    assert (setup.gate.waiting, setup.gate.counts.rejected) == (0, 2)


def test_an_error_in_storing_reaches_its_producer_and_nobody_else():
    setup = GateSetup(max_messages=1)
    setup.offer("1")
    broken, fine = setup.offer("2"), setup.offer("3")
    setup.error = BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")
    setup.inside.clear()
    reply = setup.offer("4")
    assert not reply.done
    setup.gate.room(0)
    assert fails(broken) is fails(fine) is fails(reply) is ErrorCode.STORAGE_ERROR
    setup.error = None
    assert setup.offer("5").result() is OfferResult.ADMITTED
    assert (setup.gate.counts.failed, setup.gate.counts.admitted, setup.gate.counts.offered) == (3, 2, 5)


def test_a_consumer_that_is_served_by_an_admission_may_come_straight_back():
    setup = GateSetup(max_messages=1)
    setup.offer("0")
    seen: list[str] = []

    def admit(name: str):
        def put(now_ns: int) -> None:
            seen.append(name)
            setup.gate.room(now_ns)  # as a consumer does that acknowledged at once

        return put

    replies = [setup.gate.offer(0, "p", 1, 1, admit(str(n))) for n in range(1, 2_000)]
    setup.consume()
    assert seen == [str(n) for n in range(1, 2_000)]
    assert all(reply.done for reply in replies)


def test_a_producer_is_blocked_once_however_many_offers_it_has_waiting():
    setup = GateSetup(max_messages=1)
    for name in "1234":
        setup.offer(name)
    assert setup.kinds() == [("producer_blocked", "p")]
    assert setup.gate.view(5 * NS_PER_MS).blocked == (("p", 0),)
    assert setup.gate.waiting == 3
    for _ in range(3):
        setup.consume()
    assert setup.kinds()[1:] == [("producer_unblocked", "p")]


@pytest.mark.promise("A22")
def test_the_view_shows_the_gauges():
    setup = GateSetup(max_messages=2, rate_per_s=10, burst=4, policy="block")
    for name in "123":
        setup.offer(name)
    view = setup.gate.view(7)
    assert (view.target, view.policy, view.depth, view.limit, view.slowest) == ("builds", "block", 2, 2, "mailer-1")
    assert view.rate_limit_per_s == 10
    assert view.tokens == 2 + 10 * 7 / 1e9
    assert (view.blocked, view.blocked_ns_total, view.rejected, view.dropped) == ((("p", 0),), 7, 0, 0)


def test_an_admission_that_fails_in_an_unforeseen_way_is_told_to_who_offered_and_to_nobody_else():
    setup = GateSetup(max_messages=1)
    setup.offer("1")
    waits = setup.offer("2")
    setup.error = RuntimeError("a fault")
    assert setup.consume() == ["1"]
    assert isinstance(waits.error, RuntimeError) and setup.gate.counts.failed == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"policy": "pray"},
        {"max_messages": 0},
        {"max_bytes": -1},
        {"rate_per_s": 0},
        {"burst": 5},
        {"rate_per_s": 1, "burst": 0.5},
        {"block_timeout_ms": 0},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(BrokerError) as caught:
        FlowConfig(**wrong)
    assert caught.value.code is ErrorCode.INVALID_CONFIG


steps = st.lists(
    st.one_of(
        st.tuples(st.just("offer"), st.integers(1, 4), st.integers(0, 30), st.integers(0, 3)),
        st.tuples(st.just("consume"), st.integers(1, 5), st.just(0), st.just(0)),
        st.tuples(st.just("wait"), st.integers(1, 2_000), st.just(0), st.just(0)),
        st.tuples(st.just("leave"), st.integers(0, 2), st.just(0), st.just(0)),
    ),
    max_size=60,
)


@pytest.mark.promise("C7", "16")
@settings(max_examples=examples(200))
@given(
    st.sampled_from(list(ANSWERS)),
    st.integers(1, 6),
    st.sampled_from([None, 25]),
    st.sampled_from([None, 0.75, 5.0]),
    st.sampled_from([None, 700]),
    steps,
)
@example("reject", 2, None, None, None, [("offer", 1, 0, 0)] * 3)
@example("reject", 6, 25, None, None, [("offer", 1, 13, 0)] * 2)
def test_depth_stays_below_the_limit_and_the_counters_add_up(policy, limit, max_bytes, rate, timeout_ms, steps):
    setup = GateSetup(
        policy=policy, max_messages=limit, max_bytes=max_bytes, rate_per_s=rate, block_timeout_ms=timeout_ms
    )
    order: list[str] = []
    counts = setup.gate.counts
    for step, number, size, priority in steps:
        if step == "offer":
            name = f"{len(order)}"
            order.append(name)
            setup.offer(name, "pqr"[number % 3], number, size // number * number, priority)
        elif step == "consume":
            setup.consume(number)
        elif step == "leave":
            setup.gate.leave(setup.now_ns, "pqr"[number])
        else:
            setup.until(setup.now_ms + number)
        messages, size_bytes, _ = setup.depth()
        assert messages <= limit
        assert max_bytes is None or size_bytes <= max_bytes
        view = setup.gate.view(setup.now_ns)
        assert (view.depth, view.limit) == (messages, limit)
        assert (view.depth_bytes, view.limit_bytes) == (0 if max_bytes is None else size_bytes, max_bytes)
        settled = counts.admitted + counts.rejected + counts.dropped + counts.failed
        assert counts.offered == settled + setup.gate.waiting
        assert policy == "block" or setup.gate.waiting == 0
        numbers = [int(name) for name in setup.names()]
        assert numbers == sorted(numbers)
        assert {client for client, _ in view.blocked} == blocked(setup)
        in_events = sum(event.count for event in setup.events if event.kind.value in ("rejected", "dropped"))
        assert in_events == counts.rejected + counts.dropped


def blocked(setup: GateSetup) -> set[str]:
    """Who is blocked, as the events tell it."""
    clients: set[str] = set()
    for kind, client in setup.kinds():
        if kind == "producer_blocked":
            assert client not in clients
            clients.add(client)
        elif kind == "producer_unblocked":
            clients.remove(client)
    return clients


def test_who_waits_is_refused_once_when_a_reader_that_refuses_is_full():
    setup = GateSetup(max_messages=1)
    setup.offer("1")
    waiting = setup.offer("2", "q")
    setup.gate.reader_obstacle = lambda _count: Obstacle(Answer.REFUSE, "mails is full", "mails")
    setup.consume()
    assert waiting.result() is OfferResult.REFUSED
    assert setup.gate.waiting == 0
    assert setup.kinds()[-2:] == [("producer_unblocked", "q"), ("rejected", "q")]
