"""A limit on a rate, exact for any fraction and for however long it runs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from broker_core.clock import NS_PER_S
from broker_core.flow.token_bucket import TokenBucket

rates = st.floats(0.001, 1e6)
bursts = st.floats(1, 1e4)


def test_it_starts_full_and_refills_at_its_rate():
    bucket = TokenBucket(2, 3)
    assert [bucket.take(0) for _ in range(4)] == [0, 0, 0, NS_PER_S // 2]
    assert bucket.take(NS_PER_S // 2 - 1) == 1
    assert bucket.take(NS_PER_S // 2) == 0
    assert bucket.tokens(100 * NS_PER_S) == 3


@pytest.mark.promise("A16")
def test_a_third_of_a_message_per_second_is_one_in_three_seconds():
    bucket = TokenBucket(1 / 3, 1)
    assert bucket.take(0) == 0
    assert abs(bucket.take(0) - 3 * NS_PER_S) <= 1


def test_more_than_the_burst_waits_for_a_full_bucket_and_is_paid_back():
    bucket = TokenBucket(10, 5)
    assert bucket.take(0, 20) == 0
    assert bucket.tokens(0) == -15
    assert bucket.take(0) == 1_600_000_000
    assert bucket.take(0, 20) == 2_000_000_000


def test_a_clock_that_jumps_back_gives_nothing_and_takes_nothing():
    bucket = TokenBucket(1, 2)
    bucket.take(10 * NS_PER_S, 2)
    assert bucket.tokens(0) == 0
    assert bucket.tokens(10 * NS_PER_S) == 0
    assert bucket.tokens(11 * NS_PER_S) == 1


@given(rates, bursts, st.lists(st.tuples(st.integers(0, 10**10), st.integers(1, 20)), max_size=40))
def test_no_window_lets_through_more_than_burst_and_rate_allow(rate, burst, offers):
    bucket = TokenBucket(rate, burst)
    now_ns = 0
    taken: list[tuple[int, int]] = []
    for gap_ns, count in offers:
        assume(count <= burst)
        now_ns += gap_ns
        if bucket.take(now_ns, count) == 0:
            taken.append((now_ns, count))
    for first in range(len(taken)):
        passed = 0
        for time_ns, count in taken[first:]:
            passed += count
            allowed = Fraction(burst) + Fraction(rate) * (time_ns - taken[first][0]) / NS_PER_S
            assert passed <= allowed + 1


@given(rates, bursts, st.integers(1, 50), st.integers(0, 10**12))
def test_the_wait_it_names_is_enough_and_not_a_nanosecond_too_long(rate, burst, count, now_ns):
    bucket = TokenBucket(rate, burst)
    while bucket.take(now_ns, max(int(burst), 1)) == 0:
        pass
    wait_ns = bucket.wait_ns(now_ns, count)
    assert wait_ns > 0
    assert bucket.wait_ns(now_ns + wait_ns - 1, count) == 1
    assert bucket.take(now_ns + wait_ns, count) == 0


def test_a_long_run_loses_nothing_to_rounding():
    bucket = TokenBucket(0.7, 1)
    now_ns = taken = 0
    for _ in range(7_000):
        now_ns += bucket.wait_ns(now_ns)
        assert bucket.take(now_ns) == 0
        taken += 1
    # 6,999 intervals of 1/0.7 s, each rounded up to a whole nanosecond at most once.
    assert abs(now_ns - (taken - 1) / 0.7 * NS_PER_S) < 7_000
