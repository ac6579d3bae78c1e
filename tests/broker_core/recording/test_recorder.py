"""The recorder and the reader: what goes in comes out, whatever happens to the program or the disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind, EventStream
from broker_core.recording import columns, schema
from broker_core.recording import recorder as recorder_module
from broker_core.recording.copying import copy_session
from broker_core.recording.playback import FolderPlayback
from broker_core.recording.reader import open_session, seal
from broker_core.recording.recorder import Recorder
from broker_core.recording.schema import LOST_MAX_EVENTS
from broker_core.recording.unsealed_stream import UnsealedStream
from broker_core.snapshots import Snapshot
from tests.broker_core.recording.fake_stream import FakeBroker


def _record(folder: Path, seconds: int = 5, **options: object) -> tuple[list[Event], dict[str, int]]:
    stream, events = EventStream(), list[Event]()
    recorder = Recorder(folder, scenario_name="fake", scenario_text="name: fake\n", seed=7, **options)  # type: ignore[arg-type]
    stream.attach(recorder)
    stream.attach(events.append)
    totals = FakeBroker(stream, seconds=seconds).run()
    recorder.action(17, {"name": "pause"})
    recorder.close(totals=totals)
    return events, totals


def test_every_event_comes_back_as_it_was(tmp_path: Path) -> None:
    events, totals = _record(tmp_path / "s")
    session = open_session(tmp_path / "s")
    assert session.problems == []
    assert list(session.index.events()) == events
    assert session.metadata.totals == totals
    assert session.metadata.ended == "finished"
    assert session.metadata.events == len(events)
    assert session.metadata.duration_ns == events[-1].time_ns
    assert session.scenario_text == "name: fake\n"
    assert session.actions == [(17, {"name": "pause"})]
    assert session.sealed and not (tmp_path / "s" / "tail").exists()


def test_a_time_range_holds_exactly_its_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "SEGMENT_EVENTS", 100)
    monkeypatch.setattr(recorder_module, "BATCH_EVENTS", 16)
    made, events = EventStream(), list[Event]()
    recorder = Recorder(tmp_path / "s", scenario_name="fake")

    def take(event: Event) -> None:  # the fake's times go back by some milliseconds, a broker's never do
        latest_ns = max(event.time_ns, events[-1].time_ns if events else 0)
        events.append(msgspec.structs.replace(event, time_ns=latest_ns))
        recorder(events[-1])

    made.attach(take)
    FakeBroker(made).run()
    recorder.close()
    session = open_session(tmp_path / "s")
    assert len(schema.parts(tmp_path / "s", "messages")) > 3
    first, end_ns = events[150].seq, events[400].time_ns
    expected = [event for event in events if event.seq >= first and event.time_ns <= end_ns]
    assert list(session.index.events(first, to_ns=end_ns)) == expected


def test_segments_are_sealed_on_the_way_and_no_event_is_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "SEGMENT_EVENTS", 64)
    monkeypatch.setattr(recorder_module, "BATCH_EVENTS", 16)
    events, _ = _record(tmp_path / "s")
    session = open_session(tmp_path / "s")
    assert [event.seq for event in session.index.events()] == [event.seq for event in events]


def test_memory_stays_bounded_while_the_writer_is_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    slow = columns.batch_of

    def batch_of(events: list[Event]) -> object:
        seen.append(len(recorder._pending))
        time.sleep(0.002)
        return slow(events)

    monkeypatch.setattr("broker_core.recording.recorder.batch_of", batch_of)
    monkeypatch.setattr(recorder_module, "BATCH_EVENTS", 32)
    recorder = Recorder(tmp_path / "s", scenario_name="fake", max_pending=64)
    for number in range(2_000):
        recorder(Event(number, number, EventKind.PUBLISHED, count=1))
        assert len(recorder._pending) <= 64
    recorder.close()
    assert open_session(tmp_path / "s").event_count == 2_000
    assert max(seen) > 0


def test_a_killed_recorder_loses_at_most_what_the_format_says_however_slow_the_disk_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk stands still after the third batch, for good: what was taken by then and is on no disk is the loss."""
    monkeypatch.setattr(recorder_module, "BATCH_EVENTS", 16)
    goes_on, waiting = threading.Event(), threading.Event()
    write = UnsealedStream.append
    written: list[pa.RecordBatch] = []

    def append(self: UnsealedStream, batch: pa.RecordBatch) -> None:
        if len(written) == 3:
            waiting.set()
            goes_on.wait()
        written.append(batch.num_rows)
        write(self, batch)

    monkeypatch.setattr(UnsealedStream, "append", append)
    recorder = Recorder(tmp_path / "s", scenario_name="fake", max_pending=64)
    taken = [0]

    def broker() -> None:
        for number in range(1_000):
            recorder(Event(number, number, EventKind.PUBLISHED, count=1))
            taken[0] = number + 1

    thread = threading.Thread(target=broker, daemon=True)
    thread.start()
    assert waiting.wait(30)
    while len(recorder._pending) < 64:  # the broker waits from here on
        time.sleep(0.001)
    killed = open_session(tmp_path / "s").event_count
    assert killed == sum(written) == 48
    # The one event that waits for room in the call is not taken before the call returns.
    assert taken[0] - killed <= 64 + 16
    goes_on.set()
    thread.join()
    recorder.close()
    assert open_session(tmp_path / "s").event_count == 1_000


