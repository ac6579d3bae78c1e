"""Whatever is wrong with the folder of a session is said in a sentence before an event is read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from broker_core.recording import schema
from broker_core.recording.checksums import CRC32, document_checksum
from spark_reports.errors import ReportError
from spark_reports.jobs.outcome import Outcome
from spark_reports.pipeline.session_data import read_session_data
from spark_reports.sessions.session import SessionInfo, inspect
from tests.spark_reports.conftest import record


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session whose messages are in several parts."""
    folder = tmp_path_factory.mktemp("damage") / "session"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("broker_core.recording.schema.SEGMENT_EVENTS", 400)
        patch.setattr("broker_core.recording.recorder.BATCH_EVENTS", 200)
        record(folder, seconds=10)
    assert len(schema.parts(folder, "messages")) > 3
    assert inspect(str(folder)).problems == ()
    return folder


def _part(session: Path, number: int, folder: str = "messages") -> Path:
    return session / folder / schema.part_name(number)


def _rewrite(session: Path, **fields: Any) -> None:
    """Tell something else in `session.json`, with a checksum that fits."""
    path = session / schema.SESSION_FILE
    told = json.loads(path.read_text()) | fields
    told[CRC32] = document_checksum(told)
    path.write_text(json.dumps(told))


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a part is gone": (
        lambda s: _part(s, 1).unlink(),
        "messages/part-00001.parquet is missing; its events are missing.",
    ),
    "the last part is gone": (
        lambda s: schema.parts(s, "messages")[-1].unlink(),
        "events are missing: a part is gone or was cut.",
    ),
    "a folder is gone": (
        lambda s: shutil.rmtree(s / "messages"),
        "The folder messages is missing; its events are missing.",
    ),
    "a part is there twice": (
        lambda s: shutil.copy(_part(s, 1), _part(s, len(schema.parts(s, "messages")))),
        "repeats events of messages/part-00001.parquet; it is left out.",
    ),
    "a part has taken the place of one before it": (
        lambda s: shutil.copy(_part(s, 3), _part(s, 0)),
        "messages/part-00003.parquet repeats events of messages/part-00000.parquet; it is left out.",
    ),
    "a copy by hand": (
        lambda s: shutil.copy(_part(s, 1), s / "messages" / "part-00001 (copy).parquet"),
        "messages/part-00001 (copy).parquet has a name that no recording uses; it is left out.",
    ),
    "a control part among messages": (
        lambda s: shutil.copy(_part(s, 0, "control"), _part(s, len(schema.parts(s, "messages")))),
        "contains what belongs in the folder control; it is left out.",
    ),
    "belongs to another session": (
        lambda s: _rewrite(s, events=7),
        "events are there that are not part of the recording: a part belongs to another session.",
    ),
    "another scenario": (
        lambda s: (s / schema.SCENARIO_FILE).write_text("title: another\n"),
        "scenario.yaml is damaged: what it says may be wrong.",
    ),
    "no JSON": (
        lambda s: (s / schema.SESSION_FILE).write_bytes(b"\xff{"),
        "session.json is damaged: the title, seed, times and totals are not known.",
    ),
    "a negative length": (
        lambda s: _rewrite(s, duration_ns=-5),
        "session.json is damaged: the title, seed, times and totals are not known.",
    ),
    "words for numbers": (
        lambda s: _rewrite(s, totals={"published": "many"}, seed=True, ended="well"),
        "session.json is damaged: the title, seed, times and totals are not known.",
    ),
}


@pytest.mark.parametrize(("spoil", "sentence"), DAMAGE.values(), ids=DAMAGE)
def test_what_is_wrong_is_said_in_one_sentence(
    several: Path, tmp_path: Path, spoil: Callable[[Path], object], sentence: str
) -> None:
    session = tmp_path / "session"
    shutil.copytree(several, session)
    spoil(session)
    found = inspect(str(session))
    assert [problem for problem in found.problems if sentence in problem], found.problems
    assert len(found.problems) == 1
    assert Outcome(found.problems).code == 3


def test_what_is_there_twice_or_misplaced_is_not_read(several: Path, tmp_path: Path) -> None:
    session = tmp_path / "session"
    shutil.copytree(several, session)
    count = len(schema.parts(session, "messages"))
    shutil.copy(_part(session, 1), _part(session, count))
    shutil.copy(_part(session, 0, "control"), _part(session, count + 1))
    assert len(inspect(str(session)).parts["messages"]) == count


def test_a_recording_whose_program_died_is_not_whole(several: Path, tmp_path: Path) -> None:
    """What it recorded is all there, but nobody knows what it did not."""
    session = tmp_path / "session"
    shutil.copytree(several, session)
    _rewrite(session, ended="crashed")
    found = inspect(str(session))
    assert Outcome(found.problems).code == 3
    assert found.problems == (schema.DIED,)


@pytest.mark.parametrize("number", [1, -1], ids=["in the middle", "at the end"])
def test_nothing_is_judged_of_what_lacks_a_part(
    spark: SparkSession, several: Path, tmp_path: Path, number: int
) -> None:
    session = tmp_path / "session"
    shutil.copytree(several, session)
    schema.parts(session, "messages")[number].unlink()
    judged = read_session_data(spark, inspect(str(session))).judged
    assert not any(judged.known.values()) and judged.problems


def _judged(session: Path) -> SessionInfo | str:
    try:
        return inspect(str(session))
    except ReportError as error:
        return str(error)


@pytest.mark.parametrize("share", [pytest.param(2, marks=pytest.mark.long), 10])
@pytest.mark.parametrize("name", ["session.json", "control/part-00000.parquet", "messages/part-00000.parquet"])
def test_every_flipped_bit_is_said(several: Path, tmp_path: Path, name: str, share: int) -> None:
    """Of `session.json` each bit, of the parts one bit in each of 300 bytes, with all of their ends: one in `share`."""
    session = tmp_path / "session"
    shutil.copytree(several, session)
    path = session / name
    whole = path.read_bytes()
    told = json.loads(whole) if name.endswith("json") else None
    step = 1 if told else max(1, len(whole) // 300)
    places = {*range(0, len(whole), step), *range(len(whole) - 40, len(whole)), *range(8)}
    for at in sorted(places)[::share]:
        for bit in range(8) if told else (at % 8,):
            data = bytearray(whole)
            data[at] ^= 1 << bit
            path.write_bytes(data)
            found = _judged(session)
            if not isinstance(found, str) and not found.problems:
                # Blanks between words, and the letters of an escape, may change without changing a word.
                assert told is not None and json.loads(bytes(data)) == told, (at, bit)


def test_another_version_is_refused(several: Path, tmp_path: Path) -> None:
    session = tmp_path / "session"
    shutil.copytree(several, session)
    _rewrite(session, format_version=7)
    with pytest.raises(ReportError, match="is version 7, this program reads 2"):
        inspect(str(session))


def test_a_part_that_may_not_be_read_is_not_called_damaged(
    several: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = tmp_path / "session"
    shutil.copytree(several, session)
    monkeypatch.setattr("os.access", lambda path, _mode: "00000" not in str(path))
    assert all("no permission" in problem for problem in inspect(str(session)).problems)
