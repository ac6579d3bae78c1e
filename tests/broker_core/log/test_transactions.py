"""Transactions in a partition: markers, the last stable offset and what was aborted, over restarts and compaction."""

from unittest.mock import Mock

import pytest
from aiokafka.record.default_records import DefaultRecordBatch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import MemoryFiles
from broker_core.log.batch import ProducerStamp, commits, decode_batch, encode_marker, parse_header
from broker_core.log.compaction import Compaction
from broker_core.log.partition_log import PartitionLog
from broker_core.log.segment import Segment
from broker_core.messages import Message
from tests.long_form import examples

from .logs import EPOCH_MS, MS, batch, copy_of, open_log, stored_batches, values


def committed(log: PartitionLog) -> list[bytes | None]:
    """What a client reads that asks for committed messages: batches below the last stable offset, without aborted ones.

    As Kafka's clients do it: from the first offset of an aborted transaction on a producer's batches are passed over,
    until its marker.
    """
    end = log.last_stable_offset
    ahead = sorted(log.segments.aborted(log.start_offset, end), key=lambda each: each.first_offset)
    aborting: set[int] = set()
    found: list[bytes | None] = []
    for data in stored_batches(log, log.start_offset, end) if end > log.start_offset else ():
        header = parse_header(data)
        assert header is not None
        while ahead and ahead[0].first_offset <= header.end_offset - 1:
            aborting.add(ahead.pop(0).producer_id)
        if header.is_control:
            aborting.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborting):
            found += [message.value for message in decode_batch(data, "t", 0, 0) if message.offset >= log.start_offset]
    return found


def send(log: PartitionLog, producer_id: int, sequence: int, *names: str, epoch: int = 0, at_ms: int = 0) -> int:
    stamp = ProducerStamp(producer_id, epoch, sequence, True)
    return log.append_batch(at_ms * MS, batch(*names), producer=stamp).base_offset


@pytest.mark.parametrize("does_commit", [True, False])
def test_a_marker_is_a_control_batch_of_kafka(does_commit):
    marker = bytes(encode_marker(7, EPOCH_MS, 12, 3, commits=does_commit))
    read = DefaultRecordBatch(marker)
    assert (read.is_control_batch, read.is_transactional, read.producer_id, read.base_offset) == (True, True, 12, 7)
    assert read.validate_crc()
    (record,) = read
    assert record.key == (b"\0\0\0\1" if does_commit else b"\0\0\0\0")
    assert record.value == bytes(6)
    assert commits(marker) is does_commit
    assert list(decode_batch(marker, "t", 0, 0)) == []


def test_a_marker_is_no_message():
    log = open_log(MemoryFiles())
    log.append_batch(0, batch("a"))
    send(log, 5, 0, "b", "c")
    assert log.append_marker(MS, 5, 0, commits=True) == 3
    log.append_batch(2 * MS, batch("d"))
    assert (log.end_offset, log.messages_count) == (5, 4)
    assert values(log) == [b"a", b"b", b"c", b"d"]
    assert values(log, 3) == [b"d"]
    assert [(run.offset, run.count) for run in log.runs(0, 5)] == [(0, 3), (4, 1)]
    assert (log.messages_between(0, 5), log.messages_between(3, 4), log.messages_between(3, 5)) == (4, 0, 1)
    assert log.published_from_ns(3) == 2 * MS
    log.delete_before(4)
    assert log.messages_count == 1


def test_an_open_transaction_holds_the_last_stable_offset():
    log = open_log(MemoryFiles())
    log.append_batch(0, batch("a"))
    send(log, 5, 0, "b")
    send(log, 6, 0, "c")
    log.append_batch(0, batch("d"))
    assert (log.last_stable_offset, dict(log.segments.open_transactions)) == (1, {5: 1, 6: 2})
    log.append_marker(0, 5, 0, commits=False)
    assert (log.last_stable_offset, committed(log)) == (2, [b"a"])
    log.append_marker(0, 6, 0, commits=True)
    assert log.last_stable_offset == log.end_offset == 6
    assert committed(log) == [b"a", b"c", b"d"]
    assert [tuple(each) for each in log.segments.aborted(0, 6)] == [(5, 1, 4)]
    assert log.segments.aborted(5, 6) == []
    assert log.segments.aborted(0, 1) == []


