"""The session that the window shows: what it is, and how it stands."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from app.sessions.collectors.collectors import Collectors
from app.sessions.history.ring import EventRing
from app.sessions.simulated import SimulatedSource
from app.sessions.source import Source, Standing
from app.sessions.stored import StoredSession
from app.sessions.timeline_position import TimelinePosition
from broker_core.clock import ns_from_s
from broker_core.engine.runner import EngineStatus, Mode
from broker_core.recording.recorder import Recorder
from broker_core.simulation.scenario import Scenario
from broker_core.snapshots import ConnectionView, Snapshot
from widgets.i18n import tr


class ShownSession(QObject):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.source: Source | None = None
        self.path: Path | None = None
        self._seed: int | None = None
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
    def scenario(self) -> Scenario | None:
        """What the session was made from; None where no session is open."""
        return None if self.source is None else self.source.scenario

    @property
    def events(self) -> EventRing:
        return self.collectors.events

    @property
    def status(self) -> EngineStatus:
        """How the session is doing; of one that is only looked at, that it is over."""
        if self.source is None:
            return EngineStatus(Mode.FINISHED, 1.0, 0, 0.0, "")
        return self.source.status

    @property
    def standing(self) -> Standing | None:
        return None if self.source is None else self.source.standing

    @property
    def present(self) -> Snapshot:
        """The latest state, whatever is shown."""
        if self.source is None or not self.source.has_present:
            return self.travel.snapshot or Snapshot(0, 0)
        return self.source.latest

    @property
    def snapshot(self) -> Snapshot:
        """The state that is shown: the latest, or that of a moment of the past."""
        return self.travel.snapshot or self.present

    @property
    def end_ns(self) -> int:
        return 0 if self.source is None else self.source.end_ns

    @property
    def live(self) -> bool:
        """False while the window shows the past: nothing in the session can be changed there."""
        return self.source is not None and self.source.has_present and not self.travel.looking_back

    @property
    def stored(self) -> StoredSession | None:
        """The session that was recorded before and is only looked at."""
        return self.source if isinstance(self.source, StoredSession) else None

    @property
    def simulated(self) -> SimulatedSource | None:
        """The session that is simulated here, or has just ended."""
        return self.source if isinstance(self.source, SimulatedSource) else None

    def why_not(self, what: type[Any]) -> str:
        """Why a kind of action, or `Engine`'s driving of time, is not possible in this session; "" where it is."""
        return "" if self.source is None else self.source.why_not(what)

    def knows(self, word: str) -> bool:
        """Whether figures of this word of `observation.peer.KNOWABLE` are known; "beginning" is that of the broker."""
        return self.source is None or self.source.knows(word)

    def why_no_branch(self) -> str:
        """Why the session cannot be run again; "" where it can."""
        return tr("No session is open.") if self.source is None else self.source.why_no_branch()

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
        if self.standing is not None and self.standing.stale:
            return False
        return not self.stopped and (self.background_tasks > 0 or self.status.mode in {Mode.RUNNING, Mode.EXPRESS})

    @property
    def seed(self) -> int | None:
        return None if self.source is None else self.source.seed

    @property
    def started_at(self) -> datetime:
        assert self.source is not None
        return self.source.started_at

    @property
    def folder(self) -> Path | None:
        return None if self.source is None else self.source.folder

    @property
    def recorder(self) -> Recorder | None:
        return None if self.source is None or self.stopped else self.source.recorder

    @property
    def outside_clients(self) -> bool:
        return self.source is not None and self.source.outside_clients

    @property
    def connections(self) -> Sequence[ConnectionView]:
        return () if self.source is None else self.source.connections

    def recorded_bytes(self) -> int:
        return 0 if self.recorder is None else self.recorder.recorded_bytes
