"""IncrementalAlterConfigs: settings of topics and of share groups by Kafka's names, set or set back to their default.

What `cleanup.policy` lists is appended to and subtracted from. Settings of a group hold for the subscriptions that it
makes later. Left out: settings of brokers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka import group_configs, topic_configs
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, Later, failed
from broker_core.listeners.kafka.codec import Body
from broker_core.listeners.kafka.topic_configs import APPEND, SUBTRACT

KEY = 44
TOPIC, GROUP = 2, 32  # Kafka's numbers of resource types
_SET, _DELETE = 0, 1


def handle(call: Call, request: Any) -> Answer:
    """Each resource has an answer of its own."""
    return Later(lambda: _all(call, request))


def _all(call: Call, request: Any) -> Body:
    return {"responses": [_alter(call, each, validate_only=request.validate_only) for each in request.resources]}


def _alter(call: Call, asked: Any, *, validate_only: bool) -> dict[str, Any]:
    changes: list[tuple[str, str | None]] = []
    try:
        for each in asked.configs:
            text: str | None = each.value
            if each.config_operation in {APPEND, SUBTRACT}:
                text = call.shared.host.call(partial(_listed, call, asked, each))
            elif each.config_operation not in {_SET, _DELETE}:
                raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is no operation {each.config_operation}")
            changes.append((each.name, None if each.config_operation == _DELETE else text))
    except BrokerError as error:
        return {"resource_type": asked.resource_type, "resource_name": asked.resource_name, **failed(error)}
    return altered(call, asked, changes, validate_only=validate_only)


def _listed(call: Call, asked: Any, change: Any, _now_ns: int) -> str:
    if asked.resource_type != TOPIC:
        raise BrokerError(ErrorCode.INVALID_CONFIG, f"{change.name} is not a list")
    call.must_topic(ADMIN, asked.resource_name)
    config = call.broker.topics.config(asked.resource_name)
    return topic_configs.listed(config, change.config_operation, change.name, change.value)


def altered(
    call: Call, asked: Any, changes: Sequence[tuple[str, str | None]], *, validate_only: bool
) -> dict[str, Any]:
    """The answer for the resource `asked` after `changes` of its settings; None sets one back to its default."""
    name = asked.resource_name
    named = {"resource_type": asked.resource_type, "resource_name": name}

    def alter_topic(now_ns: int) -> None:
        call.must_topic(ADMIN, name)
        log = topic_configs.with_settings(call.broker.topics.config(name), changes)
        topic = call.broker.logs.topic(name)
        kept = topic_configs.with_kept(topic.kafka_settings, changes)
        if not validate_only:
            topic.kafka_settings = kept
            call.broker.topics.configure(now_ns, name, log=log)

    def alter_group(_now_ns: int) -> None:
        call.must(ADMIN, "group", name)
        share_groups = call.broker.share_groups
        config = group_configs.with_settings(share_groups.config(name), changes)
        if not validate_only:
            share_groups.configure(name, config)

    alter = {TOPIC: alter_topic, GROUP: alter_group}.get(asked.resource_type)
    try:
        if alter is None:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "only settings of topics and groups can be changed")
        call.shared.host.admin(alter)
    except BrokerError as error:
        return {**named, **failed(error)}
    return {**named, "error_code": 0, "error_message": None}
