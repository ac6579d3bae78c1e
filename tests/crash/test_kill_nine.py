"""Promise 1: what was acknowledged survives the death of the process. A real child writes, and dies at any moment."""

import os
import random
import signal
from pathlib import Path

import pytest

from broker_core.files import DiskFiles
from broker_core.log.batch import ProducerStamp
from broker_core.log.config import Durability, LogConfig
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import Message

EPOCH_MS = 1_700_000_000_000
RETRIES = 5


def open_log(root: Path, durability: Durability) -> tuple[DiskFiles, PartitionLog]:
    files = DiskFiles(root)
    config = LogConfig(durability=durability, segment_bytes=20_000, index_interval_bytes=500)
    return files, PartitionLog(files, "t-0", "t", 0, config=config, epoch_ms=EPOCH_MS)


def write_until_killed(root: Path, durability: Durability, acknowledgements: int, seed: int) -> None:
    """Message n has the value n. Each acknowledgement is a line with the offset below which all is safe."""
    dice = random.Random(seed)
    files, log = open_log(root, durability)
    files.lock("lock")
    while True:
        count = dice.choice([1, 1, 2, 40])
        sequence = log.end_offset
        messages = [Message(b"%d" % n, b"key") for n in range(sequence, sequence + count)]
        log.append_batch(sequence * 1_000_000, messages, producer=ProducerStamp(1, 0, sequence))
        if durability == "fsync" or dice.random() < 0.05:
            log.sync()
        os.write(acknowledgements, b"%d\n" % log.high_watermark)
        if dice.random() < 0.02:
            log.flush()
        if dice.random() < 0.02:
            log.delete_before(max(log.start_offset, log.end_offset - 500))


def killed_writer(root: Path, durability: Durability, seed: int) -> int:
    """Start a child, kill it at a random moment; the offset up to which it has acknowledged."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            write_until_killed(root, durability, writing, seed)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        lines = [pipe.readline() for _ in range(random.Random(seed).randint(1, 60))]
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the child failed by itself"
        lines += pipe.readlines()
    return max(int(line) for line in lines if line.endswith(b"\n"))


def check(root: Path, durability: Durability, acknowledged: int) -> None:
    files, log = open_log(root, durability)
    assert log.lost == ()
    assert log.end_offset >= acknowledged
    found = log.read(log.start_offset, max_messages=1_000_000, max_bytes=1 << 40)
    assert [one.offset for one in found] == list(range(log.start_offset, log.end_offset))
    assert all(one.value == b"%d" % one.offset for one in found)
    log.close() if acknowledged % 2 else files.close()


def run_cycles(root: Path, durability: Durability, cycles: int) -> None:
    acknowledged = 0
    for seed in range(cycles):
        acknowledged = max(acknowledged, killed_writer(root, durability, seed))
        check(root, durability, acknowledged)
    assert acknowledged > 10 * cycles


@pytest.mark.promise("1")
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize(
    ("durability", "cycles"),
    [
        ("file", 20),
        ("fsync", 10),
        pytest.param("file", 200, marks=pytest.mark.long),
        pytest.param("file", 2_000, marks=pytest.mark.soak),
        pytest.param("fsync", 2_000, marks=pytest.mark.soak),
    ],
)
def test_nothing_acknowledged_is_lost_in_many_kills(tmp_path, durability, cycles):
    run_cycles(tmp_path, durability, cycles)


@pytest.mark.promise("10")
def test_a_retry_after_the_death_of_the_broker_is_stored_once(tmp_path):
    for seed in range(RETRIES):
        killed_writer(tmp_path, "file", seed)
        files, log = open_log(tmp_path, "file")
        end = log.end_offset
        last = log.read(end - 1, max_messages=1)[0]
        again = log.append_batch(0, [Message(b"new", b"key")], producer=ProducerStamp(1, 0, end))
        assert (again.base_offset, again.duplicate) == (end, False)
        repeated = log.append_batch(0, [Message(b"new", b"key")], producer=ProducerStamp(1, 0, end))
        assert (repeated.base_offset, repeated.duplicate) == (end, True)
        assert last.value is not None
        # The next child numbers its messages from the end of the log.
        log.delete_before(log.end_offset)
        files.close()
