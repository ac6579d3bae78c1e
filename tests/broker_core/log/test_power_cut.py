"""Promise 2: what a sync has made durable survives a power cut. Promise 6: a failed fsync is final."""

import random

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import ProducerStamp
from broker_core.log.compaction import Compaction
from broker_core.messages import Message
from tests.long_form import both, form

from .logs import MS, batch, open_log, readable, values
from .simulated_disk import SimulatedDisk

OPERATIONS = form(150, 500)


@pytest.mark.promise("2")
@both
@pytest.mark.parametrize("cleanup", ["delete", "compact"])
def test_a_power_cut_anywhere_in_a_long_script_loses_nothing_that_was_acknowledged(cleanup):
    run_script_with_cuts(cleanup, "", OPERATIONS)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("cleanup", ["delete", "compact"])
def test_a_power_cut_anywhere_in_many_scripts_loses_nothing_that_was_acknowledged(cleanup):
    for seed in range(20):
        run_script_with_cuts(cleanup, f" {seed}", OPERATIONS)


def run_script_with_cuts(cleanup: str, seed: str, operations: int) -> None:
    """Cut the power at every write, sync and rename, and see what is left."""
    dice = random.Random(f"script {cleanup}{seed}")
    fate = random.Random(f"fate {cleanup}{seed}")
    disk = SimulatedDisk()
    config = {"durability": "fsync", "segment_bytes": 600, "index_interval_bytes": 100, "cleanup": cleanup}
    log = open_log(disk, **config, tombstone_ms=0)
    written: dict[int, Message] = {}
    cuts = 0

    def must_be_there() -> dict[int, bytes | None]:
        latest = {written[offset].key: offset for offset in range(log.high_watermark)}
        return {
            offset: written[offset].value
            for offset in range(log.start_offset, log.high_watermark)
            if cleanup == "delete" or (latest[written[offset].key] == offset and written[offset].value is not None)
        }

    def cut_here() -> None:
        nonlocal cuts
        cuts += 1
        again = open_log(disk.after_power_cut(fate), **config)
        left = readable(again)
        assert again.end_offset >= acknowledged_end
        missing = {offset: value for offset, value in expected.items() if left.get(offset, "missing") != value}
        # A deletion may be under way: then its offsets are below the new start.
        assert all(offset < max(again.start_offset, deleting_before) for offset in missing), (missing, again.lost)
        assert all(written[offset].value == value for offset, value in left.items())
        assert all(lost.start_offset >= acknowledged_end for lost in again.lost), again.lost

    acknowledged_end = deleting_before = 0
    expected: dict[int, bytes | None] = {}
    disk.on_operation = cut_here
    for number in range(operations):
        choice = dice.random()
        if choice < 0.6:
            messages = [
                Message(None if dice.random() < 0.1 else b"%d" % number, b"key %d" % dice.randrange(12))
                for _ in range(dice.randint(1, 4))
            ]
            written.update(enumerate(messages, log.end_offset))
            log.append_batch(number * MS, messages)
        elif choice < 0.9:
            log.sync()
        elif choice < 0.94:
            log.flush()
        elif choice < 0.97:
            deleting_before = dice.randint(log.start_offset, log.high_watermark)
            if deleting_before - log.start_offset < 40:
                log.delete_before(deleting_before)
        elif cleanup == "compact":
            # While it is under way, what it has removed may be there or not.
            expected = {offset: value for offset, value in must_be_there().items() if value is not None}
            Compaction(log, number * MS).run()
        acknowledged_end = log.high_watermark
        expected = must_be_there()
    assert cuts > operations
    assert len(log.segments) > 1


def test_a_retry_of_what_the_power_cut_took_is_no_duplicate():
    disk = SimulatedDisk()
    log = open_log(disk, durability="fsync")
    for n in range(4):
        if n == 3:
            log.sync()
        log.append_batch(0, batch(str(n)), producer=ProducerStamp(1, 0, n))
    log.delete_before(1)
    outcomes = set()
    for seed in range(20):
        again = open_log(disk.after_power_cut(random.Random(seed)), durability="fsync")
        survived = again.end_offset == 4
        retried = again.append_batch(0, batch("3"), producer=ProducerStamp(1, 0, 3))
        assert (retried.base_offset, retried.duplicate) == (3, survived)
        outcomes.add(survived)
    assert outcomes == {True, False}


def test_readers_see_only_what_is_durable():
    log = open_log(SimulatedDisk(), durability="fsync")
    log.append_batch(0, batch("a", "b"))
    assert (log.end_offset, log.high_watermark, values(log)) == (2, 0, [])
    ticket = log.begin_sync()
    assert ticket is not None
    log.append_batch(0, batch("c"))
    ticket.run()
    log.end_sync(ticket)
    assert (log.high_watermark, values(log)) == (2, [b"a", b"b"])


def test_what_a_dead_process_had_not_synced_is_durable_before_the_next_one_shows_it():
    disk = SimulatedDisk()
    config = {"durability": "fsync", "segment_bytes": 150}
    log = open_log(disk, **config)
    for n in range(5):
        log.append_batch(0, batch(str(n)))
    seen = values(open_log(disk, **config))
    assert seen == [b"0", b"1", b"2", b"3", b"4"]
    for seed in range(20):
        assert values(open_log(disk.after_power_cut(random.Random(seed)), **config)) == seen


def test_one_sync_serves_all_that_was_appended_before_it():
    disk = SimulatedDisk()
    log = open_log(disk, durability="fsync", segment_bytes=150)
    for n in range(10):
        log.append_batch(0, batch(str(n)))
    log.sync()
    assert log.high_watermark == 10
    assert log.begin_sync() is None
    before = disk.operations
    log.sync()
    assert disk.operations == before


def test_an_older_ticket_that_ends_late_takes_nothing_back():
    log = open_log(SimulatedDisk(), durability="fsync", segment_bytes=1)
    log.append_batch(0, batch("a"))
    first = log.begin_sync()
    log.append_batch(0, batch("b"))
    second = log.begin_sync()
    assert first is not None
    assert second is not None
    second.run()
    log.end_sync(second)
    first.run()
    log.end_sync(first)
    assert log.high_watermark == 2


@pytest.mark.promise("6")
def test_a_failed_fsync_makes_the_log_read_only_for_good():
    disk = SimulatedDisk()
    log = open_log(disk, durability="fsync")
    log.append_batch(0, batch("kept"))
    log.sync()
    log.append_batch(0, batch("lost"))
    disk.failing_syncs = 1
    for attempt in (log.sync, log.sync, lambda: log.append_batch(0, batch("more"))):
        with pytest.raises(BrokerError, match="sync failed") as caught:
            attempt()
        assert caught.value.code is ErrorCode.STORAGE_ERROR
    assert disk.failing_syncs == 0
    assert values(log) == [b"kept"]
    before = disk.operations
    log.close()
    again = open_log(disk.after_power_cut(random.Random(1)), durability="fsync")
    assert disk.operations > before
    assert values(again)[:1] == [b"kept"]
    assert again.lost == ()
