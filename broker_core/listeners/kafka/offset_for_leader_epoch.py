"""OffsetForLeaderEpoch: where an epoch ended. The leader never changes, so the one epoch ends where the log does."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import LEADER_EPOCH, READ, Answer, Call, kafka_code

KEY = 23


def handle(call: Call, request: Any) -> Answer:
    """The end of each partition, for the one epoch; nothing for another."""
    return {
        "topics": [
            {"topic": topic.topic, "partitions": [_partition(call, topic.topic, each) for each in topic.partitions]}
            for topic in request.topics
        ]
    }


def _partition(call: Call, name: str, asked: Any) -> dict[str, Any]:
    known = asked.leader_epoch == LEADER_EPOCH
    try:
        call.must_topic(READ, name)
        end_offset = call.broker.logs.partition(name, asked.partition).high_watermark
    except BrokerError as error:
        return {"partition": asked.partition, "error_code": kafka_code(error), "leader_epoch": -1, "end_offset": -1}
    return {
        "partition": asked.partition,
        "error_code": 0,
        "leader_epoch": LEADER_EPOCH if known else -1,
        "end_offset": end_offset if known else -1,
    }
