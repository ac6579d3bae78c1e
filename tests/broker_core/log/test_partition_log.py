"""A partition: append, read, runs, roll, reopen."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import DiskFiles, FileSystem, MemoryFiles
from broker_core.log.batch import ProducerStamp, is_intact
from broker_core.log.compaction import Compaction
from broker_core.log.partition_log import Appended
from broker_core.log.segment import Segment
from broker_core.messages import Message, MessageRun
from tests.long_form import examples

from .logs import EPOCH_MS, batch, open_log, stored_batches, values
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


@pytest.mark.promise("A14")
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
    assert log.runs(0, 6) == [MessageRun(0, 3, 9, 10), MessageRun(3, 3, 9, 20)]
    assert log.runs(1, 4) == [MessageRun(1, 2, 6, 10), MessageRun(3, 1, 3, 20)]
    assert log.runs(6, 9) == []
    assert log.published_from_ns(4) == 20
    assert [log.offset_for_time(time_ns) for time_ns in (0, 10, 11, 20, 21)] == [0, 0, 3, 3, 6]


def test_reopening_finds_everything(tmp_path):
    log = open_log(DiskFiles(tmp_path), segment_bytes=150)
    for n in range(7):
        log.append_batch(n * 1_000_000, batch(f"value {n}"))
    log.close()
    again = open_log(DiskFiles(tmp_path), segment_bytes=150)
    assert values(again) == [b"value %d" % n for n in range(7)]
    assert again.append_batch(9_000_000, batch("more")).base_offset == 7
    assert again.published_from_ns(3) == 3_000_000


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
    assert log.runs(0, 2_500) == [MessageRun(0, 2_500, sum(len(one.value or b"") for one in many), 5)]
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
    stored = stored_batches(log, 3)
    assert len(stored) == 3
    assert [is_intact(one, base) for one, base in zip(stored, (2, 4, 6), strict=True)] == [True] * 3
    assert stored_batches(log, 0, max_bytes=1) == stored_batches(log, 0)[:1]
    assert stored_batches(log, 8) == stored_batches(log, 3, 2) == []


def wanted_of(whole: list[bytes], offset: int, max_bytes: int, end_offset: int) -> list[bytes]:
    """Of batches with two messages each: those in the range that fit, and the first of them in any case."""
    wanted: list[bytes] = []
    for n, one in enumerate(whole):
        if 2 * n + 1 >= offset and 2 * n < end_offset:
            if wanted and sum(map(len, wanted)) + len(one) > max_bytes:
                break
            wanted.append(one)
    return wanted


@pytest.mark.parametrize("segment_bytes", [1, 200, 1 << 20])
def test_as_many_batches_are_handed_out_as_fit(segment_bytes):
    log = open_log(MemoryFiles(), segment_bytes=segment_bytes)
    for n in range(4):
        log.append_batch(n, batch(f"{n}a", f"{n}b"))
    whole = stored_batches(log, 0)
    size = len(whole[0])
    for max_bytes in (1, size, 2 * size - 1, 2 * size, 2 * size + 1, 4 * size - 1, 4 * size):
        for offset in range(log.end_offset):
            for end_offset in range(log.end_offset + 1):
                found = stored_batches(log, offset, end_offset, max_bytes)
                assert found == wanted_of(whole, offset, max_bytes, end_offset), (offset, max_bytes, end_offset)


@settings(max_examples=examples(60))
@given(
    value_bytes=st.lists(st.sampled_from([10, 3_000, 5_000, 70_000]), min_size=1, max_size=12),
    segment_bytes=st.sampled_from([1, 12_000, 1 << 20]),
    durability=st.sampled_from(["memory", "file"]),
    data=st.data(),
)
def test_what_is_handed_out_are_the_batches_asked_for_and_stays_as_it_is(value_bytes, segment_bytes, durability, data):
    log = open_log(MemoryFiles(), segment_bytes=segment_bytes, durability=durability)
    for n, size in enumerate(value_bytes):
        log.append_batch(n, [Message(bytes([n]) * size)] * 2)
    whole = stored_batches(log, 0)
    assert len(whole) == len(value_bytes)
    offset = data.draw(st.integers(0, log.end_offset), "offset")
    end_offset = data.draw(st.integers(0, log.end_offset), "end offset")
    max_bytes = data.draw(st.integers(1, sum(map(len, whole))), "max bytes")
    wanted = wanted_of(whole, offset, max_bytes, end_offset)
    found = log.read_bytes(offset, max_bytes, end_offset)
    for n in range(3):
        log.append_batch(n, [Message(b"later")])
    assert b"".join(found.pieces) == b"".join(wanted)


@pytest.mark.parametrize("durability", ["memory", "file"])
def test_what_a_slow_reader_holds_stays_as_it_is_whatever_becomes_of_the_log(files, durability):
    log = open_log(files, durability=durability, segment_bytes=100_000, cleanup="compact")
    sizes = (10, 3_000, 5_000, 70_000, 10, 5_000, 90_000, 10)
    for n, size in enumerate(sizes):
        log.append_batch(n, [Message(bytes([n]) * size, b"key")])
    held = [log.read_bytes(n, 1 << 30, len(sizes)).pieces for n in range(len(sizes))]
    before = [b"".join(pieces) for pieces in held]

    def hold() -> None:
        assert [b"".join(pieces) for pieces in held] == before

    for n, size in enumerate((10, 3_000, 5_000, 70_000) * 2):
        log.append_batch(10 + n, [Message(b"later" * size, b"key")])
    hold()
    Compaction(log, 100).run()
    assert log.segments.sealed[0].size_bytes < len(before[0])
    hold()
    for segment in log.segments:
        files.truncate(segment.path, 5)
        files.open_append(segment.path).append(b"other" * 2_000)
    hold()
    log.close()
    for segment in log.segments:
        segment.remove()
    hold()


def test_what_lies_on_a_disk_is_looked_at_whatever_its_log_promises(tmp_path):
    files = DiskFiles(tmp_path)
    log = open_log(files, durability="memory")
    log.append_batch(0, batch("a"))
    (segment,) = log.segments
    whole = files.read(segment.path, 0, segment.size_bytes)
    files.write_whole(segment.path, whole[:-1] + b"?", durable=False)
    with pytest.raises(BrokerError) as caught:
        log.read_bytes(0, 1 << 20, 1)
    assert caught.value.code is ErrorCode.DAMAGED


def test_what_is_not_asked_of_a_disk_that_is_damaged_is_handed_out(files):
    log = open_log(files, durability="file")
    for n in range(4):
        log.append_batch(n, batch(f"{n}a", f"{n}b"))
    (segment,) = log.segments
    size = segment.size_bytes // 4
    whole = files.read(segment.path, 0, segment.size_bytes)
    log.close()
    files.write_whole(segment.path, whole[: 3 * size - 1] + b"?" + whole[3 * size :], durable=True)
    assert len(stored_batches(log, 0, 4)) == 2
    with pytest.raises(BrokerError) as caught:
        log.read_bytes(0, 1 << 20, 8)
    assert caught.value.code is ErrorCode.DAMAGED
    assert len(stored_batches(log, 6)) == 1


def test_bytes_that_were_lost_between_batches_are_handed_out_with_none_of_them(files):
    log = open_log(files, durability="file")
    for n in range(4):
        log.append_batch(n, batch(f"{n}a", f"{n}b"))
    (segment,) = log.segments
    whole, stored = stored_batches(log, 0), files.read(segment.path, 0, segment.size_bytes)
    log.close()
    end = len(whole[0]) + len(whole[1])
    files.write_whole(segment.path, stored[: end - 1] + b"?" + stored[end:], durable=True)
    files.remove(segment.index_path)
    log = open_log(files, durability="file")
    assert stored_batches(log, 0) == [whole[0], *whole[2:]]


@pytest.mark.promise("A24")
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


def test_segments_that_cannot_be_deleted_at_once_are_counted_until_they_are(monkeypatch):
    files = MemoryFiles()
    log = open_log(files, segment_bytes=1)
    for name in "abcde":
        log.append_batch(0, batch(name))
    second = [*log.segments][1]
    remove = files.remove

    def refuse(path: str) -> None:
        if path == second.path:
            raise BrokerError(ErrorCode.STORAGE_ERROR, path)
        remove(path)

    monkeypatch.setattr(files, "remove", refuse)
    with pytest.raises(BrokerError):
        log.delete_before(3)
    monkeypatch.undo()
    assert (len(log.segments), log.segments.messages_count) == (4, 4)
    assert log.size_bytes == sum(segment.size_bytes for segment in log.segments)
    log.sync()  # of those that are there
    log.delete_before(4)
    assert (len(log.segments), log.size_bytes, log.messages_count) == (1, log.segments.active.size_bytes, 1)


def test_a_segment_whose_index_cannot_be_deleted_is_still_synced(tmp_path, monkeypatch):
    files = DiskFiles(tmp_path)
    log = open_log(files, durability="file", segment_bytes=1)
    for name in "abc":
        log.append_batch(0, batch(name))
    second, remove = [*log.segments][1], files.remove

    def refuse(path: str) -> None:
        if path == second.index_path:
            raise BrokerError(ErrorCode.STORAGE_ERROR, path)
        remove(path)

    with monkeypatch.context() as failing:
        failing.setattr(files, "remove", refuse)
        with pytest.raises(BrokerError):
            log.delete_before(2)
    log.sync()
    log.delete_before(3)
    assert len(log.segments) == 1


def test_the_last_batch_is_found_without_a_look_at_the_first_segments(monkeypatch):
    log = open_log(MemoryFiles(), segment_bytes=1)
    for name in "abcde":
        log.append_batch(0, batch(name))
    asked: list[int] = []

    def indexes(segment: Segment, offset: int, found=Segment.indexes):
        asked.append(segment.base_offset)
        return found(segment, offset)

    monkeypatch.setattr(Segment, "indexes", indexes)
    backward = log.segments.batches(0, 5, backward=True)
    assert next(backward)[1].base_offset == 4 and asked == [4]
    assert [header.base_offset for _, header in backward] == [3, 2, 1, 0]
