"""DescribeProducers: the idempotent producers that a partition knows, and where their open transactions begin."""

from __future__ import annotations

from typing import Any

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import READ, Answer, Call, kafka_code, sliced

KEY = 61


def handle(call: Call, request: Any) -> Answer:
    """Answer for each partition."""
    rows = (
        {
            "name": topic.name,
            "partitions": [_partition(call, topic.name, number) for number in dict.fromkeys(topic.partition_indexes)],
        }
        for topic in request.topics
    )
    return sliced(call, "topics", rows)


def _partition(call: Call, name: str, number: int) -> dict[str, Any]:
    try:
        call.must_topic(READ, name)
        log = call.broker.logs.partition(name, number)
    except BrokerError as error:
        return {"partition_index": number, "error_code": kafka_code(error), "error_message": str(error)}
    opened = log.open_transactions
    return {
        "partition_index": number,
        "error_code": 0,
        "error_message": None,
        "active_producers": [
            {
                "producer_id": producer_id,
                "producer_epoch": epoch,
                "last_sequence": -1 if last is None else last.sequence + last.count - 1,
                "last_timestamp": -1 if last is None else call.broker.logs.epoch_ms + last.published_ns // NS_PER_MS,
                "coordinator_epoch": 0,
                "current_txn_start_offset": opened.get(producer_id, -1),
            }
            for producer_id, epoch, last in log.producers
        ],
    }
