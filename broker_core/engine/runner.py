"""The engine thread: it runs a simulation in session time, in slots between the frames of a window.

Under the GIL, a broker that runs freely slows a window down to a few frames a second. So they take turns: the window
draws a frame and grants a slot; the engine works until its budget is spent, takes a snapshot, and waits for the next.
"""

from __future__ import annotations

import enum
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

import msgspec

from broker_core.clock import NS_PER_S, s_from_ns
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventStream
from broker_core.snapshots import Snapshot

T = TypeVar("T")

# The lag, in wall seconds, that is caught up. A larger one is dropped: a stall must not cause a burst.
MAX_LAG_S = 0.5
STEADY_S = 0.5  # wall seconds without a lag after which `behind_s` is 0 again
# Without a grant for this long the window is blocked (by a native dialog, for example): the engine continues alone.
GRANT_TIMEOUT_S = 0.25
UNGRANTED_SLOT_S = 0.02
# Reading the clock costs as much as a small step of the broker.
STEPS_PER_CLOCK_LOOK = 8
# Interval of `flush`; a crash loses at most this much.
FLUSH_S = 0.25
# A snapshot of ten thousand topics takes a third of a second. After one above CHEAP_SNAPSHOT_S, the next follows after
# SNAPSHOT_RESTS times its cost, so that most of the time remains for the broker.
CHEAP_SNAPSHOT_S = 0.01
SNAPSHOT_RESTS = 4


class Pace:
    """The pace of an engine. `wall_s` is any monotonic clock in seconds; session times are in ns."""

    def __init__(self) -> None:
        self.speed = 1.0
        self._anchor: tuple[float, int] = (0.0, 0)
        self._dropped_ns = 0
        self._lag_ns = 0
        self._missed_at_s = 0.0

    def start(self, wall_s: float, session_ns: int) -> None:
        """Session time passes at `speed` from here; an earlier lag is forgotten."""
        self._anchor = (wall_s, session_ns)
        self._dropped_ns = self._lag_ns = 0

    def due_ns(self, wall_s: float) -> int:
        began_s, began_ns = self._anchor
        return began_ns + round((wall_s - began_s) * self.speed * NS_PER_S)

    def wait_s(self, wall_s: float, session_ns: int) -> float:
        began_s, began_ns = self._anchor
        return max(0.0, began_s + s_from_ns(session_ns - began_ns) / self.speed - wall_s)

    def kept(self, wall_s: float) -> None:
        self._lag_ns = 0
        if wall_s - self._missed_at_s > STEADY_S:
            self._dropped_ns = 0

    def missed(self, wall_s: float, session_ns: int) -> None:
        """Session time has only reached `session_ns`. A lag above MAX_LAG_S is dropped."""
        self._missed_at_s = wall_s
        self._lag_ns = max(0, self.due_ns(wall_s) - session_ns)
        if self._lag_ns > MAX_LAG_S * self.speed * NS_PER_S:
            self._dropped_ns += self._lag_ns
            self._lag_ns = 0
            self._anchor = (wall_s, session_ns)

    @property
    def behind_s(self) -> float:
        """Session seconds lagged or dropped since the engine last kept up; 0.0 while it does."""
        return s_from_ns(self._dropped_ns + self._lag_ns)


class Mode(enum.StrEnum):
    PAUSED = "paused"
    RUNNING = "running"
    EXPRESS = "express"
    BACKGROUND = "background"
    FINISHED = "finished"
    FAILED = "failed"


#: A task that advances the loop itself. It is called once a slot with a function that returns True when the slot is
#: over, and returns True when the task is done.
BackgroundTask = Callable[[Callable[[], bool]], bool]


class Driven(Protocol):
    loop: Loop
    events: EventStream

    def snapshot(self) -> Snapshot:
        """The state at the loop's present time."""

    def flush(self) -> None:
        """Write pending changes."""


class EngineStatus(msgspec.Struct, frozen=True):
    """The status of the engine. `behind_s` is its lag in session seconds, `error` the sentence of a failed
    session, otherwise "".
    """

    mode: Mode
    speed: float
    time_ns: int
    behind_s: float
    error: str


