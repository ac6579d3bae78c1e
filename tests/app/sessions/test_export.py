"""What was done by hand is kept as a scenario and as a test; both give the same events."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from app.commands.recordings import RecordingHandlers
from app.environment.paths import find_scenario
from app.sessions.export import EffectsDigest, RecordedRun, outcome_of, save_scenario, save_test, scenario_of
from app.sessions.jobs import Work
from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError
from broker_core.simulation import load_scenario
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.faults import Crash, Pause, SlowDown
from broker_core.simulation.actions.groups import MoveConsumer
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.replay import EventDigest, RecordedAction
from broker_core.simulation.scenario import parse_scenario
from broker_core.simulation.simulation import Simulation
from tests.app.conftest import Hand
from tests.app.dialogs import said
from tests.long_form import some

ROOT = Path(__file__).parents[3]


def work() -> Work:
    return Work(lambda _part, _words: None)


@cache
def played(name: str, *, steps: bool = False, seed: int = 5) -> tuple[RecordedRun, str]:
    """A session with a person in it, and the digest of its events. `steps`: paused right after events, as F4 does."""
    path = find_scenario(name)
    scenario, text = load_scenario(path)
    simulation = Simulation(scenario, seed=seed, find_file=DataFiles(path))
    digest = EventDigest(simulation.events)
    actions: list[RecordedAction] = []
    simulation.on_action(
        lambda time_ns, plain: actions.append(RecordedAction(time_ns, done[-1], int(str(plain["step"]))))
    )
    simulation.start()
    done: list[UserAction] = []
    consumers = [actor.name for actor in simulation.snapshot().actors if actor.role == "consumer"]
    wanted: list[UserAction] = [MoveConsumer(consumers[-1], ""), SlowDown(consumers[0], 3, 5), Pause(consumers[0], 2)]
    if simulation.actors[consumers[-1]].state == "idle":
        wanted[0] = MoveConsumer(consumers[-1], scenario.groups[0].name)
    for number, action in enumerate(wanted):
        simulation.loop.run_until((7 + 4 * number) * NS_PER_S + 123)
        if steps:
            before = simulation.events.count
            while simulation.events.count == before:
                simulation.loop.run_next(10**18)
        done.append(action)
        simulation.perform(action)
    simulation.loop.run_until(25 * NS_PER_S)
    return RecordedRun(text, seed, tuple(actions), 25 * NS_PER_S, path), digest.hex


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("name", some(["first-session", "static-members", "hot-key"], {"first-session"}))
def test_the_saved_scenario_gives_the_same_events(name: str, steps: bool, tmp_path: Path) -> None:
    run, digest = played(name, steps=steps)
    assert outcome_of(run, work()).digest == digest
    saved = save_scenario(run, tmp_path / "mine.yaml", work())
    scenario, text = load_scenario(saved)
    assert scenario.seed == 5 and len(scenario.schedule) >= 3
    again = Simulation(scenario, find_file=DataFiles(run.scenario_path))
    found = EffectsDigest(again.events)
    again.run(25)
    assert found.hex == outcome_of(run, work()).effects
    if name == "first-session":
        assert "#" in text and "anual actions" in text


def test_a_scenario_that_has_a_schedule_keeps_it(tmp_path: Path) -> None:
    run, digest = played("static-members")
    before = parse_scenario(run.text).schedule
    scenario = parse_scenario(scenario_of(run, outcome_of(run, work())))
    assert scenario.schedule[: len(before)] == before and before
    assert digest == outcome_of(run, work()).digest


def test_the_saved_scenario_is_the_authors_text_with_short_lines_and_no_nulls(tmp_path: Path) -> None:
    run, _ = played("first-session")
    text = save_scenario(run, tmp_path / "mine.yaml", work()).read_text()
    assert text.startswith("# First session, with manual actions\ntitle: First session\n")
    before, _, after = text.partition("schedule:\n")
    assert before.removeprefix("# First session, with manual actions\n") == run.text.replace("seed: 7", "seed: 5")
    assert re.sub(r"after_events: \d+", "after_events: ...", after) == (
        "  # Manual actions, in order.\n"
        "  - at_s: 7.000000123\n"
        "    do: {action: move_consumer, consumer: mailer-1, group: ''}\n"
        "    after_events: ...\n"
        "  - at_s: 11.000000123\n"
        "    do: {action: slow_down, client: indexer-1, factor: 3, for_s: 5}\n"
        "    after_events: ...\n"
        "  - at_s: 15.000000123\n"
        "    do: {action: pause, client: indexer-1, for_s: 2}\n"
        "    after_events: ...\n"
    )


def test_a_scenario_is_not_saved_where_what_it_reads_is_not(tmp_path: Path) -> None:
    for folder in ("home", "away"):
        (tmp_path / folder).mkdir()
    (tmp_path / "home" / "rows.jsonl").write_text('{"time": 1}\n{"time": 9}\n')
    path = tmp_path / "home" / "mine.yaml"
    path.write_text(
        "title: Mine\nabout: x\nuntil_s: 3\ntopics: [{name: t}]\n"
        "producers: [{name: p, to: t, arrivals: {kind: file, file: rows.jsonl}}]\n"
    )
    run = RecordedRun(path.read_text(), 1, (), NS_PER_S, path)
    save_scenario(run, tmp_path / "home" / "again.yaml", work())
    with pytest.raises(BrokerError, match=r"it reads rows.jsonl, which is in .*home; save it in that folder"):
        save_scenario(run, tmp_path / "away" / "again.yaml", work())
    assert not (tmp_path / "away" / "again.yaml").exists()


def test_what_was_done_nothing_in_is_saved_too(tmp_path: Path) -> None:
    run, _ = played("hot-key")
    plain = run._replace(actions=())
    scenario, _ = load_scenario(save_scenario(plain, tmp_path / "plain.yaml", work()))
    assert scenario.schedule == ()


def test_an_action_that_fits_no_more_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    run, _ = played("hot-key")
    wrong = run._replace(actions=(RecordedAction(NS_PER_S, Crash("nobody")),))
    with pytest.raises(BrokerError, match="nobody"):
        save_scenario(wrong, tmp_path / "wrong.yaml", work())
    assert not (tmp_path / "wrong.yaml").exists()


def test_the_saved_test_runs_and_can_fail(tmp_path: Path) -> None:
    run, _ = played("first-session")
    saved = save_test(run, tmp_path / "test_mine.py", work())
    text = saved.read_text()

    def pytest_on(*paths: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:brokerscope",
                "-p",
                "broker_core.testing.plugin",
                *map(str, paths),
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    broken = tmp_path / "test_broken.py"
    broken.write_text(text.replace("factor=3", "factor=9"))
    assert broken.read_text() != text
    failed = pytest_on(saved, broken)
    assert failed.returncode == 1 and "1 failed, 1 passed" in failed.stdout, failed.stdout + failed.stderr
    assert "test_mine.py" not in failed.stdout.partition("short test summary")[2]
    assert "What happened in the broker" in failed.stdout
    assert f"brokerscope open {tmp_path}/.brokerscope/test_broken." in failed.stdout


def test_the_window_saves_both_as_jobs(open_workbench: Callable[..., Hand], tmp_path: Path) -> None:
    hand = open_workbench(record=False)
    hand.pass_time(6)
    hand.workbench.controller.perform(MoveConsumer("indexer-4", "indexers"))
    hand.pass_time(6)
    handlers = hand.workbench.family(RecordingHandlers)
    assert hand.workbench.registry.reason("save_scenario") == ""
    handlers.export(tmp_path / "mine.yaml", save_scenario)
    handlers.export(tmp_path / "test_mine.py", save_test)
    hand.qtbot.waitUntil(lambda: not hand.workbench.jobs.running, timeout=30_000)
    assert [job.state for job in hand.workbench.jobs.facts()] == ["Done", "Done"], hand.workbench.jobs.facts()
    assert said(hand).startswith("Saved "), "and no longer that it runs"
    (scheduled,) = load_scenario(tmp_path / "mine.yaml")[0].schedule
    assert scheduled.do == MoveConsumer("indexer-4", "indexers") and scheduled.at_s == 6
    assert "indexer-4" in (tmp_path / "test_mine.py").read_text()
