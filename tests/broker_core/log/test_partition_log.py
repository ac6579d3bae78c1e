"""A partition: append, read, runs, roll, reopen."""

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import DiskFiles, FileSystem, MemoryFiles
from broker_core.log.batch import ProducerStamp, is_intact
from broker_core.log.partition_log import Appended
from broker_core.messages import Message, Run

from .logs import EPOCH_MS, batch, open_log, values
from .simulated_disk import SimulatedDisk


@pytest.fixture(params=["memory", "disk"])
def files(request, tmp_path) -> FileSystem:
    return MemoryFiles() if request.param == "memory" else DiskFiles(tmp_path)


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
    assert len(log.segments) > 3
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
    assert log.runs(0, 6) == [Run(0, 3, 9, 10), Run(3, 3, 9, 20)]
    assert log.runs(1, 4) == [Run(1, 2, 6, 10), Run(3, 1, 3, 20)]
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
    assert log.append_batch(0, batch("a", "b"), producer=ProducerStamp(5, 0, 0)) == Appended(0, 2, 4, False)
    assert log.append_batch(1, batch("a", "b"), producer=ProducerStamp(5, 0, 0)) == Appended(0, 2, 4, True)
    assert log.append_batch(2, batch("c"), producer=ProducerStamp(5, 0, 2)).base_offset == 2
    assert values(log) == [b"a", b"b", b"c"]


def test_records_deleted_from_the_front_cannot_be_read(files):
    log = open_log(files, segment_bytes=1)
    for n in range(5):
        log.append_batch(n, batch(str(n)))
    log.delete_before(3)
    assert log.start_offset == 3
    assert [segment.base_offset for segment in log.segments] == [3, 4]
    assert values(log, 3) == [b"3", b"4"]
    with pytest.raises(BrokerError):
        log.read(2, max_messages=1)


def test_a_very_large_append_becomes_batches_that_can_be_read_in_bites(files):
    log = open_log(files)
    many = [Message(b"%d" % n) for n in range(2_500)]
    assert log.append_batch(5, many).count == 2_500
    assert [segment.view().batches for segment in log.segments] == [3]
    assert log.runs(0, 2_500) == [Run(0, 2_500, sum(len(one.value or b"") for one in many), 5)]
    assert log.message(1_999).value == b"1999"
    large = [Message(bytes(900_000)) for _ in range(10)]
    log.append_batch(6, large)
    assert (next(iter(log.segments)).view().batches or 0) > 4
    assert len(log.read(2_500, max_messages=20, max_bytes=1 << 30)) == 10


def test_a_large_append_that_fails_leaves_nothing_behind():
    disk = SimulatedDisk()
    log = open_log(disk)
    log.append_batch(0, batch("a"))
    disk.room_bytes = disk.used_bytes + 30_000
    with pytest.raises(BrokerError, match="the disk is full"):
        log.append_batch(1, [Message(b"x" * 20)] * 2_500)
    assert (log.end_offset, values(log)) == (1, [b"a"])
    disk.room_bytes = None
    log.append_batch(2, [Message(b"x" * 20)] * 2_500)
    assert len(log.runs(0, 9_999)) == 2
    assert log.end_offset == 2_501


def test_a_message_above_the_limit_is_refused_and_a_batch_of_small_ones_is_not(files):
    log = open_log(files, max_message_bytes=100)
    log.append_batch(0, [Message(b"x" * 90)] * 50)
    for message in (
        Message(b"x" * 101),
        Message(b"x" * 60, b"x" * 41),
        Message(b"x" * 60, headers=(("h", b"x" * 40),)),
    ):
        with pytest.raises(BrokerError, match="which takes at most 100") as caught:
            log.append_batch(0, [message])
        assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
    assert log.end_offset == 50


def test_an_empty_batch_makes_no_sense(files):
    with pytest.raises(BrokerError) as caught:
        open_log(files).append_batch(0, [])
    assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_segments_are_rolled_by_age(files):
    log = open_log(files, segment_ms=10)
    for ms in (0, 9, 10, 19, 20):
        log.append_batch(ms * 1_000_000, batch(str(ms)))
    assert [segment.base_offset for segment in log.segments] == [0, 2, 4]


def test_stored_batches_are_handed_out_whole(files):
    log = open_log(files, segment_bytes=200)
    for n in range(4):
        log.append_batch(n, batch(f"{n}a", f"{n}b"))
    stored = log.read_bytes(3)
    assert len(stored) == 3
    assert [is_intact(one, base) for one, base in zip(stored, (2, 4, 6), strict=True)] == [True] * 3
    assert log.read_bytes(0, max_bytes=1) == log.read_bytes(0)[:1]
    assert log.read_bytes(8) == []


def test_the_log_keeps_its_own_copy(files):
    value = bytearray(b"before")
    log = open_log(files)
    log.append_batch(0, [Message(value)])  # type: ignore[arg-type]
    value[:] = b"change"
    assert values(log) == [b"before"]


def test_readers_that_take_a_batch_in_bites_do_not_disturb_each_other(files):
    log = open_log(files)
    for n in range(8):
        log.append_batch(n, [Message(b"%d" % (n * 10 + k)) for k in range(10)])
    positions = [0, 3, 17, 25, 40, 55, 61, 79]
    while any(position < 80 for position in positions):
        for reader, position in enumerate(positions):
            found = log.read(position, max_messages=reader + 1)
            assert [one.value for one in found] == [b"%d" % (position + n) for n in range(len(found))]
            assert found or position == 80
            positions[reader] += len(found)
