"""Promise 5: a full disk is a clean error; reading goes on, and writing resumes when there is room."""

import os
import resource
import subprocess
from pathlib import Path

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import DiskFiles
from broker_core.log.config import LogConfig
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import Message


def open_log(root: Path, **config) -> PartitionLog:
    return PartitionLog(DiskFiles(root), "t-0", "t", 0, config=LogConfig(durability="file", **config), epoch_ms=0)


def fill(log: PartitionLog) -> int:
    """Append until the disk refuses; how many went in."""
    for count in range(100_000):
        try:
            log.append_batch(count, [Message(b"%6d" % count + b"x" * 994)])
        except BrokerError as error:
            assert error.code is ErrorCode.STORAGE_ERROR
            return count
    raise AssertionError("the disk never filled up")


def check(log: PartitionLog, count: int) -> None:
    assert log.end_offset == count
    found = log.read(0, max_messages=count + 1, max_bytes=1 << 30)
    assert [int((one.value or b"")[:6]) for one in found] == list(range(count))


@pytest.fixture
def short_files():
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_300, before[1]))
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.promise("5")
def test_a_file_that_may_not_grow_refuses_cleanly_and_takes_more_when_it_may(tmp_path, short_files):
    log = open_log(tmp_path)
    count = fill(log)
    assert 80 < count < 100
    path = tmp_path / "t-0" / f"{0:020d}.log"
    assert path.stat().st_size == log.size_bytes
    check(log, count)
    assert fill(log) == 0
    short_files()
    log.append_batch(0, [Message(b"%6d" % count)])
    check(log, count + 1)
    check(open_log(tmp_path), count + 1)


@pytest.mark.promise("5")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_disk_of_one_mebibyte_refuses_cleanly_and_takes_more_when_there_is_room(tmp_path):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this machine mounts no small disk")
    try:
        ballast = tmp_path / "ballast"
        ballast.write_bytes(bytes(300_000))
        log = open_log(tmp_path, segment_bytes=100_000)
        count = fill(log)
        check(log, count)
        with pytest.raises(BrokerError, match="the disk is full; free some space"):
            log.append_batch(0, [Message(bytes(200_000))])
        check(open_log(tmp_path, segment_bytes=100_000), count)
        ballast.unlink()
        log.append_batch(0, [Message(b"%6d" % count)])
        check(log, count + 1)
        log.close()
        check(open_log(tmp_path, segment_bytes=100_000), count + 1)
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=False)
