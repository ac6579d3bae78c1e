"""A recorded run done again, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from broker_core.clock import ns_from_s
from broker_core.files import FileSystem
from broker_core.simulation.replay import RecordedAction, Rerun
from broker_core.simulation.scenario import Scenario
from broker_core.simulation.simulation import Simulation


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
    until_ns = ns_from_s(scenario.until_s if until_s is None else until_s)
    Rerun(simulation, actions, until_ns=until_ns).go_on(bool)
    return simulation
