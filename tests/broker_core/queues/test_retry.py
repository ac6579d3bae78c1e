"""How long a message waits for its next attempt."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.jitter import Jitter
from broker_core.queues.config import RetryKind, RetryPolicy
from tests.broker_core.queues.queue_setup import QueueSetup


@pytest.mark.promise("A12")
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


@pytest.mark.promise("A12")
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


@pytest.mark.promise("A12")
def test_a_nacked_message_comes_back_after_its_delay_and_not_before():
    setup = QueueSetup(retry=RetryPolicy("exponential", 100, 1_000, 2), max_attempts=4, lease_ms=5_000)
    setup.publish("one", "two")
    setup.nack(setup.take()[0])
    assert (setup.queue.ready, setup.queue.delayed) == (1, 1)
    assert setup.values() == ["two"]
    setup.until(99)
    assert setup.values() == []
    setup.until(100)
    [again] = setup.take()
    assert (again.offset, again.attempt) == (0, 2)
    setup.nack(again)
    setup.until(299)
    assert setup.queue.ready == 0
    setup.until(300)
    assert setup.queue.ready == 1


def test_a_delayed_message_goes_to_whoever_waits_and_keeps_its_place_before_later_ones():
    setup = QueueSetup(retry=RetryPolicy("fixed", 50))
    setup.publish("one", "two", "three")
    setup.nack(setup.take()[0])
    setup.until(50)
    assert setup.values() == ["one", "two", "three"]
    setup.publish("four")
    setup.nack(setup.take("b")[0])
    waiting = setup.wait("c")
    setup.until(99)
    assert not waiting.done
    setup.until(100)
    assert [lease.offset for lease in waiting.result()] == [3]


def test_jitter_comes_from_outside():
    chances = iter([0.0, 0.9])
    setup = QueueSetup(retry=RetryPolicy("exponential_jitter", 100), jitter=lambda: next(chances))
    setup.publish("one", "two")
    for lease in setup.take(most=2):
        setup.nack(lease)
    assert (setup.queue.ready, setup.queue.delayed) == (1, 1)
    setup.until(89)
    assert setup.queue.delayed == 1
    setup.until(90)
    assert setup.queue.delayed == 0


def test_an_expired_lease_has_been_wait_enough():
    setup = QueueSetup(retry=RetryPolicy("fixed", 10_000))
    setup.publish("one")
    setup.take()
    setup.until(100)
    assert setup.queue.ready == 1


def test_a12_jitter_is_even_and_the_same_for_the_same_seed():
    first, again, other = Jitter(7), Jitter(7), Jitter(8)
    drawn = [first() for _ in range(4_000)]
    assert drawn == [again() for _ in range(4_000)] and drawn[0] != other()
    assert all(0 <= number < 1 for number in drawn)
    tenths = Counter(int(number * 10) for number in drawn)
    assert all(300 < count < 500 for count in tenths.values()) and len(tenths) == 10
