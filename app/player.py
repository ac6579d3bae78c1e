"""The session that the window shows: opened, run, paused, stepped, stopped, started again."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.history.ring import EventRing
from app.places import DataFiles, new_session_folder
from app.view_models.chart_feed import ChartFeed
from app.view_models.refusal_feed import RefusalFeed
from app.view_models.timeline import TimelineFeed
from broker_core.clock import ns_from_s
from broker_core.engine.runner import Engine, EngineStatus, Mode
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import describe
from broker_core.lab.actions import UserAction
from broker_core.lab.performers import Performed
from broker_core.lab.scenario import Scenario, load_scenario
from broker_core.lab.simulation import Simulation
from broker_core.session.live_session import LiveSession
from broker_core.snapshots import Snapshot

FAST_TIMES = 10.0

T = TypeVar("T")


class Player(QObject):
    """One session at a time. Signals come in the window's thread. `acted` with a `Performed` when an action was done.

    `opened` when another session is there, `said` with a sentence for the status bar, `failed` with one to be seen.
    """

    opened = Signal()
    said = Signal(str)
    failed = Signal(str)
    acted = Signal(object)
    _acted = Signal(object)
    _stepped = Signal(object)

    def __init__(self, *, record: bool = True, sessions: Path | None = None, parent: QObject | None = None) -> None:
        """`record` holds for sessions to come; `sessions` is where they go, the user's folder where it is None."""
        super().__init__(parent)
        self.record = record
        self._sessions = sessions
        self._live: LiveSession | None = None
        self._engine: Engine | None = None
        self._path: Path | None = None
        self._seed: int | None = None
        self._told_failure = False
        self.scenario: Scenario | None = None
        self.feed = TimelineFeed()
        self.chart_feed = ChartFeed()
        self.refusals = RefusalFeed()
        self.events = EventRing()
        self.speed = 1.0
        self.fast = False
        self.stopped = False
        self._acted.connect(self._tell)
        self._stepped.connect(self._tell_step)

    # -- which session

    def open(self, path: Path, seed: int | None = None) -> None:
        """Open a scenario, paused at 0, and seal the session before.

        Raises ScenarioError or BrokerError; the session before goes on then.
        """
        scenario, text = load_scenario(path)
        folder = new_session_folder(path, self._sessions) if self.record else None
        events = EventRing()
        live = LiveSession(scenario, text, folder=folder, find_file=DataFiles(path), seed=seed, sinks=(events,))
        self.close()
        self.events = events
        self._live, self._path, self._seed, self.scenario = live, path, seed, scenario
        self.feed = TimelineFeed()
        live.simulation.events.attach(self.feed)
        self.chart_feed = ChartFeed()
        self.refusals = RefusalFeed()
        live.simulation.events.attach(self.chart_feed)
        live.simulation.events.attach(self.refusals)
        self._engine = Engine(live.simulation, until_ns=ns_from_s(scenario.until_s), between=live.look)
        self.stopped = self._told_failure = self.fast = False
        self.opened.emit()

    def restart(self) -> None:
        """The same scenario with the same seed, from 0."""
        if self._path is not None:
            self.open(self._path, self._seed)
            self.run()

    def stop(self) -> None:
        """End the session and seal its recording."""
        if self._live is None or self.stopped:
            return
        finished = self.status.mode is Mode.FINISHED
        self._end(finished=finished)
        end = "came to its end" if finished else "was stopped"
        recorded = f" It is recorded in {self.folder}; Ctrl+E makes a report of it." if self.folder else ""
        self.said.emit(f"The session {end}.{recorded}")

    def close(self) -> None:
        """Stop, at the end of the program or before another session."""
        if self._live is not None and not self.stopped:
            self._end(finished=self.status.mode is Mode.FINISHED)

    def _end(self, *, finished: bool) -> None:
        assert self._engine is not None
        assert self._live is not None
        self._engine.close()
        self.stopped = True
        try:
            self._live.close(finished=finished)
        except BrokerError as error:
            self.failed.emit(str(error))

    # -- time

    def run(self, speed: float | None = None) -> None:
        """Let time pass, at `speed` from now on."""
        if speed is not None:
            self.speed = speed
        self.fast = False
        self._with_engine(lambda engine: engine.run(self.speed))

    def run_fast(self) -> None:
        """Let time pass ten times as fast as at `speed`."""
        self.fast = True
        self._with_engine(lambda engine: engine.run(self.speed * FAST_TIMES))

    def express(self) -> None:
        """Let time pass as fast as it goes."""
        self._with_engine(lambda engine: engine.express())

    def pause(self) -> None:
        """Stop time."""
        self._with_engine(lambda engine: engine.pause())

    def step(self) -> None:
        """Go on to the next event, and say which one it was."""
        self._with_engine(lambda engine: engine.step().add_done_callback(self._stepped.emit))

    def run_until(self, time_ns: int) -> None:
        """Go to `time_ns` as fast as it goes, and wait there: for pictures, not for a window that somebody uses."""
        assert self._engine is not None
        assert self._live is not None
        loop = self._live.simulation.loop
        self._engine.post(lambda: loop.run_until(time_ns)).result()
        self._engine.refresh()

    def _with_engine(self, call: Callable[[Engine], None]) -> None:
        if self._engine is not None and not self.stopped:
            call(self._engine)

    # -- what it shows

    @property
    def status(self) -> EngineStatus:
        """How the engine is doing."""
        assert self._engine is not None
        return self._engine.status

    @property
    def snapshot(self) -> Snapshot:
        """The latest state."""
        assert self._engine is not None
        return self._engine.latest

    @property
    def live(self) -> bool:
        """False while the window shows the past: nothing in the session can be changed there."""
        return self._live is not None

    @property
    def moving(self) -> bool:
        """True while session time passes."""
        return not self.stopped and self.status.mode in {Mode.RUNNING, Mode.EXPRESS}

    @property
    def seed(self) -> int:
        """The seed of this run."""
        assert self._live is not None
        return self._live.simulation.seed

    @property
    def started_at(self) -> datetime:
        """The wall time of session time 0."""
        assert self._live is not None
        return datetime.fromtimestamp(self._live.epoch_ms / 1000, UTC)

    @property
    def folder(self) -> Path | None:
        """Where this session is recorded."""
        return None if self._live is None else self._live.folder

    def recorded_bytes(self) -> int:
        """The size of the recording on disk."""
        recorder = None if self._live is None else self._live.recorder
        return 0 if recorder is None else recorder.recorded_bytes

    def check(self) -> None:
        """Tell once that the engine has failed, or that the recording has stopped."""
        if self._told_failure or self._live is None or self.stopped:
            return
        recorder = self._live.recorder
        error = self.status.error or (str(recorder.error) if recorder is not None and recorder.error else "")
        if error:
            self._told_failure = True
            self.failed.emit(error)
        elif self.status.mode is Mode.FINISHED:
            # The scenario is over: its recording is sealed, and a report can be made of it.
            self.stop()

    def grant(self, budget_s: float) -> None:
        """Give the engine its turn."""
        self._with_engine(lambda engine: engine.grant(budget_s))

    # -- what a person does

    def perform(self, action: UserAction) -> None:
        """Do `action` in the session; `said` tells what came of it."""
        if self._engine is None or self._live is None or self.stopped:
            self.said.emit("The session has ended; start it again to change it.")
            return
        simulation = self._live.simulation
        self._engine.post(lambda: simulation.perform(action)).add_done_callback(self._acted.emit)

    def ask(self, call: Callable[[Simulation], T]) -> Future[T]:
        """What `call` finds in the session, looked up in the engine's thread between two steps: keep it below 2 ms.

        The future gets a CLOSED error once the session has ended; its callbacks run in the engine's thread.
        """
        if self._engine is None or self._live is None:
            closed: Future[T] = Future()
            closed.set_exception(BrokerError(ErrorCode.CLOSED, "no session is open"))
            return closed
        simulation = self._live.simulation
        return self._engine.post(lambda: call(simulation))

    def _tell_step(self, done: Future[None]) -> None:
        error, event = done.exception(), self.feed.last
        if error is not None:
            # The simulation broke at this step; nothing can go on from here.
            self.failed.emit(str(error))
        elif event is not None:
            self.said.emit(f"Stepped to {describe(event)}")

    def _tell(self, done: Future[Performed]) -> None:
        error = done.exception()
        if error is None:
            performed = done.result()
            self.acted.emit(performed)
            self.said.emit(_capital(performed.sentence) + ".")
        elif isinstance(error, BrokerError):
            self.failed.emit(str(error))
        else:
            raise error


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
