"""DescribeTransactions: the state of transactional ids, and the partitions of their transactions."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import READ, Answer, Call, kafka_code, sliced

KEY = 65


def handle(call: Call, request: Any) -> Answer:
    """Answer for each id."""
    return sliced(call, "transaction_states", (_state(call, each) for each in dict.fromkeys(request.transactional_ids)))


def _state(call: Call, transactional_id: str) -> dict[str, Any]:
    try:
        call.must(READ, "transactional_id", transactional_id)
        found = call.broker.transactions.ids().get(transactional_id)
        if found is None:
            raise BrokerError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, transactional_id)
    except BrokerError as error:
        return {
            "error_code": kafka_code(error),
            "transactional_id": transactional_id,
            "transaction_state": "",
            "transaction_start_time": 0,
            "producer_id": -1,
            "producer_epoch": -1,
        }
    topics: dict[str, list[int]] = {}
    for topic, number in found.partitions:
        topics.setdefault(topic, []).append(number)
    readable = call.readable(topics)
    return {
        "error_code": 0,
        "transactional_id": transactional_id,
        "transaction_state": found.state.value,
        "transaction_timeout": found.timeout_ms,
        "transaction_start_time": found.started_ms if found.is_unfinished else -1,
        "producer_id": found.producer_id,
        "producer_epoch": found.epoch,
        "topics": [{"topic": topic, "partitions": numbers} for topic, numbers in topics.items() if topic in readable],
    }
