"""ListOffsets: the earliest and the latest offset, that of a time, and that of the newest timestamp.

For a reader of committed messages (v2) the log ends at the last stable offset. Times are those at which messages were
appended, which with LogAppendTime are their timestamps. Left out: offsets of tiered storage, which there is none of.
"""

from __future__ import annotations

from typing import Any

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import LEADER_EPOCH, READ, READ_COMMITTED, Answer, Call, kafka_code

KEY = 2
_LATEST, _EARLIEST, _MAX_TIMESTAMP, _EARLIEST_LOCAL = -1, -2, -3, -4


def handle(call: Call, request: Any) -> Answer:
    """Look each partition up by itself."""
    committed = getattr(request, "isolation_level", 0) == READ_COMMITTED
    return {
        "topics": [
            {
                "name": topic.name,
                "partitions": [_partition(call, topic.name, each, committed) for each in topic.partitions],
            }
            for topic in request.topics
        ]
    }


def _partition(call: Call, name: str, asked: Any, committed: bool) -> dict[str, Any]:
    number = asked.partition_index
    try:
        call.must_topic(READ, name)
        offset, timestamp_ms = _offset(call, name, number, asked.timestamp, committed)
    except BrokerError as error:
        return {"partition_index": number, "error_code": kafka_code(error), "offset": -1, "timestamp": -1}
    return {
        "partition_index": number,
        "error_code": 0,
        "offset": offset,
        "timestamp": timestamp_ms,
        "leader_epoch": LEADER_EPOCH,
    }


def _offset(call: Call, name: str, partition: int, timestamp_ms: int, committed: bool) -> tuple[int, int]:
    broker = call.broker
    log = broker.logs.partition(name, partition)
    end_offset = log.last_stable_offset if committed else log.high_watermark
    if timestamp_ms == _LATEST:
        return end_offset, -1
    if timestamp_ms in {_EARLIEST, _EARLIEST_LOCAL}:
        return log.start_offset, -1
    if timestamp_ms == _MAX_TIMESTAMP:
        last = end_offset - 1
        while last >= log.start_offset and not log.messages_between(last, last + 1):
            last -= 1
        if last < log.start_offset:
            return -1, -1
        published_ns = log.published_ns(last)
        return log.offset_for_time(published_ns), broker.logs.epoch_ms + published_ns // NS_PER_MS
    found = broker.logs.offset_at(name, partition, max(0, timestamp_ms))
    published_at_ns = None if found is None or found >= end_offset else log.published_from_ns(found)
    if found is None or published_at_ns is None:
        return -1, -1
    return found, broker.logs.epoch_ms + published_at_ns // NS_PER_MS
