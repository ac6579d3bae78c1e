"""EndTxn: commit or abort. The answer comes when every marker is written and every offset kept.

From v5 on the producer's epoch goes up with each transaction, and the answer names it (KIP-890).
"""

from __future__ import annotations

from typing import Any

from broker_core.listeners.kafka.call import WRITE, Answer, Call
from broker_core.listeners.kafka.codec import Body
from broker_core.listeners.kafka.transactional import answered, identity_of
from broker_core.replies import Reply
from broker_core.transactions.coordinator import NOBODY
from broker_core.transactions.transaction import Identity

KEY = 26
_FENCED_FROM = 2
_FIRST_THAT_BUMPS = 5


def handle(call: Call, request: Any) -> Answer:
    """End the producer's transaction."""

    def ask() -> Reply[Identity]:
        call.must(WRITE, "transactional_id", request.transactional_id)
        return call.broker.transactions.end(
            call.now_ns,
            request.transactional_id,
            identity_of(request),
            commits=request.committed,
            bumps=call.version >= _FIRST_THAT_BUMPS,
        )

    return answered(call, ask, _body, fenced_from=_FENCED_FROM)


def _body(error: int, identity: Identity | None) -> Body:
    producer_id, epoch = identity or NOBODY
    return {"error_code": error, "producer_id": producer_id, "producer_epoch": epoch}