def test_the_format_says_how_many_that_are() -> None:
    text = (Path(recorder_module.__file__).parent / "FORMAT.md").read_text("utf-8")
    assert f"at most {schema.LOST_MAX_EVENTS:,} events" in text
    assert f"{schema.MAX_PENDING_EVENTS:,} that wait" in text
    assert f"a batch of {schema.BATCH_EVENTS:,}" in text


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("x")
    with pytest.raises(BrokerError, match="not empty"):
        Recorder(tmp_path, scenario_name="fake")


def test_a_failing_disk_is_one_clear_error_and_never_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def append(self: object, batch: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(UnsealedStream, "append", append)
    recorder = Recorder(tmp_path / "s", scenario_name="fake", max_pending=8)
    for number in range(100):
        recorder(Event(number, number, EventKind.PUBLISHED, count=1))
    with pytest.raises(BrokerError, match="No space left on device") as caught:
        recorder.close()
    assert caught.value.code is ErrorCode.STORAGE_ERROR
    assert recorder.error is caught.value
    session = open_session(tmp_path / "s")
    assert session.metadata.ended == "failed"
    assert any("No space left" in problem for problem in session.problems)
    assert any("100 of 100 events are missing" in problem for problem in session.problems)


_CHILD = """
    import resource, signal, sys, time
    from pathlib import Path
    from broker_core.events import Event, EventKind
    from broker_core.recording.recorder import Recorder
    from broker_core.recording.schema import LOST_MAX_EVENTS
    if sys.argv[2] != "0":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
    recorder = Recorder(Path(sys.argv[1]), scenario_name="fake")
    for n in range(10_000_000):
        recorder(Event(n, n * 1000, EventKind.PUBLISHED, topic="t", partition=0, offset=n, count=1))
        if n % 1000 == 0:
            print(n, flush=True)
            time.sleep(0.001)
"""


def _child(folder: Path, limit_bytes: int = 0) -> subprocess.Popen[str]:
    """A program that records without end; it prints how many so far. No file grows beyond
    `limit_bytes`.
    """
    command = [sys.executable, "-c", textwrap.dedent(_CHILD), str(folder), str(limit_bytes)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def wait_until(condition: Callable[[], bool]) -> None:
    ends_s = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends_s
        time.sleep(0.01)


def test_what_comes_slowly_is_on_disk_without_a_full_batch(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "s", scenario_name="fake")
    try:
        recorder(Event(0, 0, EventKind.PUBLISHED, topic="t", partition=0, offset=0, count=1))
        wait_until(lambda: bool(recorder.unsealed("messages")))
    finally:
        recorder.close()


def test_a_killed_program_loses_at_most_what_was_not_written_yet(tmp_path: Path) -> None:
    child = _child(tmp_path / "s")
    assert child.stdout is not None
    given = 0
    while given < 4 * LOST_MAX_EVENTS:
        given = int(child.stdout.readline().split()[0])
    child.send_signal(signal.SIGKILL)
    child.wait()
    session = open_session(tmp_path / "s")
    assert not session.recording
    assert any("died while recording" in problem for problem in session.problems)
    assert session.event_count > given - LOST_MAX_EVENTS

    count = session.event_count
    sealed = seal(tmp_path / "s")
    assert sealed.sealed and sealed.metadata.ended == "crashed"
    assert sealed.event_count == count
    assert [event.seq for event in sealed.index.events()] == list(range(count))
    assert sealed.metadata.duration_ns == (count - 1) * 1000
    assert not (tmp_path / "s" / "tail").exists()


def test_a_full_disk_stops_the_recording_with_what_was_written_kept(tmp_path: Path) -> None:
    child = _child(tmp_path / "s", limit_bytes=600_000)
    assert child.stdout is not None
    for line in child.stdout:
        if int(line.split()[0]) > 60_000:
            break
    child.kill()
    child.wait()
    sealed = seal(tmp_path / "s")
    seqs = [event.seq for event in sealed.index.events()]
    assert len(seqs) > 1_000
    assert seqs == list(range(len(seqs)))


def test_a_session_being_recorded_opens_but_is_not_sealed(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "s", scenario_name="fake")
    for number in range(10):
        recorder(Event(number, number, EventKind.PUBLISHED, count=1))
    recorder.flush()
    assert 0 < recorder.recorded_bytes < 20_000
    session = open_session(tmp_path / "s")
    assert session.recording and session.problems == []
    assert session.event_count == 10
    with pytest.raises(BrokerError, match="still being recorded"):
        seal(tmp_path / "s")
    recorder.close()
    assert open_session(tmp_path / "s").event_count == 10


def test_the_tail_is_read_up_to_where_it_is_torn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "BATCH_EVENTS", 10)
    recorder = Recorder(tmp_path / "s", scenario_name="fake")
    for number in range(50):
        recorder(Event(number, number, EventKind.PUBLISHED, count=1))
    recorder.flush()
    whole = (tmp_path / "s" / "tail" / "messages-00000.arrow").read_bytes()
    recorder.close()
    folder = tmp_path / "s"
    (folder / "messages" / "part-00000.parquet").unlink()
    (folder / "tail").mkdir()
    tail = folder / "tail" / "messages-00000.arrow"
    counts = set()
    for cut in range(0, len(whole), 97):
        tail.write_bytes(whole[:cut])
        session = open_session(folder)
        seqs = [event.seq for event in session.index.events()]
        assert seqs == list(range(len(seqs)))
        assert len(seqs) == 50 or session.problems
        counts.add(len(seqs))
    assert len(counts) >= 4


def test_a_truncated_segment_is_named_and_the_rest_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "SEGMENT_EVENTS", 100)
    monkeypatch.setattr(recorder_module, "BATCH_EVENTS", 50)
    events, _ = _record(tmp_path / "s")
    part = schema.parts(tmp_path / "s", "messages")[1]
    part.write_bytes(part.read_bytes()[:-20])
    session = open_session(tmp_path / "s")
    assert any(part.name in problem and "truncated" in problem for problem in session.problems)
    assert any("events are missing" in problem for problem in session.problems)
    assert 0 < len(list(session.index.events())) < len(events)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "has no session.json"),
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ("[]", "describes something else"),
        ('{"format": "other"}', "describes something else"),
        ('{"format": "brokerscope-session", "format_version": 99}', "is version 99"),
        ('{"format": "brokerscope-session", "format_version": 2, "seed": "x"}', "cannot be understood"),
    ],
)
def test_what_is_not_a_session_is_said_in_one_sentence(tmp_path: Path, text: str | None, sentence: str) -> None:
    if text is not None:
        (tmp_path / "session.json").write_text(text)
    with pytest.raises(BrokerError, match=sentence):
        open_session(tmp_path)


