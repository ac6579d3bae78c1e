"""Logs in memory for the tests of queues: the methods that a queue needs, written as plainly as can be."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.reserved_headers import reserved_headers
from broker_core.messages import Message, MessageRun, StoredMessage


class Appended(msgspec.Struct, frozen=True):
    base_offset: int


class MemoryPartition:
    """A list of messages. `refuse` makes every append fail, `damaged` holds offsets that cannot be read, `compacted`
    those that compaction has removed.
    """

    def __init__(self, topic: str, partition: int = 0) -> None:
        self.topic = topic
        self.partition = partition
        self.start_offset = 0
        self.stored: list[StoredMessage] = []
        self.refuse = False
        self.damaged: set[int] = set()
        self.compacted: set[int] = set()
        self.reads = 0

    @property
    def end_offset(self) -> int:
        return len(self.stored)

    @property
    def high_watermark(self) -> int:
        return self.end_offset

    def append_batch(self, now_ns: int, messages: Sequence[Message]) -> Appended:
        if self.refuse:
            raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")
        base = len(self.stored)
        for offset, m in enumerate(messages, base):
            headers = m.headers + reserved_headers(m)
            self.stored.append(
                StoredMessage(self.topic, self.partition, offset, now_ns // 10**6, now_ns, m.key, m.value, headers)
            )
        return Appended(base)

    def read(self, offset: int, *, max_messages: int, max_bytes: int = 1 << 20) -> list[StoredMessage]:
        self.reads += 1
        if not self.start_offset <= offset <= self.end_offset:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{offset} in {self.topic}")
        live = (self.stored[each] for each in range(offset, self.end_offset) if each not in self.compacted)
        found = [*itertools.islice(live, max_messages)]
        if any(message.offset in self.damaged for message in found):
            raise BrokerError(ErrorCode.DAMAGED, f"{self.topic} at {offset}")
        return found

    def message(self, offset: int, *, unsynced: bool = False) -> StoredMessage:
        found = self.read(offset, max_messages=1)
        if not found or found[0].offset != offset:
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{offset} in {self.topic}")
        return found[0]

    @property
    def last_stable_offset(self) -> int:
        return self.end_offset

    def aborted_ranges(self, offset: int, end_offset: int) -> list[range]:
        return []

    def messages_between(self, offset: int, end_offset: int) -> int:
        return end_offset - offset

    def batch_end(self, offset: int) -> int:
        return offset + 1

    def markers(self, offset: int, end_offset: int) -> Sequence[int]:
        return ()

    def runs(self, offset: int, end_offset: int) -> list[MessageRun]:
        runs: list[MessageRun] = []
        for message in self.stored[max(offset, self.start_offset) : end_offset]:
            last = runs[-1] if runs else None
            if last is not None and last.published_ns == message.published_ns:
                runs[-1] = MessageRun(
                    last.offset, last.count + 1, last.size_bytes + message.size_bytes, last.published_ns
                )
            else:
                runs.append(MessageRun(message.offset, 1, message.size_bytes, message.published_ns))
        return runs

    def published_from_ns(self, offset: int) -> int | None:
        return next((each.published_ns for each in self.read(offset, max_messages=1)), None)


class MemoryTopic:
    """The partitions of a topic, in memory, in place of a `TopicLog`."""

    def __init__(self, name: str, partitions: int = 1) -> None:
        self.name = name
        self.partitions = [MemoryPartition(name, number) for number in range(partitions)]