def test_segments_up_to_the_last_stable_offset_can_be_compacted():
    log = open_log(MemoryFiles(), cleanup="compact", segment_bytes=400)
    log.append_batch(0, batch("a" * 300))
    send(log, 5, 0, "b" * 300)
    assert (len(log.segments), log.last_stable_offset) == (2, 1)
    assert [segment.end_offset for segment in log.compactable()] == [1]
    log.append_batch(0, batch("c" * 300))
    assert [segment.end_offset for segment in log.compactable()] == [1], "the transaction is open"
    log.append_marker(0, 5, 0, commits=True)
    assert [segment.end_offset for segment in log.compactable()] == [1, 2, 3], "the marker is in the fourth"


def test_a_marker_counts_when_it_is_durable():
    log = open_log(MemoryFiles(), durability="fsync")
    send(log, 5, 0, "a")
    log.sync()
    log.append_marker(0, 5, 0, commits=True)
    assert (log.high_watermark, log.last_stable_offset) == (1, 0)
    log.sync()
    assert (log.high_watermark, log.last_stable_offset) == (2, 2)


@pytest.mark.parametrize("closed", [True, False])
def test_a_marker_of_a_newer_epoch_fences_the_old_one_over_a_restart(closed):
    files = MemoryFiles()
    log = open_log(files, durability="file")
    send(log, 5, 0, "a")
    log.append_marker(0, 5, 1, commits=False)
    refused(log)
    if closed:
        log.close()
    again = open_log(copy_of(files), durability="file")
    refused(again)
    assert send(again, 5, 0, "b", epoch=1) == 2


def refused(log: PartitionLog) -> None:
    with pytest.raises(BrokerError) as caught:
        send(log, 5, 1, "late")
    assert caught.value.code is ErrorCode.INVALID_PRODUCER_EPOCH


def test_compaction_keeps_markers_and_open_transactions_and_drops_what_was_aborted():
    files = MemoryFiles()
    log = open_log(files, durability="file", cleanup="compact", segment_bytes=150)
    log.append_batch(0, [Message(b"old", b"k")])
    send(log, 5, 0, "k2")
    log.append_marker(0, 5, 0, commits=False)  # what it had replaced nothing
    send(log, 6, 0, "j1")
    log.append_marker(0, 6, 0, commits=True)
    send(log, 7, 0, "x")
    for _ in range(6):
        log.append_batch(0, [Message(b"j2", b"j")])
    Compaction(log, 0).run()
    assert values(log)[:2] == [b"old", b"j1"]  # an open transaction holds back what comes behind it
    log.append_marker(0, 7, 0, commits=True)
    log.append_batch(0, [Message(b"z" * 200, b"z")])
    Compaction(log, 0).run()
    for each in (log, open_log(copy_of(files), durability="file", cleanup="compact", segment_bytes=150)):
        assert values(each) == [b"old", b"x", b"j2", b"z" * 200]
        assert committed(each) == values(each)
        assert not each.segments.open_transactions
    assert log.messages_count == 4


