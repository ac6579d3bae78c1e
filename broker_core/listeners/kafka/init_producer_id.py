"""InitProducerId: an id for a producer that is idempotent. Left out: transactions, which are refused."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import Answer, Call

KEY = 22


def handle(call: Call, request: Any) -> Answer:
    """A new id at epoch 0."""
    if request.transactional_id is not None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "transactions are not served; leave out transactional.id")
    producer_id, epoch = call.broker.producer_ids.register()
    return {"error_code": 0, "producer_id": producer_id, "producer_epoch": epoch}
