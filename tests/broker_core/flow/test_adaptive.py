"""A producer's pace that gives way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.events import EventStream
from broker_core.flow.adaptive import AdaptiveInterval
from broker_core.flow.config import FlowConfig
from broker_core.flow.gate import Gate, OfferResult
from broker_core.timers import Timers


@given(st.floats(1e-3, 1e3), st.lists(st.booleans(), max_size=50))
def test_it_is_never_faster_than_its_base(base_s, outcomes):
    interval = AdaptiveInterval(base_s)
    for accepted in outcomes:
        before = interval.interval_s
        after = interval.accepted() if accepted else interval.refused()
        assert after >= base_s
        assert after == (max(base_s, before / 1.5) if accepted else before * 2)


@pytest.mark.promise("C4")
def test_c4_adaptive_backpressure_gives_the_measured_figures():
    """Checklist C4 and C8, "backpressure": times are floats that accumulate, `until` is inclusive.

    A put hands straight over to a waiting consumer: the capacity of 5 does not count what is being processed.
    """
    until_s, processing_s = 30.0, 2.0
    timers = Timers()
    queue: list[int] = []
    received: list[int] = []
    dropped: list[int] = []
    working = False
    gate = Gate("orders", FlowConfig(5, policy="drop_newest"), lambda: (len(queue), 0, "slow"), EventStream(), timers)
    interval = AdaptiveInterval(0.5, 2.0, 1.5)
    published = 0

    def ns(time_s: float) -> int:
        return round(time_s * 1e9)

    def work(message: int, time_s: float) -> None:
        nonlocal working
        working = True
        received.append(message)

        def done(_: int) -> None:
            nonlocal working
            working = False
            if queue:
                work(queue.pop(0), time_s + processing_s)

        timers.at(ns(time_s + processing_s), done)

    def publish(time_s: float) -> None:
        nonlocal published
        published += 1
        message = published

        def admit(_: int) -> None:
            if working:
                queue.append(message)
            else:
                work(message, time_s)

        if gate.offer(ns(time_s), "p", 1, 1, admit).result() is OfferResult.ADMITTED:
            step_s = interval.accepted()
        else:
            dropped.append(message)
            step_s = interval.refused()
        next_s = time_s + step_s
        timers.at(ns(next_s), lambda _: publish(next_s))

    publish(0.0)
    while timers.fire_next(ns(until_s)) is not None:
        pass
    assert dropped == [8, 10, 12, 15, 17, 21, 23, 25, 29]
    assert (published, gate.counts.admitted, gate.counts.dropped) == (29, 20, 9)
    assert received == [1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 14, 16, 18, 19, 20, 22]
    assert queue == [24, 26, 27, 28]
    assert interval.interval_s == 1.3153871580601926
