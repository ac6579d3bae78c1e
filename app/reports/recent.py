from __future__ import annotations

import csv
import dataclasses
from datetime import datetime
from pathlib import Path

import pyarrow.lib as pa_lib
import pyarrow.parquet as pq

from app.environment.settings import Settings
from spark_reports.output.delivery import REPORT, TABLES
from widgets.panels.report import FindingFacts

KEPT_MAX = 30
FINDINGS_MAX = 40


@dataclasses.dataclass(frozen=True, slots=True)
class Report:
    """A report that is there. `opens` is its page, else its folder; `findings` are None if no table tells them."""

    folder: Path
    title: str
    made: str
    opens: Path
    findings: tuple[FindingFacts, ...] | None


class Reports:
    """Remembered in the settings, the newest first; what is gone from the disk is left out."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._read: dict[Path, Report] = {}

    def add(self, folder: Path, title: str) -> None:
        folder = folder.resolve()
        self._read.pop(folder, None)
        others = [(path, name) for path, name in self._settings.reports if Path(path) != folder]
        self._settings.reports = ((str(folder), title), *others)[:KEPT_MAX]

    def all(self) -> tuple[Report, ...]:
        found = []
        for path, title in self._settings.reports:
            folder = Path(path)
            if folder not in self._read and folder.is_dir():
                made = datetime.fromtimestamp(folder.stat().st_mtime).strftime("%Y-%m-%d %H:%M")
                opens = folder / REPORT if (folder / REPORT).is_file() else folder
                self._read[folder] = Report(folder, title, made, opens, findings_of(folder))
            if folder.is_dir():
                found.append(self._read[folder])
        return tuple(found)


def findings_of(folder: Path) -> tuple[FindingFacts, ...] | None:
    """The findings of a report, from its tables; None if it has no tables that can be read."""
    tables = folder / TABLES
    try:
        if (tables / "findings.parquet").is_file():
            rows: list[dict[str, object]] = pq.read_table(tables / "findings.parquet").to_pylist()
        elif (tables / "findings.csv").is_file():
            with (tables / "findings.csv").open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
        else:
            return None
    except (OSError, ValueError, csv.Error, pa_lib.ArrowException):
        return None
    return tuple(
        FindingFacts(
            _text(row, "level"),
            _text(row, "headline"),
            f"{_text(row, 'detail')} {_text(row, 'why')}".strip(),
            _text(row, "advice"),
        )
        for row in rows[:FINDINGS_MAX]
    )


def _text(row: dict[str, object], name: str) -> str:
    return str(row.get(name) or "")
