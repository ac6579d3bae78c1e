"""The engine thread: modes, slots, commands, errors. It runs on the wall clock, so each wait has a deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from unittest.mock import patch

import pytest

from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.engine.loop import Loop
from broker_core.engine.runner import CHEAP_SNAPSHOT_S, Engine, Mode
from broker_core.errors import BrokerError
from broker_core.events import EventKind, EventStream
from broker_core.snapshots import Snapshot


class Ticking:
    """An event every millisecond of session time."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.events = EventStream()
        self.fail_at: int | None = None
        self.loop.spawn(self._tick(), "ticking")

    async def _tick(self) -> None:
        while True:
            await self.loop.wait_ns(NS_PER_MS)
            if self.events.count == self.fail_at:
                raise RuntimeError("the tick broke")
            self.events.emit(self.loop.now_ns, EventKind.FAULT)

    def snapshot(self) -> Snapshot:
        return Snapshot(self.loop.now_ns, self.events.count)

    def flush(self) -> None:
        pass


@pytest.fixture
def ticking() -> Ticking:
    return Ticking()


@pytest.fixture
def engine(ticking: Ticking) -> Iterator[Engine]:
    engine = Engine(ticking, until_ns=2 * NS_PER_S)
    yield engine
    engine.close()
    ticking.loop.close()


def eventually(condition: Callable[[], bool], engine: Engine) -> None:
    deadline_s = time.perf_counter() + 10
    while not condition():
        assert time.perf_counter() < deadline_s, engine.status
        engine.grant(0.005)
        time.sleep(0.001)


def test_it_begins_paused_and_steps_one_event_at_a_time(engine: Engine) -> None:
    for wanted in (1, 2, 3):
        engine.step()
        eventually(partial(lambda count: engine.latest.events == count, wanted), engine)
        assert engine.latest.time_ns == wanted * NS_PER_MS
    assert engine.status.mode is Mode.PAUSED


def test_express_runs_to_the_end_and_stays_there(engine: Engine) -> None:
    engine.express()
    eventually(lambda: engine.status.mode is Mode.FINISHED, engine)
    assert engine.latest.time_ns == 2 * NS_PER_S
    assert engine.latest.events == 2_000
    engine.run()
    engine.post(lambda: None).result(10)
    assert engine.status.mode is Mode.FINISHED


def test_session_time_follows_the_speed(engine: Engine) -> None:
    started_s = time.perf_counter()
    engine.run(speed=4.0)
    eventually(lambda: engine.latest.time_ns >= NS_PER_S, engine)
    # Never faster than asked; how much slower is the machine's affair.
    assert time.perf_counter() - started_s >= 0.25
    engine.pause()
    eventually(lambda: engine.status.mode is Mode.PAUSED, engine)
    stopped_ns = engine.status.time_ns
    engine.post(lambda: None).result(10)
    assert engine.status.time_ns == stopped_ns


def test_a_command_runs_in_the_engine_and_its_error_comes_back(engine: Engine, ticking: Ticking) -> None:
    assert engine.post(lambda: ticking.loop.now_ns).result(10) == 0

    def wrong() -> None:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        engine.post(wrong).result(10)
    assert engine.status.mode is Mode.PAUSED


def test_an_error_of_the_simulation_is_told_and_the_thread_lives_on(engine: Engine, ticking: Ticking) -> None:
    ticking.fail_at = 5
    engine.express()
    eventually(lambda: engine.status.mode is Mode.FAILED, engine)
    assert engine.status.error == "The session stopped at 0.006 s: the tick broke"
    assert engine.post(lambda: "alive").result(10) == "alive"


def test_it_goes_on_when_the_window_grants_nothing(engine: Engine) -> None:
    engine.express()
    deadline_s = time.perf_counter() + 10
    while engine.status.mode is not Mode.FINISHED:
        assert time.perf_counter() < deadline_s
        time.sleep(0.01)