class TransactionModel(RuleBasedStateMachine):
    """Against plain lists: committed messages are seen all at once, aborted ones never, and nothing goes back."""

    def __init__(self) -> None:
        super().__init__()
        self.files = MemoryFiles()
        self.entries: list[tuple[int | None, bytes | None, str]] = []  # producer, value (None for a marker), state
        self.sequence = {1: 0, 2: 0, 3: 0}
        self.epoch = {1: 0, 2: 0, 3: 0}
        self.durable = self.start = self.stable = 0

    @initialize(
        durability=st.sampled_from(["memory", "file", "fsync"]), segment_bytes=st.sampled_from([1, 300, 1 << 20])
    )
    def open_first(self, durability, segment_bytes):
        self.config = {"durability": durability, "segment_bytes": segment_bytes, "index_interval_bytes": 200}
        self.log = open_log(self.files, **self.config)

    def added(self, *entries):
        self.entries += entries
        if self.config["durability"] != "fsync":
            self.durable = len(self.entries)

    @rule(producer=st.sampled_from([1, 2, 3]), count=st.integers(1, 3))
    def send(self, producer, count):
        names = [f"{len(self.entries) + n}" for n in range(count)]
        assert send(self.log, producer, self.sequence[producer], *names, epoch=self.epoch[producer]) == len(
            self.entries
        )
        self.sequence[producer] += count
        self.added(*((producer, name.encode(), "open") for name in names))

    @rule(count=st.integers(1, 3))
    def send_plain(self, count):
        names = [f"{len(self.entries) + n}" for n in range(count)]
        self.log.append_batch(0, batch(*names))
        self.added(*((None, name.encode(), "committed") for name in names))

    @rule(producer=st.sampled_from([1, 2, 3]), commit=st.booleans(), bumped=st.booleans())
    def end(self, producer, commit, bumped):
        if bumped and self.sequence[producer]:
            self.epoch[producer] += 1
            self.sequence[producer] = 0
        self.log.append_marker(0, producer, self.epoch[producer], commits=commit)
        state = "committed" if commit else "aborted"
        self.entries = [
            (who, value, state if who == producer and was == "open" else was) for who, value, was in self.entries
        ]
        self.added((None, None, "marker"))

    @rule()
    def sync(self):
        self.log.sync()
        self.durable = len(self.entries)

    @rule(closed=st.booleans())
    def reopen(self, closed):
        if closed:
            self.log.close()
        self.files = copy_of(self.files)
        self.log = open_log(self.files, **self.config)
        self.durable = len(self.entries)

    @precondition(lambda self: self.durable > self.start)
    @rule(data=st.data())
    def delete_before(self, data):
        self.start = data.draw(st.integers(self.start, self.durable))
        self.log.delete_before(self.start)

    @invariant()
    def the_law_holds(self):
        if not hasattr(self, "log"):
            return
        log = self.log
        assert log.end_offset == len(self.entries)
        assert log.messages_count == sum(value is not None for _, value, _ in self.entries[self.start :])
        seen = [value for _, value, _ in self.entries[self.start : self.durable] if value is not None]
        assert values(log, self.start) == seen
        stable = log.last_stable_offset
        assert stable >= self.stable
        self.stable = stable
        opened = [at for at, each in enumerate(self.entries) if each[2] == "open"]
        # A restart may forget a transaction that has nothing left here.
        least, most = (
            max(self.start, min([self.durable, *(at for at in opened if at >= first)])) for first in (0, self.start)
        )
        assert stable <= most
        assert stable >= least or self.config["durability"] == "fsync"  # there a marker counts when it is durable
        below = self.entries[self.start : stable]
        assert committed(log) == [value for _, value, state in below if state == "committed"]


TestTransactionModel = TransactionModel.TestCase
TestTransactionModel.settings = settings(max_examples=examples(60), stateful_step_count=25, deadline=None)


def test_aborted_batches_are_found_in_one_look_at_what_was_aborted(monkeypatch):
    log = open_log(MemoryFiles(), segment_bytes=400)
    for number in range(20):
        send(log, 1, number, f"a{number}")
        send(log, 2, number, f"b{number}")
        if number % 4 == 3:
            log.append_marker(0, 1, 0, commits=number % 8 == 3)
    log.append_marker(0, 2, 0, commits=False)
    assert len(log.segments) > 2
    looks = Mock(wraps=log.segments.aborted)
    monkeypatch.setattr(log.segments, "aborted", looks)
    found = log.segments.aborted_ranges(0, log.end_offset)
    assert looks.call_count == 1
    values = [log.message(each.start).value for each in found]
    assert values == [f"{who}{n}".encode() for n in range(20) for who in "ab" if who == "b" or n % 8 > 3]
    assert log.segments.aborted_ranges(found[3].start, found[5].start) == found[3:5]


def test_each_batch_is_read_once_where_aborted_transactions_overlap(monkeypatch):
    log = open_log(MemoryFiles(), segment_bytes=2_000)
    for number in range(4):
        for producer in range(10):
            send(log, producer, number, f"{producer}")
    for producer in range(10):
        log.append_marker(0, producer, 0, commits=False)
    read: list[int] = []
    whole = Segment.batch

    def reading(segment, index, slot):
        read.append(index.base_offset(slot))
        return whole(segment, index, slot)

    monkeypatch.setattr(Segment, "batch", reading)
    assert log.segments.aborted_ranges(0, log.end_offset) == [range(at, at + 1) for at in range(40)]
    assert read == [*range(40)]
    assert log.segments.aborted_ranges(15, 20) == [range(at, at + 1) for at in range(15, 20)]
    assert read == [*range(40), *range(15, 20)]
