from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from spark_reports.jobs.outcome import Outcome
from spark_reports.output.delivery import JUNIT, REPORT, SCHEMA, TABLES
from spark_reports.output.exports import dated, junit, write_table
from spark_reports.output.schema_document import document
from spark_reports.pipeline.collect import Made, about, make_runs, make_tables, read_all
from spark_reports.request.assertions import judge, verdicts_table
from spark_reports.request.parts import figures_of, weights
from spark_reports.request.request import COMPARE, HISTORY, Request
from spark_reports.sessions.discovery import Found, names
from spark_reports.sessions.session import SessionInfo
from spark_reports.spark.progress import Progress
from spark_reports.tables import runs
from spark_reports.tables.schema import arrow

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Report:
    """Everything that is written: the tables by name, and the page, drawn only if it is asked for."""

    tables: Mapping[str, pa.Table]
    page: Callable[[], str]
    progress: Progress
    outcome: Outcome
    junit: bytes = b""

    def write(self, folder: Path, formats: frozenset[str]) -> Outcome:
        """Write the page, a file for each table and format, beside them what their columns mean, and the verdicts on
        what was asserted. Raises OSError.
        """
        with self.progress.step("page", "Writing the files"):
            tables = folder / TABLES
            for name, table in self.tables.items():
                write_table(table, tables, name, formats)
            if formats & {"csv", "parquet"}:
                (folder / SCHEMA).write_text(document(self.tables), encoding="utf-8")
            else:
                tables.rmdir()
            if self.junit:
                (folder / JUNIT).write_bytes(self.junit)
            if "html" in formats:
                (folder / REPORT).write_text(self.page(), encoding="utf-8")
        return self.outcome


def make_kind(spark: SparkSession, request: Request, found: Found, progress: Progress) -> Report:
    if request.mode == HISTORY:
        return _history(spark, request, found, progress)
    if request.mode == COMPARE:
        return _comparison(spark, request, found, progress)
    return _session(spark, request, found, progress)


def _session(spark: SparkSession, request: Request, found: Found, progress: Progress) -> Report:
    from spark_reports.findings.find import find, findings_table
    from spark_reports.findings.settings import Settings
    from spark_reports.page.page import render

    (info,) = found.infos
    progress.plan(weights(request.parts))
    made = make_tables(spark, info, progress, request.from_ns, request.to_ns, parts=request.parts)
    progress.close()
    info = replace(info, notes=(*info.notes, *made.notes, *made.failed))
    rows = {name: table.to_pylist() for name, table in made.tables.items()}
    settings = Settings(info.scenario)
    findings = find(rows, made.scale, whole=made.whole, parts=made.parts, settings=settings)
    verdicts = judge(request.assertions, rows)
    not_hold, held = (tuple(one.sentence for one in verdicts if one.holds is which) for which in (False, True))
    return Report(
        _dated({**made.written(), "findings": findings_table(findings), **verdicts_table(verdicts)}, info),
        lambda: render(info, made, rows, findings, _files(request), verdicts),
        progress,
        Outcome(info.problems, not_hold, held, made.failed),
        junit(str(info.metadata.get("scenario") or info.location), info.problems, verdicts) if verdicts else b"",
    )


def _figures(spark: SparkSession, request: Request, found: Found, progress: Progress) -> pl.DataFrame:
    """The figures of all sessions that the parts have; what they lack is not read."""
    part = (request.from_ns, request.to_ns)
    messages, control = (read_all(spark, found.infos, kind, *part) for kind in ("messages", "control"))
    with progress.step("runs", "Reading all sessions"):
        spark.sparkContext.setJobGroup("runs", "Reading all sessions")
        return make_runs(messages, control, about(found.infos), *part, figures=figures_of(request.parts))


def _comparison(spark: SparkSession, request: Request, found: Found, progress: Progress) -> Report:
    import polars as pl

    from spark_reports.findings.comparison import comparison_findings
    from spark_reports.findings.find import findings_table
    from spark_reports.findings.settings import Settings
    from spark_reports.page.comparison_page import render_comparison

    labels = names(found.infos)
    each = (weights(request.parts, f"{number} ") for number in range(len(labels)))
    progress.plan({"runs": 8.0, "comparison": 1.0} | {name: weight for some in each for name, weight in some.items()})
    figures = _figures(spark, request, found, progress)
    made = [
        make_tables(spark, info, progress, request.from_ns, request.to_ns, f"{number} ", request.parts)
        for number, info in enumerate(found.infos)
    ]
    progress.close()
    with progress.step("comparison", "Comparing"):
        over_time = ((number, one.tables.get("latency_over_time")) for number, one in enumerate(made))
        known = {number: pl.DataFrame(table) for number, table in over_time if table is not None}
        errors = runs.errors(figures, known)
        tables = {
            "runs": arrow(figures, runs.schema(figures_of(request.parts))),
            "comparison": arrow(runs.comparison(runs.measures(figures), errors), runs.COMPARISON_SCHEMA),
        }
    settings = [Settings(info.scenario, info.metadata.get("seed")) for info in found.infos]
    told, compared = (tables[name].to_pylist() for name in ("runs", "comparison"))
    findings = comparison_findings(told, compared, made, labels, settings)
    whole = {**tables, **_side_by_side(made, found, labels), "findings": findings_table(findings)}
    return Report(
        whole,
        lambda: render_comparison(found, labels, tables, made, findings, _files(request)),
        progress,
        _problems(found),
    )


def _dated(tables: Mapping[str, pa.Table], info: SessionInfo) -> dict[str, pa.Table]:
    return {name: dated(table, name, info.metadata.get("started_at")) for name, table in tables.items()}


def _side_by_side(made: list[Made], found: Found, labels: list[str]) -> dict[str, pa.Table]:
    import pyarrow as pa

    written = [_dated(one.written(), info) for one, info in zip(made, found.infos, strict=True)]
    return {
        name: pa.concat_tables(
            one[name].add_column(0, "session", pa.array([label] * one[name].num_rows, pa.string()))
            for one, label in zip(written, labels, strict=True)
        )
        for name in written[0]
    }


def _history(spark: SparkSession, request: Request, found: Found, progress: Progress) -> Report:
    from spark_reports.findings.find import findings_table
    from spark_reports.findings.history import history_findings
    from spark_reports.page.history_page import render_history

    progress.plan({"runs": 12.0, "trends": 1.0})
    figures = _figures(spark, request, found, progress)
    with progress.step("trends", "Fitting trends"):
        tables = {
            "runs": arrow(figures, runs.schema(figures_of(request.parts))),
            "trends": arrow(runs.trends(runs.measures(figures)), runs.TRENDS_SCHEMA),
        }
    progress.close()
    rows = {name: table.to_pylist() for name, table in tables.items()}
    findings = history_findings(rows["runs"], rows["trends"])
    return Report(
        {**tables, "findings": findings_table(findings)},
        lambda: render_history(found, rows, findings, _files(request), request.parts),
        progress,
        _problems(found),
    )


def _problems(found: Found) -> Outcome:
    each = zip(found.infos, names(found.infos), strict=True)
    return Outcome((*found.problems, *(f"{name}: {told}" for info, name in each for told in info.problems)))


def _files(request: Request) -> list[str]:
    return [word for name, word in (("csv", "CSV"), ("parquet", "Parquet")) if name in request.formats]
