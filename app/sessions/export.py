from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import resources
from app.sessions.jobs import Work
from broker_core.clock import NS_PER_S, s_from_ns
from broker_core.errors import BrokerError, ErrorCode, ScenarioError
from broker_core.events import Event, EventKind
from broker_core.simulation.arrival_files import DataFiles, FileArrivals
from broker_core.simulation.replay import EventDigest, RecordedAction, Rerun
from broker_core.simulation.scenario import Scenario, parse_scenario
from broker_core.simulation.scenario_text import text_with
from broker_core.simulation.simulation import Simulation
from broker_core.simulation.specs import Scheduled
from broker_core.snapshots import Totals


class RecordedRun(NamedTuple):
    """The inputs of a session: its scenario, seed and actions, and its length."""

    text: str
    seed: int
    actions: tuple[RecordedAction, ...]
    end_ns: int
    scenario_path: Path


class RunOutcome(NamedTuple):
    """The results of a run. `effects` is an `EffectsDigest`, `counts` its count before each action."""

    totals: Totals
    digest: str
    effects: str
    events: int
    counts: tuple[int, ...]


class EffectsDigest(EventDigest):
    """A sink: the number and a digest of all events except the user's actions, which a schedule does not repeat."""

    count = 0

    def __call__(self, event: Event) -> None:
        if event.kind is not EventKind.USER_ACTION:
            super().__call__(msgspec.structs.replace(event, seq=self.count))
            self.count += 1


def outcome_of(run: RecordedRun, work: Work) -> RunOutcome:
    """Rerun it. Raises BrokerError, ScenarioError if that is not possible."""
    simulation = Simulation(parse_scenario(run.text), seed=run.seed, find_file=DataFiles(run.scenario_path))
    digest, effects = EventDigest(simulation.events), EffectsDigest(simulation.events)
    counts: list[int] = []
    simulation.start()
    replayed = Rerun(
        simulation, run.actions, until_ns=run.end_ns, before=lambda _recorded: counts.append(effects.count)
    )

    def report() -> bool:
        now_ns = simulation.loop.now_ns
        work.report(now_ns / max(1, run.end_ns), f"Rerunning it, {s_from_ns(now_ns):.0f} s")
        return False

    replayed.go_on(report)
    found = RunOutcome(simulation.totals(), digest.hex, effects.hex, simulation.events.count, tuple(counts))
    simulation.close()
    return found


def scenario_of(run: RecordedRun, outcome: RunOutcome) -> str:
    done = [
        Scheduled(at_s=_seconds(recorded.time_ns), after_events=count, do=recorded.action)
        for recorded, count in zip(run.actions, outcome.counts, strict=True)
    ]
    return text_with(run.text, run.seed, done)


def _seconds(time_ns: int) -> float:
    return time_ns / NS_PER_S


def save_scenario(run: RecordedRun, target: Path, work: Work) -> Path:
    """Write the scenario, after it was found to give the same events. Raises BrokerError, ScenarioError, OSError."""
    outcome = outcome_of(run, work)
    text = scenario_of(run, outcome)
    scenario = parse_scenario(text, target.name)
    _check_place(scenario, run.scenario_path, target)
    work.report(0.9, "Comparing")
    again = Simulation(scenario, find_file=DataFiles(run.scenario_path))
    effects = EffectsDigest(again.events)
    again.run(s_from_ns(run.end_ns))
    again.close()
    if effects.hex != outcome.effects:
        raise BrokerError(
            ErrorCode.INVALID_REQUEST,
            "as a schedule, your actions give a different run, because they came in the middle of a moment; a test "
            "(Save as test) reproduces it exactly",
        )
    target.write_text(text, encoding="utf-8")
    return target


def _check_place(scenario: Scenario, before: Path, target: Path) -> None:
    """Raises INVALID_REQUEST if what the scenario reads would not be found beside it."""
    for producer in scenario.producers:
        if isinstance(producer.arrivals, FileArrivals):
            name = producer.arrivals.file
            there = DataFiles(before)(name)
            try:
                same = DataFiles(target)(name).samefile(there)
            except ScenarioError:
                same = False
            if not same:
                about = f"it reads {name}, which is in {there.parent}; save it in that folder, or copy the file first"
                raise BrokerError(ErrorCode.INVALID_REQUEST, about)


def test_text(run: RecordedRun, outcome: RunOutcome, file: str, title: str) -> str:
    return (
        resources.path("templates", "session_test.txt")
        .read_text(encoding="utf-8")
        .format(
            title=title.replace('"', "'").replace("\\", "/"),
            file=file,
            scenario=_literal(run.text),
            actions="".join(map(_call, run.actions)),
            until_s=_seconds(run.end_ns),
            seed=run.seed,
            folder=str(run.scenario_path.resolve().parent),
            totals=_totals(outcome.totals),
            events=outcome.events,
            digest=outcome.digest,
        )
    )


def _call(recorded: RecordedAction) -> str:
    fields = dict(msgspec.to_builtins(recorded.action))
    when = f"at_s={_seconds(recorded.time_ns)!r}, step={recorded.step}"
    given = "".join(f", {name}={value!r}" for name, value in fields.items() if name != "action")
    return f"    session.perform({fields['action']!r}, {when}{given})\n"


def _literal(text: str) -> str:
    if "'''" in text or "\\" in text or not text.endswith("\n"):
        return repr(text)
    return f"'''\\\n{text}'''"


def _totals(totals: Totals) -> str:
    fields: Sequence[tuple[str, Any]] = [
        (name, value) for name, value in msgspec.structs.asdict(totals).items() if value
    ]
    return f"Totals({', '.join(f'{name}={value}' for name, value in fields)})"


def save_test(run: RecordedRun, target: Path, work: Work) -> Path:
    """Write the test. Raises BrokerError, ScenarioError, OSError."""
    outcome = outcome_of(run, work)
    target.write_text(test_text(run, outcome, target.name, parse_scenario(run.text).title), encoding="utf-8")
    return target
