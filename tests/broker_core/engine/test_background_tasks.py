"""Background tasks: work that moves session time by itself, a slot at a time, until it is done or given up."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from broker_core.clock import NS_PER_S
from broker_core.engine.runner import Engine, Mode
from broker_core.errors import BrokerError, ErrorCode
from broker_core.snapshots import Snapshot
from tests.broker_core.engine.test_runner import Ticking, engine, eventually, ticking

__all__ = ["engine", "ticking"]


def to(ticking: Ticking, events: int) -> Callable[[Callable[[], bool]], bool]:
    """Runs up to so many events."""

    def task(enough: Callable[[], bool]) -> bool:
        while not enough():
            ticking.loop.run_next(2 * NS_PER_S)
            if ticking.events.count >= events:
                return True
        return False

    return task


def test_it_is_done_in_slots_and_the_session_pauses_right_there(engine: Engine, ticking: Ticking) -> None:
    done = engine.run_background(to(ticking, 700))
    eventually(done.done, engine)
    assert done.result() is True
    assert (engine.status.mode, engine.latest.events) == (Mode.PAUSED, 700)


def test_a_pause_or_a_run_gives_it_up(engine: Engine, ticking: Ticking) -> None:
    never = engine.run_background(lambda enough: not enough())
    engine.pause()
    eventually(never.done, engine)
    assert never.result() is False
    assert str(engine.status.mode) == "paused"
    again = engine.run_background(to(ticking, 10**9))
    engine.run(1.0)
    eventually(again.done, engine)
    assert again.result() is False
    assert str(engine.status.mode) == "running"


def test_what_it_raises_comes_back_and_the_session_can_go_on(engine: Engine) -> None:
    def task(_enough: Callable[[], bool]) -> bool:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "no such thing")

    done = engine.run_background(task)
    eventually(done.done, engine)
    with pytest.raises(BrokerError, match="no such thing"):
        done.result()
    engine.express()
    eventually(lambda: engine.status.mode is Mode.FINISHED, engine)


def test_one_that_breaks_fails_the_session_and_is_not_left_waiting(engine: Engine, ticking: Ticking) -> None:
    ticking.fail_at = 50
    done = engine.run_background(to(ticking, 700))
    eventually(done.done, engine)
    assert done.result() is False and engine.status.mode is Mode.FAILED


def test_at_the_end_of_the_session_it_is_finished(engine: Engine, ticking: Ticking) -> None:
    def task(_enough: Callable[[], bool]) -> bool:
        ticking.loop.run_until(2 * NS_PER_S)
        return True

    done = engine.run_background(task)
    eventually(done.done, engine)
    assert engine.status.mode is Mode.FINISHED
    late = engine.run_background(task)
    eventually(late.done, engine)
    assert late.result() is False


def test_closing_gives_it_up_and_a_closed_engine_refuses_it(ticking: Ticking) -> None:
    engine = Engine(ticking)
    done = engine.run_background(to(ticking, 10**9))
    engine.close()
    assert done.result(1) is False
    with pytest.raises(BrokerError):
        engine.run_background(to(ticking, 1)).result(1)
    ticking.loop.close()


def test_it_is_given_up_where_no_snapshot_can_be_taken_at_its_end(engine: Engine, ticking: Ticking) -> None:
    def fails() -> Snapshot:
        raise RuntimeError("no snapshot")

    def task(_enough: Callable[[], bool]) -> bool:
        ticking.snapshot = fails  # type: ignore[method-assign]
        return True

    done = engine.run_background(task)
    eventually(done.done, engine)
    assert done.result() is False
    assert "no snapshot" in engine.status.error
