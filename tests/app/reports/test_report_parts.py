"""The parts of a report from the window and from the command line to the job."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

import resources
from app.cli.main import main
from app.reports.jobs import Jobs
from spark_reports.request.parts import EVERY, PARTS
from spark_reports.request.request import Request
from tests.app.conftest import Hand
from widgets.dialogs.export_report import ExportReportDialog


def test_each_part_has_the_heading_on_the_page_by_which_the_window_offers_it() -> None:
    page = (resources.path("report") / "report.html.j2").read_text(encoding="utf-8")
    headings = re.findall(r'<section id="([^"]*)"><header><h2>{{ headings\["([^"]*)"\] }}</h2>', page)
    assert headings == [(name, name) for name in PARTS]
    assert all(part.title and part.heading for part in PARTS.values())


def test_what_is_ticked_is_asked_for_and_ticked_the_next_time(
    open_workbench: Callable[..., Hand], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Request] = []
    real = Jobs.report

    def report(self: Jobs, request: Request, title: str) -> object:
        asked.append(request)
        return real(self, request._replace(session=Path("/no/such/session")), title)

    monkeypatch.setattr(Jobs, "report", report)
    hand = open_workbench(record=True)
    hand.pass_time(2)
    hand.qtbot.keyClick(hand.workbench.window, Qt.Key.Key_F8)
    hand.workbench.draw()

    def dialog() -> ExportReportDialog:
        hand.workbench.registry.trigger("export_report")
        found = hand.workbench.window.findChildren(ExportReportDialog)[-1]
        found.folder.setText(str(tmp_path / "out"))
        return found

    first = dialog()
    assert first.parts.left_out() == set()
    first.parts.none_button.click()
    first.parts.boxes["latency"].click()
    first.parts.boxes["dead-letters"].click()
    first.formats["csv"].click()
    first.open_when_finished.click()
    hand.qtbot.mouseClick(first.accept_button, Qt.MouseButton.LeftButton)
    second = dialog()
    assert second.parts.chosen() == {"latency", "dead-letters"}
    assert not second.formats["csv"].isChecked() and not second.open_when_finished.isChecked()
    second.parts.all_button.click()
    second.reject()
    third = dialog()
    assert third.parts.chosen() == {"latency", "dead-letters"}, "what was cancelled is not kept"
    third.parts.all_button.click()
    hand.qtbot.mouseClick(third.accept_button, Qt.MouseButton.LeftButton)
    assert [request.parts for request in asked] == [{"latency", "dead-letters"}, EVERY]
    assert [request.assertions for request in asked] == [(), ()]

    fourth = dialog()
    hand.qtbot.keyClicks(fourth.assertions, "p99 < 200")
    assert not fourth.accept_button.isEnabled() and "p99 is a length of time" in fourth.problem.text()
    hand.qtbot.keyClicks(fourth.assertions, " ms")
    hand.qtbot.keyClick(fourth.assertions, Qt.Key.Key_Return)
    hand.qtbot.keyClick(fourth.assertions, Qt.Key.Key_Return)
    hand.qtbot.keyClicks(fourth.assertions, 'lag("x y") < 100')
    assert fourth.accept_button.isEnabled()
    fourth.parts.boxes["lag"].click()
    assert not fourth.accept_button.isEnabled() and "needs the part lag" in fourth.problem.text()
    fourth.parts.all_button.click()
    hand.qtbot.mouseClick(fourth.accept_button, Qt.MouseButton.LeftButton)
    assert asked[-1].assertions == ("p99 < 200 ms", 'lag("x y") < 100')


def test_the_command_line_takes_parts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[Request] = []

    def make(request: Request, _warm: object) -> int:
        asked.append(request)
        return 0

    monkeypatch.setattr("app.cli.report.make_report", make)
    assert main(["report", "/a", "--out", "/out", "--parts", "throughput,latency"]) == 0
    assert main(["report", "/a", "--out", "/out"]) == 0
    assert [request.parts for request in asked] == [{"throughput", "latency"}, EVERY]
    with pytest.raises(SystemExit):
        main(["report", "/a", "--out", "/out", "--parts", "speed"])
    assert f"speed is not among {', '.join(PARTS)}" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["report", "/a", "--out", "/out", "--format", "html,pdf"])
    assert (
        "pdf is not among html, csv, parquet; for a PDF, print the html page from a browser" in capsys.readouterr().err
    )
    assert main(["report", "/a", "--out", "/out", "--assert", "p99 < 5 s", "--assert", "lag(x) = 0"]) == 0
    assert asked[-1].assertions == ("p99 < 5 s", "lag(x) = 0")
    assert main(["report", "/a", "--out", "/out", "--assert-file", "/no/such/file"]) == 2
    assert "assertions in /no/such/file cannot be read" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["report", "--help"])
    assert "only these parts of the report" in capsys.readouterr().out
