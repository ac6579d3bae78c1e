"""A partition: append, read, runs, roll, reopen."""

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import DiskFiles, FileSystem, MemoryFiles
from broker_core.log.batch import ProducerStamp
from broker_core.log.config import LogConfig
from broker_core.log.partition_log import Appended, PartitionLog
from broker_core.messages import Message, Run

EPOCH_MS = 1_700_000_000_000


@pytest.fixture(params=["memory", "disk"])
def files(request, tmp_path) -> FileSystem:
    return MemoryFiles() if request.param == "memory" else DiskFiles(tmp_path)


def open_log(files: FileSystem, **config) -> PartitionLog:
    return PartitionLog(files, "t-0", "t", 0, config=LogConfig(**config), epoch_ms=EPOCH_MS)


def values(log: PartitionLog, offset: int = 0, count: int = 1_000) -> list[bytes | None]:
    return [message.value for message in log.read(offset, max_messages=count)]


def batch(*names: str) -> list[Message]:
    return [Message(name.encode()) for name in names]


def test_messages_come_back_as_they_were_appended(files):
    log = open_log(files)
    message = Message(b"value", b"key", (("trace", b"\x00\xff"),))
    assert log.append_batch(1_500_000, [message]) == Appended(0, 1, 8, False)
    assert log.append_batch(2_000_000, [Message(None, b"gone")]) == Appended(1, 1, 4, False)
    first, second = log.read(0, max_messages=10)
    assert (first.key, first.value, first.headers) == (b"key", b"value", (("trace", b"\x00\xff"),))
    assert (first.offset, first.published_ns, first.timestamp_ms) == (0, 1_500_000, EPOCH_MS + 1)
    assert (second.offset, second.key, second.value) == (1, b"gone", None)


def test_reading_goes_on_in_the_middle_of_a_batch_and_across_segments(files):
    log = open_log(files, segment_bytes=200)
    for n in range(10):
        log.append_batch(n, batch(*(f"{n}{letter}" for letter in "abc")))
    assert len(log.segments()) > 3
    every = values(log)
    assert len(every) == 30
    for offset in range(31):
        assert values(log, offset) == every[offset:]
        assert values(log, offset, 2) == every[offset : offset + 2]


def test_reading_outside_the_log_is_an_error(files):
    log = open_log(files)
    log.append_batch(0, batch("a", "b"))
    assert log.read(2, max_messages=1) == []
    for offset in (-1, 3):
        with pytest.raises(BrokerError) as caught:
            log.read(offset, max_messages=1)
        assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_the_byte_limit_holds_except_for_the_first_message(files):
    log = open_log(files)
    log.append_batch(0, [Message(b"x" * 100) for _ in range(5)])
    log.append_batch(0, [Message(b"y" * 100)])
    assert len(log.read(0, max_messages=10, max_bytes=1)) == 1
    assert len(log.read(0, max_messages=10, max_bytes=250)) == 2
    assert len(log.read(0, max_messages=10, max_bytes=550)) == 5
    assert len(log.read(0, max_messages=10, max_bytes=600)) == 6


def test_runs_join_what_was_published_at_the_same_moment(files):
    log = open_log(files, segment_bytes=150)
    log.append_batch(10, batch("aa", "bb"))
    log.append_batch(10, batch("cc"))
    log.append_batch(20, batch("dd", "ee", "ff"))
    assert log.runs(0, 6) == [Run(0, 3, 6, 10), Run(3, 3, 6, 20)]
    assert log.runs(1, 4) == [Run(1, 2, 4, 10), Run(3, 1, 2, 20)]
    assert log.runs(6, 9) == []
    assert log.published_ns(4) == 20
    assert [log.offset_for_time(time_ns) for time_ns in (0, 10, 11, 20, 21)] == [0, 0, 3, 3, 6]


def test_reopening_finds_everything(tmp_path):
    log = open_log(DiskFiles(tmp_path), segment_bytes=150)
    for n in range(7):
        log.append_batch(n * 1_000_000, batch(f"value {n}"))
    log.close()
    again = open_log(DiskFiles(tmp_path), segment_bytes=150)
    assert values(again) == [b"value %d" % n for n in range(7)]
    assert again.append_batch(9_000_000, batch("more")).base_offset == 7
    assert again.published_ns(3) == 3_000_000


def test_a_repeated_batch_is_stored_once(files):
    log = open_log(files)
    assert log.append_batch(0, batch("a", "b"), producer=ProducerStamp(5, 0, 0)) == Appended(0, 2, 2, False)
    assert log.append_batch(1, batch("a", "b"), producer=ProducerStamp(5, 0, 0)) == Appended(0, 2, 2, True)
    assert log.append_batch(2, batch("c"), producer=ProducerStamp(5, 0, 2)).base_offset == 2
    assert values(log) == [b"a", b"b", b"c"]


def test_records_deleted_from_the_front_cannot_be_read(files):
    log = open_log(files, segment_bytes=1)
    for n in range(5):
        log.append_batch(n, batch(str(n)))
    log.delete_before(3)
    assert log.start_offset == 3
    assert [segment.base_offset for segment in log.segments()] == [3, 4]
    assert values(log, 3) == [b"3", b"4"]
    with pytest.raises(BrokerError):
        log.read(2, max_messages=1)
