"""A14: retention by time and size; compaction keeps the latest per key, at the offsets that messages always had."""

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import MemoryFiles
from broker_core.log.batch import ProducerStamp
from broker_core.log.compaction import Compaction
from broker_core.messages import Message, MessageRun

from .logs import MS, batch, copy_of, open_log, readable, stored_batches, values

COMPACT = {"cleanup": "compact", "durability": "file", "segment_bytes": 150}


def keyed(*pairs: tuple[str, str | None]) -> list[Message]:
    return [Message(None if value is None else value.encode(), key.encode()) for key, value in pairs]


@pytest.mark.promise("A14")
def test_segments_go_once_their_last_message_is_too_old():
    log = open_log(MemoryFiles(), segment_bytes=1, retention_ms=10)
    for n in range(5):
        log.append_batch(n * 5 * MS, batch(str(n)))
    assert log.apply_retention(20 * MS) == 2
    assert values(log, 2) == [b"2", b"3", b"4"]
    with pytest.raises(BrokerError) as caught:
        log.read(1, max_messages=1)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_the_active_segment_goes_too_when_all_of_it_is_too_old():
    log = open_log(MemoryFiles(), retention_ms=10)
    log.append_batch(0, batch("old"))
    assert log.apply_retention(10 * MS) == 0
    assert log.apply_retention(11 * MS) == 1
    assert (log.start_offset, log.end_offset, log.size_bytes) == (1, 1, 0)
    assert log.append_batch(12 * MS, batch("new")).base_offset == 1


@pytest.mark.promise("A14")
def test_the_oldest_segments_go_while_the_rest_still_holds_enough_bytes():
    log = open_log(MemoryFiles(), segment_bytes=1, retention_bytes=250)
    for _ in range(5):
        log.append_batch(0, [Message(bytes(20))])
    size = log.size_bytes // 5
    log.apply_retention(0)
    assert log.size_bytes >= 250 > log.size_bytes - size
    assert readable(log).keys() == set(range(log.start_offset, 5))


def test_without_limits_nothing_goes_and_a_compacted_log_keeps_its_age():
    for config in ({}, {"retention_ms": 1, "retention_bytes": 1, "cleanup": "compact"}):
        log = open_log(MemoryFiles(), segment_bytes=1, **config)
        for n in range(3):
            log.append_batch(n, batch(str(n)))
        assert log.apply_retention(1 << 60) == 0


def test_a_log_can_be_compacted_and_lose_what_is_old_too():
    files = MemoryFiles()
    log = open_log(files, **{**COMPACT, "cleanup": "delete,compact"}, retention_ms=10)
    for n in range(9):
        log.append_batch(n * 5 * MS, keyed(("a", str(n)), ("b" * 40, str(n))))
    assert log.apply_retention(20 * MS) == 4
    Compaction(log, 41 * MS).run()
    assert readable(log).keys() < set(range(4, 18))
    assert {16, 17} <= readable(log).keys()
    assert readable(open_log(copy_of(files), **COMPACT)) == readable(log)
    assert log.apply_retention(100 * MS) == 18
    with pytest.raises(BrokerError):
        log.append_batch(150 * MS, [Message(b"without a key")])
    nothing = open_log(MemoryFiles(), cleanup="none", segment_bytes=1, retention_ms=1, retention_bytes=1)
    nothing.append_batch(0, batch("kept"))
    nothing.append_batch(0, batch("kept"))
    assert nothing.apply_retention(1 << 60) == 0


def test_what_retention_has_deleted_is_not_lost_but_gone_after_a_restart():
    files = MemoryFiles()
    log = open_log(files, durability="file", segment_bytes=1, retention_bytes=100)
    for n in range(5):
        log.append_batch(0, [Message(b"%d" % n * 20)])
    start = log.apply_retention(0)
    again = open_log(copy_of(files), durability="file")
    assert (again.start_offset, again.lost, again.recovery.notes) == (start, (), ())


@pytest.mark.promise("A14")
def test_compaction_keeps_the_latest_of_each_key_at_its_offset():
    files = MemoryFiles()
    log = open_log(files, **COMPACT)
    log.append_batch(1 * MS, keyed(("c", "1"), ("a", "1"), ("x", "1"), ("b", "1")))
    log.append_batch(2 * MS, keyed(("b", "2"), ("a", "3"), ("d", "1")))
    log.append_batch(3 * MS, keyed(("e", "1"), ("a", "4")))
    before = log.size_bytes
    done = Compaction(log, 9 * MS).run()
    # The last segment is being written to, so what is in it stays, and replaces nothing yet.
    assert [segment.base_offset for segment in log.segments] == [0, 4, 7]
    assert done.messages == 2
    expected = {0: b"1", 2: b"1", 4: b"2", 5: b"3", 6: b"1", 7: b"1", 8: b"4"}
    assert readable(log) == expected
    assert done.stored_bytes == before - log.size_bytes > 0
    assert (log.start_offset, log.end_offset) == (0, 9)
    # Reading from an offset that is gone goes on with the next one.
    assert log.read(1, max_messages=1)[0].offset == 2
    assert log.runs(0, 9)[:2] == [MessageRun(0, 1, 2, 1 * MS), MessageRun(2, 1, 2, 1 * MS)]
    with pytest.raises(BrokerError):
        log.message(1)
    for config in (COMPACT, COMPACT | {"durability": "fsync"}):
        again = open_log(copy_of(files), **config)
        assert readable(again) == expected
        assert (again.lost, again.end_offset) == ((), 9)


