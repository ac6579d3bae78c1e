"""CreatePartitions: more partitions for topics; keys may land elsewhere from then on."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, Later, failed
from broker_core.listeners.kafka.codec import Body

KEY = 37


def handle(call: Call, request: Any) -> Answer:
    """Each topic has an answer of its own."""
    return Later(lambda: _all(call, request))


def _all(call: Call, request: Any) -> Body:
    with call.shared.host.saved_at_end():
        return {"results": [_add(call, each, validate_only=request.validate_only) for each in request.topics]}


def _add(call: Call, asked: Any, *, validate_only: bool) -> dict[str, Any]:
    host = call.shared.host

    def add(now_ns: int) -> None:
        present = call.broker.logs.partition_count(asked.name)
        if asked.count <= present:
            raise BrokerError(ErrorCode.INVALID_PARTITIONS, f"{asked.name} has {present} already")
        if not validate_only:
            call.broker.topics.add_partitions(now_ns, asked.name, asked.count)

    try:
        call.must(ADMIN, "topic", asked.name)
        host.admin(add)
    except BrokerError as error:
        return {"name": asked.name, **failed(error)}
    return {"name": asked.name, "error_code": 0, "error_message": None}
