"""ListConfigResources (KIP-1142): what DescribeConfigs can be asked about. v0 lists client metrics: none."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import NODE_ID, READ, Answer, Call
from broker_core.listeners.kafka.describe_configs import BROKER, GROUP, TOPIC

KEY = 74
_LOGGER, _CLIENT_METRICS = 8, 16
_FIRST_WITH_TYPES = 1


def handle(call: Call, request: Any) -> Answer:
    """The names, by type; all types where none is asked for."""
    call.must(READ, "broker")
    there: dict[int, list[str]] = {
        TOPIC: [name for name in call.broker.topics.names() if call.may(READ, "topic", name)],
        BROKER: [str(NODE_ID)],
        _LOGGER: [],
        _CLIENT_METRICS: [],
        GROUP: [
            each.name
            for each in call.broker.share_groups.entries()
            if each.config is not None and call.may(READ, "group", each.name)
        ],
    }
    wanted = request.resource_types if call.version >= _FIRST_WITH_TYPES else (_CLIENT_METRICS,)
    unknown = sorted(set(wanted) - set(there))
    if unknown:
        raise BrokerError(ErrorCode.UNSUPPORTED_VERSION, f"there is no resource type {unknown[0]}")
    return {
        "error_code": 0,
        "config_resources": [
            {"resource_name": name, "resource_type": kind} for kind in wanted or there for name in there[kind]
        ],
    }
