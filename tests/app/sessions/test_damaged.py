"""A recording that lacks events: each face tells of it, and judges nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli.main import main
from app.environment.exits import Exit
from app.sessions.audit import audit, table_of
from app.sessions.jobs import Work
from app.sessions.stored import StoredSession
from broker_core.recording import schema
from tests.broker_core.recording.corruption import flip
from tests.spark_reports.conftest import record

DAMAGE: dict[str, Callable[[list[Path]], object]] = {
    "a part in the middle is gone": lambda parts: parts[1].unlink(),
    "the last part is gone": lambda parts: parts[-1].unlink(),
    "a part was cut": lambda parts: parts[2].write_bytes(parts[2].read_bytes()[:-900]),
    "bytes were flipped": lambda parts: flip(parts[2], 400),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged") / "session"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("broker_core.recording.schema.SEGMENT_EVENTS", 400)
        patch.setattr("broker_core.recording.recorder.BATCH_EVENTS", 200)
        record(folder, seconds=10)
    assert len(schema.parts(folder, "messages")) > 3
    return folder


@pytest.fixture(params=DAMAGE)
def damaged(request: pytest.FixtureRequest, whole: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "session"
    shutil.copytree(whole, folder)
    DAMAGE[request.param](schema.parts(folder, "messages"))
    return folder


def test_the_command_line_tells_and_judges_nothing(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(damaged), "--json"]) == Exit.NOT_FOUND
    told = json.loads(capsys.readouterr().out)
    assert {verdict["holds"] for verdict in told["verdicts"].values()} == {None}
    assert "missing" in " ".join(told["not_known"])


def test_the_window_tells_where_it_is_opened_and_judges_nothing(damaged: Path) -> None:
    stored = StoredSession(damaged)
    assert "missing" in stored.summary()
    events = stored.playback.events(0, stored.event_count)
    work = Work(lambda _part, _words: None)
    found = table_of(audit(events, stored.playback.end(), stored.scenario, work, problems=stored.missing_events))
    assert found.sentence.startswith("The recording is incomplete, so nothing is judged: ")
    assert "yes" not in found.note.casefold() and found.state == "failure"


def test_of_the_whole_one_nothing_is_missing(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not StoredSession(whole).missing_events
    assert main(["audit", str(whole), "--json"]) != Exit.NOT_FOUND
    assert {verdict["holds"] for verdict in json.loads(capsys.readouterr().out)["verdicts"].values()} <= {True, False}
