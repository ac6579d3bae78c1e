"""InitProducerId: an id for a producer that is idempotent, or that of a transactional id.

With a transactional id the producer that had it before is fenced off, and what it has left open is aborted; the answer
comes when that is done. From v3 on a producer names what it has, to go on after an error (KIP-360). Left out: two-phase
commit (v6, KIP-939).
"""

from __future__ import annotations

from typing import Any

from broker_core.listeners.kafka.call import WRITE, Answer, Call
from broker_core.listeners.kafka.codec import Body
from broker_core.listeners.kafka.transactional import answered
from broker_core.replies import Reply
from broker_core.transactions.coordinator import NOBODY
from broker_core.transactions.transaction import Identity

KEY = 22
_FENCED_FROM = 4


def handle(call: Call, request: Any) -> Answer:
    """A new id at epoch 0, or the id of `transactional_id` at its next epoch."""
    if request.transactional_id is None:
        return _body(0, Identity(*call.broker.producer_ids.register()))
    known = Identity(getattr(request, "producer_id", -1), getattr(request, "producer_epoch", -1))

    def ask() -> Reply[Identity]:
        call.must(WRITE, "transactional_id", request.transactional_id)
        return call.broker.transactions.begin_session(
            call.now_ns,
            request.transactional_id,
            request.transaction_timeout,
            client=call.client,
            known=NOBODY if known.producer_id < 0 else known,
        )

    return answered(call, ask, _body, fenced_from=_FENCED_FROM)


def _body(error: int, identity: Identity | None) -> Body:
    producer_id, epoch = identity or NOBODY
    return {"error_code": error, "producer_id": producer_id, "producer_epoch": epoch}
