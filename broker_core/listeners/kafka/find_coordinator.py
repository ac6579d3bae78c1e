"""FindCoordinator: this broker coordinates every group, every transaction and, from v6 on, every share partition.

The key of a share partition is "group:topic id:partition" (KIP-932), and who may read the group may ask for it.
"""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import READ, Answer, Call, kafka_code, sliced
from broker_core.operations.rights import ResourceKind

KEY = 10
_KINDS: dict[int, ResourceKind] = {0: "group", 1: "transactional_id"}
_SHARE = 2
_FIRST_WITH_SHARES = 6


def handle(call: Call, request: Any) -> Answer:
    """Name this broker for each key."""
    kind = getattr(request, "key_type", 0)
    if hasattr(request, "coordinator_keys"):
        keys = dict.fromkeys(request.coordinator_keys)
        return sliced(call, "coordinators", (_coordinator(call, kind, key) for key in keys))
    return _coordinator(call, kind, request.key)


def _coordinator(call: Call, kind: int, key: str) -> dict[str, Any]:
    try:
        if kind == _SHARE and call.version >= _FIRST_WITH_SHARES:
            call.must(READ, "group", _group_of(key))
        elif kind in _KINDS:
            call.must(READ, _KINDS[kind], key)
        else:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is no key type {kind}")
        if _KINDS.get(kind) == "group":
            call.shared.readers.asks_for(call.connection.id, call.client, key)
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


def _group_of(key: str) -> str:
    group, *place = key.rsplit(":", 2)
    if not group or len(place) != len(("topic id", "partition")):
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{key[:249]!r} is no group:topic id:partition")
    return group
