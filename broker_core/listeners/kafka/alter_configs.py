"""IncrementalAlterConfigs: settings of topics by Kafka's names, set or set back to their default.

Left out: appending to lists and subtracting from them, since no setting here is one; settings of brokers and groups.
"""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, Later, failed
from broker_core.listeners.kafka.codec import Body
from broker_core.listeners.kafka.topic_configs import with_settings

KEY = 44
_TOPIC = 2
_SET, _DELETE = 0, 1


def handle(call: Call, request: Any) -> Answer:
    """Each resource has an answer of its own."""
    return Later(lambda: _all(call, request))


def _all(call: Call, request: Any) -> Body:
    return {"responses": [_alter(call, each, validate_only=request.validate_only) for each in request.resources]}


def _alter(call: Call, asked: Any, *, validate_only: bool) -> dict[str, Any]:
    name = asked.resource_name
    named = {"resource_type": asked.resource_type, "resource_name": name}

    def alter(now_ns: int) -> None:
        call.must_topic(ADMIN, name)
        changes = [(each.name, None if each.config_operation == _DELETE else each.value) for each in asked.configs]
        log = with_settings(call.broker.topics.config(name), changes)
        if not validate_only:
            call.broker.topics.configure(now_ns, name, log=log)

    try:
        if asked.resource_type != _TOPIC:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "only settings of topics can be changed")
        if any(each.config_operation not in {_SET, _DELETE} for each in asked.configs):
            raise BrokerError(ErrorCode.INVALID_REQUEST, "settings can be set and set back, and no more")
        call.shared.host.admin(alter)
    except BrokerError as error:
        return {**named, **failed(error)}
    return {**named, "error_code": 0, "error_message": None}