def test_a_missing_folder_is_not_a_session(tmp_path: Path) -> None:
    with pytest.raises(BrokerError, match="nowhere does not exist"):
        open_session(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(BrokerError, match="file is not a folder"):
        open_session(tmp_path / "file")


def test_session_json_has_what_other_tools_need(tmp_path: Path) -> None:
    _record(tmp_path / "s")
    raw = json.loads((tmp_path / "s" / "session.json").read_text())
    assert raw["format"] == "brokerscope-session" and raw["format_version"] == schema.FORMAT_VERSION
    assert raw["scenario"] == "fake" and raw["seed"] == 7 and raw["clock"] == "virtual"
    assert raw["started_at"].endswith("Z") and raw["versions"]["python"]


def test_the_schema_is_the_fields_of_an_event() -> None:
    assert tuple(schema.EVENT_SCHEMA.names) == Event.__struct_fields__


def test_the_schema_module_needs_of_the_core_only_checksums_and_kinds_of_events() -> None:
    code = "import sys, broker_core.recording.schema;print(sorted(m for m in sys.modules if 'broker_core.' in m))"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    ).stdout
    needed = ["broker_core.events", *(f"broker_core.recording{part}" for part in ("", ".checksums", ".schema"))]
    assert out.strip() == str(needed)


