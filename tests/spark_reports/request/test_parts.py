"""What is not asked for is not computed: each part of a report takes what it says, and nothing besides."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_reports.jobs.report import Report
from spark_reports.pipeline.collect import PASSES
from spark_reports.pipeline.session_data import SessionData, read_session_data
from spark_reports.pipeline.tables import TABLES
from spark_reports.request.parts import EVERY, PARTS, in_order, made_for, passes_of, tables_of, titles, weights
from spark_reports.request.request import Request
from spark_reports.sessions.session import inspect
from spark_reports.tables.schema import arrow
from tests.long_form import some
from tests.spark_reports.test_wrong import Silent


def test_every_table_every_pass_and_every_figure_is_of_some_part() -> None:
    assert tables_of(EVERY) == made_for(EVERY) - {"hues"}, "which are the plots'"
    assert made_for(EVERY) == {table.name for table in TABLES}
    assert passes_of(EVERY) == {step.name for wave in PASSES for step in wave}
    assert in_order({"audit", "latency"}) == ["latency", "audit"] and titles({"dead-letters"}) == ["Dead letters"]


@pytest.mark.spark
@pytest.mark.parametrize("name", some(PARTS, {"audit", "consumers", "dead-letters", "lag"}))
def test_a_part_reads_what_it_says_and_no_more(spark: SparkSession, recorded: Path, name: str) -> None:
    """Passes are made when they are first asked for, so those that are there were asked for."""
    data = read_session_data(spark, inspect(str(recorded)))
    for table in TABLES:
        if table.name in made_for({name}):
            table.build(data)
    assert {step.name for wave in PASSES for step in wave} & set(vars(data)) == passes_of(
        {name}
    ) and "rollup" in passes_of({name})


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
    spark: SparkSession, recorded: Path, data: SessionData, tmp_path: Path
) -> None:
    progress, asked = Noted(), frozenset({"dead-letters", "consumers"})
    request = Request(recorded, tmp_path, formats=frozenset({"html", "csv"}), parts=asked)
    (tmp_path / "tables").mkdir()
    report = Report.of(spark, request, inspect(str(recorded)), progress)
    report.write(tmp_path, request.formats)
    assert progress.steps == set(weights(asked))
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == tables_of(asked) | {"findings"}
    for table in TABLES:
        if table.name in ("dead_letters", "groups"):  # times of day are put beside them only where they are written
            whole = arrow(table.build(data), table.schema)
            assert report.tables[table.name].select(whole.column_names).equals(whole)
    assert "Consumers, Dead letters only</dd>" in (tmp_path / "report.html").read_text(encoding="utf-8")
