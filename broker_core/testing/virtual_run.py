from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from broker_core.clock import s_from_ns
from broker_core.closable import Closable
from broker_core.events import Event
from broker_core.recording.checker import Checker
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import Snapshot
from broker_core.testing.event_ring import EventRing
from broker_core.testing.timeline import timeline


class VirtualRun(Closable):
    """Starts `simulation`. `checker` judges each event: an error of the broker itself raises `Violation`."""

    def __init__(self, simulation: Simulation, checker: Checker) -> None:
        self._simulation = simulation
        self._events = EventRing(Snapshot(0, 0))
        simulation.events.attach(checker)
        simulation.events.attach(self._events)
        self._started_s = time.time()
        self._closed = False
        try:
            simulation.start()
        except BaseException:
            self.close()
            raise

    @property
    def now_s(self) -> float:
        """Session time in seconds."""
        return s_from_ns(self._simulation.loop.now_ns)

    def timeline(self, *, whole: bool = False) -> str:
        """What has happened last, in some lines or as a `whole`, and the state."""
        events, now_ns = self._events.events, self._simulation.loop.now_ns
        return timeline(events, self._simulation.broker, now_ns, decisive=self._decisive(events), whole=whole)

    def _decisive(self, _events: Sequence[Event]) -> Iterable[Event]:
        """Those that a timeline begins with."""
        return ()

    def save(self, folder: Path | str, *, title: str = "Test", about: str = "") -> Path:
        """Write the last events as a session, as `EmbeddedBroker.save`. Works after `close`, too."""
        return self._events.save(
            Path(folder),
            title=title,
            about=about,
            started_s=self._started_s,
            totals=self._simulation.totals(),
            end_ns=self._simulation.loop.now_ns,
        )

    def close(self) -> None:
        """End the consumers and give the files back. The second call does nothing."""
        if not self._closed:
            self._closed = True
            self._simulation.close()
