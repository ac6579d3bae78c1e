"""How long a message waits for its next attempt."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.queues.jitter import Jitter
from broker_core.queues.retry import RetryKind, RetryPolicy
from tests.broker_core.queues.bench import Bench


@given(
    st.sampled_from(get_args(RetryKind)),
    st.floats(0, 1e7),
    st.floats(0, 1e7),
    st.floats(1, 1e3),
    st.integers(1, 10**6),
    st.floats(0, 1),
)
def test_a_delay_is_never_above_its_maximum_jitter_included(kind, base_ms, max_ms, factor, attempt, chance):
    delay_ns = RetryPolicy(kind, base_ms, max_ms, factor).delay_ns(attempt, chance)
    assert 0 <= delay_ns <= max_ms * NS_PER_MS


def test_the_four_policies():
    def delays_ms(kind: RetryKind, chance: float = 0.5) -> list[float]:
        policy = RetryPolicy(kind, 100, 1_000, 3)
        return [policy.delay_ns(attempt, chance) / NS_PER_MS for attempt in (1, 2, 3, 4)]

    assert delays_ms("none") == [0, 0, 0, 0]
    assert delays_ms("fixed") == [100, 100, 100, 100]
    assert delays_ms("exponential") == [100, 300, 900, 1_000]
    assert delays_ms("exponential_jitter") == [50, 150, 450, 500]
    assert delays_ms("exponential_jitter", 0.0) == [0, 0, 0, 0]


@given(st.floats(0, 1), st.floats(0, 1))
def test_jitter_grows_with_the_chance_it_is_given(one, other):
    policy = RetryPolicy("exponential_jitter", 100, 1_000, 3)
    low, high = sorted((one, other))
    assert policy.delay_ns(2, low) <= policy.delay_ns(2, high) <= 300 * NS_PER_MS


@pytest.mark.parametrize(
    "wrong", [("sometimes",), ("fixed", -1), ("fixed", 1, float("nan")), ("fixed", 1, 1, 0.5), ("fixed", float("inf"))]
)
def test_policies_that_make_no_sense_are_refused(wrong):
    with pytest.raises(BrokerError):
        RetryPolicy(*wrong)


def test_a_nacked_message_comes_back_after_its_delay_and_not_before():
    bench = Bench(retry=RetryPolicy("exponential", 100, 1_000, 2), max_attempts=4, lease_ms=5_000)
    bench.publish("one", "two")
    bench.nack(bench.take()[0])
    assert (bench.queue.ready, bench.queue.delayed) == (1, 1)
    assert bench.values() == ["two"]
    bench.until(99)
    assert bench.values() == []
    bench.until(100)
    [again] = bench.take()
    assert (again.offset, again.attempt) == (0, 2)
    bench.nack(again)
    bench.until(299)
    assert bench.queue.ready == 0
    bench.until(300)
    assert bench.queue.ready == 1


def test_a_delayed_message_goes_to_whoever_waits_and_keeps_its_place_before_later_ones():
    bench = Bench(retry=RetryPolicy("fixed", 50))
    bench.publish("one", "two", "three")
    bench.nack(bench.take()[0])
    bench.until(50)
    assert bench.values() == ["one", "two", "three"]
    bench.publish("four")
    bench.nack(bench.take("b")[0])
    waiting = bench.wait("c")
    bench.until(99)
    assert not waiting.done
    bench.until(100)
    assert [lease.offset for lease in waiting.result()] == [3]


def test_jitter_comes_from_outside():
    chances = iter([0.0, 0.9])
    bench = Bench(retry=RetryPolicy("exponential_jitter", 100), jitter=lambda: next(chances))
    bench.publish("one", "two")
    for lease in bench.take(most=2):
        bench.nack(lease)
    assert (bench.queue.ready, bench.queue.delayed) == (1, 1)
    bench.until(89)
    assert bench.queue.delayed == 1
    bench.until(90)
    assert bench.queue.delayed == 0


def test_an_expired_lease_has_been_wait_enough():
    bench = Bench(retry=RetryPolicy("fixed", 10_000))
    bench.publish("one")
    bench.take()
    bench.until(100)
    assert bench.queue.ready == 1


def test_a12_jitter_is_even_and_the_same_for_the_same_seed():
    first, again, other = Jitter(7), Jitter(7), Jitter(8)
    drawn = [first() for _ in range(4_000)]
    assert drawn == [again() for _ in range(4_000)] and drawn[0] != other()
    assert all(0 <= number < 1 for number in drawn)
    tenths = Counter(int(number * 10) for number in drawn)
    assert all(300 < count < 500 for count in tenths.values()) and len(tenths) == 10
