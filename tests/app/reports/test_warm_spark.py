"""A Spark that is kept: one process for reports one after the other, gone when it is cancelled or no longer wanted."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.reports.jobs import Jobs
from app.reports.process import ReportNotMade, ReportProcess
from app.reports.warm_spark import NEEDED_BYTES, SharedSpark, WarmSpark, memory_allows
from spark_reports.request.request import Request
from tests.app.conftest import Hand

# Answers as the real process does, without Java: the page's name tells how many requests it has had.
SERVANT = """
import json, os, sys, time
for number, line in enumerate(iter(sys.stdin.readline, ""), 1):
    words = json.loads(line)
    if not words:
        continue
    print(json.dumps({"stage": "Working", "fraction": 0.5}), flush=True)
    if "refuse" in words[0]:
        print(json.dumps({"error": "There is no session there."}), flush=True)
    elif "die" in words[0]:
        sys.exit(3)
    elif "linger" in words[0]:
        os.close(1)
        time.sleep(60)
    elif "wait" in words[0]:
        sys.stdin.readline()
    else:
        print(json.dumps({"report": f"/out/{number}/report.html"}), flush=True)
"""


@pytest.fixture
def warm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WarmSpark:
    script = tmp_path / "servant.py"
    script.write_text(SERVANT)
    real = subprocess.Popen

    def start(_command: list[str], **named: Any) -> Any:
        return real([sys.executable, str(script)], **named)

    monkeypatch.setattr("app.reports.warm_spark.subprocess.Popen", start)
    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)
    return WarmSpark()


def report(warm: WarmSpark, session: str = "/sessions/a") -> Path:
    return ReportProcess(Request(Path(session), Path("/out")), warm).run(lambda _progress: None)


def test_reports_one_after_the_other_come_from_the_same_process(warm: WarmSpark) -> None:
    assert [report(warm).parent.name for _ in range(3)] == ["1", "2", "3"]
    warm.close()
    assert report(warm).parent.name == "1", "closed, it is started again when it is needed"
    warm.close()


def test_an_error_is_told_and_the_process_goes_on(warm: WarmSpark) -> None:
    with pytest.raises(ReportNotMade, match="no session there"):
        report(warm, "/sessions/refuse")
    assert report(warm).parent.name == "2"
    warm.close()


@pytest.mark.parametrize("end", ["/sessions/die", "/sessions/linger"])
def test_a_process_that_dies_at_once_or_slowly_is_told_and_another_takes_its_place(warm: WarmSpark, end: str) -> None:
    with pytest.raises(ReportNotMade, match="ended before it was done"):
        report(warm, end)
    assert report(warm).parent.name == "1"
    warm.close()


def test_a_cancelled_report_ends_the_process_and_the_next_one_starts_anew(warm: WarmSpark) -> None:
    process = ReportProcess(Request(Path("/sessions/wait"), Path("/out")), warm)
    with pytest.raises(ReportNotMade, match="cancelled"):
        process.run(lambda _progress: process.cancel())
    assert report(warm).parent.name == "1"
    warm.close()


def test_a_report_that_is_cancelled_before_it_begins_is_not_begun(
    warm: WarmSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = ReportProcess(Request(Path("/sessions/a"), Path("/out")), warm)
    monkeypatch.setattr("app.reports.process.seal", lambda _folder: process.cancel())
    with pytest.raises(ReportNotMade, match="cancelled"):
        process.run(lambda _progress: None)
    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)
    assert report(warm).parent.name == "1"
    warm.close()


def test_a_report_that_is_cancelled_leaves_another_that_the_kept_process_makes(warm: WarmSpark) -> None:
    def cancelled(_progress: object) -> None:
        waits.cancel()
        ended.cancel()

    waits, ended = (ReportProcess(Request(Path("/sessions/a"), Path("/out")), warm) for _ in range(2))
    ended.run(lambda _progress: None)
    assert ReportProcess(Request(Path("/sessions/a"), Path("/out")), warm).run(cancelled).parent.name == "2"
    warm.close()


def test_what_was_given_back_is_not_closed_by_a_report_that_is_cancelled_as_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may make the report of another by then."""
    done: list[str] = []
    closing, given_back = threading.Event(), threading.Event()

    class Kept(WarmSpark):
        def lines(self, request: Request) -> Iterator[str]:
            yield '{"report": "/out/report.html", "fraction": 1.0}'
            closing.wait(10)

        def close(self) -> None:
            closing.set()
            given_back.wait(0.2)
            done.append("closed")

        def give_back(self) -> None:
            done.append("given back")
            given_back.set()

    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)
    process = ReportProcess(Request(Path("/sessions/a"), Path("/out")), Kept())
    cancelling = threading.Thread(target=process.cancel)
    process.run(lambda _progress: cancelling.start())
    cancelling.join(10)
    assert done.index("given back") == len(done) - 1


def test_only_one_report_at_a_time(warm: WarmSpark) -> None:
    assert warm.take()
    assert not warm.take()
    warm.give_back()
    assert warm.take()


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SharedSpark]:
    """The real process, asked for what needs no Java."""
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda _name: str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # one that is killed leaves its folder
    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)
    started: list[subprocess.Popen[Any]] = []
    real = subprocess.Popen

    def start(command: list[str], **named: Any) -> Any:
        started.append(real(command, **named))
        return started[-1]

    monkeypatch.setattr("app.reports.warm_spark.subprocess.Popen", start)
    spark = SharedSpark()
    spark.started = started  # type: ignore[attr-defined]
    yield spark
    for process in started:
        process.terminate()
        process.wait(30)


