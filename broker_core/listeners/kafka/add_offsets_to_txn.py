"""AddOffsetsToTxn: the offsets of a group belong to the producer's transaction."""

from __future__ import annotations

from typing import Any

from broker_core.listeners.kafka.call import READ, WRITE, Answer, Call
from broker_core.listeners.kafka.transactional import answered, identity_of
from broker_core.replies import Reply

KEY = 25
_FENCED_FROM = 2


def handle(call: Call, request: Any) -> Answer:
    """Add the group, and answer when that is kept."""

    def ask() -> Reply[None]:
        call.must(WRITE, "transactional_id", request.transactional_id)
        call.must(READ, "group", request.group_id)
        return call.broker.transactions.add_group(
            call.now_ns, request.transactional_id, identity_of(request), request.group_id
        )

    return answered(call, ask, lambda error, _none: {"error_code": error}, fenced_from=_FENCED_FROM)
