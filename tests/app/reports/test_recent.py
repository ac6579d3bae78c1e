"""Reports that were made lately: remembered, their findings read, what is gone forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PySide6.QtCore import QSettings, Qt, QUrl
from PySide6.QtGui import QDesktopServices

from app.commands.reports import ReportHandlers
from app.environment.settings import Settings
from app.reports.recent import KEPT_MAX, Reports, findings_of
from tests.app.conftest import Hand
from tests.widgets.reading import findings, sentence
from widgets.panels.report import ReportPanel

FINDINGS: list[dict[str, Any]] = [
    {
        **{"level": "bad", "headline": "2 messages were lost", "detail": "<b>orders</b>/0 @7 and @8", "time_ns": 5},
        **{"why": "", "advice": "Find them."},
    },
    {"level": "good", "headline": "Everything else adds up", "detail": "", "time_ns": None},
]


def make_report(folder: Path, form: str = "parquet") -> Path:
    tables = folder / "tables"
    tables.mkdir(parents=True)
    (folder / "report.html").write_text("page")
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(FINDINGS), tables / "findings.parquet")
    else:
        (tables / "findings.csv").write_text("level,headline,detail,time_ns\nbad,Two were lost,,5\n")
    return folder


def test_reports_are_remembered_the_newest_first_and_forgotten_when_they_are_gone(tmp_path: Path) -> None:
    store = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    reports = Reports(Settings(store))
    one, two = make_report(tmp_path / "one"), make_report(tmp_path / "two", "csv")
    reports.add(one, "Report of one")
    reports.add(two, "Report of two")
    reports.add(one, "Report of one, again")
    again = Reports(Settings(store)).all()
    assert [(report.folder, report.title) for report in again] == [
        (one, "Report of one, again"),
        (two, "Report of two"),
    ]
    assert again[0].opens == one / "report.html"
    assert [finding.headline for finding in again[1].findings or ()] == ["Two were lost"]
    for path in sorted(one.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    one.rmdir()
    assert [report.folder for report in reports.all()] == [two]


def test_only_so_many_are_kept(tmp_path: Path) -> None:
    reports = Reports(Settings())
    for number in range(KEPT_MAX + 5):
        (tmp_path / str(number)).mkdir()
        reports.add(tmp_path / str(number), "Report")
    assert len(reports.all()) == KEPT_MAX


def test_findings_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    assert findings_of(tmp_path) is None
    (tables / "findings.parquet").write_bytes(b"no parquet")
    assert findings_of(tmp_path) is None
    (tables / "findings.parquet").unlink()
    (tables / "findings.csv").write_text("level,headline,detail,time_ns\n")
    assert findings_of(tmp_path) == (), "it can be read, and says nothing"


def test_the_panel_lists_reports_shows_findings_as_they_are_and_opens_one(
    hand: Hand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    hand.workbench.family(ReportHandlers).reports.add(make_report(tmp_path / "one"), "Report of one")
    panel = hand.workbench.window.tab(ReportPanel)
    hand.workbench.window.show_tab("report")
    hand.show()
    assert not panel.buttons["open_report"].isEnabled()
    panel.select(0)
    assert [finding.headline for finding in findings(panel)] == [row["headline"] for row in FINDINGS]
    assert findings(panel)[0].detail == "<b>orders</b>/0 @7 and @8"
    hand.qtbot.mouseClick(panel.buttons["open_report"], Qt.MouseButton.LeftButton)
    hand.qtbot.mouseClick(panel.buttons["report_folder"], Qt.MouseButton.LeftButton)
    assert opened == [str(tmp_path / "one" / "report.html"), str(tmp_path / "one")]
    assert not panel.buttons["export_report"].isEnabled(), "the session still runs"


def test_a_report_that_found_nothing_is_told_from_one_that_cannot_tell(hand: Hand, tmp_path: Path) -> None:
    calm, bare = make_report(tmp_path / "calm", "csv"), tmp_path / "bare"
    (calm / "tables" / "findings.csv").write_text("level,headline,detail,time_ns\n")
    bare.mkdir()
    reports = hand.workbench.family(ReportHandlers).reports
    reports.add(calm, "Calm")
    reports.add(bare, "Bare")
    panel = hand.workbench.window.tab(ReportPanel)
    hand.workbench.window.show_tab("report")
    hand.show()
    said = []
    for place in (0, 1):
        panel.select(place)
        said.append(sentence(panel))
    assert said == ["This report was made without tables; open it to read it.", "Nothing in this report stands out."]


def test_without_reports_the_panel_says_how_to_make_one(hand: Hand) -> None:
    hand.workbench.window.show_tab("report")
    hand.show()
    assert "Ctrl+E" in hand.workbench.window.tab(ReportPanel).empty_state.text()
