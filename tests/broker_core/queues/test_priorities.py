"""Which message is next where some are more urgent than others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker_core.clock import NS_PER_MS
from broker_core.limits import MAX_WAIT_MS
from broker_core.queues.lease import Lease
from tests.broker_core.queues.bench import Bench


def test_zero_is_the_most_urgent_and_equal_priorities_keep_their_order():
    bench = Bench(priorities=3)
    bench.publish("c1", level=2)
    bench.publish("b1", "b2", level=1)
    bench.publish("a1", level=0)
    bench.publish("c2", level=2)
    bench.publish("a2", level=0)
    assert bench.values() == ["a1", "a2", "b1", "b2", "c1", "c2"]


def test_without_ageing_the_least_urgent_waits_as_long_as_others_come():
    bench = Bench(priorities=2)
    bench.publish("patient", level=1)
    for time_ms in range(0, 10_000, 100):
        bench.until(time_ms)
        bench.publish("urgent")
        assert bench.values(most=1) == ["urgent"]


def test_a_message_rises_one_level_each_time_the_ageing_has_passed():
    bench = Bench(priorities=3, ageing_ms=1_000, lease_ms=100_000)
    bench.publish("old", level=2)
    bench.until(999)
    bench.publish("middle", level=1)
    assert bench.values(most=1) == ["middle"]
    bench.until(1_000)
    bench.publish("middle", level=1)
    assert bench.values(most=1) == ["old"]
    bench.publish("old", level=2)
    bench.until(2_999)
    bench.publish("urgent", level=0)
    # "middle" of 1 s has risen to 0, "old" of 1 s only to 1.
    assert bench.values() == ["middle", "urgent", "old"]


def test_evicting_for_room_takes_the_oldest_and_for_priority_the_least_urgent():
    bench = Bench(priorities=3)
    bench.publish("c1", "c2", level=2)
    bench.now_ms = 1
    bench.publish("a1", level=0)
    bench.publish("b1", level=1)
    assert not bench.queue.evict(0, 1, 0, 2)
    assert not bench.queue.evict(0, 4, 0, 0)
    assert bench.queue.evict(0, 3, 0, 0)
    assert bench.values() == ["a1"]
    assert bench.queue.counts.evicted == 3
    bench.publish("c3", level=2)
    bench.now_ms = 2
    bench.publish("a2", level=0)
    assert bench.queue.evict(0, 1, 0)
    assert bench.values() == ["a2"]


def test_evicting_for_bytes_takes_no_more_than_it_must_and_nothing_where_it_is_no_use():
    bench = Bench()
    bench.publish("a" * 10, "b" * 10, "c" * 10)
    bench.take()
    assert not bench.queue.evict(0, 0, 21)
    assert bench.queue.evict(0, 0, 11)
    assert (bench.queue.ready, bench.queue.in_flight, bench.queue.size_bytes) == (0, 1, 10)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.integers(0, 3)),
        st.tuples(st.just("take"), st.integers(1, 3)),
        st.tuples(st.just("wait"), st.integers(1, 700)),
        st.tuples(st.just("nack"), st.just(0)),
    ),
    max_size=60,
)


@given(steps)
def test_starvation_is_bounded(steps):
    """Once a message has waited its level times the ageing, nothing published after it is handed out before it."""
    ageing_ms = 1_000
    bench = Bench(priorities=4, ageing_ms=ageing_ms, lease_ms=MAX_WAIT_MS, max_attempts=1_000)
    waiting: dict[tuple[int, int], int] = {}
    held: list[Lease] = []
    for step, number in steps:
        if step == "publish":
            waiting[number, bench.publish("x", level=number)] = bench.now_ms
        elif step == "wait":
            bench.until(bench.now_ms + number)
        elif step == "nack" and held:
            lease = held.pop()
            bench.nack(lease)
            waiting[lease.partition, lease.offset] = lease.message.published_ns // NS_PER_MS
        elif step == "take":
            for lease in bench.take(most=number):
                taken_ms = waiting.pop((lease.partition, lease.offset))
                for (level, offset), published_ms in waiting.items():
                    risen = bench.now_ms - published_ms >= level * ageing_ms
                    assert not (risen and published_ms < taken_ms), "an older message that had risen was passed over"
                    # and within a level, the order of arrival holds always
                    assert not (level == lease.partition and offset < lease.offset)
                held.append(lease)
    assert bench.queue.ready == len(waiting)
