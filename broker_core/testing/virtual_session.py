"""A scenario in virtual time, with what is done in it: a session of the window as a test."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from broker_core.clock import ns_from_s, s_from_ns
from broker_core.recording.checker import Checker
from broker_core.recording.schema import SCENARIO_FILE
from broker_core.simulation.action_words import read_action
from broker_core.simulation.data_files import DataFiles
from broker_core.simulation.replay import EventDigest, RecordedAction, Rerun
from broker_core.simulation.scenario import parse_scenario
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import Snapshot, Totals
from broker_core.testing.event_ring import EventRing
from broker_core.testing.timeline import timeline


class VirtualSession:
    """The same scenario, seed and actions give the same events. Use it in one thread; close it, or use `with`.

    The checker of recordings judges it: an error of the broker itself raises `recording.violation.Violation`.
    """

    def __init__(self, scenario: str, *, seed: int | None = None, folder: Path | str = ".") -> None:
        """`scenario` is YAML; files that it reads are in `folder`, or among the samples of Brokerscope.

        Raises ScenarioError.
        """
        files = DataFiles(Path(folder) / SCENARIO_FILE)
        self._simulation = Simulation(parse_scenario(scenario), seed=seed, find_file=files)
        self._digest = EventDigest(self._simulation.events)
        self._simulation.events.attach(Checker.of(self._simulation.scenario))
        self._events = EventRing(Snapshot(0, 0))
        self._simulation.events.attach(self._events)
        self._started_s = time.time()
        self._actions: list[RecordedAction] = []
        self._closed = False
        try:
            self._simulation.start()
        except BaseException:
            self.close()
            raise

    # -- act

    def perform(self, action: str, *, at_s: float, step: int | None = None, **fields: Any) -> None:
        """Have `run` do an action of the window, as on the schedule of a scenario, at `at_s` of session time.

        `step` says where in that moment: after so many steps of the run, where it was recorded. Actions are given in
        the order in which they are done. Raises msgspec.ValidationError for an unknown one.
        """
        self._actions.append(RecordedAction(ns_from_s(at_s), read_action({"action": action, **fields}), step))

    def run(self, until_s: float) -> None:
        """Let time pass up to `until_s`. Raises BrokerError for an action that cannot be done, and Violation."""
        until_ns = ns_from_s(until_s)
        due = [action for action in self._actions if action.time_ns <= until_ns]
        self._actions = [action for action in self._actions if action.time_ns > until_ns]
        Rerun(self._simulation, due, until_ns=until_ns).go_on(lambda: False)

    # -- assert

    def totals(self) -> Totals:
        """What the broker has counted."""
        return self._simulation.totals()

    @property
    def event_count(self) -> int:
        """The number of events so far."""
        return self._simulation.events.count

    @property
    def digest(self) -> str:
        """The SHA-256 of all events so far."""
        return self._digest.hex

    @property
    def now_s(self) -> float:
        """Session time in seconds."""
        return s_from_ns(self._simulation.loop.now_ns)

    # -- the recording

    def timeline(self) -> str:
        """What has happened last, in some lines, and the state."""
        return timeline(self._events.events, self._simulation.broker, self._simulation.loop.now_ns)

    def save(self, folder: Path | str, *, title: str = "Test", about: str = "") -> Path:
        """Write the last events as a session, as `EmbeddedBroker.save`."""
        return self._events.save(
            Path(folder),
            title=title,
            about=about,
            started_s=self._started_s,
            totals=self.totals(),
            end_ns=self._simulation.loop.now_ns,
        )

    # -- the end

    def close(self) -> None:
        """Give the files back. The second call does nothing."""
        if not self._closed:
            self._closed = True
            self._simulation.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
