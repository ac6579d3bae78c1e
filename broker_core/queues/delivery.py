from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import COMPACTED, EventKind
from broker_core.log.partition_log import PartitionLog
from broker_core.log.reserved_headers import expires_ns
from broker_core.messages import MessageRun, StoredMessage
from broker_core.queues.spans import LeaseSpan, part_of

_LOST = frozenset({ErrorCode.DAMAGED, ErrorCode.CORRUPT_MESSAGE, ErrorCode.OFFSET_OUT_OF_RANGE})
_ALL_BYTES = 1 << 62


class CommittedPartition:
    """`log` up to its first open transaction; an aborted message is, like a marker, no message."""

    def __init__(self, log: PartitionLog) -> None:
        self._log = log
        self.topic, self.partition = log.topic, log.partition
        self.read, self.message = log.read, log.message
        self.published_from_ns, self.batch_end = log.published_from_ns, log.batch_end
        self.messages_between = log.messages_between

    @property
    def start_offset(self) -> int:
        return self._log.start_offset

    @property
    def high_watermark(self) -> int:
        return self._log.last_stable_offset

    def markers(self, offset: int, end_offset: int) -> Sequence[int]:
        aborted = [at for each in self._aborted(offset, end_offset) for at in each]
        return sorted([*self._log.markers(offset, end_offset), *aborted])

    def runs(self, offset: int, end_offset: int) -> list[MessageRun]:
        found: list[MessageRun] = []
        for gone in [*self._aborted(offset, end_offset), range(end_offset, end_offset)]:
            if offset < gone.start:
                found += self._log.runs(offset, gone.start)
            offset = max(offset, gone.stop)
        return found

    def _aborted(self, offset: int, end_offset: int) -> Iterator[range]:
        for each in self._log.segments.aborted_ranges(offset, end_offset):
            yield range(max(offset, each.start), min(end_offset, each.stop))


ReadPartition = PartitionLog | CommittedPartition  # as a lease table reads it


class Taken(NamedTuple):
    span: LeaseSpan
    messages: list[StoredMessage]


class Skipped(NamedTuple):
    """A message that is finished without a delivery: EXPIRED, PURGED if compaction has removed it, or DAMAGE if it
    cannot be read, with the error as `cause`.
    """

    offset: int
    published_ns: int
    size_bytes: int
    kind: EventKind
    cause: str = ""


def read_live(log: ReadPartition, now_ns: int, piece: LeaseSpan, skipped: list[Skipped]) -> list[StoredMessage]:
    """The messages of `piece`. Expired and unreadable ones are added to `skipped`. Raises STORAGE_ERROR, CLOSED."""
    try:
        found = log.read(piece.offset, max_messages=piece.open, max_bytes=_ALL_BYTES)
        why = (EventKind.PURGED, COMPACTED)  # what is not found between others
    except BrokerError as failure:
        if failure.code not in _LOST:
            raise
        if piece.open > 1:
            singles = (part_of(piece, offset, offset + 1, piece.state) for offset in range(piece.offset, piece.end))
            return [message for single in singles for message in read_live(log, now_ns, single, skipped)]
        found, why = [], why_unread(log, piece.offset, failure)
    if found and found[-1].offset >= piece.end:
        found = [message for message in found if message.offset < piece.end]
    if len(found) < piece.open:
        read = {message.offset for message in found}
        for offset in range(piece.offset, piece.end):
            if offset not in read:
                size_bytes = piece.size_bytes(offset, offset + 1)
                skipped.append(Skipped(offset, piece.published_ns, size_bytes, *why))
    if not [True for message in found if message.headers]:
        return found
    messages = []
    for message in found:
        expiry_ns = expires_ns(message) if message.headers else None
        if expiry_ns is not None and expiry_ns <= now_ns:
            skipped.append(Skipped(message.offset, message.published_ns, message.size_bytes, EventKind.EXPIRED))
        else:
            messages.append(message)
    return messages


def why_unread(log: ReadPartition, offset: int, error: BrokerError) -> tuple[EventKind, str]:
    """The kind and cause of `Skipped` for one message that `log` has refused with `error`."""
    if error.code is ErrorCode.OFFSET_OUT_OF_RANGE and offset >= log.start_offset:
        return EventKind.PURGED, COMPACTED
    return EventKind.DAMAGE, str(error)


def neighbours(messages: list[StoredMessage]) -> Iterator[tuple[int, int]]:
    if messages and messages[-1].offset - messages[0].offset == len(messages) - 1:  # nearly always
        yield 0, len(messages)
        return
    first = 0
    for place in range(1, len(messages) + 1):
        if place < len(messages) and messages[place].offset == messages[place - 1].offset + 1:
            continue
        yield first, place
        first = place


def by_priority(log: ReadPartition, piece: LeaseSpan, least_urgent: int) -> Iterator[LeaseSpan]:
    """`piece` in parts of one priority each; a higher number than `least_urgent` counts as `least_urgent`."""
    try:
        found = log.read(piece.offset, max_messages=piece.open, max_bytes=_ALL_BYTES)
    except BrokerError:  # the acquire will report it
        found = []
    priorities = {message.offset: min(max(message.priority, 0), least_urgent) for message in found}
    for priority, offsets in groupby(range(piece.offset, piece.end), lambda offset: priorities.get(offset, 0)):
        first, *rest = offsets
        part = part_of(piece, first, first + 1 + len(rest), piece.state)
        part.lease = msgspec.structs.replace(part.lease, priority=priority)
        yield part
