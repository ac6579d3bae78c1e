"""DeleteGroups: forget groups without members, and what they have committed."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, kafka_code

KEY = 42


def handle(call: Call, request: Any) -> Answer:
    """Each group has an answer of its own."""
    return {"results": [{"group_id": name, "error_code": _delete(call, name)} for name in request.groups_names]}


def _delete(call: Call, name: str) -> int:
    try:
        call.must(ADMIN, "group", name)
        call.broker.groups.delete(call.now_ns, name)
    except BrokerError as error:
        return kafka_code(error)
    return 0