def test_commands_share_one_process_and_each_gets_its_answer(shared: SharedSpark, tmp_path: Path) -> None:
    request = Request(tmp_path / "none", tmp_path / "out")
    for _ in range(2):
        with pytest.raises(ReportNotMade, match="does not exist"):
            ReportProcess(request, shared).run(lambda _said: None)
    (process,) = shared.started  # type: ignore[attr-defined]
    assert process.poll() is None
    (place,) = (tmp_path / "cache").iterdir()
    assert (place.stat().st_mode & 0o777, place.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    process.kill()
    process.wait(30)
    with pytest.raises(ReportNotMade, match="does not exist"):
        ReportProcess(request, shared).run(lambda _said: None)
    assert len(shared.started) == 2, "what a killed one has left is in nobody's way"  # type: ignore[attr-defined]


def test_a_shared_process_that_ends_without_a_word_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has died during the report, or was idle for so long that it has ended just before."""
    ours, other = socket.socketpair()
    other.close()
    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda _name: str(tmp_path))
    monkeypatch.setattr(SharedSpark, "_connected", lambda _spark: ours)
    with pytest.raises(ReportNotMade, match="ended before it was done: the kept Spark has ended; ask again"):
        ReportProcess(Request(Path("/sessions/a"), Path("/out")), SharedSpark()).run(lambda _said: None)


def test_the_setting_keeps_it_and_lets_it_go(qapp: object, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    monkeypatch.setattr(WarmSpark, "close", lambda _self: closed.append("closed"))
    jobs = Jobs()
    jobs.keep_spark(True)
    jobs.keep_spark(True)
    assert closed == []
    jobs.keep_spark(False)
    jobs.close()
    assert closed == ["closed"]


def test_it_is_started_ahead_once_where_memory_allows_and_nobody_has_it(
    warm: WarmSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm.prepare()
    assert warm._process is None, "the machine has no memory to spare"
    monkeypatch.setattr("app.reports.warm_spark.memory_allows", lambda: True)
    assert warm.take()
    warm.prepare()
    assert warm._process is None, "a report is starting it"
    warm.give_back()
    warm.prepare()
    process = warm._process
    assert process is not None
    warm.prepare()
    assert warm._process is process
    assert report(warm).parent.name == "2", "the first thing it was asked for is to be ready"
    warm.close()


def test_whether_memory_allows_where_it_is_not_said_how_much_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _path: "MemTotal: 16 kB\nMemFree: 3 kB\n")
    for total_bytes in (NEEDED_BYTES, 9 * NEEDED_BYTES):
        monkeypatch.setattr("os.sysconf", {"SC_PHYS_PAGES": total_bytes, "SC_PAGE_SIZE": 1}.__getitem__)
        assert memory_allows() == (total_bytes > NEEDED_BYTES)


def test_a_session_that_ends_and_a_dialog_that_opens_have_it_started(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("app.commands.reports.PREPARE_AFTER_MS", 0)
    monkeypatch.setattr(WarmSpark, "prepare", lambda _self: asked.append("ready"))
    workbench = hand.workbench
    workbench.jobs.keep_spark(True)
    workbench.controller.ending.emit()
    hand.qtbot.waitUntil(lambda: asked == ["ready"])
    workbench.jobs.keep_spark(False)
    workbench.jobs.prepare_report()
    assert asked == ["ready"], "a setting turns it off"


class KeptSpark(WarmSpark):
    """Says `said` of a report until it is closed, and has it cancelled `before` or after that."""

    def __init__(self, *said: dict[str, Any], before: bool) -> None:
        super().__init__()
        self._said, self._before, self._closed = said, before, False
        self.process = ReportProcess(Request(Path("/sessions/a"), Path("/out")), self)

    def lines(self, _request: Request) -> Iterator[str]:
        if self._before:
            self.process.cancel()
            self._closed = False  # as if there had been no process yet
        for one in self._said:
            if not self._closed:
                yield json.dumps(one)
        self.process.cancel()

    def close(self) -> None:
        self._closed = True


@pytest.fixture
def no_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.reports.process.seal", lambda _folder: None)


@pytest.mark.usefixtures("no_seal")
def test_a_report_that_is_cancelled_once_it_was_written_is_told_as_written() -> None:
    kept = KeptSpark({"report": "/out/report.html", "problems": ["Its end is missing."]}, before=False)
    assert kept.process.run(lambda _progress: None) == Path("/out/report.html")
    assert kept.process.outcome.problems == ("Its end is missing.",)


@pytest.mark.usefixtures("no_seal")
def test_a_report_that_is_cancelled_before_the_kept_process_has_started_ends_at_its_first_line() -> None:
    kept = KeptSpark({"stage": "Working", "fraction": 0.5}, {"report": "/out/report.html"}, before=True)
    with pytest.raises(ReportNotMade, match="cancelled"):
        kept.process.run(lambda _progress: None)
