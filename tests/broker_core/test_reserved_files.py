"""Promise 5: on a disk without a free byte, deleting and retention still make room."""

from __future__ import annotations

import pytest

from broker_core.errors import BrokerError
from broker_core.files import ReservedFiles
from broker_core.files.wrapped_files import RESERVE_BYTES, RESERVE_FILE
from broker_core.log.config import LogConfig
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import Message
from tests.broker_core.small_files import SmallFiles

MIB = 1 << 20


def open_log(files: ReservedFiles, retention_bytes: int | None = None) -> PartitionLog:
    settings = LogConfig(durability="file", segment_bytes=100_000, retention_bytes=retention_bytes)
    return PartitionLog(files, "t-0", "t", 0, config=settings, epoch_ms=0)


def filled(disk: SmallFiles, log: PartitionLog) -> int:
    """Fill the disk to its last byte; how many messages went in."""
    with pytest.raises(BrokerError, match="the disk is full"):
        while True:
            log.append_batch(log.end_offset, [Message(bytes(1_000))])
    disk.capacity_bytes = disk.used_bytes
    return log.end_offset


@pytest.fixture
def disk() -> SmallFiles:
    return SmallFiles(3 * MIB)


@pytest.fixture
def files(disk: SmallFiles) -> ReservedFiles:
    found = ReservedFiles(disk)
    found.refill()
    return found


def test_messages_do_not_use_up_the_reserve(disk: SmallFiles, files: ReservedFiles):
    count = filled(disk, open_log(files))
    assert disk.size(RESERVE_FILE) == RESERVE_BYTES
    assert 1.8 * MIB < count * 1_000 < 2 * MIB


def test_delete_records_makes_room_on_a_full_disk_and_the_reserve_is_there_again(
    disk: SmallFiles, files: ReservedFiles
):
    log = open_log(files)
    count = filled(disk, log)
    before = disk.used_bytes
    log.delete_before(count // 2)
    assert log.start_offset == count // 2
    assert disk.used_bytes < before - MIB // 2
    files.refill()
    assert disk.size(RESERVE_FILE) == RESERVE_BYTES
    log.append_batch(0, [Message(b"again")])
    assert open_log(files).start_offset == count // 2, "what was deleted is remembered"


def test_retention_makes_room_on_a_full_disk(disk: SmallFiles, files: ReservedFiles):
    log = open_log(files, retention_bytes=300_000)
    count = filled(disk, log)
    log.apply_retention(count)
    assert log.start_offset > count // 2
    log.append_batch(count, [Message(b"again")])


def test_a_directory_opens_on_a_full_disk(disk: SmallFiles, files: ReservedFiles):
    log = open_log(files)
    count = filled(disk, log)
    again = open_log(files)
    assert (again.start_offset, again.end_offset) == (0, count)
    again.delete_before(count // 2)


def test_without_a_reserve_it_would_not(disk: SmallFiles):
    log = PartitionLog(disk, "t-0", "t", 0, config=LogConfig(durability="file", segment_bytes=100_000), epoch_ms=0)
    count = filled(disk, log)
    with pytest.raises(BrokerError, match="the disk is full"):
        log.delete_before(count // 2)


def test_what_even_the_reserve_has_no_room_for_is_refused_and_the_reserve_is_kept(
    disk: SmallFiles, files: ReservedFiles
):
    filled(disk, open_log(files))
    with pytest.raises(BrokerError, match="the disk is full"):
        files.write_whole("large", bytes(2 * MIB), durable=False)
    assert disk.size(RESERVE_FILE) == RESERVE_BYTES
    files.write_whole("small", bytes(1_000), durable=False)


def test_a_reserve_that_has_no_room_is_made_as_large_as_there_is(disk: SmallFiles):
    disk.capacity_bytes = RESERVE_BYTES // 2
    ReservedFiles(disk).refill()
    assert disk.size(RESERVE_FILE) == RESERVE_BYTES // 4
    disk.capacity_bytes = 10 * MIB
    ReservedFiles(disk).refill()
    assert disk.size(RESERVE_FILE) == RESERVE_BYTES
