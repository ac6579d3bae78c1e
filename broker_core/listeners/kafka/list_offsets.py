"""ListOffsets: the earliest and the latest offset, that of a time, and that of the newest timestamp.

Times are those at which messages were appended. Left out: offsets of tiered storage, which there is none of.
"""

from __future__ import annotations

from typing import Any

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import LEADER_EPOCH, READ, Answer, Call, kafka_code

KEY = 2
_LATEST, _EARLIEST, _MAX_TIMESTAMP, _EARLIEST_LOCAL = -1, -2, -3, -4


def handle(call: Call, request: Any) -> Answer:
    """Look each partition up by itself."""
    return {
        "topics": [
            {
                "name": topic.name,
                "partitions": [_partition(call, topic.name, each) for each in topic.partitions],
            }
            for topic in request.topics
        ]
    }


def _partition(call: Call, name: str, asked: Any) -> dict[str, Any]:
    number = asked.partition_index
    try:
        call.must_topic(READ, name)
        offset, timestamp_ms = _offset(call, name, number, asked.timestamp)
    except BrokerError as error:
        return {"partition_index": number, "error_code": kafka_code(error), "offset": -1, "timestamp": -1}
    return {
        "partition_index": number,
        "error_code": 0,
        "offset": offset,
        "timestamp": timestamp_ms,
        "leader_epoch": LEADER_EPOCH,
    }


def _offset(call: Call, name: str, partition: int, timestamp_ms: int) -> tuple[int, int]:
    broker = call.broker
    log = broker.logs.partition(name, partition)
    if timestamp_ms == _LATEST:
        return log.high_watermark, -1
    if timestamp_ms in {_EARLIEST, _EARLIEST_LOCAL}:
        return log.start_offset, -1
    if timestamp_ms == _MAX_TIMESTAMP:
        if log.high_watermark == log.start_offset:
            return -1, -1
        published_ns = log.published_ns(log.high_watermark - 1)
        return log.offset_for_time(published_ns), broker.logs.epoch_ms + published_ns // NS_PER_MS
    found = broker.logs.offset_at(name, partition, max(0, timestamp_ms))
    if found is None:
        return -1, -1
    return found, broker.logs.epoch_ms + log.published_ns(found) // NS_PER_MS
