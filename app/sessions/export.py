"""Exports the user's actions: as a scenario with a schedule, or as a test of the outcome."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from app.environment.paths import DataFiles
from app.sessions.work import Work
from broker_core.clock import NS_PER_S, s_from_ns
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind, EventStream
from broker_core.simulation.arrivals import FileArrivals
from broker_core.simulation.replay import EventDigest, RecordedAction, Rerun
from broker_core.simulation.scenario import Scenario, ScenarioError, parse_scenario
from broker_core.simulation.scenario_text import text_with
from broker_core.simulation.simulation import Simulation
from broker_core.simulation.specs import Scheduled
from broker_core.snapshots import Totals

_encoder = msgspec.json.Encoder(enc_hook=str)


class Run(NamedTuple):
    """The inputs of a session: its scenario, seed and actions, and its length."""

    text: str
    seed: int
    actions: tuple[RecordedAction, ...]
    end_ns: int
    scenario_path: Path


class Outcome(NamedTuple):
    """The results of a run. `effects` is an `EffectsDigest`, `counts` its count before each action."""

    totals: Totals
    digest: str
    effects: str
    events: int
    counts: tuple[int, ...]


class EffectsDigest:
    """A sink: the number and a digest of all events except the user's actions, which a schedule does not repeat."""

    def __init__(self, stream: EventStream) -> None:
        self.count = 0
        self._hash = hashlib.sha256()
        stream.attach(self)

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if event.kind is not EventKind.USER_ACTION:
            self._hash.update(_encoder.encode(msgspec.structs.replace(event, seq=self.count)))
            self.count += 1

    @property
    def hex(self) -> str:
        """The digest so far."""
        return self._hash.hexdigest()


def outcome_of(run: Run, work: Work) -> Outcome:
    """Rerun it. Raises BrokerError, ScenarioError where that is not possible."""
    simulation = Simulation(parse_scenario(run.text), seed=run.seed, find_file=DataFiles(run.scenario_path))
    digest, effects = EventDigest(simulation.events), EffectsDigest(simulation.events)
    counts: list[int] = []
    simulation.start()
    replayed = Rerun(
        simulation,
        run.actions,
        until_ns=run.end_ns,
        before=lambda _recorded: counts.append(effects.count),
    )

    def report() -> bool:
        now_ns = simulation.loop.now_ns
        work.report(now_ns / max(1, run.end_ns), f"Running it again, {s_from_ns(now_ns):.0f} s")
        return False

    replayed.go_on(report)
    found = Outcome(simulation.totals(), digest.hex, effects.hex, simulation.events.count, tuple(counts))
    simulation.close()
    return found


# -- as a scenario


def scenario_of(run: Run, outcome: Outcome) -> str:
    """The scenario's text with the user's actions on its schedule."""
    done = [
        Scheduled(at_s=_seconds(recorded.time_ns), after_events=count, do=recorded.action)
        for recorded, count in zip(run.actions, outcome.counts, strict=True)
    ]
    return text_with(run.text, run.seed, done)


def _seconds(time_ns: int) -> float:
    return time_ns / NS_PER_S


def save_scenario(run: Run, target: Path, work: Work) -> Path:
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
            "on a schedule, what was done by hand gives another run, for it came in the middle of a moment; a test "
            "(Save as test) keeps it exactly",
        )
    target.write_text(text, encoding="utf-8")
    return target


def _check_place(scenario: Scenario, before: Path, target: Path) -> None:
    """Raises INVALID_REQUEST where what the scenario reads would not be found beside it."""
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


# -- as a test

_TEST = '''"""Replays a session of "{title}" with all that was done in it by hand, and checks that the same comes of it.

Saved by Brokerscope. Run it with the Python of Brokerscope, in its folder: python -m pytest {file}
"""

import json
from pathlib import Path

import resources
from broker_core.simulation import parse_scenario
from broker_core.simulation.arrivals import FileArrivals
from broker_core.simulation.replay import EventDigest, recorded_action, rerun
from broker_core.recording.checker import Checker
from broker_core.snapshots import Totals

SCENARIO = {scenario}

# (session time in ns, what was done): a line each.
ACTIONS = [
{actions}]

UNTIL_S = {until_s!r}
SEED = {seed}


def find_file(name):
    """Data that the scenario reads: beside it, or among the samples."""
    beside = Path({folder!r}) / name
    return beside if beside.is_file() else resources.path("sample_data", name)


def test_what_was_done_by_hand_gives_the_same_again():
    scenario = parse_scenario(SCENARIO)
    digests = []

    def watch(simulation):
        digests.append(EventDigest(simulation.events))
        simulation.events.attach(Checker.of(scenario))

    actions = [recorded_action(time_ns, json.loads(plain)) for time_ns, plain in ACTIONS]
    simulation = rerun(scenario, actions, until_s=UNTIL_S, seed=SEED, find_file=find_file, prepare=watch)
    assert simulation.totals() == {totals}
    assert simulation.events.count == {events}
    assert digests[0].hex == "{digest}"
    simulation.close()
'''


def test_text(run: Run, outcome: Outcome, file: str, title: str) -> str:
    """A file for pytest."""
    return _TEST.format(
        title=title.replace('"', "'").replace("\\", "/"),
        file=file,
        scenario=_literal(run.text),
        actions="".join(f"    ({recorded.time_ns}, {_plain(recorded)!r}),\n" for recorded in run.actions),
        until_s=_seconds(run.end_ns),
        seed=run.seed,
        folder=str(run.scenario_path.resolve().parent),
        totals=_totals(outcome.totals),
        events=outcome.events,
        digest=outcome.digest,
    )


def _plain(recorded: RecordedAction) -> str:
    return json.dumps({**msgspec.to_builtins(recorded.action), "step": recorded.step}, ensure_ascii=False)


def _literal(text: str) -> str:
    """As people would write it, where that can be."""
    if "'''" in text or "\\" in text or not text.endswith("\n"):
        return repr(text)
    return f"'''\\\n{text}'''"


def _totals(totals: Totals) -> str:
    fields: Sequence[tuple[str, Any]] = [
        (name, value) for name, value in msgspec.structs.asdict(totals).items() if value
    ]
    return f"Totals({', '.join(f'{name}={value}' for name, value in fields)})"


def save_test(run: Run, target: Path, work: Work) -> Path:
    """Write the test. Raises BrokerError, ScenarioError, OSError."""
    outcome = outcome_of(run, work)
    target.write_text(test_text(run, outcome, target.name, parse_scenario(run.text).title), encoding="utf-8")
    return target
