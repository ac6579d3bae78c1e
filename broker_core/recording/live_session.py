"""A session that is happening: a simulation, and the recording of it, in one folder."""

from __future__ import annotations

import resource
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from broker_core.errors import ArrivalError, BrokerError, ScenarioError
from broker_core.events import Sink
from broker_core.files import DiskFiles, FileSystem, MemoryFiles
from broker_core.recording.keyframes import Cadence
from broker_core.recording.metadata import FINISHED, STOPPED
from broker_core.recording.playback import FolderPlayback, MemoryPlayback, Playback
from broker_core.recording.recorder import Recorder
from broker_core.simulation.replay import RecordedAction, recorded_action
from broker_core.simulation.scenario import Scenario
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import MAX_LEASES, MAX_LETTERS, Snapshot


class Cost:
    """Measured from its making on; `add` takes what others have measured."""

    def __init__(self) -> None:
        self._wall_s = time.perf_counter()
        self._cpu_s = time.process_time()
        self._others: dict[str, float] = {}

    def add(self, **figures: float) -> None:
        """Figures that only others know, by a name that ends in its unit, such as `engine_s`."""
        self._others |= figures

    def figures(self) -> dict[str, float]:
        """`wall_s` and `process_cpu_s` since the start, `peak_memory_bytes`, and what was added."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {
            "wall_s": round(time.perf_counter() - self._wall_s, 3),
            "process_cpu_s": round(time.process_time() - self._cpu_s, 3),
            **{name: round(value, 3) for name, value in self._others.items()},
            "peak_memory_bytes": peak if sys.platform == "darwin" else peak * 1024,
        }


BROKER_FOLDER = "broker"  # the data directory of the session's broker, beside the recording
OFFSETS_FILE = "offsets.sqlite"


class LiveSession:
    """One run. `folder` is None if nothing is recorded; `epoch_ms` is the Unix time of session time 0."""

    def __init__(
        self,
        scenario: Scenario,
        scenario_text: str,
        *,
        folder: Path | None,
        find_file: Callable[[str], Path],
        seed: int | None = None,
        sinks: Sequence[Sink] = (),
        on_keyframe: Callable[[Snapshot], object] = lambda _snapshot: None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Start at session time 0. `sinks` get every event, `on_keyframe` every keyframe; `extra` is kept in the
        metadata. Raises `BrokerError` if the folder cannot be used or the scenario cannot begin; nothing is left then.
        """
        self.folder = folder
        self.recorder: Recorder | None = None
        self._closed = False
        #: The state after the end; None while the session goes on.
        self.last: Snapshot | None = None
        self.text = scenario_text
        #: What was done by hand, for a run that is to be the same.
        self.actions: list[RecordedAction] = []
        self.outside_clients = False
        self.epoch_ms = time.time_ns() // 1_000_000
        self.cost = Cost()
        seed = scenario.seed if seed is None else seed
        was_there = folder is not None and folder.exists()
        if folder is not None:
            self.recorder = Recorder(
                folder, scenario_name=scenario.title, scenario_text=scenario_text, seed=seed, extra=extra
            )
        self._on_keyframe = on_keyframe
        self._cadence = Cadence()
        self._memory = MemoryPlayback()
        try:
            self.simulation = self._simulation(scenario, find_file, seed)
            for sink in sinks:
                self.simulation.events.attach(sink)
            self.simulation.start()
        except (BrokerError, ScenarioError, ArrivalError):
            # Refused before anything happened: no session is left, and the folder can be used again.
            if folder is not None and self.recorder is not None:
                self.recorder.close()
                shutil.rmtree(folder)
                if was_there:
                    folder.mkdir()
            raise

    def _simulation(self, scenario: Scenario, find_file: Callable[[str], Path], seed: int) -> Simulation:
        files: FileSystem = MemoryFiles()
        offsets_path = ":memory:"
        if self.folder is not None and scenario.durability == "file":
            files = DiskFiles(self.folder / BROKER_FOLDER)
            offsets_path = str(self.folder / BROKER_FOLDER / OFFSETS_FILE)
        made = Simulation(
            scenario, files=files, offsets_path=offsets_path, find_file=find_file, seed=seed, epoch_ms=self.epoch_ms
        )
        if self.recorder is not None:
            made.events.attach(self.recorder)
            made.on_action(self.recorder.action)
        made.on_action(lambda time_ns, plain: self.actions.append(recorded_action(time_ns, plain)))
        return made

    def take_due_keyframe(self) -> None:
        """Take a keyframe where one is due. Called often, between two steps, by the code that runs the loop."""
        simulation = self.simulation
        now_ns, events = simulation.loop.now_ns, simulation.events.count
        if not self._cadence.due(now_ns, events):
            return
        started_s = time.thread_time()  # what other programs take meanwhile is no cost of a keyframe
        snapshot = simulation.snapshot(max_leases=MAX_LEASES, max_dead_letters=MAX_LETTERS)
        (self._memory if self.recorder is None else self.recorder).keyframe(snapshot)
        self._on_keyframe(snapshot)
        self._cadence.took(now_ns, events, time.thread_time() - started_s)

    def playback(self) -> Playback:
        return self._memory if self.folder is None else FolderPlayback(self.folder, self.recorder)

    def let_outside_clients_in(self) -> None:
        """Note that clients outside the session take part from now on: it can be replayed, but not run again."""
        if not self.outside_clients:
            self.outside_clients = True
            if self.recorder is not None:
                self.recorder.note(outside_clients=True)

    def summary(self) -> dict[str, int]:
        totals: dict[str, int] = msgspec.to_builtins(self.simulation.totals())
        return {**totals, "events": self.simulation.events.count}

    def close(self, *, finished: bool) -> None:
        """End the session and its recording, once. Raises the `BrokerError` of a recording that failed."""
        if self._closed:
            return
        self._closed = True
        simulation = self.simulation
        simulation.end()
        self.last = simulation.snapshot()
        try:
            simulation.close()
        finally:
            if self.recorder is not None:
                self.recorder.note(cost=self.cost.figures())
                self.recorder.close(
                    FINISHED if finished else STOPPED,
                    totals=msgspec.to_builtins(simulation.totals()),
                    time_ns=simulation.loop.now_ns,
                )
