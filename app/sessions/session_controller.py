from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from app.environment.paths import new_session_folder
from app.sessions.branching import Branch, branch_of
from app.sessions.collectors.collectors import Collectors
from app.sessions.event_text import event_line
from app.sessions.history.ring import EventRing
from app.sessions.observed import ObservedSource, attached_to_own
from app.sessions.reading import KEYFRAMES_MAX, Reading
from app.sessions.simulated import SimulatedSource
from app.sessions.source import Source
from app.sessions.stored import SCENARIO_PATH, StoredSession
from app.sessions.timeline_position import TimelinePosition
from broker_core.clock import ns_from_s
from broker_core.engine.engine_host import EngineHost
from broker_core.engine.runner import BackgroundTask, Engine, EngineStatus, Mode
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.request import Request
from broker_core.recording.live_session import LiveSession
from broker_core.recording.metadata import OBSERVED
from broker_core.recording.recorder import Recorder
from broker_core.simulation.actions import UserAction
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.handlers import Performed
from broker_core.simulation.scenario import Scenario, load_scenario
from broker_core.snapshots import Snapshot
from widgets.formats import sentence, session_time
from widgets.i18n import tr

FAST_TIMES = 10.0

# The general part of these errors tells a user nothing.
_SAID_PLAINLY = frozenset(
    {ErrorCode.INVALID_REQUEST, ErrorCode.MALFORMED_REQUEST, ErrorCode.NON_EMPTY_GROUP, ErrorCode.REBALANCE_IN_PROGRESS}
)

T = TypeVar("T")


