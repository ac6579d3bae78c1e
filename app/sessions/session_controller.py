from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from app.environment.paths import new_session_folder
from app.sessions.branching import Branching
from app.sessions.collectors.collectors import Collectors
from app.sessions.core_sentences import cause_text, error_text
from app.sessions.observed import ObservedSource, attached_to_own
from app.sessions.queries import Replies
from app.sessions.session_time import SessionTime
from app.sessions.simulated import SimulatedSource
from app.sessions.source import Inputs, Source
from app.sessions.stored import KEYFRAMES_MAX, SCENARIO_PATH, Reading, StoredSession
from app.sessions.timeline_position import TimelinePosition
from broker_core.engine.engine_host import EngineHost
from broker_core.engine.runner import Engine, Mode
from broker_core.errors import BrokerError, ErrorCode
from broker_core.recording.live_session import LiveSession
from broker_core.recording.metadata import OBSERVED
from broker_core.recording.recorder import Recorder
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.faults import HoldSchedule
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.handlers import Performed
from broker_core.simulation.scenario import Scenario, load_scenario
from broker_core.snapshots import Snapshot
from widgets.formats import sentence
from widgets.i18n import tr

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
    `travel` shows its past; what was recorded before, and is only looked at, has no present. `time` makes it go on,
    `branching` runs it again.
    """

    opened = Signal()
    ending = Signal()
    overran = Signal()
    reported = Signal(str)
    failed = Signal(str)
    acted = Signal(object, str)
    refused = Signal(str, str, bool)

    def __init__(self, *, record: bool = True, sessions: Path | None = None, parent: QObject | None = None) -> None:
        """`record` holds for sessions to come; `sessions` is where they go, the user's folder if it is None."""
        super().__init__(parent)
        self.source = Source()
        self.path: Path | None = None
        self._seed: int | None = None
        self.collectors = Collectors()
        self.travel = TimelinePosition(self)
        self.time = SessionTime(self.travel, self)
        self.branching = Branching(self.time, self.travel, self._begin_again)
        self.record = record
        self.sessions = sessions
        self._reading: Reading | None = None
        self._failure_reported = self._overran = False
        self.why_unmet: Callable[[], str] = str  # what was waited for and never came, "" if there is no such thing
        self.travel.failed.connect(self.failed)
        self._replies = Replies(self)
        self.time.failed.connect(self.failed)
        self.time.reported.connect(self.reported)

    # -- what is shown

    @property
    def snapshot(self) -> Snapshot:
        """The state that is shown: the latest, or that of a moment of the past."""
        return self.travel.snapshot or self.source.latest

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

    @property
    def recorder(self) -> Recorder | None:
        return None if self.time.stopped else self.source.recorder

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
        folder = new_session_folder(path.stem, self.sessions) if self.record else None
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

    def _begin_again(self, inputs: Inputs, extra: dict[str, Any]) -> LiveSession:
        assert self.path is not None
        return self._begin(inputs.scenario, inputs.text, self.path, inputs.seed, extra)

    def _show(self, source: Source, collectors: Collectors, path: Path | None, seed: int | None) -> None:
        self.close()
        self.source, self.collectors, self.path, self._seed = source, collectors, path, seed
        self.travel.attach(source)
        self.time.attach(source, lambda: collectors.events.newest)
        self.branching.attach(source)
        self._failure_reported, self._overran = self.time.stopped, False
        self.why_unmet = str

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
        self.travel.to(min(at_ns, stored.end_ns))
        self.opened.emit()
        return stored

    def restart(self, *, new_seed: bool = False) -> None:
        if self.path is not None:
            self.open(self.path, random.randrange(1, 1_000_000) if new_seed else self._seed)
            self.time.run()

    def stop(self) -> None:
        if self.time.stopped:
            return
        finished = self.source.status.mode is Mode.FINISHED
        self._end(finished=finished)
        said = [self.why_unmet()] if finished and self.why_unmet() else []
        said.append(tr("The session ended.") if finished else tr("The session was stopped."))
        if not self.branching.why_not_continued():
            said.append(tr("Shift+F8 goes on from here."))
        if self.source.folder:
            said.append(tr("Ctrl+E makes a report of its recording {folder}.", folder=self.source.folder.name))
        self.reported.emit(" ".join(said))

    def close(self) -> None:
        self.travel.close()
        if self._reading is not None:
            self._reading.close()
            self._reading = None
        if not self.time.stopped:
            self._end(finished=self.source.status.mode is Mode.FINISHED)

    def _end(self, *, finished: bool) -> None:
        self.ending.emit()
        if (engine := self.source.engine) is not None:
            engine.pause()  # so that nothing happens after the snapshot
            engine.refresh()
        self.branching.at_end = self.source.latest
        self.time.stopped = True
        try:
            self.source.close(finished=finished)
        except BrokerError as error:
            self.failed.emit(error_text(error))

    # -- how it goes

    def check(self) -> None:
        """Tell once that the engine has failed, or that the recording has stopped."""
        source, time = self.source, self.time
        if self._failure_reported or time.stopped:
            return
        recorder = source.recorder
        error = source.status.error or (str(recorder.error) if recorder is not None and recorder.error else "")
        if error:
            self._failure_reported = True
            self.failed.emit(error)
        elif time.open_ended and not self._overran and source.outside_clients and time.is_past_the_end(source.end_ns):
            self._overran = True
            self.overran.emit()
        elif source.status.mode is Mode.FINISHED:
            # The scenario is over: its recording is sealed, and a report can be made of it.
            self.stop()

    # -- what a person does

    def why_not(self, does: type[Any] | None = None) -> str:
        """Why nothing can be changed now, or why what `does` names, a kind of action or `Engine`'s driving of time, is
        not possible; "" if it is. Menus, forms and `perform` ask here.
        """
        if self.source.scenario is None:
            return tr("No session is open.")
        if does is Engine and self.travel.looking_back:
            return ""  # the past has a time of its own, which is driven from here
        if does is not None and (why := self.source.why_not(does)):
            return why
        if not self.live and does is not HoldSchedule:  # which waits for a reader, wherever he looks
            return tr(self.source.why_past)
        over = self.time.stopped or self.source.status.mode in {Mode.FINISHED, Mode.FAILED}
        return tr(self.source.why_over) if over else ""

    def perform(self, action: UserAction, source: str = "") -> None:
        """Do `action` in the session. `acted` or `refused` come with `source` and the outcome; `reported` comes too."""
        if why := self.why_not(type(action)):
            self.reported.emit(why)
        else:
            self._replies.bring(self.source.perform(action), partial(self._report, source))

    def host(self, new_topic_partitions: int) -> EngineHost | None:
        """The running session as a host for clients from outside; unknown topics get so many partitions.

        From here on the session can be replayed, but not branched, and it ends only when it is stopped. Close it when
        `ending` comes. None if none runs.
        """
        simulated = self.simulated
        if simulated is None or self.time.stopped:
            return None
        simulated.session.let_outside_clients_in()
        # Others would be cut off in the middle of their work.
        self.time.go_past_the_end()
        return EngineHost(simulated.engine, simulated.session.simulation, auto_create_partitions=new_topic_partitions)

    def _report(self, source: str, done: Future[Performed]) -> None:
        error = done.exception()
        if error is None:
            performed = done.result()
            self.reported.emit(sentence(cause_text(performed.sentence)))
            self.acted.emit(performed, source)
        elif isinstance(error, BrokerError):
            # Of a request that makes no sense a person wants to know why, and no more.
            plain = error.code in _SAID_PLAINLY and error.about
            why = sentence(error.about, _names(self.snapshot)) if plain else error_text(error)
            self.refused.emit(why, source, error.retriable)
            self.failed.emit(why)
        else:
            raise error


def _names(snapshot: Snapshot) -> set[str]:
    names = {one.name for one in snapshot.topics} | {one.name for one in snapshot.groups}
    return names | {one.name for one in snapshot.queues} | {one.name for one in snapshot.actors}
