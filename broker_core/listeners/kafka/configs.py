from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from broker_core.broker.catalog import ShareGroupConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka import topic_configs
from broker_core.listeners.kafka.call import ADMIN, NODE_ID, READ, Answer, Call, api, failed, outcome
from broker_core.listeners.kafka.one_broker import directory
from broker_core.listeners.kafka.topic_configs import APPEND, FIXED, KEPT, SETTINGS, SUBTRACT, text_of
from broker_core.log.config import LogConfig
from broker_core.operations.topics import ConfigureTopic, LogSettings
from broker_core.transactions.transaction import TransactionConfig

if TYPE_CHECKING:
    from kio.schema.alter_configs.v2.request import AlterConfigsRequest
    from kio.schema.describe_configs.v4.request import DescribeConfigsRequest
    from kio.schema.incremental_alter_configs.v1.request import IncrementalAlterConfigsRequest
    from kio.schema.list_config_resources.v1.request import ListConfigResourcesRequest

GROUP_SETTINGS = {
    "share.record.lock.duration.ms": "record_lock_duration_ms",
    "share.delivery.count.limit": "delivery_count_limit",
    "share.auto.offset.reset": "auto_offset_reset",
    "share.isolation.level": "isolation_level",
    "errors.deadletterqueue.topic.name": "dead_letter_topic",
}


def with_group_settings(config: ShareGroupConfig, changes: Iterable[tuple[str, str | None]]) -> ShareGroupConfig:
    """`config` with these settings; None sets one back to its default. Raises INVALID_CONFIG."""
    given: dict[str, object] = {}
    for name, text in changes:
        field = GROUP_SETTINGS.get(name)
        if field is None:
            raise BrokerError(
                ErrorCode.INVALID_CONFIG, f"{name!r} is not a setting of groups; there are {', '.join(GROUP_SETTINGS)}"
            )
        default = getattr(ShareGroupConfig(), field)
        try:
            given[field] = default if text is None else type(default)(text)
        except ValueError as error:
            raise BrokerError(ErrorCode.INVALID_CONFIG, f"{name} {text!r} must be a number") from error
    return msgspec.structs.replace(config, **given)


TOPIC, BROKER, GROUP = 2, 4, 32  # Kafka's numbers of resource types
_SOURCE_TOPIC, _SOURCE_DYNAMIC_DEFAULT, _SOURCE_STATIC, _SOURCE_DEFAULT, _SOURCE_GROUP = 1, 3, 4, 5, 8
_STRING = 2


@api("DescribeConfigs", 32, 1, 4, most_elements=5_000)
def _describe_configs(call: Call, request: DescribeConfigsRequest) -> Answer:
    """The settings of topics, of share groups and of the broker by Kafka's names.

    A value that is the default is said to be one, whoever has set it. Left out: settings of loggers.
    """
    return call.sliced("results", (_resource(call, each, request) for each in request.resources))


def _resource(call: Call, asked: Any, request: DescribeConfigsRequest) -> dict[str, Any]:
    kind, name, wanted = asked.resource_type, asked.resource_name, asked.configuration_keys

    def rows() -> dict[str, Any]:
        found = _settings(call, kind, name, request.include_documentation)
        rows = [row for row in found if not wanted or row["name"] in wanted]
        for row in rows if request.include_synonyms and kind == TOPIC else ():
            row["synonyms"] = _synonyms(row)
        return {"configs": rows}

    return outcome(rows, resource_type=kind, resource_name=name)


def _synonyms(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The topic's own setting, or that of the broker that stands in for it."""
    name = row["name"]
    if row["config_source"] != _SOURCE_TOPIC:
        name = topic_configs.OF_BROKER.get(name, f"log.{name}")
    return [{"name": name, "value": row["value"], "source": row["config_source"]}]


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
        for known, field in GROUP_SETTINGS.items():
            value = getattr(config, field)
            source = _SOURCE_DEFAULT if value == getattr(usual, field) else _SOURCE_GROUP
            yield _row(known, str(value), _STRING, source)
        return
    if kind != TOPIC:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "only topics, groups and the broker have settings here")
    call.must_topic(READ, name)
    log, brokers, usual_log = call.broker.topics.config(name), call.context.host.config.log, LogConfig()
    for each in SETTINGS:
        value = text_of(each, log)
        source = _SOURCE_TOPIC
        if value == text_of(each, brokers):
            source = _SOURCE_DEFAULT if value == text_of(each, usual_log) else _SOURCE_STATIC
        yield _row(each.name, value, each.kafka_type, source, each.info.about if documented else None, can_change=True)
    kept = call.broker.logs.topic(name).kafka_settings
    for known, default in KEPT.items():
        source = _SOURCE_TOPIC if kept.get(known, default) != default else _SOURCE_DEFAULT
        yield _row(known, kept.get(known, default), _STRING, source, can_change=True)
    for fixed, value in FIXED.items():
        # A cluster of Kafka 4.1 has chosen this one for all of its topics when it was made (KIP-966).
        source = _SOURCE_DYNAMIC_DEFAULT if fixed == "min.insync.replicas" else _SOURCE_DEFAULT
        yield _row(fixed, value, _STRING, source, can_change=False)