class SessionController(QObject):
    """One session at a time. Signals come in the window's thread.

    `acted` with a `Performed` when an action was done, `refused` with a sentence when it could not be, and whether it
    may be done later; both with what `perform` was given as its source.

    `opened` when another session is there, `overran` when one that others take part in has come to the end of its
    scenario and goes on, `reported` with a sentence for the status bar, `failed` with one to be seen.
    `travel` shows its past; what was recorded before, and is only looked at, has no present.
    """

    opened = Signal()
    ending = Signal()
    overran = Signal()
    reported = Signal(str)
    failed = Signal(str)
    acted = Signal(object, str)
    refused = Signal(str, str, bool)
    _acted = Signal(object, str)
    _stepped = Signal(object)
    _background_ended = Signal(object)

    def __init__(self, *, record: bool = True, sessions: Path | None = None, parent: QObject | None = None) -> None:
        """`record` holds for sessions to come; `sessions` is where they go, the user's folder if it is None."""
        super().__init__(parent)
        self.source = Source()
        self.path: Path | None = None
        self._seed: int | None = None
        self.collectors = Collectors()
        self.speed = 1.0
        self.fast = False
        self.stopped = True
        self.open_ended = False  # it goes on past the end of its scenario
        self.branched_from = ""
        self.branched_at_ns: int | None = None  # up to where a branch is the session that it left
        self.rerun_until_ns = 0  # of a branch, and of what was continued: up to where it is run again
        self.background_tasks = 0  # that are asked for and have not ended
        self.travel = TimelinePosition(lambda: self.end_ns, self)
        self.record = record
        self.sessions = sessions
        self._reading: Reading | None = None
        self._failure_reported = self._overran = False
        self._at_end: Snapshot | None = None  # right before the session was ended
        self.travel.failed.connect(self.failed)
        self._acted.connect(self._report)
        self._stepped.connect(self._report_step)
        self._background_ended.connect(self._report_background)

    # -- what is shown

    @property
    def scenario(self) -> Scenario | None:
        """The scenario of the session; None if no session is open."""
        return self.source.scenario

    @property
    def events(self) -> EventRing:
        return self.collectors.events

    @property
    def status(self) -> EngineStatus:
        return self.source.status

    @property
    def present(self) -> Snapshot:
        """The latest state, whatever is shown."""
        if not self.source.has_present:
            return self.travel.snapshot or Snapshot(0, 0)
        return self.source.latest

    @property
    def snapshot(self) -> Snapshot:
        """The state that is shown: the latest, or that of a moment of the past."""
        return self.travel.snapshot or self.present

    @property
    def end_ns(self) -> int:
        return self.source.end_ns

    @property
    def live(self) -> bool:
        """False while the window shows the past: nothing in the session can be changed there."""
        return self.source.has_present and not self.travel.looking_back

    @property
    def stored(self) -> StoredSession | None:
        return self.source if isinstance(self.source, StoredSession) else None

    @property
    def simulated(self) -> SimulatedSource | None:
        return self.source if isinstance(self.source, SimulatedSource) else None

    def why_not(self, what: type[Any]) -> str:
        return self.source.why_not(what)

    def knows(self, word: str) -> bool:
        return self.source.knows(word)

    def why_no_branch(self) -> str:
        return self.source.why_no_branch()

    @property
    def rerunning(self) -> bool:
        return self.background_tasks > 0 and self.end_ns < self.rerun_until_ns

    @property
    def passed_end_ns(self) -> int | None:
        """Where the scenario ends, once the session has gone on past that; else None."""
        until_ns = 0 if self.scenario is None else ns_from_s(self.scenario.until_s)
        return until_ns if 0 < until_ns < self.end_ns else None

    @property
    def moving(self) -> bool:
        if self.travel.looking_back:
            return self.travel.playing
        if (standing := self.source.standing) is not None and standing.stale:
            return False
        return not self.stopped and (self.background_tasks > 0 or self.status.mode in {Mode.RUNNING, Mode.EXPRESS})

    @property
    def folder(self) -> Path | None:
        return self.source.folder

    @property
    def recorder(self) -> Recorder | None:
        return None if self.stopped else self.source.recorder

    def recorded_bytes(self) -> int:
        return 0 if self.recorder is None else self.recorder.recorded_bytes

    # -- which session

    def open(self, path: Path, seed: int | None = None) -> None:
        """Open a scenario, paused at 0, and seal the session before.

        Raises ScenarioError or BrokerError; the session before goes on then.
        """
        scenario, text = load_scenario(path)
        if scenario.attach:
            kept: Any = {"record": self.record, "sessions": self.sessions}
            self.observe(attached_to_own(scenario, text, path, seed=seed, **kept), path)
            return
        self._begin(scenario, text, path, seed, {})

    def _begin(self, scenario: Scenario, text: str, path: Path, seed: int | None, extra: dict[str, Any]) -> LiveSession:
        folder = new_session_folder(path, self.sessions) if self.record else None
        collectors = Collectors(scenario)
        live = LiveSession(
            scenario,
            text,
            folder=folder,
            find_file=DataFiles(path),
            seed=seed,
            sinks=collectors.all(),
            on_keyframe=collectors.lesson.keyframe,
            extra={SCENARIO_PATH: str(path.resolve()), **extra},
        )
        self._show(SimulatedSource(live), collectors, path, seed)
        self.opened.emit()
        return live

    def _show(self, source: Source, collectors: Collectors, path: Path | None, seed: int | None) -> None:
        self.close()
        self.source, self.collectors, self.path, self._seed = source, collectors, path, seed
        self.travel.attach(source.open_playback, has_present=source.has_present)
        self.stopped = self._failure_reported = not source.has_present
        self.fast = self.open_ended = self._overran = False
        self._at_end = None
        self.branched_from, self.branched_at_ns, self.rerun_until_ns = "", None, 0

    def observe(self, source: ObservedSource, path: Path | None = None) -> None:
        """Show a broker that runs elsewhere, in place of the session before; `path` is that of its lesson."""
        self._show(source, source.collectors, path, None)
        self.opened.emit()

    def open_session(self, folder: Path, at_ns: int = 0) -> StoredSession:
        """Show a session that was recorded, at a moment of it; the session before is sealed.

        Raises BrokerError if `folder` holds none; the session before goes on then.
        """
        stored = StoredSession(folder)
        collectors = Collectors(stored.scenario, deliveries=stored.knows("deliveries"))
        self._show(stored, collectors, stored.scenario_path, stored.seed)
        series = self.collectors.series
        series.read_from_file()
        lesson, observed = self.collectors.lesson, stored.metadata.clock == OBSERVED
        frames = stored.playback.moments(KEYFRAMES_MAX) if lesson.lesson is not None or observed else iter(())
        taken = self.collectors.keyframe if observed else lesson.keyframe
        self._reading = Reading(folder, self.collectors.gathering(), series.read_whole, frames, taken)
        self._reading.start()
        self.travel.to(min(at_ns, stored.end_ns))
        self.opened.emit()
        return stored

    def branch(self) -> None:
        """Run the session again up to the moment that is shown, as a new one, which is live from there.

        From the end of the scenario on it has no other end. Raises BrokerError, ScenarioError if its inputs cannot be
        had again; the session before goes on then.
        """
        travel = self.travel
        branch, live = self._run_again(
            self.snapshot, by_event=travel.shown_event is not None or travel.snapshot is None
        )
        self.branched_from, self.branched_at_ns = branch.origin, branch.moment.time_ns
        if self._is_past_the_end(branch.moment.time_ns):
            self._go_past_the_end()
        self.run_background(branch.task(live.simulation), branch.done)

    def why_not_continued(self) -> str:
        source = self.source
        if not source.has_present:
            return tr("A recorded session is read-only. Branch here (Ctrl+B) to continue from it.")
        if why := source.why_not(Engine):
            return why
        if not self.stopped:
            return tr("The session is already continuing past its end.") if self.open_ended else ""
        if self._at_end is None or not self._at_end.events or self.status.error:
            return tr("There is nothing to continue from; start it again (Ctrl+R).")
        return source.why_no_branch()

    def go_on(self) -> None:
        """Go on where the session has ended, or past the end of its scenario without another end.

        A session that has ended is run again up to there, as a new one. One that was stopped before the end of its
        scenario still ends with it. Raises BrokerError, ScenarioError if its inputs cannot be had again.
        """
        if not self.stopped:
            self._go_past_the_end()
            self.reported.emit(tr("The session continues past the end of its scenario; F8 ends it."))
            return
        end, past_the_end = self._at_end, self.open_ended or self._is_past_the_end(self.end_ns)
        assert end is not None
        branched = self.branched_from, self.branched_at_ns
        branch, live = self._run_again(end, by_event=not past_the_end)
        # It is the session that has ended, not another one.
        self.branched_from, self.branched_at_ns = branched
        if past_the_end:
            self._go_past_the_end()
        at = session_time(end.time_ns)

        def there(done: bool) -> str:
            if not done:
                return tr("The session was stopped before it reached {at} again.", at=at)
            self.run()
            if past_the_end:
                return tr("The session continues past the end of its scenario; F8 ends it.")
            return tr("The session continues from {at}, where it was stopped.", at=at)

        self.reported.emit(tr("Rerunning it up to {time}...", time=at))
        self.run_background(branch.task(live.simulation), there)

    def _run_again(self, moment: Snapshot, *, by_event: bool) -> tuple[Branch, LiveSession]:
        branch = branch_of(self.source, moment, by_event=by_event)
        assert self.path is not None
        inputs = branch.inputs
        live = self._begin(inputs.scenario, inputs.text, self.path, inputs.seed, branch.extra)
        self.rerun_until_ns = moment.time_ns
        return branch, live

    def _go_past_the_end(self) -> None:
        self.open_ended = True
        self._with_engine(lambda engine: engine.run_open_ended())

    def restart(self, *, new_seed: bool = False) -> None:
        if self.path is not None:
            self.open(self.path, random.randrange(1, 1_000_000) if new_seed else self._seed)
            self.run()

    def stop(self) -> None:
        if self.stopped:
            return
        finished = self.status.mode is Mode.FINISHED
        self._end(finished=finished)
        said = [tr("The session ended.") if finished else tr("The session was stopped.")]
        if not self.why_not_continued():
            said.append(tr("Shift+F8 goes on from here."))
        if self.folder:
            said.append(tr("Ctrl+E makes a report of its recording in {folder}.", folder=self.folder))
        self.reported.emit(" ".join(said))

    def close(self) -> None:
        self.travel.close()
        if self._reading is not None:
            self._reading.close()
            self._reading = None
        if not self.stopped:
            self._end(finished=self.status.mode is Mode.FINISHED)

    def note_cost(self, figures: dict[str, float]) -> None:
        """Figures of what the session costs besides, for its recording; at the latest when `ending` comes."""
        if self.simulated is not None:
            self.simulated.session.cost.add(**figures)

    def _end(self, *, finished: bool) -> None:
        self.ending.emit()
        if (engine := self.source.engine) is not None:
            engine.pause()  # so that nothing happens after the snapshot
            engine.refresh()
        self._at_end = self.source.latest
        self.stopped = True
        try:
            self.source.close(finished=finished)
        except BrokerError as error:
            self.failed.emit(str(error))

    # -- time

    def run(self, speed: float | None = None, *, fast: bool = False) -> None:
        if speed is not None:
            self.speed = speed
        self.fast = fast
        at = self.speed * (FAST_TIMES if fast else 1)
        if self.travel.looking_back:
            self.travel.play(at)
        else:
            self._with_engine(lambda engine: engine.run(at))

    def express(self) -> None:
        self._with_engine(lambda engine: engine.express())

    def pause(self) -> None:
        if self.travel.looking_back:
            self.travel.pause()
        elif self.source.engine is None:
            self.travel.stand_still()  # what is shown does not go on, the source does
        else:
            self._with_engine(lambda engine: engine.pause())

    def step(self) -> None:
        if self.travel.looking_back:
            self.travel.step(1, self.present)
            return
        self._with_engine(lambda engine: engine.step().add_done_callback(self._stepped.emit))

    def run_background(self, task: BackgroundTask, then: Callable[[bool], str]) -> None:
        """Let `task` move the session; `reported` tells what `then(done)` makes of it."""

        if self.source.engine is None or self.stopped:
            return

        def tell(done: Future[bool]) -> None:
            self._background_ended.emit((done, then))

        self.background_tasks += 1
        self.source.engine.run_background(task).add_done_callback(tell)

    def run_until(self, time_ns: int) -> None:
        """Run to `time_ns` at full speed and pause; for screenshots, as it blocks."""
        assert self.simulated is not None
        session, engine = self.simulated.session, self.simulated.engine
        loop, look = session.simulation.loop, session.take_due_keyframe

        def run() -> None:
            while loop.run_next(time_ns):
                look()
            loop.advance_to(time_ns)

        engine.post(run).result()
        engine.refresh()

    def _with_engine(self, call: Callable[[Engine], None]) -> None:
        if self.source.engine is not None and not self.stopped:
            call(self.source.engine)

    # -- how it goes

    def check(self) -> None:
        """Tell once that the engine has failed, or that the recording has stopped."""
        if self._failure_reported or self.stopped:
            return
        recorder = self.source.recorder
        error = self.status.error or (str(recorder.error) if recorder is not None and recorder.error else "")
        if error:
            self._failure_reported = True
            self.failed.emit(error)
        elif (
            self.open_ended and not self._overran and self.source.outside_clients and self._is_past_the_end(self.end_ns)
        ):
            self._overran = True
            self.overran.emit()
        elif self.status.mode is Mode.FINISHED:
            # The scenario is over: its recording is sealed, and a report can be made of it.
            self.stop()

    def _is_past_the_end(self, time_ns: int) -> bool:
        return self.scenario is not None and time_ns >= ns_from_s(self.scenario.until_s)

    def grant(self, budget_s: float) -> None:
        self._with_engine(lambda engine: engine.grant(budget_s))

    # -- what a person does

    def perform(self, action: UserAction, source: str = "") -> None:
        """Do `action` in the session. `acted` or `refused` come with `source` and the outcome; `reported` comes too."""
        if self.stopped:
            self.reported.emit(tr("The session has ended; start it again to change it."))
        elif why := self.why_not(type(action)):
            self.reported.emit(why)
        else:
            self.source.perform(action).add_done_callback(lambda future: self._acted.emit(future, source))

    def query(self, request: Request[T]) -> Future[T]:
        return self.source.ask(request)

    def _report_background(self, answer: tuple[Future[bool], Callable[[bool], str]]) -> None:
        done, then = answer
        self.background_tasks -= 1
        error = done.exception()
        if error is None:
            if message := then(done.result()):
                self.reported.emit(message)
        elif isinstance(error, BrokerError):
            if error.code is not ErrorCode.CLOSED:
                self.failed.emit(str(error))
        else:
            raise error

    def host(self, new_topic_partitions: int) -> EngineHost | None:
        """The running session as a host for clients from outside; unknown topics get so many partitions.

        From here on the session can be replayed, but not branched, and it ends only when it is stopped. Close it when
        `ending` comes. None if none runs.
        """
        simulated = self.simulated
        if simulated is None or self.stopped:
            return None
        simulated.session.let_outside_clients_in()
        # Others would be cut off in the middle of their work.
        self._go_past_the_end()
        return EngineHost(simulated.engine, simulated.session.simulation, auto_create_partitions=new_topic_partitions)

    def _report_step(self, done: Future[None]) -> None:
        error, event = done.exception(), self.collectors.events.newest
        if error is not None:
            # The simulation broke at this step; nothing can go on from here.
            self.failed.emit(str(error))
        elif event is not None:
            self.reported.emit(tr("Stepped to {event}", event=event_line(event)))

    def _report(self, done: Future[Performed], source: str) -> None:
        error = done.exception()
        if error is None:
            performed = done.result()
            self.reported.emit(sentence(performed.sentence))
            self.acted.emit(performed, source)
        elif isinstance(error, BrokerError):
            # Of a request that makes no sense a person wants to know why, and no more.
            plain = error.code in _SAID_PLAINLY and error.about
            why = sentence(error.about, _names(self.snapshot)) if plain else str(error)
            self.refused.emit(why, source, error.retriable)
            self.failed.emit(why)
        else:
            raise error


def _names(snapshot: Snapshot) -> set[str]:
    names = {one.name for one in snapshot.topics} | {one.name for one in snapshot.groups}
    return names | {one.name for one in snapshot.queues} | {one.name for one in snapshot.actors}
