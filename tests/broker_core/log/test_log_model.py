"""A partition against a plain dict: whatever is done to it, it holds the same messages at the same offsets."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import MemoryFiles
from broker_core.log.batch import ProducerStamp
from broker_core.log.compaction import Compaction
from broker_core.log.config import Durability, LogConfig
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import Message
from tests.long_form import examples

from .logs import EPOCH_MS, MS, copy_of

MESSAGES = st.lists(
    st.builds(
        Message,
        value=st.none() | st.binary(max_size=60),
        key=st.sampled_from([b"a", b"b", b"c", b"d", b"e"]),
        headers=st.lists(st.tuples(st.sampled_from(["h", "é"]), st.binary(max_size=3)), max_size=2).map(tuple),
    ),
    min_size=1,
    max_size=6,
)


class LogModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.files = MemoryFiles()
        self.model: dict[int, tuple[int, Message]] = {}
        self.start = self.end = self.durable = self.now_ms = self.sequence = 0
        self.sent: list[tuple[int, int, int]] = []

    @initialize(
        durability=st.sampled_from(["memory", "file", "fsync"]),
        segment_bytes=st.sampled_from([1, 300, 1_000, 1 << 20]),
        interval=st.sampled_from([1, 200, 4_096]),
        tombstone_ms=st.sampled_from([0, 30]),
    )
    def open_first(self, durability: Durability, segment_bytes: int, interval: int, tombstone_ms: int) -> None:
        self.config = LogConfig(
            durability=durability,
            segment_bytes=segment_bytes,
            index_interval_bytes=interval,
            cleanup="compact",
            tombstone_ms=tombstone_ms,
        )
        self.open()

    def open(self) -> None:
        self.log = PartitionLog(self.files, "t-0", "t", 0, config=self.config, epoch_ms=EPOCH_MS)
        self.durable = self.end

    def appended(self, messages: list[Message]) -> None:
        self.model.update((offset, (self.now_ms * MS, message)) for offset, message in enumerate(messages, self.end))
        self.end += len(messages)
        if self.config.durability != "fsync":
            self.durable = self.end

    @rule(messages=MESSAGES, later_ms=st.integers(0, 20))
    def append(self, messages: list[Message], later_ms: int) -> None:
        self.now_ms += later_ms
        found = self.log.append_batch(self.now_ms * MS, messages)
        payload = sum(len(message.key or b"") + len(message.value or b"") for message in messages)
        assert (found.base_offset, found.count, found.size_bytes) == (self.end, len(messages), payload)
        self.appended(messages)

    @rule(messages=MESSAGES)
    def append_as_a_producer(self, messages: list[Message]) -> None:
        stamp = ProducerStamp(9, 0, self.sequence)
        assert self.log.append_batch(self.now_ms * MS, messages, producer=stamp).base_offset == self.end
        self.sent = [*self.sent, (self.sequence, len(messages), self.end)][-5:]
        self.sequence += len(messages)
        self.appended(messages)

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def repeat_as_a_producer(self, data: st.DataObject) -> None:
        sequence, count, offset = data.draw(st.sampled_from(self.sent))
        found = self.log.append_batch(0, [Message(b"", b"a")] * count, producer=ProducerStamp(9, 0, sequence))
        assert (found.duplicate, found.base_offset) == (True, offset)

    @rule()
    def sync(self) -> None:
        self.log.sync()
        self.durable = self.end

    @rule()
    def flush(self) -> None:
        self.log.flush()

    @rule(data=st.data())
    def delete_before(self, data: st.DataObject) -> None:
        self.start = data.draw(st.integers(self.start, self.durable))
        self.log.delete_before(self.start)

    @rule()
    def compact(self) -> None:
        compactable = [one for one in self.log.segments.sealed if one.end_offset <= self.durable]
        limit = compactable[-1].end_offset if compactable else 0
        Compaction(self.log, self.now_ms * MS).run()
        forget_ns = (self.now_ms - self.config.tombstone_ms) * MS
        latest = {message.key: offset for offset, (_, message) in self.model.items() if offset < limit}
        for offset, (published_ns, message) in list(self.model.items()):
            old = offset < limit and (
                latest[message.key] != offset or (message.value is None and published_ns < forget_ns)
            )
            if old:
                del self.model[offset]

    @rule(closed=st.booleans())
    def reopen(self, closed: bool) -> None:
        if closed:
            self.log.close()
        self.files = copy_of(self.files)
        self.open()
        assert self.log.lost == ()
        assert self.log.recovery.cut_bytes == 0

    @rule(data=st.data(), max_messages=st.integers(1, 9), max_bytes=st.integers(0, 200))
    def read(self, data: st.DataObject, max_messages: int, max_bytes: int) -> None:
        offset = data.draw(st.integers(self.start, self.end))
        found = self.log.read(offset, max_messages=max_messages, max_bytes=max_bytes)
        rest = [at for at in self.model if offset <= at < self.durable]
        expected = rest[: len(found)]
        assert [(one.offset, one.published_ns, one.key, one.value, one.headers) for one in found] == [
            (at, self.model[at][0], self.model[at][1].key, self.model[at][1].value, self.model[at][1].headers)
            for at in expected
        ]
        assert bool(found) == bool(rest)
        assert len(found) <= max_messages
        assert len(found) == 1 or sum(one.size_bytes for one in found) <= max_bytes or not found
        if len(found) < min(max_messages, len(rest)):
            _, following = self.model[rest[len(found)]]
            size = len(following.key or b"") + len(following.value or b"")
            assert sum(one.size_bytes for one in found) + size > max_bytes or max_bytes == 0

    @rule(data=st.data())
    def runs(self, data: st.DataObject) -> None:
        first = data.draw(st.integers(self.start, self.end))
        last = data.draw(st.integers(first, self.end))
        runs = self.log.runs(first, last)
        seen = [(offset, run.published_ns) for run in runs for offset in range(run.offset, run.end_offset)]
        assert seen == [(at, time_ns) for at, (time_ns, _) in self.model.items() if first <= at < last]
        if (first, last) == (self.start, self.end) and self.start == 0:
            payload = sum(len(one.key or b"") + len(one.value or b"") for _, one in self.model.values())
            assert sum(run.size_bytes for run in runs) == payload

    @rule(ms=st.integers(0, 200))
    def offset_for_time(self, ms: int) -> None:
        there = [at for at, (time_ns, _) in self.model.items() if at >= self.start]
        found = self.log.offset_for_time(ms * MS)
        later = [at for at in there if self.model[at][0] >= ms * MS]
        # It names an offset from which reading on gives exactly those.
        assert [at for at in there if at >= found] == later

    @invariant()
    def offsets_and_sizes_agree(self) -> None:
        if not hasattr(self, "log"):
            return
        assert (self.log.start_offset, self.log.end_offset) == (self.start, self.end)
        assert self.log.high_watermark == self.durable
        assert self.log.size_bytes == sum(segment.size_bytes for segment in self.log.segments)

    @invariant()
    def outside_the_log_is_an_error(self) -> None:
        if not hasattr(self, "log"):
            return
        for offset in (self.start - 1, self.end + 1):
            try:
                self.log.read(offset, max_messages=1)
            except BrokerError as error:
                assert error.code is ErrorCode.OFFSET_OUT_OF_RANGE
            else:
                raise AssertionError(offset)


TestLogModel = pytest.mark.promise("11")(LogModel.TestCase)
TestLogModel.settings = settings(max_examples=examples(150), stateful_step_count=40, deadline=None)