def test_it_goes_on_without_grants_while_it_is_asked_all_the_time(engine: Engine, ticking: Ticking) -> None:
    engine.run()
    deadline_s = time.perf_counter() + 10
    while engine.ask(lambda: ticking.loop.now_ns) == 0:
        assert time.perf_counter() < deadline_s
        time.sleep(0.01)


def test_a_command_whose_caller_has_given_up_is_passed_over(engine: Engine) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        entered.set()
        go_on.wait(10)

    engine.post(wait)
    assert entered.wait(10)
    ran: list[int] = []
    given_up = engine.post(lambda: ran.append(1))
    never = engine.run_background(lambda _enough: True)
    assert given_up.cancel() and never.cancel()
    go_on.set()
    assert engine.ask(lambda: "alive") == "alive"
    assert (ran, engine.status.mode) == ([], Mode.PAUSED)


def test_a_failed_check_is_told_by_its_kind(engine: Engine, ticking: Ticking) -> None:
    with patch.object(ticking.loop, "run_next", side_effect=AssertionError):
        engine.express()
        eventually(lambda: engine.status.mode is Mode.FAILED, engine)
    assert engine.status.error == "The session stopped at 0.000 s: AssertionError()"


def test_a_closed_engine_refuses_commands_instead_of_never_answering(ticking: Ticking) -> None:
    engine = Engine(ticking)
    engine.close()
    with pytest.raises(BrokerError, match="the session has ended"):
        engine.post(lambda: None).result(10)
    ticking.loop.close()


def test_a_speed_must_be_above_zero(engine: Engine) -> None:
    with pytest.raises(ValueError, match="above 0"):
        engine.run(speed=0)


class _Large(Ticking):
    """A broker with so much that a snapshot of it takes long."""

    def __init__(self) -> None:
        super().__init__()
        self.snapshots = 0

    def snapshot(self) -> Snapshot:
        self.snapshots += 1
        time.sleep(3 * CHEAP_SNAPSHOT_S)
        return super().snapshot()


def test_a_snapshot_that_takes_long_is_taken_now_and_then_and_comes_to_be_the_present() -> None:
    large = _Large()
    engine = Engine(large, until_ns=NS_PER_S)
    try:
        engine.express()
        slots = 0
        while engine.status.mode is not Mode.FINISHED or engine.latest.time_ns < NS_PER_S:
            engine.grant(0.001)
            time.sleep(0.002)
            slots += 1
            assert slots < 10_000
        worked = engine.post(lambda: large.snapshots).result()
        assert worked < slots / 2
    finally:
        engine.close()
        large.loop.close()


class _Quiet(Ticking):
    """Nothing is due before `first_ns`, and then one event; or nothing ever for None."""

    def __init__(self, first_ns: int | None) -> None:
        self.loop, self.events = Loop(), EventStream()
        if first_ns is not None:
            self.loop.timers.at(first_ns, lambda now_ns: self.events.emit(now_ns, EventKind.FAULT))


@pytest.mark.parametrize(("first_h", "until_h"), [(2, 3), (None, 3), (2, None)])
def test_a_session_in_which_nothing_is_due_for_hours_steps_and_ends(first_h: int | None, until_h: int | None) -> None:
    hour_ns = 3_600 * NS_PER_S
    quiet = _Quiet(None if first_h is None else first_h * hour_ns)
    engine = Engine(quiet, until_ns=None if until_h is None else until_h * hour_ns)
    engine.step().result(10)
    assert (engine.status.time_ns, quiet.events.count) == ((first_h or until_h or 0) * hour_ns, int(first_h == 2))
    engine.express()
    eventually(lambda: engine.status.mode is Mode.FINISHED, engine)
    assert engine.status.time_ns == (until_h or first_h or 0) * hour_ns
    engine.close()


def test_express_reaches_what_is_due_in_hours() -> None:
    engine = Engine(_Quiet(2 * 3_600 * NS_PER_S), until_ns=3 * 3_600 * NS_PER_S)
    engine.express()
    eventually(lambda: engine.status.mode is Mode.FINISHED, engine)
    assert engine.latest.events == 1
    engine.close()
