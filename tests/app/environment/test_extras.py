"""A light installation says in one sentence what a command needs beyond it."""

import tomllib
from pathlib import Path

import pytest

from app.environment.extras import why_missing
from app.reports.process import ReportNotMade, ReportProcess
from spark_reports.request.request import Request

ROOT = Path(__file__).parents[3]
DECLARED = [
    "msgspec<0.23,>=0.20",
    'PySide6-Essentials<6.12,>=6.10; extra == "gui"',
    'pyqtgraph<0.15,>=0.14; extra == "gui"',
    'pyspark<4.4,>=4.3; extra == "report"',
    'brokerscope[gui,report]; extra == "all"',
]


def test_what_is_missing_is_named_with_the_command_that_installs_it():
    sentence = why_missing("gui", lambda: DECLARED, lambda name: name == "msgspec")
    assert sentence == (
        "The window needs PySide6-Essentials and pyqtgraph, which are not installed; install with: "
        "pip install 'brokerscope[gui]'"
    )
    assert "pyspark, which is not installed" in why_missing("report", lambda: DECLARED, lambda name: name != "pyspark")


def test_nothing_is_said_where_all_is_there_or_nothing_was_installed():
    assert why_missing("gui", lambda: DECLARED, lambda name: True) == ""
    assert why_missing("gui", list, lambda name: False) == ""
    assert why_missing("gui") == why_missing("report") == ""


@pytest.mark.parametrize("extra", ["gui", "report"])
def test_the_installed_extras_are_those_of_the_project(extra):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"][extra]
    sentence = why_missing(extra, installed=lambda name: False)
    assert all(line.split(">")[0] in sentence for line in declared)


def test_a_report_without_spark_is_refused_before_anything_starts(monkeypatch, tmp_path):
    monkeypatch.setattr("app.reports.process.why_missing", lambda extra: f"no {extra}")
    with pytest.raises(ReportNotMade, match="no report"):
        ReportProcess(Request(tmp_path, tmp_path / "out")).run(lambda said: None)
