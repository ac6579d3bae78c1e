"""Flipped bytes anywhere in a session folder are named, what they were about is left out, and the rest opens."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from broker_core.errors import BrokerError
from broker_core.events import Event, EventKind, EventStream
from broker_core.recording import recorder as recorder_module
from broker_core.recording import schema
from broker_core.recording.checksums import document_checksum
from broker_core.recording.event_index import EventIndex
from broker_core.recording.keyframes import Keyframes
from broker_core.recording.playback import FolderPlayback
from broker_core.recording.reader import open_session, seal
from broker_core.recording.recorder import Recorder
from broker_core.snapshots import DeadLetterView, QueueView, Snapshot
from tests.broker_core.recording.corruption import flip, flip_unnoticed
from tests.broker_core.recording.fake_stream import FakeBroker
from tests.long_form import both, form

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A session of several parts and batches."""
    stream = EventStream()
    recorder = Recorder(tmp_path / "s", scenario_name="fake", scenario_text="title: Fake\n", seed=7)
    stream.attach(recorder)
    totals = FakeBroker(stream, seconds=3).run()
    recorder.action(17, {"name": "pause"})
    recorder.close(totals=totals)
    return tmp_path / "s"


def problems(folder: Path) -> str:
    return " ".join(open_session(folder).problems)


def test_flipped_bytes_in_the_middle_of_a_part_are_named_and_never_shown(folder: Path) -> None:
    part = folder / "messages" / "part-00000.parquet"
    flip_unnoticed(part)
    session = open_session(folder)
    missing = pq.read_metadata(part).num_rows
    assert session.problems == [
        "messages/part-00000.parquet is truncated or damaged; its events are missing.",
        f"{missing} of {session.metadata.events} events are missing.",
    ]
    left = list(session.index.events())
    assert left and all(event.kind.value != "published" for event in left)
    assert list(EventIndex(folder).events(0)) == left
    assert FolderPlayback(folder).end().totals.published == 0


@both
def test_a_part_is_judged_by_every_one_of_its_bytes(folder: Path) -> None:
    part = folder / "control" / "part-00000.parquet"
    whole = part.read_bytes()
    for at in range(0, len(whole), form(397, 23)):
        flip(part, at)
        assert schema.part_problem(part), at
        part.write_bytes(whole)
    assert schema.part_problem(part) is None
    for at in range(len(whole) - 8 - int.from_bytes(whole[-8:-4], "little") - 8, len(whole), form(7, 1)):
        flip(part, at)
        assert schema.part_problem(part), at
        part.write_bytes(whole)


def test_pages_have_checksums_of_their_own_for_other_programs(folder: Path) -> None:
    part = folder / "messages" / "part-00000.parquet"
    assert pq.read_table(part, page_checksum_verification=True).num_rows
    flip_unnoticed(part)
    with pytest.raises(OSError, match="checksum"):
        pq.read_table(part, page_checksum_verification=True)


