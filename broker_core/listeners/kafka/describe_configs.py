"""DescribeConfigs: the settings of topics, of share groups and of the broker by Kafka's names.

A value that is the default is said to be one, whoever has set it. Left out: synonyms, and settings of loggers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from broker_core.broker.share_group_config import ShareGroupConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import NODE_ID, READ, Answer, Call, failed, sliced
from broker_core.listeners.kafka.describe_log_dirs import directory
from broker_core.listeners.kafka.group_configs import NAMES
from broker_core.listeners.kafka.topic_configs import FIXED, KEPT, SETTINGS, text_of
from broker_core.log.config import LogConfig
from broker_core.transactions.config import TransactionConfig

KEY = 32
TOPIC, BROKER, GROUP = 2, 4, 32  # Kafka's numbers of resource types
_SOURCE_TOPIC, _SOURCE_DYNAMIC_DEFAULT, _SOURCE_STATIC, _SOURCE_DEFAULT, _SOURCE_GROUP = 1, 3, 4, 5, 8
_STRING = 2


def handle(call: Call, request: Any) -> Answer:
    """Each resource has an answer of its own."""
    return sliced(call, "results", (_resource(call, each, request) for each in request.resources))


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
    if kind == BROKER:
        call.must(READ, "broker")
        if name not in {"", str(NODE_ID)}:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is no broker {name}")
        yield from (_row(known, value, _STRING, _SOURCE_STATIC) for known, value in _of_broker(call).items())
        return
    if kind == GROUP:
        call.must(READ, "group", name)
        config, usual = call.broker.share_groups.config(name), ShareGroupConfig()
        for known, field in NAMES.items():
            value = getattr(config, field)
            source = _SOURCE_DEFAULT if value == getattr(usual, field) else _SOURCE_GROUP
            yield _row(known, str(value), _STRING, source)
        return
    if kind != TOPIC:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "only topics, groups and the broker have settings here")
    call.must_topic(READ, name)
    log, brokers, usual_log = call.broker.topics.config(name), call.shared.host.config.log, LogConfig()
    for each in SETTINGS:
        value = text_of(each, log)
        source = _SOURCE_TOPIC
        if value == text_of(each, brokers):
            source = _SOURCE_DEFAULT if value == text_of(each, usual_log) else _SOURCE_STATIC
        yield _row(each.name, value, each.kafka_type, source, each.about if documented else None, can_change=True)
    kept = call.broker.logs.topic(name).kafka_settings
    for known, default in KEPT.items():
        source = _SOURCE_TOPIC if kept.get(known, default) != default else _SOURCE_DEFAULT
        yield _row(known, kept.get(known, default), _STRING, source, can_change=True)
    for fixed, value in FIXED.items():
        # A cluster of Kafka 4.1 has chosen this one for all of its topics when it was made (KIP-966).
        source = _SOURCE_DYNAMIC_DEFAULT if fixed == "min.insync.replicas" else _SOURCE_DEFAULT
        yield _row(fixed, value, _STRING, source, can_change=False)


def _of_broker(call: Call) -> dict[str, str]:
    """What clients and tools read of a broker, as it is here."""
    shared, broker = call.shared, call.broker
    groups, log = broker.groups.config, shared.host.config.log
    listeners = f"{shared.security_protocol}://{call.host}:{call.port}"
    return {
        "advertised.listeners": listeners,
        "auto.create.topics.enable": str(bool(shared.create_topics)).lower(),
        "broker.id": str(NODE_ID),
        "compression.type": log.compression_type,
        "default.replication.factor": "1",
        "delete.topic.enable": "true",
        "group.consumer.heartbeat.interval.ms": str(groups.consumer_heartbeat_interval_ms),
        "group.consumer.session.timeout.ms": str(groups.consumer_session_timeout_ms),
        "group.initial.rebalance.delay.ms": str(groups.initial_rebalance_delay_ms),
        "group.max.session.timeout.ms": str(shared.max_session_timeout_ms),
        "group.max.size": str(groups.max_members),
        "group.min.session.timeout.ms": str(shared.min_session_timeout_ms),
        "listeners": listeners,
        "log.cleanup.policy": str(log.cleanup),
        "log.dirs": directory(call),
        "log.message.timestamp.type": log.timestamp_type,
        "log.retention.bytes": str(-1 if log.retention_bytes is None else log.retention_bytes),
        "log.retention.ms": str(-1 if log.retention_ms is None else log.retention_ms),
        "log.segment.bytes": str(log.segment_bytes),
        "max.connections": str(shared.limits.max_connections),
        "message.max.bytes": str(log.max_message_bytes),
        "min.insync.replicas": "1",
        "node.id": str(NODE_ID),
        "num.partitions": str(max(1, shared.create_topics)),
        "offsets.topic.replication.factor": "1",
        "process.roles": "broker,controller",
        "socket.request.max.bytes": str(shared.limits.max_frame_bytes),
        "transaction.max.timeout.ms": str(TransactionConfig().max_timeout_ms),
        "transaction.state.log.replication.factor": "1",
        "unclean.leader.election.enable": "false",
    }


def _row(
    name: str, value: str, kafka_type: int, source: int, about: str | None = None, *, can_change: bool | None = None
) -> dict[str, Any]:
    return {
        "name": name,
        "value": value,
        "read_only": source == _SOURCE_STATIC if can_change is None else not can_change,
        "config_source": source,
        "is_default": source == _SOURCE_DEFAULT,
        "is_sensitive": False,
        "synonyms": (),
        "config_type": kafka_type,
        "documentation": about,
    }
