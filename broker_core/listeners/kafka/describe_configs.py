"""DescribeConfigs: the settings of topics and share groups by Kafka's names, and a few of the broker.

Left out: synonyms, and settings of loggers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import NODE_ID, READ, Answer, Call, failed
from broker_core.listeners.kafka.group_configs import NAMES
from broker_core.listeners.kafka.topic_configs import FIXED, SETTINGS, text_of

KEY = 32
_TOPIC, _BROKER, _GROUP = 2, 4, 32
_SOURCE_TOPIC, _SOURCE_STATIC, _SOURCE_DEFAULT, _SOURCE_GROUP = 1, 4, 5, 8
_STRING = 2


def handle(call: Call, request: Any) -> Answer:
    """Each resource has an answer of its own."""
    return {"results": [_resource(call, each, request) for each in request.resources]}


def _resource(call: Call, asked: Any, request: Any) -> dict[str, Any]:
    named = {"resource_type": asked.resource_type, "resource_name": asked.resource_name}
    documented = getattr(request, "include_documentation", False)
    try:
        rows = list(_settings(call, asked.resource_type, asked.resource_name, documented))
    except BrokerError as error:
        return {**named, **failed(error), "configs": ()}
    wanted = asked.configuration_keys
    return {
        **named,
        "error_code": 0,
        "error_message": None,
        "configs": [row for row in rows if wanted is None or row["name"] in wanted],
    }


def _settings(call: Call, kind: int, name: str, documented: bool) -> Iterator[dict[str, Any]]:
    if kind == _BROKER:
        call.must(READ, "broker")
        if name not in {"", str(NODE_ID)}:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is no broker {name}")
        yield _row("auto.create.topics.enable", str(bool(call.shared.create_topics)).lower(), _STRING, _SOURCE_STATIC)
        yield _row("num.partitions", str(max(1, call.shared.create_topics)), _STRING, _SOURCE_STATIC)
        return
    if kind == _GROUP:
        call.must(READ, "group", name)
        config = call.broker.share_groups.config(name)
        for known, field in NAMES.items():
            yield _row(known, str(getattr(config, field)), _STRING, _SOURCE_GROUP)
        return
    if kind != _TOPIC:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "only topics, groups and the broker have settings here")
    call.must_topic(READ, name)
    log = call.broker.topics.config(name)
    for each in SETTINGS:
        about = each.about if documented else None
        yield _row(each.name, text_of(each, log), each.kafka_type, _SOURCE_TOPIC, about)
    for fixed, value in FIXED.items():
        yield {**_row(fixed, value, _STRING, _SOURCE_DEFAULT), "read_only": True}


def _row(name: str, value: str, kafka_type: int, source: int, about: str | None = None) -> dict[str, Any]:
    return {
        "name": name,
        "value": value,
        "read_only": source == _SOURCE_STATIC,
        "config_source": source,
        "is_default": source == _SOURCE_DEFAULT,
        "is_sensitive": False,
        "synonyms": (),
        "config_type": kafka_type,
        "documentation": about,
    }
