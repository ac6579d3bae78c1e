"""The same run again: a scenario, its seed and what a person did give the same events, to the byte."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from broker_core.events import Event, EventStream
from broker_core.files import FileSystem
from broker_core.lab.actions import UserAction
from broker_core.lab.scenario import Scenario
from broker_core.lab.simulation import Simulation


class RecordedAction(msgspec.Struct, frozen=True):
    """What a person did at `time_ns`, after `step` steps of the loop (None: after all that was due then)."""

    time_ns: int
    action: UserAction
    step: int | None = None


def recorded_action(time_ns: int, plain: Mapping[str, Any]) -> RecordedAction:
    """The action in the plain values that a recording keeps. Raises `msgspec.ValidationError` for anything else."""
    fields = dict(plain)
    step = fields.pop("step", None)
    return RecordedAction(time_ns, msgspec.convert(fields, UserAction), step)


def rerun(
    scenario: Scenario,
    actions: Iterable[RecordedAction],
    *,
    until_s: float | None = None,
    seed: int | None = None,
    find_file: Callable[[str], Path] = Path,
    files: FileSystem | None = None,
    prepare: Callable[[Simulation], object] = lambda _simulation: None,
) -> Simulation:
    """Run `scenario` up to `until_s`, doing each of `actions` where it was done the first time.

    `prepare(simulation)` is called before the start, to attach sinks or add actors. Raises what
    `Simulation.perform` raises where an action cannot be done: then it was another run.
    """
    simulation = Simulation(scenario, files=files, find_file=find_file, seed=seed)
    prepare(simulation)
    simulation.start()
    loop = simulation.loop
    for recorded in actions:
        if recorded.step is None:
            loop.run_until(recorded.time_ns)
        else:
            while loop.steps < recorded.step and loop.run_next(recorded.time_ns):
                pass
            loop.advance_to(recorded.time_ns)
        simulation.perform(recorded.action)
    simulation.run(until_s)
    return simulation


class EventDigest:
    """A sink that keeps a SHA-256 of all events, with every field, in their order."""

    def __init__(self, stream: EventStream) -> None:
        self._hash = hashlib.sha256()
        self._encode = msgspec.json.Encoder()
        stream.attach(self)

    def __call__(self, event: Event) -> None:
        """Take one event."""
        self._hash.update(self._encode.encode(event) + b"\n")

    @property
    def hex(self) -> str:
        """The digest of the events so far."""
        return self._hash.hexdigest()
