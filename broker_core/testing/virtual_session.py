from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from broker_core.clock import ns_from_s, s_from_ns
from broker_core.closable import Closable
from broker_core.events import Event
from broker_core.recording.checker import Checker
from broker_core.recording.schema import SCENARIO_FILE
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.replay import EventDigest, RecordedAction, Rerun, recorded_action
from broker_core.simulation.scenario import parse_scenario
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import Snapshot, Totals
from broker_core.testing.history import KeptEvents
from broker_core.testing.timeline import timeline


class VirtualRun(Closable):
    """Starts `simulation`. `checker` judges each event: an error of the broker itself raises `Violation`."""

    def __init__(self, simulation: Simulation, checker: Checker) -> None:
        self._simulation = simulation
        self._events = KeptEvents(Snapshot(0, 0))
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
        """The last events, in a few lines or as a `whole`, and the state."""
        events, now_ns = self._events.events, self._simulation.loop.now_ns
        return timeline(events, self._simulation.broker, now_ns, decisive=self._decisive(events), whole=whole)

    def _decisive(self, _events: Sequence[Event]) -> Iterable[Event]:
        """The events that decided the outcome, for a subclass that judges one."""
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


class VirtualSession(VirtualRun):
    """The same scenario, seed and actions give the same events. Use it in one thread; close it, or use `with`.

    The checker of recordings judges it: an error of the broker itself raises `recording.violation.Violation`.
    """

    def __init__(self, scenario: str, *, seed: int | None = None, folder: Path | str = ".") -> None:
        """`scenario` is YAML; files that it reads are in `folder`, or among the samples of Brokerscope.

        Raises ScenarioError.
        """
        files = DataFiles(Path(folder) / SCENARIO_FILE)
        simulation = Simulation(parse_scenario(scenario), seed=seed, find_file=files)
        self._digest = EventDigest(simulation.events)
        self._actions: list[RecordedAction] = []
        super().__init__(simulation, Checker.of(simulation.scenario))

    # -- act

    def perform(self, action: str, *, at_s: float, step: int | None = None, **fields: Any) -> None:
        """Have `run` do an action of the window, as on the schedule of a scenario, at `at_s` of session time.

        `step` says where in that moment: after so many steps of the run, if it was recorded. Actions are given in
        the order in which they are done. Raises msgspec.ValidationError for an unknown one.
        """
        self._actions.append(recorded_action(ns_from_s(at_s), {"action": action, "step": step, **fields}))

    def run(self, until_s: float) -> None:
        """Let time pass up to `until_s`. Raises BrokerError for an action that cannot be done, and Violation."""
        until_ns = ns_from_s(until_s)
        due = [action for action in self._actions if action.time_ns <= until_ns]
        self._actions = [action for action in self._actions if action.time_ns > until_ns]
        Rerun(self._simulation, due, until_ns=until_ns).go_on(lambda: False)

    # -- assert

    def totals(self) -> Totals:
        """The broker's totals."""
        return self._simulation.totals()

    @property
    def event_count(self) -> int:
        """The number of events so far."""
        return self._simulation.events.count

    @property
    def digest(self) -> str:
        """The SHA-256 of all events so far."""
        return self._digest.hex