def _of_broker(call: Call) -> dict[str, str]:
    context, groups = call.context, call.broker.groups.config
    log = context.host.config.log
    listeners = f"{context.security_protocol}://{call.host}:{call.port}"
    return {
        "advertised.listeners": listeners,
        "auto.create.topics.enable": str(bool(context.create_topics)).lower(),
        "broker.id": str(NODE_ID),
        "compression.type": log.compression_type,
        "default.replication.factor": "1",
        "delete.topic.enable": "true",
        "group.consumer.heartbeat.interval.ms": str(groups.consumer_heartbeat_interval_ms),
        "group.consumer.session.timeout.ms": str(groups.consumer_session_timeout_ms),
        "group.initial.rebalance.delay.ms": str(groups.initial_rebalance_delay_ms),
        "group.max.session.timeout.ms": str(context.max_session_timeout_ms),
        "group.max.size": str(groups.max_members),
        "group.min.session.timeout.ms": str(context.min_session_timeout_ms),
        "listeners": listeners,
        "log.cleanup.policy": str(log.cleanup),
        "log.dirs": directory(call),
        "log.message.timestamp.type": log.timestamp_type,
        "log.retention.bytes": str(-1 if log.retention_bytes is None else log.retention_bytes),
        "log.retention.ms": str(-1 if log.retention_ms is None else log.retention_ms),
        "log.segment.bytes": str(log.segment_bytes),
        "max.connections": str(context.limits.max_connections),
        "message.max.bytes": str(log.max_message_bytes),
        "min.insync.replicas": "1",
        "node.id": str(NODE_ID),
        "num.partitions": str(max(1, context.create_topics)),
        "offsets.topic.replication.factor": "1",
        "process.roles": "broker,controller",
        "socket.request.max.bytes": str(context.limits.max_frame_bytes),
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
        "config_type": kafka_type,
        "documentation": about,
    }


_SET, _DELETE = 0, 1


@api("IncrementalAlterConfigs", 44, 0, 1)
def _incremental_alter_configs(call: Call, request: IncrementalAlterConfigsRequest) -> Answer:
    """Settings of topics and of share groups by Kafka's names, set or set back to their default.

    What `cleanup.policy` lists is appended to and subtracted from. Settings of a group hold for the subscriptions
    that it makes later. Left out: settings of brokers.
    """
    return call.later("responses", partial(_alter, call, validate_only=request.validate_only), request.resources)


def _alter(call: Call, asked: Any, *, validate_only: bool) -> dict[str, Any]:
    changes: list[tuple[str, str | None]] = []
    try:
        for each in asked.configs:
            text: str | None = each.value
            if each.config_operation in {APPEND, SUBTRACT}:
                text = call.context.host.call(partial(_listed, call, asked, each))
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

    def alter_topic(now_ns: int) -> None:
        call.must_topic(ADMIN, name)
        log = topic_configs.with_settings(call.broker.topics.config(name), changes)
        topic = call.broker.logs.topic(name)
        kept = topic_configs.with_kept(topic.kafka_settings, changes)
        if not validate_only:
            topic.kafka_settings = kept
            call.handle(now_ns, ConfigureTopic(topic=name, log=LogSettings.of(log)))

    def alter_group(_now_ns: int) -> None:
        call.must(ADMIN, "group", name)
        share_groups = call.broker.share_groups
        config = with_group_settings(share_groups.config(name), changes)
        if not validate_only:
            share_groups.configure(name, config)

    def alter_nothing(_now_ns: int) -> None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "only settings of topics and groups can be changed")

    alter = {TOPIC: alter_topic, GROUP: alter_group}.get(asked.resource_type, alter_nothing)
    return outcome(call.context.host.admin, alter, resource_type=asked.resource_type, resource_name=name)


_NAMES = {
    TOPIC: [*(each.name for each in topic_configs.SETTINGS), *topic_configs.KEPT],
    GROUP: list(GROUP_SETTINGS),
}


@api("AlterConfigs", 33, 0, 2)
def _alter_configs(call: Call, request: AlterConfigsRequest) -> Answer:
    """All settings of a topic or share group at once; what is not named is set back to its default.

    Clients of today ask for IncrementalAlterConfigs instead, except aiokafka, which has only this one.
    """
    return call.later("responses", partial(_replace, call, validate_only=request.validate_only), request.resources)


def _replace(call: Call, asked: Any, *, validate_only: bool) -> dict[str, Any]:
    defaults: dict[str, str | None] = dict.fromkeys(_NAMES.get(asked.resource_type, ()))
    settings = {**defaults, **{each.name: each.value for each in asked.configs}}
    return altered(call, asked, list(settings.items()), validate_only=validate_only)


_LOGGER, _CLIENT_METRICS = 8, 16
_FIRST_WITH_TYPES = 1


@api("ListConfigResources", 74, 0, 1)
def _list_config_resources(call: Call, request: ListConfigResourcesRequest) -> Answer:
    """The resources that DescribeConfigs knows. v0 lists client metrics: none."""
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
    wanted = dict.fromkeys(request.resource_types if call.version >= _FIRST_WITH_TYPES else (_CLIENT_METRICS,))
    unknown = sorted(wanted.keys() - there.keys())
    if unknown:
        raise BrokerError(ErrorCode.UNSUPPORTED_VERSION, f"there is no resource type {unknown[0]}")
    return {
        "config_resources": [
            {"resource_name": name, "resource_type": kind} for kind in wanted or there for name in there[kind]
        ],
    }
