"""Session time follows the wall clock, and says how far it lags where the engine cannot hold the speed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.clock import NS_PER_S, ns_from_s
from broker_core.engine.runner import MAX_LAG_S, STEADY_S, Pace


def started(speed: float = 1.0) -> Pace:
    pace = Pace()
    pace.speed = speed
    pace.start(100.0, 0)
    return pace


def driven(pace: Pace, share: float, seconds: float, wall_s: float = 100.0, session_ns: int = 0) -> tuple[float, int]:
    """An engine that gets through `share` of what is due, slot by slot; the wall and the session time at the end."""
    for _slot in range(round(seconds / 0.05)):
        wall_s += 0.05
        due_ns = pace.due_ns(wall_s)
        able_ns = session_ns + round(0.05 * share * pace.speed * NS_PER_S)
        session_ns = min(due_ns, able_ns)
        if session_ns >= due_ns:
            pace.kept(wall_s)
        else:
            pace.missed(wall_s, session_ns)
    return wall_s, session_ns


@pytest.mark.parametrize("speed", [0.1, 1.0, 10.0])
def test_who_keeps_up_is_never_behind(speed: float) -> None:
    pace = started(speed)
    _wall_s, session_ns = driven(pace, 1.5, 10)
    assert pace.behind_s == 0
    assert session_ns == pytest.approx(10 * speed * NS_PER_S)


@pytest.mark.parametrize("speed", [1.0, 10.0])
def test_who_does_half_of_it_is_behind_by_the_other_half(speed: float) -> None:
    pace = started(speed)
    driven(pace, 0.5, 10)
    assert pace.behind_s == pytest.approx(5 * speed, rel=0.02)


def test_a_small_debt_is_made_up_for_and_a_large_one_is_lost_and_told_until_the_speed_is_held_again() -> None:
    pace = started()
    pace.missed(100.4, 0)
    assert pace.due_ns(101) == NS_PER_S
    pace.missed(101, 0)
    assert (pace.behind_s, pace.due_ns(101)) == (1.0, 0), "no burst follows a stall"
    pace.kept(101.1)
    assert pace.behind_s == 1.0
    pace.kept(101 + STEADY_S + 0.1)
    assert pace.behind_s == 0.0


def test_what_was_lost_is_forgotten_with_a_new_beginning() -> None:
    pace = started()
    driven(pace, 0.5, 10)
    pace.start(200, NS_PER_S)
    assert (pace.behind_s, pace.due_ns(201)) == (0.0, 2 * NS_PER_S)


@given(st.floats(0.05, 0.9), st.floats(1, 20))
def test_what_came_and_what_is_behind_are_what_was_asked_for(share: float, seconds: float) -> None:
    pace = started(2.0)
    wall_s, session_ns = driven(pace, share, seconds)
    assert session_ns + ns_from_s(pace.behind_s) == pytest.approx((wall_s - 100) * 2 * NS_PER_S, abs=NS_PER_S * 0.01)
    assert pace.due_ns(wall_s) - session_ns <= MAX_LAG_S * 2 * NS_PER_S + 1


def test_the_next_event_is_waited_for_as_long_as_the_speed_says() -> None:
    assert started(10.0).wait_s(100.0, NS_PER_S) == pytest.approx(0.1)
    assert started().wait_s(105.0, NS_PER_S) == 0.0
