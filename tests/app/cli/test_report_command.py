"""`brokerscope report` at a terminal: what was asked wrongly is one sentence, and nothing is started for it."""

from __future__ import annotations

import errno
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main
from app.cli.report import make_report
from spark_reports.errors import Busy, told
from spark_reports.request.request import Request

JOB = "app.reports.process.subprocess.Popen"


class Ended:
    """A job that has said its lines and gone."""

    def __init__(self, lines: Iterable[str], code: int) -> None:
        self.stdout = io.StringIO("".join(f"{line}\n" for line in lines))
        self._code = code

    def wait(self, *_: Any) -> int:
        return self._code

    poll = wait


@pytest.mark.parametrize(
    ("change", "sentence", "code"),
    [
        ({"session": Path("/no/such/session")}, "/no/such/session does not exist", 3),
        ({"from_ns": 9, "to_ns": 3}, "--from must be before --to", 2),
        ({"formats": frozenset()}, "No format was requested", 2),
    ],
)
def test_what_was_asked_wrongly_is_told_before_anything_starts(
    change: dict[str, Any],
    sentence: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def start(*_: Any, **__: Any) -> Any:
        raise AssertionError("nothing may be started")

    monkeypatch.setattr(JOB, start)
    request = Request(tmp_path, tmp_path / "out")._replace(**change)
    assert make_report(request) == code
    said = capsys.readouterr()
    assert sentence in said.err and said.err.startswith("brokerscope: ") and said.err.count("\n") == 1
    assert said.out == ""


def test_what_the_job_refuses_is_told_alone_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)
    monkeypatch.setattr(JOB, lambda *_, **__: Ended(['{"error": "It holds something else."}'], 1))
    assert make_report(Request(tmp_path, tmp_path / "out")) == 2
    assert capsys.readouterr().err == "brokerscope: It holds something else.\n"


def test_a_disk_that_refuses_ends_with_4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)
    full = json.dumps(told(OSError(errno.ENOSPC, "No space left on device", "/out/x")))
    monkeypatch.setattr(JOB, lambda *_, **__: Ended([full], 1))
    assert make_report(Request(tmp_path, tmp_path / "out")) == 4
    assert "No space left on device (/out/x)" in capsys.readouterr().err
    busy = json.dumps(told(Busy("Another report is being made in /out.")))
    monkeypatch.setattr(JOB, lambda *_, **__: Ended([busy], 1))
    assert make_report(Request(tmp_path, tmp_path / "out")) == 4


def test_a_report_ends_with_the_path_of_its_page_and_a_failure_with_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)
    monkeypatch.setattr("app.reports.process.logs_folder", lambda: tmp_path / "logs")
    step = '{"stage": "Starting Spark", "done": 0, "total": 1, "fraction": 0.0}'
    monkeypatch.setattr(JOB, lambda *_, **__: Ended([step, '{"report": "/out/report.html"}'], 0))
    assert make_report(Request(tmp_path, tmp_path / "out")) == 0
    said = capsys.readouterr()
    assert said.out == "/out/report.html\n" and "Starting Spark" in said.err
    (tmp_path / "job.log").write_text("java.io.IOException: disk")
    failed = f'{{"error": "The report failed.", "log": "{tmp_path / "job.log"}"}}'
    monkeypatch.setattr(JOB, lambda *_, **__: Ended([step, failed], 1))
    assert make_report(Request(tmp_path, tmp_path / "out")) == 2
    (log,) = (tmp_path / "logs").iterdir()
    assert f"The log is {log}\n" in capsys.readouterr().err
    assert log.read_text() == "java.io.IOException: disk"


def test_the_log_of_a_part_that_failed_is_kept_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The next job, or the end of a kept Spark, takes the job's own file away."""
    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)
    monkeypatch.setattr("app.reports.process.logs_folder", lambda: tmp_path / "logs")
    (tmp_path / "job.log").write_text("AnalysisException: no such column")
    last = {"report": "/out/report.html", "failed": ["The part Lag is left out."], "log": str(tmp_path / "job.log")}
    monkeypatch.setattr(JOB, lambda *_, **__: Ended([json.dumps(last)], 1))
    assert make_report(Request(tmp_path, tmp_path / "out")) == 1
    (log,) = (tmp_path / "logs").iterdir()
    assert log.read_text() == "AnalysisException: no such column"
    said = capsys.readouterr()
    assert said.err == f"brokerscope: The part Lag is left out.\nbrokerscope: The log is {log}.\n"
    assert said.out == "/out/report.html\n"


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ('{"report": "/out/report.html"}', "the report was cancelled, but it was already written."),
        ('{"stage": "Writing the files", "fraction": 0.9}', "the report was cancelled; nothing was written."),
    ],
)
def test_ctrl_c_says_whether_the_report_was_written(
    last: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted(Ended):
        def wait(self, *_: Any) -> int:
            raise KeyboardInterrupt

    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)
    monkeypatch.setattr("app.reports.process.end_process", lambda _process: None)
    monkeypatch.setattr(JOB, lambda *_, **__: Interrupted([last], 0))
    assert make_report(Request(tmp_path, tmp_path / "out")) == 130
    assert capsys.readouterr().err.splitlines()[-1] == f"brokerscope: {said}"


def test_each_assertion_has_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)
    last = '{"report": "/out/report.html", "not_hold": ["b does not hold."], "held": ["a holds."]}'
    monkeypatch.setattr(JOB, lambda *_, **__: Ended([last], 4))
    assert make_report(Request(tmp_path, tmp_path / "out")) == 4
    said = capsys.readouterr()
    assert said.err == "brokerscope: a holds.\nbrokerscope: b does not hold.\n" and said.out == "/out/report.html\n"


@pytest.mark.parametrize("earlier", [True, False])
def test_an_earlier_report_that_was_replaced_is_named(
    earlier: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)
    monkeypatch.setattr(JOB, lambda *_, **__: Ended(['{"report": "/out/report.html"}'], 0))
    (tmp_path / "out").mkdir()
    if earlier:
        (tmp_path / "out" / "report.html").write_text("page")
    assert make_report(Request(tmp_path, tmp_path / "out")) == 0
    said = capsys.readouterr()
    assert said.err == (f"brokerscope: the earlier report in {tmp_path / 'out'} was replaced.\n" if earlier else "")
    assert said.out == "/out/report.html\n"


def test_several_sessions_and_a_folder_of_several_are_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "session.json").write_text("{}")
    said = "a report is of one: name one of them. Two are compared in the window, with Session, Compare two sessions."
    for given, where in (([tmp_path / "one", tmp_path / "two"], ""), ([tmp_path], f" in {tmp_path}")):
        assert main(["report", *map(str, given), "--out", str(tmp_path / "out")]) == 2
        assert capsys.readouterr().err == f"brokerscope: There are 2 sessions{where}, and {said}\n"
