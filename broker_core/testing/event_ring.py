from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from broker_core.clock import s_from_ns
from broker_core.events import Event
from broker_core.snapshots import Snapshot, Totals

if TYPE_CHECKING:
    from broker_core.recording.fold import Fold  # it and the recorder load pyarrow, which few tests need

MAX_EVENTS = 20_000  # about 5 MB
LEAST_S = 0.001  # of a scenario


class EventRing:
    """A sink of the event stream. It keeps the last `max_events` events, and the state before the first of them."""

    def __init__(self, before: Snapshot, max_events: int = MAX_EVENTS) -> None:
        self._kept: list[Event] = []
        self._max_events = max_events
        self._before = before
        self._fold: Fold | None = None  # of what has left
        # Held while events leave; an append is atomic.
        self._leaving = threading.Lock()

    def __call__(self, event: Event) -> None:
        self._kept.append(event)
        if len(self._kept) > self._max_events:
            self._drop(len(self._kept) - self._max_events * 3 // 4)

    def _drop(self, count: int) -> None:
        from broker_core.recording.fold import Fold

        with self._leaving:
            self._fold = self._fold or Fold(self._before)
            for event in self._kept[:count]:
                self._fold.add(event)
            del self._kept[:count]

    def clear(self) -> None:
        """Begin anew: the state after what was kept becomes the state before."""
        self._drop(len(self._kept))

    @property
    def events(self) -> list[Event]:
        """Those that are kept, in order."""
        return self._kept[:]

    def save(self, folder: Path, *, title: str, about: str, started_s: float, totals: Totals, end_ns: int) -> Path:
        """Write a session. `started_s` is the Unix time of session time 0, `end_ns` the session time of its end.

        Raises FOLDER_NOT_EMPTY, STORAGE_ERROR.
        """
        from broker_core.recording.metadata import utc
        from broker_core.recording.recorder import Recorder
        from broker_core.simulation.scenario import Scenario
        from broker_core.simulation.scenario_text import scenario_text

        with self._leaving:
            before = self._before if self._fold is None else self._fold.snapshot()
            events = self._kept[:]
        scenario = Scenario(title=title, about=about, until_s=max(LEAST_S, s_from_ns(end_ns)))
        recorder = Recorder(
            folder,
            scenario_name=title,
            scenario_text=scenario_text(scenario),
            clock="wall",
            started_at=utc(started_s),
            before=before if before.events else None,
        )
        try:
            for event in events:
                recorder(event)
        finally:
            recorder.close(totals=msgspec.to_builtins(totals), time_ns=end_ns)
        return folder
