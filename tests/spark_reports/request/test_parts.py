"""What is not asked for is not computed: each part of a report takes what it says, and nothing besides."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_reports.jobs.kinds import make_kind
from spark_reports.pipeline.frames import PASSES, Frames, read_frames
from spark_reports.pipeline.tables import TABLES
from spark_reports.request.parts import (
    EVERY,
    IN_HISTORY,
    PARTS,
    figures_of,
    in_order,
    made_for,
    passes_of,
    tables_of,
    titles,
    weights,
)
from spark_reports.request.request import COMPARE, HISTORY, Request
from spark_reports.sessions.discovery import Found
from spark_reports.sessions.session import inspect
from spark_reports.tables.runs import ALWAYS, FIGURES
from spark_reports.tables.schema import arrow
from tests import long_form
from tests.long_form import some
from tests.spark_reports.conftest import record
from tests.spark_reports.test_wrong import Silent


def test_every_table_every_pass_and_every_figure_is_of_some_part() -> None:
    assert tables_of(EVERY) == made_for(EVERY) - {"hues"}, "which are the plots'"
    assert made_for(EVERY) == {table.name for table in TABLES}
    assert passes_of(EVERY) == set(PASSES)
    assert sorted(name for part in PARTS.values() for name in part.figures) == sorted(set(FIGURES) - set(ALWAYS))
    assert figures_of(IN_HISTORY) == figures_of(EVERY)
    assert in_order({"audit", "latency"}) == ["latency", "audit"] and titles({"dead-letters"}) == ["Dead letters"]


@pytest.mark.spark
@pytest.mark.parametrize("name", some(PARTS, {"audit", "consumers", "dead-letters", "lag"}))
def test_a_part_reads_what_it_says_and_no_more(spark: SparkSession, recorded: Path, name: str) -> None:
    """Passes are made when they are first asked for, so those that are there were asked for."""
    frames = read_frames(spark, inspect(str(recorded)))
    for table in TABLES:
        if table.name in made_for({name}):
            table.build(frames)
    assert set(PASSES) & set(vars(frames)) == passes_of({name}) and "rollup" in passes_of({name})


class Noted(Silent):
    """Remembers which steps there were."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: set[str] = set()

    def step(self, name, label):
        self.steps.add(name)
        return super().step(name, label)


@pytest.mark.spark
def test_only_the_tables_of_the_parts_are_made_and_written(
    spark: SparkSession, recorded: Path, frames: Frames, tmp_path: Path
) -> None:
    progress, asked = Noted(), frozenset({"dead-letters", "consumers"})
    request = Request((str(recorded),), tmp_path, formats=frozenset({"html", "csv"}), parts=asked)
    (tmp_path / "tables").mkdir()
    report = make_kind(spark, request, Found((inspect(str(recorded)),)), progress)
    report.write(tmp_path, request.formats)
    assert progress.steps == {*weights(asked), "page"}
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == tables_of(asked) | {"findings"}
    for table in TABLES:
        if table.name in ("dead_letters", "groups"):  # times of day are put beside them only where they are written
            whole = arrow(table.build(frames), table.schema)
            assert report.tables[table.name].select(whole.column_names).equals(whole)
    assert "Consumers, Dead letters only</dd>" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.spark
def test_comparisons_and_histories_have_the_figures_of_the_parts(spark: SparkSession, tmp_path: Path) -> None:
    sessions = tuple(str(tmp_path / name) for name in ("one", "two"))
    for number, session in enumerate(sessions):
        record(Path(session), seconds=3, seed=number)
    found = Found(tuple(map(inspect, sessions)))
    asked = frozenset({"rebalances", "events"})
    printed = ("html",) if long_form.on else ()
    for mode, others in ((COMPARE, {"comparison", *tables_of(asked)}), (HISTORY, {"trends"})):
        out = tmp_path / mode
        (out / "tables").mkdir(parents=True)
        request = Request(sessions, out, mode, formats=frozenset({"csv", *printed}), parts=asked)
        progress = Noted()
        make_kind(spark, request, found, progress).write(out, request.formats)
        assert {path.stem for path in (out / "tables").iterdir()} == {"runs", "findings", *others}
        assert not any(step.endswith(("broken", "slots", "happened")) for step in progress.steps)
        with (out / "tables" / "runs.csv").open(newline="", encoding="utf-8") as file:
            heads = next(csv.reader(file))
        assert set(heads) & set(FIGURES) == figures_of(asked) | set(ALWAYS)
        assert all((out / f"report.{name}").stat().st_size > 1_000 for name in printed)
