"""A queue behind a gate: who finishes a message makes room, and the counters of both add up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.flow.config import FlowConfig
from broker_core.flow.gate import Gate, OfferResult
from broker_core.queues.lease import Held
from broker_core.queues.queue import Queue
from broker_core.replies import Reply
from broker_core.settings import LimitPolicy
from tests.broker_core.queues.queue_setup import QueueSetup


class GatedBench(QueueSetup):
    """The depth is everything that is not finished, as in the broker."""

    def __init__(self, flow: FlowConfig, **config: Any) -> None:
        self.flow = flow
        self.gate: Gate | None = None
        super().__init__(**config)
        queue = self.queue

        def depth() -> tuple[int, int, str]:
            return queue.ready + queue.delayed + queue.in_flight, queue.size_bytes, "jobs"

        self.gate = Gate("jobs", flow, depth, self.stream, self.timers, evict=queue.evict)

    def new_queue(self) -> Queue:
        def room(now_ns: int) -> None:
            if self.gate is not None:
                self.gate.room(now_ns)

        return Queue(
            "jobs", self.log, self.dead_letters, self.stream, self.timers, self.config, jitter=self.jitter, room=room
        )

    def offer(self, value: str, level: int = 0) -> Reply[OfferResult]:
        assert self.gate is not None

        def admit(now_ns: int) -> None:
            self.now_ms = now_ns // 1_000_000
            self.publish(value, level=level)

        return self.gate.offer(self.now_ns, "p", 1, len(value), admit, priority=level)


@pytest.mark.promise("A8")
@pytest.mark.parametrize("ending", ["ack", "nack", "expiry", "purge", "ttl", "release"])
def test_whatever_finishes_a_message_lets_the_next_producer_in(ending):
    setup = GatedBench(FlowConfig(max_messages=1), max_attempts=1)
    if ending in ("purge", "ttl"):
        setup.publish("one", ttl_ms=10)
    else:
        setup.offer("one")
        [lease] = setup.take()
    waiting = setup.offer("two")
    assert not waiting.done
    if ending == "ack":
        setup.ack(lease)
    elif ending == "nack":
        setup.nack(lease)
    elif ending == "expiry":
        setup.until(100)
    elif ending == "purge":
        setup.queue.purge(0)
    elif ending == "ttl":
        setup.until(10)
        assert setup.values() == []
    else:
        setup.queue.release(0, Held(0, 0, "a"))
        assert not waiting.done
        return
    assert waiting.result() is OfferResult.ADMITTED
    assert setup.values() == ["two"]


def test_the_oldest_that_waits_makes_room_and_what_is_held_does_not():
    setup = GatedBench(FlowConfig(max_messages=2, policy="drop_oldest"))
    setup.offer("one")
    setup.take()
    setup.offer("two")
    assert setup.offer("three").result() is OfferResult.ADMITTED
    assert setup.values() == ["three"]
    assert setup.offer("four").result() is OfferResult.DROPPED


def test_the_least_urgent_makes_room_for_the_more_urgent():
    setup = GatedBench(FlowConfig(max_messages=2, policy="priority_evict"), priorities=3)
    setup.offer("low", 2)
    setup.offer("mid", 1)
    assert setup.offer("low too", 2).result() is OfferResult.DROPPED
    assert setup.offer("high", 0).result() is OfferResult.ADMITTED
    assert setup.values() == ["high", "mid"]


@pytest.mark.promise("C7")
@given(
    st.sampled_from(["block", "reject", "drop_newest", "drop_oldest", "priority_evict"]),
    st.lists(
        st.tuples(st.sampled_from(["offer", "take", "ack", "nack", "wait", "purge"]), st.integers(0, 2)), max_size=50
    ),
)
def test_c7_the_counters_add_up(policy: LimitPolicy, steps):
    """offered = accepted + rejected + dropped + parked; accepted = finished + evicted + purged + what is inside."""
    setup = GatedBench(FlowConfig(max_messages=3, policy=policy), priorities=3, max_attempts=2)
    assert setup.gate is not None
    held = []
    for step, number in steps:
        if step == "offer":
            setup.offer("x", number)
        elif step == "take":
            held += setup.take(most=number + 1)
        elif step == "wait":
            setup.until(setup.now_ms + 60 * number)
            held = [lease for lease in held if lease.deadline_ns > setup.now_ns]
        elif step == "purge":
            setup.queue.purge(setup.now_ns)
        elif held:
            (setup.ack if step == "ack" else setup.nack)(held.pop(number % len(held)))
        gate, queue, counts = setup.gate.counts, setup.queue, setup.queue.counts
        inside = queue.ready + queue.delayed + queue.in_flight
        assert inside <= 3
        assert gate.offered == gate.admitted + gate.rejected + gate.dropped + setup.gate.waiting
        assert gate.admitted == counts.acknowledged + counts.dead_lettered + counts.evicted + counts.purged + inside
        assert counts.delivered == (
            counts.acknowledged + counts.nacked + counts.lease_expired + counts.released + queue.in_flight
        )
        assert setup.gate.waiting == 0 or inside == 3