def test_details_and_keys_of_any_bytes_survive(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "s", scenario_name="fake")
    event = Event(
        0, 5, EventKind.USER_ACTION, key=b"\x00\xff", cause='"quoted", ä', detail={"a": [1, None, "ß"], "b": {"c": 0.5}}
    )
    recorder(event)
    recorder.close()
    assert list(open_session(tmp_path / "s").index.events()) == [event]


def test_an_event_after_the_end_is_counted_as_missed(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "s", scenario_name="fake")
    recorder.close()
    recorder(Event(0, 0, EventKind.PUBLISHED, count=1))
    assert recorder.missed == 1


SAMPLES = Path(__file__).parent / "samples"


def test_the_sample_of_the_format_opens() -> None:
    """`python -m tests.broker_core.recording.make_sample` records it anew."""
    session = open_session(SAMPLES / "version-2")
    assert session.problems == [] and session.sealed
    assert session.metadata.totals is not None
    events = list(session.index.events())
    assert len(events) == session.metadata.events
    published = sum(event.count for event in events if event.kind is EventKind.PUBLISHED)
    assert published == session.metadata.totals["published"] > 0
    assert session.scenario_text and session.actions
    folded = FolderPlayback(SAMPLES / "version-2").at(10**12)
    assert folded.events == len(events) and folded.totals.published == published


@pytest.mark.skipif(os.name != "posix", reason="the system has no modes")
def test_a_session_and_its_copy_are_their_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "SEGMENT_EVENTS", 100)
    folder, copy = tmp_path / "session", tmp_path / "copy"
    folder.mkdir(mode=0o755)
    before = os.umask(0)
    try:
        stream = EventStream()
        recorder = Recorder(folder, scenario_name="fake", scenario_text="name: fake\n")
        stream.attach(recorder)
        FakeBroker(stream, seconds=5).run()
        recorder.keyframe(Snapshot(0, 1))
        recorder.action(17, {"name": "pause"})
        recorder.flush()
        assert _modes(folder) == ({0o700}, {0o600}), "while it is recorded"
        copy_session(folder, copy)
        recorder.close()
    finally:
        os.umask(before)
    for each in (folder, copy):
        assert _modes(each) == ({0o700}, {0o600})


def _modes(root: Path) -> tuple[set[int], set[int]]:
    every = [root, *root.rglob("*")]
    folders, files = (
        {path.stat().st_mode & 0o777 for path in every if path.is_dir() is is_dir} for is_dir in (True, False)
    )
    return folders, files


def test_what_is_no_path_is_one_sentence() -> None:
    with pytest.raises(BrokerError, match="NUL"):
        Recorder(Path("a\0b"), scenario_name="fake")
