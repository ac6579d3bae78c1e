from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_reports.findings.find import find, findings_table
from spark_reports.findings.finding import Finding
from spark_reports.jobs.outcome import Outcome
from spark_reports.output.delivery import JUNIT, REPORT, SCHEMA, TABLES
from spark_reports.output.exports import dated, write_table
from spark_reports.output.junit import junit
from spark_reports.output.schema_document import document
from spark_reports.page.document import ALL_FORMATS
from spark_reports.page.page import render
from spark_reports.pipeline.collect import Made, make_tables
from spark_reports.request.assertions import AssertionVerdict, judge, verdicts_table
from spark_reports.request.request import Request
from spark_reports.rows import Tables
from spark_reports.sessions.session import SessionInfo
from spark_reports.spark.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Report:
    """Everything that is written of a session; `rows` are those of the tables that were `made`."""

    info: SessionInfo
    made: Made
    rows: Tables
    findings: list[Finding]
    verdicts: list[AssertionVerdict]

    @classmethod
    def of(cls, spark: SparkSession, request: Request, info: SessionInfo, progress: Progress) -> Report:
        made = make_tables(spark, info, progress, request.from_ns, request.to_ns, request.parts)
        rows = made.rows()
        findings = find(rows, made.scale, whole=made.whole, parts=made.parts, scenario=info.scenario)
        noted = replace(info, notes=(*info.notes, *made.notes, *made.failed))
        return cls(noted, made, rows, findings, judge(request.assertions, rows))

    @property
    def tables(self) -> dict[str, pa.Table]:
        """The tables that are written, with times of day beside those of the session."""
        found: dict[str, Any] = self.made.written() | verdicts_table(self.verdicts)
        found["findings"] = findings_table(self.findings)
        return {name: dated(table, name, self.info.metadata.started_at) for name, table in found.items()}

    @property
    def outcome(self) -> Outcome:
        not_hold, held = (tuple(one.sentence for one in self.verdicts if one.holds is which) for which in (False, True))
        return Outcome(self.info.problems, not_hold, held, self.made.failed)

    def page(self, formats: list[str]) -> str:
        """`formats` are those of the tables beside it."""
        return render(self.info, self.made, self.rows, self.findings, formats, self.verdicts)

    def write(self, folder: Path, formats: frozenset[str]) -> None:
        """Write the page, a file for each table and format, beside them what their columns mean, and the verdicts on
        what was asserted. Raises OSError.
        """
        tables = self.tables
        for name, table in tables.items():
            write_table(table, folder / TABLES, name, formats)
        if formats & {"csv", "parquet"}:
            (folder / SCHEMA).write_text(document(tables), encoding="utf-8")
        else:
            (folder / TABLES).rmdir()
        if self.verdicts:
            name = self.info.metadata.scenario or self.info.location
            (folder / JUNIT).write_bytes(junit(name, self.info.problems, self.verdicts))
        if "html" in formats:
            words = [word for word in ALL_FORMATS if word.lower() in formats]
            (folder / REPORT).write_text(self.page(words), encoding="utf-8")
