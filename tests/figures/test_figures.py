"""Every figure of the window is what the recorded events say, however the window came to show its moment."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import resources
from app.shell.workbench import Workbench
from tests.figures.compare import Look, Verdict, left_out
from tests.figures.not_recounted import NOT_RECOUNTED
from tests.figures.random_scenarios import random_scenario
from tests.figures.visits import Plan, Visit
from tests.long_form import TELLING, form, some

HERE = Path(__file__).parent
SHAPES = sorted(HERE.glob("shapes/*.yaml"))
BY_HAND = HERE / "shapes" / "assigned-by-hand"  # as `tests.spark_reports.test_recount.by_hand` records it
SCENARIOS = [HERE / "upheaval.yaml", *sorted(resources.path("scenarios").glob("*.yaml"))]
# With the shape of aborted transactions, it has every kind of figure.
IN_EVERY_WAY = {"schema-evolution"}
TWO_WAYS = [path for path in (*SCENARIOS, *SHAPES) if path.stem not in IN_EVERY_WAY]
SHORT = Plan(live=2, past=2, until_s=30)
TWO_LOOKS = Plan(live=1, past=1, until_s=30)
WHOLE = Plan(live=form(1, 3), past=form(1, 2), until_s=60)
LONG = Plan(live=100, past=60, until_s=1e9, thorough=True)
SEEDS, MANY_SEEDS = range(3), range(3, 40)


def hold(verdict: Verdict, name: str) -> None:
    """Nothing differs; how much was compared is told to whoever runs with -s."""
    print(f"{name}: {verdict.compared:,} figures in {verdict.looks} looks")
    assert verdict.mismatches == []
    assert verdict.compared > 100 * verdict.looks


@pytest.mark.promise("31")
@pytest.mark.parametrize(
    "scenario", some((path for path in SCENARIOS if path.stem in IN_EVERY_WAY | TELLING | {"upheaval"}), IN_EVERY_WAY)
)
def test_what_is_shown_is_what_the_events_say(workbench: Workbench, qtbot: QtBot, scenario: Path) -> None:
    hold(Visit(workbench, qtbot, scenario, SHORT).verdict(), scenario.stem)


@pytest.mark.parametrize("scenario", some(TWO_WAYS, {"upheaval", "rolling-deploy", "share-group-redrive"}))
def test_live_and_opened_what_is_shown_is_what_the_events_say(
    workbench: Workbench, qtbot: QtBot, scenario: Path
) -> None:
    hold(Visit(workbench, qtbot, scenario, TWO_LOOKS).live_and_opened(), scenario.stem)


@pytest.mark.parametrize("scenario", some(SHAPES, {"aborted-transactions"}))
def test_so_it_is_where_accounts_are_hard(workbench: Workbench, qtbot: QtBot, scenario: Path) -> None:
    hold(Visit(workbench, qtbot, scenario, WHOLE).verdict(), scenario.stem)


def test_so_it_is_where_programs_assign_their_partitions_by_hand(workbench: Workbench, qtbot: QtBot) -> None:
    moments = [100_000_000, 300_000_000, 600_000_000]  # read, not committed; one has gone back; committed
    hold(Visit(workbench, qtbot, BY_HAND, SHORT).recorded(BY_HAND, moments), BY_HAND.stem)


@pytest.mark.promise("31")
@pytest.mark.parametrize("seed", some(SEEDS, ()))
def test_so_it_is_in_sessions_drawn_by_chance(workbench: Workbench, qtbot: QtBot, tmp_path: Path, seed: int) -> None:
    scenario = tmp_path / f"random-{seed}.yaml"
    scenario.write_text(random_scenario(seed), "utf-8")
    hold(Visit(workbench, qtbot, scenario, SHORT, seed).verdict(), scenario.stem)


@pytest.mark.soak
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.stem)
def test_at_some_hundred_moments_of_each_session(workbench: Workbench, qtbot: QtBot, scenario: Path) -> None:
    hold(Visit(workbench, qtbot, scenario, LONG, 2).verdict(), scenario.stem)


@pytest.mark.soak
@pytest.mark.parametrize("seed", MANY_SEEDS)
def test_in_many_sessions_drawn_by_chance(workbench: Workbench, qtbot: QtBot, tmp_path: Path, seed: int) -> None:
    scenario = tmp_path / f"random-{seed}.yaml"
    scenario.write_text(random_scenario(seed), "utf-8")
    hold(
        Visit(workbench, qtbot, scenario, dataclasses.replace(SHORT, live=30, past=20, thorough=True), seed).verdict(),
        scenario.stem,
    )


def test_the_recount_shares_nothing_with_the_program() -> None:
    """What counts again, and what writes it down again, imports nothing that could have the same fault."""
    for path in (*HERE.glob("recount/*.py"), *HERE.glob("expected/*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                assert module.partition(".")[0] not in {
                    "app",
                    "broker_core",
                    "widgets",
                    "spark_reports",
                    "resources",
                }, f"{path.name} imports {module}"


def test_a_figure_without_a_recount_fails() -> None:
    """As a new column of a table would be, and one that is shown no more."""
    look = Look("made up", 0, 0, 0, 0, {("offsets", "ledger trades 0", "Novelty"): "7"})
    verdict = Verdict()
    verdict.judge(look, {("offsets", "ledger trades 0", "End"): "3"})
    assert [line.partition(" | made up")[0] for line in verdict.mismatches] == [
        "offsets | ledger trades 0 | End",
        "offsets | ledger trades 0 | Novelty",
    ]
    assert "NO RECOUNT" in verdict.mismatches[1] and "NOT SHOWN" in verdict.mismatches[0]


def test_what_is_left_out_says_why() -> None:
    assert all(reason for reason in NOT_RECOUNTED.values())
    assert left_out(("inspector", "consumer:a", "In this state"))
    assert not left_out(("inspector", "group:a", "In this state"))