@pytest.mark.promise("A14")
def test_a_key_without_a_value_is_deleted_and_its_tombstone_goes_later():
    log = open_log(MemoryFiles(), **COMPACT | {"segment_bytes": 1, "tombstone_ms": 10})
    log.append_batch(0, keyed(("a", "secret")))
    log.append_batch(1 * MS, keyed(("a", None)))
    log.append_batch(2 * MS, keyed(("b", "kept")))
    log.append_batch(3 * MS, keyed(("c", "active")))
    Compaction(log, 11 * MS).run()
    assert readable(log) == {1: None, 2: b"kept", 3: b"active"}
    Compaction(log, 12 * MS).run()
    assert readable(log) == {2: b"kept", 3: b"active"}
    assert values(log, 0, 1) == [b"kept"]


def test_what_is_left_of_a_batch_stays_compressed():
    log = open_log(MemoryFiles(), **COMPACT | {"compression_type": "zstd"})
    log.append_batch(0, keyed(("a", "old" * 500), ("b", "kept" * 500)))
    log.append_batch(1 * MS, keyed(("a", "new" * 500)))
    log.append_batch(2 * MS, keyed(("c", "active")))
    Compaction(log, 3 * MS).run()
    assert readable(log) == {1: b"kept" * 500, 2: b"new" * 500, 3: b"active"}
    assert max(map(len, stored_batches(log, 0))) < 300


def test_a_pass_that_is_cut_short_brings_no_deleted_value_back():
    files = MemoryFiles()
    log = open_log(files, **COMPACT | {"segment_bytes": 1, "tombstone_ms": 0})
    for n in range(6):
        log.append_batch(n * MS, keyed(("a", str(n)), (f"k{n}", "x")))
    log.append_batch(6 * MS, keyed(("a", None)))
    log.append_batch(7 * MS, keyed(("z", "active")))
    compaction = Compaction(log, 9 * MS)
    more = True
    while more:
        more = compaction.step()
        for view in (log, open_log(copy_of(files), **COMPACT)):
            found = readable(view)
            assert found.keys() >= {1, 3, 5, 7, 9, 11, 13}
            assert 12 in found or not found.keys() & {0, 2, 4, 6, 8, 10}
            assert view.lost == ()


def test_messages_appended_and_deleted_between_the_steps_are_safe():
    log = open_log(MemoryFiles(), **COMPACT | {"segment_bytes": 1})
    for n in range(4):
        log.append_batch(n, keyed(("a", str(n))))
    compaction = Compaction(log, 9)
    compaction.step()
    log.append_batch(5, keyed(("a", "5")))
    log.delete_before(2)
    while compaction.step():
        pass
    assert readable(log) == {2: b"2", 3: b"3", 4: b"5"}
    assert compaction.done.skipped_segments == 0
    assert log.end_offset == 5


def test_a_message_without_a_key_does_not_go_into_a_compacted_log():
    log = open_log(MemoryFiles(), **COMPACT)
    with pytest.raises(BrokerError, match="needs a key") as caught:
        log.append_batch(0, [Message(b"v", b"k"), Message(b"v")])
    assert caught.value.code is ErrorCode.INVALID_RECORD
    assert log.end_offset == 0


def test_a_damaged_segment_is_left_alone():
    files = MemoryFiles()
    log = open_log(files, **COMPACT | {"segment_bytes": 1})
    for n in range(4):
        log.append_batch(n, keyed(("a", f"value {n}")))
    path = log.segments.sealed[1].path
    data = bytearray(files.read(path, 0, 999))
    data[-3] ^= 1
    files.truncate(path, 0)
    files.open_append(path).append(data)
    done = Compaction(log, 9).run()
    assert (done.messages, done.skipped_segments) == (1, 1)
    assert readable(log) == {2: b"value 2", 3: b"value 3"}
    assert [(one.start_offset, one.end_offset) for one in log.lost] == [(1, 2)]


def test_a_producer_goes_on_after_compaction_and_restart():
    files = MemoryFiles()
    log = open_log(files, **COMPACT | {"segment_bytes": 1})
    for n in range(6):
        log.append_batch(n * MS, keyed(("a", str(n)), ("b", str(n))), producer=ProducerStamp(4, 1, 2 * n))
    Compaction(log, 9 * MS).run()
    again = open_log(copy_of(files), **COMPACT)
    assert again.append_batch(0, keyed(("a", "5"), ("b", "5")), producer=ProducerStamp(4, 1, 10)).base_offset == 10
    assert not again.append_batch(0, keyed(("a", "6")), producer=ProducerStamp(4, 1, 12)).duplicate
