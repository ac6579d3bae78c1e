"""Which message is next where some are more urgent than others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.clock import NS_PER_MS
from broker_core.limits import MAX_WAIT_MS
from broker_core.queues.lease import Lease
from tests.broker_core.queues.queue_setup import QueueSetup


@pytest.mark.promise("A9")
def test_zero_is_the_most_urgent_and_equal_priorities_keep_their_order():
    setup = QueueSetup(priorities=3)
    setup.publish("c1", level=2)
    setup.publish("b1", "b2", level=1)
    setup.publish("a1", level=0)
    setup.publish("c2", level=2)
    setup.publish("a2", level=0)
    assert setup.values() == ["a1", "a2", "b1", "b2", "c1", "c2"]


def test_without_ageing_the_least_urgent_waits_as_long_as_others_come():
    setup = QueueSetup(priorities=2)
    setup.publish("patient", level=1)
    for time_ms in range(0, 10_000, 100):
        setup.until(time_ms)
        setup.publish("urgent")
        assert setup.values(most=1) == ["urgent"]


@pytest.mark.promise("A9")
def test_a_message_rises_one_level_each_time_the_ageing_has_passed():
    setup = QueueSetup(priorities=3, ageing_ms=1_000, lease_ms=100_000)
    setup.publish("old", level=2)
    setup.until(999)
    setup.publish("middle", level=1)
    assert setup.values(most=1) == ["middle"]
    setup.until(1_000)
    setup.publish("middle", level=1)
    assert setup.values(most=1) == ["old"]
    setup.publish("old", level=2)
    setup.until(2_999)
    setup.publish("urgent", level=0)
    # "middle" of 1 s has risen to 0, "old" of 1 s only to 1.
    assert setup.values() == ["middle", "urgent", "old"]


def test_evicting_for_room_takes_the_oldest_and_for_priority_the_least_urgent():
    setup = QueueSetup(priorities=3)
    setup.publish("c1", "c2", level=2)
    setup.now_ms = 1
    setup.publish("a1", level=0)
    setup.publish("b1", level=1)
    assert not setup.queue.evict(0, 1, 0, 2)
    assert not setup.queue.evict(0, 4, 0, 0)
    assert setup.queue.evict(0, 3, 0, 0)
    assert setup.values() == ["a1"]
    assert setup.queue.counts.evicted == 3
    setup.publish("c3", level=2)
    setup.now_ms = 2
    setup.publish("a2", level=0)
    assert setup.queue.evict(0, 1, 0)
    assert setup.values() == ["a2"]


def test_evicting_for_bytes_takes_no_more_than_it_must_and_nothing_where_it_is_no_use():
    setup = QueueSetup()
    setup.publish("a" * 10, "b" * 10, "c" * 10)
    setup.take()
    assert not setup.queue.evict(0, 0, 21)
    assert setup.queue.evict(0, 0, 11)
    assert (setup.queue.ready, setup.queue.in_flight, setup.queue.size_bytes) == (0, 1, 10)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.integers(0, 3)),
        st.tuples(st.just("take"), st.integers(1, 3)),
        st.tuples(st.just("wait"), st.integers(1, 700)),
        st.tuples(st.just("nack"), st.just(0)),
    ),
    max_size=60,
)


@pytest.mark.promise("A9", "11")
@given(steps)
def test_starvation_is_bounded(steps):
    """Once a message has waited its level times the ageing, nothing published after it is handed out before it."""
    ageing_ms = 1_000
    setup = QueueSetup(priorities=4, ageing_ms=ageing_ms, lease_ms=MAX_WAIT_MS, max_attempts=1_000)
    waiting: dict[tuple[int, int], int] = {}
    held: list[Lease] = []
    for step, number in steps:
        if step == "publish":
            waiting[number, setup.publish("x", level=number)] = setup.now_ms
        elif step == "wait":
            setup.until(setup.now_ms + number)
        elif step == "nack" and held:
            lease = held.pop()
            setup.nack(lease)
            waiting[lease.partition, lease.offset] = lease.message.published_ns // NS_PER_MS
        elif step == "take":
            for lease in setup.take(most=number):
                taken_ms = waiting.pop((lease.partition, lease.offset))
                for (level, offset), published_ms in waiting.items():
                    risen = setup.now_ms - published_ms >= level * ageing_ms
                    assert not (risen and published_ms < taken_ms), "an older message that had risen was passed over"
                    # and within a level, the order of arrival holds always
                    assert not (level == lease.partition and offset < lease.offset)
                held.append(lease)
    assert setup.queue.ready == len(waiting)
