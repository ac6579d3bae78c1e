"""Compaction keeps up with what is written, in slices, and keeps nothing in memory of what it has replaced."""

from __future__ import annotations

import gc
import random
from typing import Any

import pytest

from broker_core.errors import BrokerError
from broker_core.files import AppendFile, Data, MemoryFiles, WrappedFiles
from broker_core.log.compaction import BEHIND_FRACTION, SLICE_BYTES, USUAL_FRACTION, Cleaner, Compaction, is_due
from broker_core.log.config import LogConfig
from broker_core.log.partition_log import PartitionLog
from broker_core.log.segment import Segment
from broker_core.messages import Message
from tests.broker_core.small_files import SmallFiles

from .logs import MS, batch, open_log, readable, values

S = 1_000 * MS


class CountingFiles(WrappedFiles):
    """How many bytes were read and written by which call."""

    def __init__(self) -> None:
        super().__init__(MemoryFiles())
        self.moved_bytes = 0

    def open_append(self, path: str) -> AppendFile:
        files, file = self, super().open_append(path)

        class Counting:
            size = property(lambda _self: file.size)
            begin_sync, close = file.begin_sync, file.close

            def append(self, data: Data) -> int:
                files.moved_bytes += len(data)
                return file.append(data)

        return Counting()

    def read(self, path: str, offset: int, length: int) -> bytes:
        self.moved_bytes += length
        return super().read(path, offset, length)


def compacted(files: WrappedFiles | MemoryFiles, segment_bytes: int) -> PartitionLog:
    return open_log(files, cleanup="compact", segment_bytes=segment_bytes)


def write(log: PartitionLog, numbers: random.Random, keys: int, batches: int) -> None:
    for _ in range(batches):
        messages = [Message(bytes(100), b"%d" % numbers.randrange(keys)) for _ in range(20)]
        log.append_batch(log.end_offset * MS, messages)


def test_a_slice_is_bounded_however_large_a_segment_is():
    files = CountingFiles()
    log = compacted(files, 1_000_000)
    write(log, random.Random(1), 100, 900)
    log.append_batch(0, [Message(b"x", b"the active segment")])
    slices, more = [], True
    compaction = Compaction(log, 0)
    while more:
        files.moved_bytes = 0
        more = compaction.step()
        slices.append(files.moved_bytes)
    assert compaction.done.messages > 1_000
    # What is kept is read once more, as bytes, before it is written.
    assert max(slices) < 2 * SLICE_BYTES + 10_000
    assert len(slices) > 20


@pytest.mark.parametrize("keys", [1, 50, 2_000])
def test_however_much_is_written_it_is_read_a_few_times_and_what_is_stored_stays_near_what_lives(keys: int):
    files = CountingFiles()
    log, numbers, cleaner = compacted(files, 20_000), random.Random(2), Cleaner()
    written = moved = 0
    for _ in range(60):
        files.moved_bytes = 0
        write(log, numbers, keys, 30)
        written += files.moved_bytes
        files.moved_bytes = 0
        cleaner.begin(0, (log,))
        while cleaner.step(0):
            pass
        moved += files.moved_bytes
        live_bytes = len({message.key for message in log.read(0, max_messages=1 << 30, max_bytes=1 << 30)}) * 130
        assert log.size_bytes < 2.5 * live_bytes + 4 * 20_000
    assert moved < 8 * written


def test_memory_keeps_nothing_of_what_was_replaced():
    gc.collect()
    others = {id(each) for each in gc.get_objects() if isinstance(each, Segment)}
    log, numbers, cleaner = compacted(MemoryFiles(), 5_000), random.Random(3), Cleaner()
    for _ in range(30):
        write(log, numbers, 10, 20)
        cleaner.begin(0, (log,))
        while cleaner.step(0):
            pass
    gc.collect()
    there = [each for each in gc.get_objects() if isinstance(each, Segment) and id(each) not in others]
    assert len(there) <= len(log.segments) + 5
    files = log._context.files
    assert sum(len(files.read(f"t-0/{name}", 0, 1 << 30)) for name in files.listdir("t-0")) < 20_000


def test_a_pass_waits_until_it_is_worth_its_work_or_nothing_comes_any_more():
    log = compacted(MemoryFiles(), 1_000)
    assert not is_due(log, 0)
    write(log, random.Random(4), 1_000, 10)
    assert is_due(log, 0)
    Compaction(log, 0).run()
    assert not is_due(log, 1 << 60), "nothing has come since"
    before = log.end_offset
    write(log, random.Random(5), 1_000, 3)
    assert not is_due(log, before * MS), "a third as much as there is"
    assert is_due(log, log.end_offset * MS + 60 * S), "but a minute has passed"
    write(log, random.Random(6), 1_000, 20)
    assert is_due(log, before * MS)


def sealed(**config: Any) -> PartitionLog:
    """Nine segments, a millisecond apart, the first three of which are compacted already."""
    log = open_log(MemoryFiles(), cleanup="compact", segment_bytes=1, **config)
    for number in range(4):
        log.append_batch(number * MS, [Message(b"value", b"key%d" % number)])
    Compaction(log, 4 * MS).run()
    for number in range(4, 10):
        log.append_batch(number * MS, [Message(b"value", b"key%d" % number)])
    return log


