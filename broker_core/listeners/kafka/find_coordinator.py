"""FindCoordinator: this broker coordinates every group and every transaction."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import READ, Answer, Call, kafka_code
from broker_core.operations.rights import ResourceKind

KEY = 10
_KINDS: dict[int, ResourceKind] = {0: "group", 1: "transactional_id"}


def handle(call: Call, request: Any) -> Answer:
    """Name this broker for each key."""
    kind = getattr(request, "key_type", 0)
    keys = request.coordinator_keys if hasattr(request, "coordinator_keys") else (request.key,)
    found = [_coordinator(call, kind, key) for key in keys]
    return {"coordinators": found, **(found[0] if found else {})}


def _coordinator(call: Call, kind: int, key: str) -> dict[str, Any]:
    try:
        if kind in _KINDS:
            call.must(READ, _KINDS[kind], key)
    except BrokerError as error:
        return {
            "key": key,
            "node_id": -1,
            "host": "",
            "port": -1,
            "error_code": kafka_code(error),
            "error_message": str(error),
        }
    return {"key": key, **call.this_node, "error_code": 0, "error_message": None}
