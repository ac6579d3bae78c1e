"""Heartbeat, classic protocol: a sign of life, answered with REBALANCE_IN_PROGRESS where the member must join again."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import READ, Answer, Call, kafka_code

KEY = 12


def handle(call: Call, request: Any) -> Answer:
    """Note the sign of life."""
    try:
        call.must(READ, "group", request.group_id)
        call.broker.groups.heartbeat(call.now_ns, request.group_id, request.member_id, request.generation_id)
    except BrokerError as error:
        return {"error_code": kafka_code(error)}
    return {"error_code": 0}
