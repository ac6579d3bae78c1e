from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.clock import NS_PER_MS
from broker_core.listeners.kafka.call import (
    LEADER_EPOCH,
    READ,
    READ_COMMITTED,
    Answer,
    Call,
    KafkaOnlyError,
    api,
    check_leader_epoch,
    outcomes,
)
from broker_core.log.batch import BatchHeader
from broker_core.log.partition_log import PartitionLog

if TYPE_CHECKING:
    from kio.schema.list_offsets.v11.request import ListOffsetsRequest
    from kio.schema.offset_for_leader_epoch.v4.request import OffsetForLeaderEpochRequest

_MOST_LOOKED_AT = 100_000  # offsets or batches, under the lock
_CLOCKS_DIFFER_MS = 60_000
_LATEST, _EARLIEST, _MAX_TIMESTAMP, _EARLIEST_LOCAL, _LATEST_TIERED, _EARLIEST_PENDING_UPLOAD = range(-1, -7, -1)
_FIRST_WITH = {_MAX_TIMESTAMP: 7, _EARLIEST_LOCAL: 8, _LATEST_TIERED: 9, _EARLIEST_PENDING_UPLOAD: 11}


@api("ListOffsets", 2, 1, 11)
def _list_offsets(call: Call, request: ListOffsetsRequest) -> Answer:
    """The earliest and the latest offset, that of a time, and that of the newest timestamp.

    For a reader of committed messages (v2) the log ends at the last stable offset. Times are those of the records.
    Of what is stored elsewhere (v9, v11) there is nothing: -1.
    """
    committed = request.isolation_level == READ_COMMITTED
    return call.sliced("topics", outcomes(request.topics, partial(_partition, call, committed)))


def _partition(call: Call, committed: bool, name: str, asked: Any) -> dict[str, Any]:
    call.must(READ, "topic", name)
    if call.version < _FIRST_WITH.get(asked.timestamp, 0):
        raise KafkaOnlyError(KafkaError.unsupported_version, f"{asked.timestamp} for a time")
    call.must_topic(READ, name)
    check_leader_epoch(asked.current_leader_epoch)
    offset, timestamp_ms = _offset(call, name, asked.partition_index, asked.timestamp, committed)
    return {"offset": offset, "timestamp": timestamp_ms, "leader_epoch": -1 if offset < 0 else LEADER_EPOCH}


def _offset(call: Call, name: str, partition: int, timestamp_ms: int, committed: bool) -> tuple[int, int]:
    broker = call.broker
    log = broker.logs.partition(name, partition)
    end_offset = log.last_stable_offset if committed else log.high_watermark
    if timestamp_ms == _LATEST:
        return end_offset, -1
    if timestamp_ms in {_EARLIEST, _EARLIEST_LOCAL}:
        return log.start_offset, -1
    if timestamp_ms in {_LATEST_TIERED, _EARLIEST_PENDING_UPLOAD}:
        return -1, -1
    if timestamp_ms == _MAX_TIMESTAMP:
        return _greatest(log, broker.logs.epoch_ms, end_offset)
    return _first_from(log, max(0, timestamp_ms), broker.logs.epoch_ms, end_offset)


def _first_from(log: PartitionLog, wanted_ms: int, epoch_ms: int, end_offset: int) -> tuple[int, int]:
    """The first record of that time or later, and its time.

    The search begins with what was appended a little before, since clocks of clients differ from the broker's; where
    that is too much, it is what was appended then.
    """
    appended_ns = (wanted_ms - epoch_ms) * NS_PER_MS
    # The batch before, too: after a restart a batch has the time of its first record.
    offset = max(log.start_offset, log.offset_for_time(appended_ns - _CLOCKS_DIFFER_MS * NS_PER_MS) - 1)
    end_looked = offset + _MOST_LOOKED_AT
    for _, header in log.segments.batches(offset, min(end_offset, end_looked)):
        if header.max_timestamp_ms >= wanted_ms:
            for message in log.read(max(log.start_offset, header.base_offset), max_messages=header.count):
                if message.timestamp_ms >= wanted_ms and message.offset < header.end_offset:
                    return message.offset, message.timestamp_ms
    if end_looked < end_offset:
        offset = log.offset_for_time(appended_ns)
        for message in log.read(offset, max_messages=1, end_offset=end_offset) if offset < end_offset else ():
            return message.offset, message.timestamp_ms
    return -1, -1


def _greatest(log: PartitionLog, epoch_ms: int, end_offset: int) -> tuple[int, int]:
    """The record of the greatest time, and that time."""
    best: BatchHeader | None = None
    newest_first = log.segments.batches(log.start_offset, end_offset, backward=True)
    for published_ns, header in itertools.islice(newest_first, _MOST_LOOKED_AT):
        if best is not None and epoch_ms + published_ns // NS_PER_MS + _CLOCKS_DIFFER_MS < best.max_timestamp_ms:
            break  # what was appended so long before is no later
        if best is None or header.max_timestamp_ms >= best.max_timestamp_ms:
            best = header
    if best is None:
        return -1, -1
    found = log.read(max(best.base_offset, log.start_offset), max_messages=best.count)
    newest = max((each for each in found if each.offset < best.end_offset), key=lambda each: each.timestamp_ms)
    return newest.offset, newest.timestamp_ms


@api("OffsetForLeaderEpoch", 23, 2, 4)
def _offset_for_leader_epoch(call: Call, request: OffsetForLeaderEpochRequest) -> Answer:
    """The leader never changes: the one epoch ends where the log does."""
    return call.sliced("topics", outcomes(request.topics, partial(_epoch_end, call), "partition", leader_epoch=-1))


def _epoch_end(call: Call, name: str, asked: Any) -> dict[str, Any]:
    call.must_topic(READ, name)
    end_offset = call.broker.logs.partition(name, asked.partition).high_watermark
    check_leader_epoch(asked.current_leader_epoch)
    return {"leader_epoch": LEADER_EPOCH, "end_offset": end_offset} if asked.leader_epoch == LEADER_EPOCH else {}
