"""AlterConfigs: all settings of a topic or share group at once; what is not named is set back to its default.

Clients of today ask for IncrementalAlterConfigs instead, except aiokafka, which has only this one.
"""

from __future__ import annotations

from typing import Any

from broker_core.listeners.kafka import group_configs, topic_configs
from broker_core.listeners.kafka.call import Answer, Call, Later
from broker_core.listeners.kafka.codec import Body
from broker_core.listeners.kafka.incremental_alter_configs import GROUP, TOPIC, altered

KEY = 33
_NAMES = {
    TOPIC: [*(each.name for each in topic_configs.SETTINGS), *topic_configs.KEPT],
    GROUP: list(group_configs.NAMES),
}


def handle(call: Call, request: Any) -> Answer:
    """Each resource has an answer of its own."""
    return Later(lambda: _all(call, request))


def _all(call: Call, request: Any) -> Body:
    return {"responses": [_replace(call, each, validate_only=request.validate_only) for each in request.resources]}


def _replace(call: Call, asked: Any, *, validate_only: bool) -> dict[str, Any]:
    defaults: dict[str, str | None] = dict.fromkeys(_NAMES.get(asked.resource_type, ()))
    settings = {**defaults, **{each.name: each.value for each in asked.configs}}
    return altered(call, asked, list(settings.items()), validate_only=validate_only)
