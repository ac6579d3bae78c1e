"""UnregisterBroker: the one broker stays, and there is no other."""

from __future__ import annotations

from typing import Any

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import ADMIN, NODE_ID, Answer, Call, KafkaOnlyError

KEY = 64


def handle(call: Call, request: Any) -> Answer:
    """Refused."""
    call.must(ADMIN, "broker")
    if request.broker_id == NODE_ID:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"broker {NODE_ID} is this one, which runs")
    raise KafkaOnlyError(KafkaError.broker_id_not_registered, f"there is no broker {request.broker_id}")