def test_the_dirty_ratio_says_how_much_must_be_new():
    """`min.cleanable.dirty.ratio`: six of nine are."""
    assert [is_due(sealed(dirty_ratio=ratio), 10 * MS) for ratio in (0, 0.6, 0.7, 1)] == [True, True, False, False]


def test_what_is_old_enough_is_compacted_in_any_case():
    """`max.compaction.lag.ms`: the first that is new came after 3 ms."""
    log = sealed(dirty_ratio=1, max_compaction_lag_ms=7)
    assert not is_due(log, 10 * MS - 1)
    assert is_due(log, 10 * MS)
    log = open_log(MemoryFiles(), cleanup="compact", max_compaction_lag_ms=7)
    log.append_batch(0, [Message(b"1", b"a")])
    log.append_batch(7 * MS, [Message(b"2", b"a")])
    assert len(log.segments) == 2, "what is written to is closed for it"


def test_what_is_young_is_left_alone():
    """`min.compaction.lag.ms`"""
    log = open_log(MemoryFiles(), cleanup="compact", segment_bytes=1, min_compaction_lag_ms=5)
    for number in range(6):
        log.append_batch(number * MS, [Message(b"%d" % number, b"key")])
    Compaction(log, 7 * MS).run()
    assert values(log) == [b"2", b"3", b"4", b"5"]
    Compaction(log, 60 * MS).run()
    assert values(log) == [b"4", b"5"]


def test_a_log_that_falls_behind_gets_the_more_of_the_time():
    log, cleaner, numbers = compacted(MemoryFiles(), 5_000), Cleaner(), random.Random(10)
    write(log, numbers, 10, 4)
    cleaner.begin(0, (log,))
    assert cleaner.step(0) == USUAL_FRACTION
    write(log, numbers, 10, 200)
    assert cleaner.step(0) == BEHIND_FRACTION
    while cleaner.step(0):
        pass
    assert cleaner.step(0) == 0


def test_the_logs_take_turns():
    logs = [compacted(MemoryFiles(), 1_000) for _ in range(3)]
    for log in logs:
        write(log, random.Random(7), 5, 40)
    cleaner = Cleaner()
    cleaner.begin(0, logs)
    sizes = [log.size_bytes for log in logs]
    while all(log.size_bytes == size for log, size in zip(logs, sizes, strict=True)):
        assert cleaner.step(0)
    for _ in logs:
        cleaner.step(0)
    assert all(log.size_bytes < size for log, size in zip(logs, sizes, strict=True))
    cleaner.forget(logs[0])
    while cleaner.step(0):
        pass


def test_a_full_disk_costs_a_pass_and_not_what_is_stored():
    disk = SmallFiles(1 << 30)
    config = LogConfig(cleanup="compact", segment_bytes=20_000, durability="file")
    log = PartitionLog(disk, "t-0", "t", 0, config=config, epoch_ms=0)
    write(log, random.Random(8), 500, 60)
    expected = {message.key: message.value for message in log.read(0, max_messages=1 << 30, max_bytes=1 << 30)}
    disk.capacity_bytes = disk.used_bytes + 2_000
    cleaner = Cleaner()
    cleaner.begin(0, (log,))
    with pytest.raises(BrokerError, match="the disk is full"):
        while cleaner.step(0):
            pass
    assert not cleaner.step(0)
    assert not [name for name in disk.listdir("t-0") if name.endswith(".cleaned")], "the last bytes are not taken"
    disk.capacity_bytes = 1 << 30
    cleaner.begin(0, (log,))
    while cleaner.step(0):
        pass
    found = {message.key: message.value for message in log.read(0, max_messages=1 << 30, max_bytes=1 << 30)}
    assert found == expected
    assert log.messages_count == len(readable(log)) < 1_200


def test_what_is_there_is_counted_by_appends_compaction_and_deletion():
    log = open_log(MemoryFiles(), cleanup="compact", segment_bytes=150)
    for number in range(20):
        log.append_batch(number, batch(*(f"{letter}{number}" for letter in "abc")))
    assert log.messages_count == 60
    Compaction(log, 0).run()
    assert log.messages_count == len(readable(log)) < 60
    log.delete_before(log.end_offset - 1)
    assert log.messages_count == len(readable(log)) == 1


def test_what_lies_behind_a_hole_tells_the_age_of_what_waits_there():
    log = open_log(MemoryFiles(), cleanup="compact", segment_bytes=300)
    write(log, random.Random(9), 5, 10)
    Compaction(log, 0).run()
    there = {message.offset: message.published_ns for message in log.read(0, max_messages=1_000)}
    assert len(there) < 150
    for offset in range(log.end_offset):
        assert log.published_from_ns(offset) == there[min(at for at in there if at >= offset)]
    assert log.published_from_ns(log.end_offset) is None