class Engine:
    """Owns the thread. All methods are thread-safe; all but `ask`, `refresh` and `close` return at once."""

    def __init__(
        self,
        driven: Driven,
        *,
        until_ns: int | None = None,
        shared: bool = True,
        between: Callable[[], object] = lambda: None,
    ) -> None:
        """With `shared` the engine works only in time slots given by `grant`, otherwise whenever something is due.

        `between()` is called every few steps while time passes.
        """
        self._driven = driven
        self._between = between
        self._until_ns = until_ns
        self._open_ended = False
        self._shared = shared
        self._mode = Mode.PAUSED
        self._pace = Pace()
        self._error = ""
        self.worked_s = 0.0  # wall time that the thread has worked
        self._commands: deque[Callable[[], None]] = deque()
        self._background: tuple[BackgroundTask, Future[bool]] | None = None
        self._wake = threading.Condition()
        self._budget_s = 0.0
        self._ungranted_at_s = time.perf_counter() + GRANT_TIMEOUT_S  # when the next slot begins without a grant
        self._closing = False
        self._flushed_s = 0.0
        self._next_snapshot_s = self._snapshot_cost_s = 0.0
        self.latest = driven.snapshot()
        self._thread = threading.Thread(target=self._work, name="engine", daemon=True)
        self._thread.start()

    # -- from other threads

    def grant(self, budget_s: float) -> None:
        with self._wake:
            self._budget_s = budget_s
            self._wake.notify()

    def post(self, command: Callable[[], T]) -> Future[T]:
        """Run `command` in the engine's thread between two steps. The future gets its result or error.

        After `close` the future gets a CLOSED error.
        """
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(command())
            except Exception as error:
                future.set_exception(error)

        with self._wake:
            if self._closing:
                future.set_exception(BrokerError(ErrorCode.CLOSED, "the session has ended"))
                return future
            self._commands.append(run)
            self._wake.notify()
        return future

    def ask(self, command: Callable[[], T]) -> T:
        """`post`, and wait for the result. In the engine's own thread the command runs at once."""
        if threading.current_thread() is self._thread:
            return command()
        return self.post(command).result()

    @property
    def is_paused(self) -> bool:
        return self._mode is Mode.PAUSED

    def run(self, speed: float = 1.0) -> None:
        if speed <= 0:
            raise ValueError(f"The speed must be above 0, not {speed}.")

        def start() -> None:
            self._pace.speed = speed
            self._set_mode(Mode.RUNNING)

        self.post(start)

    def express(self) -> None:
        self.post(lambda: self._set_mode(Mode.EXPRESS))

    def pause(self) -> None:
        self.post(lambda: self._set_mode(Mode.PAUSED))

    def step(self) -> Future[None]:
        """Pause, and advance to the next event. The future is done when it has happened."""

        def pause_and_step() -> None:
            self._set_mode(Mode.PAUSED)
            if self._mode is Mode.PAUSED:
                self._step()

        return self.post(pause_and_step)

    def run_background(self, task: BackgroundTask) -> Future[bool]:
        """Run `task` as fast as possible, then pause.

        The future gets True when the task is done, False if another command replaced it or the session failed, or the
        `BrokerError` that the task raised.
        """
        future: Future[bool] = Future()

        def start() -> None:
            if not future.set_running_or_notify_cancel():
                return
            self._set_mode(Mode.BACKGROUND)
            if self._mode is Mode.BACKGROUND:
                self._background = (task, future)
            else:
                future.set_result(False)

        started = self.post(start)
        if started.done() and (error := started.exception()) is not None:  # it is closed
            future.set_exception(error)
        return future

    def run_open_ended(self) -> None:
        """Let the session run without an end of its own from now on. What has finished stays finished."""

        def go_past_the_end() -> None:
            self._until_ns = None
            self._open_ended = True

        self.post(go_past_the_end)

    def refresh(self) -> None:
        self.post(self._take_snapshot).result()

    def close(self) -> None:
        """End the thread. Commands posted before are still run."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()
        self._drop_background()

    @property
    def status(self) -> EngineStatus:
        behind_s = self._pace.behind_s if self._mode is Mode.RUNNING else 0.0
        return EngineStatus(self._mode, self._pace.speed, self._driven.loop.now_ns, behind_s, self._error)

    # -- the thread

    def _set_mode(self, mode: Mode) -> None:
        if self._mode in {Mode.FAILED, Mode.FINISHED}:
            return
        self._drop_background()
        self._mode = mode
        self._pace.start(time.perf_counter(), self._driven.loop.now_ns)

    def _work(self) -> None:
        while True:
            with self._wake:
                if not (self._budget_s > 0 or self._commands or self._closing):
                    self._wake.wait(self._ungranted_at_s - time.perf_counter() if self._shared else self._idle_s())
                if self._closing and not self._commands:
                    return
                granted = self._budget_s > 0
                budget_s, self._budget_s = self._budget_s or UNGRANTED_SLOT_S, 0.0
            started = time.perf_counter()
            if self._shared and not granted and started < self._ungranted_at_s:
                # Commands are run between slots, too; time passes in slots only.
                self._run_commands()
                continue
            self._slot(started + budget_s)
            ended = time.perf_counter()
            self.worked_s += ended - started
            self._ungranted_at_s = ended + GRANT_TIMEOUT_S

    def _idle_s(self) -> float:
        if self._mode in {Mode.EXPRESS, Mode.BACKGROUND}:
            return 0.0
        next_ns = self._driven.loop.next_ns()
        if self._mode is not Mode.RUNNING or next_ns is None:
            return GRANT_TIMEOUT_S
        return self._pace.wait_s(time.perf_counter(), next_ns)

    def _run_commands(self) -> None:
        while self._commands:
            self._commands.popleft()()

    def _slot(self, end_s: float) -> None:
        try:
            self._run_commands()
            if self._mode in {Mode.RUNNING, Mode.EXPRESS}:
                # What the snapshot will cost is part of the slot, as long as it leaves half of it.
                self._advance(end_s - min(self._snapshot_cost_s, (end_s - time.perf_counter()) / 2))
            elif self._mode is Mode.BACKGROUND:
                self._advance_background(end_s)
            if time.perf_counter() - self._flushed_s >= FLUSH_S:
                self._driven.flush()
                self._flushed_s = time.perf_counter()
            if time.perf_counter() >= self._next_snapshot_s:
                self._take_snapshot()
        except Exception as error:
            self._drop_background()
            self._mode = Mode.FAILED
            self._error = (
                f"The session stopped at {s_from_ns(self._driven.loop.now_ns):.3f} s: {str(error) or repr(error)}"
            )

    def _take_snapshot(self) -> None:
        started_s = time.perf_counter()
        self.latest = self._driven.snapshot()
        ended_s = time.perf_counter()
        self._snapshot_cost_s = cost_s = ended_s - started_s
        self._next_snapshot_s = ended_s + (SNAPSHOT_RESTS * cost_s if cost_s > CHEAP_SNAPSHOT_S else 0.0)

    def _advance_background(self, end_s: float) -> None:
        assert self._background is not None
        task, future = self._background

        def over() -> bool:
            self._between()
            return time.perf_counter() >= end_s

        try:
            done = task(over)
        except BrokerError as error:
            # The task failed; the session is paused at the time that it has reached.
            self._background, self._mode = None, Mode.PAUSED
            future.set_exception(error)
            return
        if done:
            self._mode = Mode.PAUSED
            self._finish_if_over(self._driven.loop.now_ns)
            self._take_snapshot()
            self._background = None
            future.set_result(True)

    def _drop_background(self) -> None:
        if self._background is not None:
            _background, future = self._background
            self._background = None
            future.set_result(False)

    def _limit_ns(self, time_ns: int) -> int:
        return time_ns if self._until_ns is None else min(time_ns, self._until_ns)

    def _advance(self, end_s: float) -> None:
        loop = self._driven.loop
        is_express = self._mode is Mode.EXPRESS
        target_ns = self._limit_ns(sys.maxsize if is_express else self._pace.due_ns(time.perf_counter()))
        while True:
            self._between()
            for _ in range(STEPS_PER_CLOCK_LOOK):
                if not loop.run_next(target_ns):
                    loop.advance_to(target_ns if self._mode is Mode.RUNNING else loop.now_ns)
                    self._pace.kept(time.perf_counter())
                    self._finish_if_over(target_ns)
                    return
            if time.perf_counter() >= end_s:
                break
        if self._mode is Mode.RUNNING:
            self._pace.missed(time.perf_counter(), loop.now_ns)

    def _finish_if_over(self, target_ns: int) -> None:
        over = self._driven.loop.next_ns() is None if self._until_ns is None else target_ns >= self._until_ns
        if over and not self._open_ended:
            self._driven.loop.advance_to(self._until_ns or 0)
            self._mode = Mode.FINISHED

    def _step(self) -> None:
        loop, events = self._driven.loop, self._driven.events
        before = events.count
        next_ns = loop.next_ns()
        first_ns = sys.maxsize if next_ns is None else next_ns
        # To what is due next, however late; further only within an hour, where timers fire without an event.
        limit_ns = self._limit_ns(max(loop.now_ns + 3_600 * NS_PER_S, first_ns))
        while events.count == before:
            if not loop.run_next(limit_ns):
                self._finish_if_over(limit_ns)
                return
