"""DeleteRecords: the oldest messages of partitions go; -1 is the end."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, Later, kafka_code
from broker_core.listeners.kafka.codec import Body

KEY = 21
_END = -1


def handle(call: Call, request: Any) -> Answer:
    """Each partition has an answer of its own."""
    return Later(lambda: _all(call, request))


def _all(call: Call, request: Any) -> Body:
    return {
        "topics": [
            {"name": topic.name, "partitions": [_delete(call, topic.name, each) for each in topic.partitions]}
            for topic in request.topics
        ]
    }


def _delete(call: Call, name: str, asked: Any) -> dict[str, Any]:
    number = asked.partition_index

    def delete(now_ns: int) -> int:
        call.must_topic(ADMIN, name)
        log = call.broker.logs.partition(name, number)
        before = log.high_watermark if asked.offset == _END else asked.offset
        return call.broker.cleaning.delete_records(now_ns, name, number, before)

    try:
        start_offset = call.shared.host.admin(delete)
    except BrokerError as error:
        return {"partition_index": number, "low_watermark": -1, "error_code": kafka_code(error)}
    return {"partition_index": number, "low_watermark": start_offset, "error_code": 0}