@pytest.fixture
def unsealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session of 50 events in batches of 10, whose program died."""
    monkeypatch.setattr(recorder_module, "BATCH_EVENTS", 10)
    recorder = Recorder(tmp_path / "s", scenario_name="fake")
    for number in range(50):
        recorder(Event(number, number, EventKind.PUBLISHED, topic=f"topic {number}", count=1))
    recorder.flush()
    folder = tmp_path / "s"
    stream = (folder / "tail" / "messages-00000.arrow").read_bytes()
    metadata = (folder / "session.json").read_bytes()
    recorder.close()
    (folder / "messages" / "part-00000.parquet").unlink()
    (folder / "session.json").write_bytes(metadata)
    (folder / "tail").mkdir()
    (folder / "tail" / "messages-00000.arrow").write_bytes(stream)
    return folder


@both
def test_flipped_bytes_of_a_stream_cost_their_batch_and_are_named(unsealed: Path) -> None:
    stream = unsealed / "tail" / "messages-00000.arrow"
    whole = stream.read_bytes()
    topics = [f"topic {number}" for number in range(50)]
    told = 0
    for at in range(0, len(whole), form(163, 41)):
        flip(stream, at)
        session = open_session(unsealed)
        found = [event.topic for event in session.index.events()]
        assert all(topics[event.seq] == event.topic for event in session.index.events()), at
        if len(found) < len(topics):
            assert stream.name in " ".join(session.problems), at
            told += 1
        stream.write_bytes(whole)
    assert told > form(5, 20)


def test_what_a_damaged_stream_lost_is_told_when_it_is_sealed_and_ever_after(unsealed: Path) -> None:
    stream = unsealed / "tail" / "messages-00000.arrow"
    whole = stream.read_bytes()
    for at in range(len(whole) // 3, len(whole)):
        flip(stream, at)
        if "is damaged; 10 of its events" in problems(unsealed):
            break
        stream.write_bytes(whole)
    sealed = seal(unsealed)
    assert "tail/messages-00000.arrow is damaged; 10 of its events are missing." in sealed.problems
    assert len(list(sealed.index.events())) == 40
    assert "10 of 50 events are missing." in problems(unsealed)


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("session.json", b'"seed": 7', b'"seed": 5', "session.json is damaged"),
        ("scenario.yaml", b"Fake", b"Fakd", "scenario.yaml is damaged"),
        ("actions.jsonl", b"pause", b"cause", "actions.jsonl is damaged"),
    ],
)
def test_small_files_that_say_something_else_are_named(
    folder: Path, name: str, old: bytes, new: bytes, sentence: str
) -> None:
    assert problems(folder) == ""
    data = (folder / name).read_bytes()
    assert old in data
    (folder / name).write_bytes(data.replace(old, new))
    session = open_session(folder)
    assert [sentence in problem for problem in session.problems] == [True]
    assert len(list(session.index.events())) == session.metadata.events


@pytest.mark.parametrize(
    ("old", "new"), [(b'"seed"', b'"seed'), (b'"brokerscope-s', b'"brokerscopf-s'), (b"{", b"\xff")]
)
def test_without_a_readable_session_json_the_events_still_open(folder: Path, old: bytes, new: bytes) -> None:
    whole = open_session(folder)
    data = (folder / "session.json").read_bytes()
    (folder / "session.json").write_bytes(data.replace(old, new, 1))
    session = open_session(folder)
    assert session.problems == ["session.json is damaged: the title, seed, times and totals are not known."]
    assert list(session.index.events()) == list(whole.index.events())


def test_a_flipped_version_is_damage_and_a_newer_one_is_not(folder: Path) -> None:
    data = (folder / "session.json").read_bytes()
    (folder / "session.json").write_bytes(data.replace(b'"format_version": 2', b'"format_version": 3'))
    assert "session.json is damaged" in problems(folder)
    document = json.loads((folder / "session.json").read_bytes())
    document["crc32"] = document_checksum(document)
    (folder / "session.json").write_text(json.dumps(document))
    with pytest.raises(BrokerError, match="is version 3"):
        open_session(folder)


def _letters(session: Path) -> None:
    recorder = Recorder(session, scenario_name="fake")
    for number in range(4):
        value = f"value {number}".encode() * 40
        letter = DeadLetterView("jobs", number, "jobs", 0, number, None, value, (), "no luck", 0, number, 0, ())
        queue = QueueView("jobs", 1, 0, 0, 0, 1, 1_000, 1, 0, 0, 0, 1, 0, (), (letter,), None)
        recorder.keyframe(Snapshot(number * 1_000, 0, queues=(queue,)))
    recorder.close()


def test_a_keyframe_of_another_moment_than_its_header_says_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "s" / "keyframes" / "frames.bin"
    _letters(tmp_path / "s")
    whole = path.read_bytes()
    second = whole.index(b"KEYF", 4)
    for header_byte in (17, 18, 24):  # its time, and its events
        flip(path, second + header_byte)
        keyframes = Keyframes(tmp_path / "s")
        assert keyframes.before(1_500).time_ns == 0
        assert keyframes.before(3_500).time_ns == 3_000
        assert "its header does not fit" in keyframes.problem
        path.write_bytes(whole)


def test_all_damaged_keyframes_and_letters_are_named_when_a_session_is_opened(tmp_path: Path) -> None:
    _letters(tmp_path / "s")
    playback = FolderPlayback(tmp_path / "s")
    playback.keyframes.check()
    assert playback.keyframes.problem == ""
    flip(tmp_path / "s" / "keyframes" / "frames.bin", -3)
    flip(tmp_path / "s" / "keyframes" / "letters.bin", 40)
    playback.keyframes.check()
    assert "1 of 4 keyframes are damaged" in playback.keyframes.problem
    assert "1 of 4 lists of dead letters are damaged" in playback.keyframes.problem
    keyframes = Keyframes(tmp_path / "s")
    assert keyframes.letter("jobs", 0) is None
    kept = keyframes.letter("jobs", 3)
    assert kept is not None and kept.value == b"value 3" * 40
