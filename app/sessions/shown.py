"""The session that the window shows: what it is, and how it stands."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import QObject

from app.sessions.collectors.alerts import AlertCollector
from app.sessions.collectors.hues import HueCollector
from app.sessions.collectors.latencies import LatencyCollector
from app.sessions.collectors.lesson import LessonCollector
from app.sessions.collectors.refusals import RefusalCollector
from app.sessions.collectors.schemas import SchemaCollector
from app.sessions.collectors.timeline import TimelineCollector
from app.sessions.history.ring import EventRing
from app.sessions.history.series import SessionSeries
from app.sessions.stored import StoredSession
from app.sessions.timeline_position import TimelinePosition
from broker_core.clock import ns_from_s
from broker_core.engine.runner import Engine, EngineStatus, Mode
from broker_core.events import Sink
from broker_core.recording.live_session import LiveSession
from broker_core.recording.ownership import Ownership
from broker_core.simulation.scenario import Scenario
from broker_core.snapshots import Snapshot


class Collectors:
    """What collects from every event of one session."""

    def __init__(self, scenario: Scenario | None = None) -> None:
        self.events = EventRing()
        self.timeline = TimelineCollector()
        self.ownership = Ownership()
        self.hues = HueCollector()
        self.latencies = LatencyCollector()
        self.series = SessionSeries()
        self.refusals = RefusalCollector()
        self.schemas = SchemaCollector(scenario)
        self.alerts = AlertCollector(scenario)
        self.lesson = LessonCollector(None if scenario is None else scenario.lesson)

    def all(self) -> tuple[Sink, ...]:
        """For a session that begins."""
        return (self.events, *self.gathering())

    def gathering(self) -> tuple[Sink, ...]:
        """For a session that is read: its single events stay in its folder."""
        return (
            self.timeline,
            self.ownership,
            self.hues,
            self.latencies,
            self.refusals,
            self.schemas,
            self.alerts,
            self.lesson,
            self.series,
        )


class ShownSession(QObject):
    """One session: a live one, perhaps looked at in its past, or one that was recorded before."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._live: LiveSession | None = None
        self._stored: StoredSession | None = None
        self._engine: Engine | None = None
        self._path: Path | None = None
        self._seed: int | None = None
        self.scenario: Scenario | None = None
        self.collectors = Collectors()
        self.speed = 1.0
        self.fast = False
        self.stopped = False
        self.open_ended = False  # it goes on past the end of its scenario
        self.branched_from = ""
        self.branched_at_ns: int | None = None  # up to where a branch is the session that it left
        self.rerun_until_ns = 0  # of a branch, and of what was continued: up to where it is run again
        self.background_tasks = 0  # that are asked for and have not ended
        self.travel = TimelinePosition(lambda: self.end_ns, self)

    @property
    def events(self) -> EventRing:
        """The last events, in memory."""
        return self.collectors.events

    @property
    def status(self) -> EngineStatus:
        """How the engine is doing; of a session that is only looked at, that it is over."""
        if self._engine is None:
            return EngineStatus(Mode.FINISHED, 1.0, self.end_ns, 0.0, "")
        return self._engine.status

    @property
    def present(self) -> Snapshot:
        """The latest state, whatever is shown."""
        if self._engine is None:
            return self.travel.snapshot or Snapshot(0, 0)
        last = None if self._live is None else self._live.last
        return last or self._engine.latest

    @property
    def snapshot(self) -> Snapshot:
        """The state that is shown: the latest, or that of a moment of the past."""
        return self.travel.snapshot or self.present

    @property
    def end_ns(self) -> int:
        """How far the session has come."""
        if self._stored is not None:
            return self._stored.end_ns
        return 0 if self._engine is None else self._engine.latest.time_ns

    @property
    def live(self) -> bool:
        """False while the window shows the past: nothing in the session can be changed there."""
        return self._live is not None and not self.travel.looking_back

    @property
    def stored(self) -> StoredSession | None:
        """The session that was recorded before and is only looked at."""
        return self._stored

    @property
    def running(self) -> LiveSession | None:
        """The session that goes on, or has just ended."""
        return self._live

    @property
    def rerunning(self) -> bool:
        """True until what is run again has come to its moment."""
        return self.background_tasks > 0 and self.end_ns < self.rerun_until_ns

    @property
    def passed_end_ns(self) -> int | None:
        """Where the scenario ends, once the session has gone on past that; else None."""
        until_ns = 0 if self.scenario is None else ns_from_s(self.scenario.until_s)
        return until_ns if 0 < until_ns < self.end_ns else None

    @property
    def moving(self) -> bool:
        """True while session time passes on the screen."""
        if self.travel.looking_back:
            return self.travel.playing
        return not self.stopped and (self.background_tasks > 0 or self.status.mode in {Mode.RUNNING, Mode.EXPRESS})

    @property
    def path(self) -> Path | None:
        """The file of the scenario that is open."""
        return self._path

    @property
    def seed(self) -> int:
        """The seed of this run."""
        if self._stored is not None:
            return self._stored.seed
        assert self._live is not None
        return self._live.simulation.seed

    @property
    def started_at(self) -> datetime:
        """The wall time of session time 0."""
        if self._stored is not None:
            return self._stored.started_at
        assert self._live is not None
        return datetime.fromtimestamp(self._live.epoch_ms / 1000, UTC)

    @property
    def folder(self) -> Path | None:
        """Where this session is recorded."""
        if self._stored is not None:
            return self._stored.folder
        return None if self._live is None else self._live.folder

    def recorded_bytes(self) -> int:
        """The size of the recording on disk."""
        recorder = None if self._live is None else self._live.recorder
        return 0 if recorder is None else recorder.recorded_bytes
