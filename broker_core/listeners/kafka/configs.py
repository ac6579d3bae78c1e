from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from broker_core.broker.share_groups import DEAD_LETTERS_PREFIX
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import ADMIN, NODE_ID, READ, Answer, Call, api, failed, outcome
from broker_core.listeners.kafka.one_broker import directory
from broker_core.listeners.kafka.setting_table import APPEND, GROUP_SETTINGS, SUBTRACT, TOPIC_SETTINGS, Settings, listed
from broker_core.log.config import LogConfig
from broker_core.names import check_name
from broker_core.operations.groups import ConfigureGroup, GroupChanges
from broker_core.operations.topics import ConfigureTopic, LogSettings
from broker_core.transactions.transaction import TransactionConfig

if TYPE_CHECKING:
    from kio.schema.alter_configs.v2.request import AlterConfigsRequest
    from kio.schema.describe_configs.v4.request import DescribeConfigsRequest
    from kio.schema.incremental_alter_configs.v1.request import IncrementalAlterConfigsRequest
    from kio.schema.list_config_resources.v1.request import ListConfigResourcesRequest

TOPIC, BROKER, GROUP = 2, 4, 32  # Kafka's numbers of resource types
SOURCE_TOPIC, _SOURCE_DYNAMIC_DEFAULT, _SOURCE_STATIC, _SOURCE_DEFAULT, _SOURCE_GROUP = 1, 3, 4, 5, 8
_WEEK_MS = 7 * 86_400_000
BOOLEAN, STRING, INT, SHORT, LONG, LIST = 1, 2, 3, 4, 5, 7  # Kafka's numbers of configuration types


def topic_defaults(call: Call) -> LogConfig:
    """Defaults of a topic that a Kafka client creates: those of the broker, with Kafka's retention if it has none."""
    log = call.context.host.config.log
    return log if log.retention_ms is not None else msgspec.structs.replace(log, retention_ms=_WEEK_MS)


@api("DescribeConfigs", 32, 1, 4, most_elements=5_000)
def _describe_configs(call: Call, request: DescribeConfigsRequest) -> Answer:
    """The settings of topics, of groups and of the broker by Kafka's names. Left out: settings of loggers."""
    return call.sliced("results", (_resource(call, each, request) for each in request.resources))


def _resource(call: Call, asked: Any, request: DescribeConfigsRequest) -> dict[str, Any]:
    kind, name, wanted = asked.resource_type, asked.resource_name, asked.configuration_keys

    def rows() -> dict[str, Any]:
        rows = [row for row in _settings(call, kind, name) if not wanted or row["name"] in wanted]
        for row in rows:
            row["synonyms"] = row["synonyms"] if request.include_synonyms else []
            row["documentation"] = row["documentation"] if request.include_documentation else None
        return {"configs": rows, "error_message": ""}

    return outcome(rows, resource_type=kind, resource_name=name)


def _settings(call: Call, kind: int, name: str) -> Iterator[dict[str, Any]]:
    if kind == BROKER:
        call.must(READ, "broker")
        if name not in {"", str(NODE_ID)}:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is no broker {name}")
        yield from _of_broker(call)
        return
    if kind == GROUP:
        call.must(READ, "group", name)
        check_name(name, "group", ErrorCode.INVALID_GROUP_ID)
        configs = call.broker.groups.configs
        chosen = configs.kafka_settings.get(name, {})
        yield from setting_rows(GROUP_SETTINGS, chosen, configs.of(name), configs.default, _SOURCE_GROUP)
        return
    if kind != TOPIC:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "only topics, groups and the broker have settings here")
    check_name(name, "topic")
    call.must_topic(READ, name)
    chosen = call.broker.logs.topic(name).kafka_settings
    yield from setting_rows(TOPIC_SETTINGS, chosen, call.broker.topics.config(name), topic_defaults(call), SOURCE_TOPIC)


def setting_rows(
    settings: Settings, chosen: Mapping[str, str], config: msgspec.Struct, brokers: msgspec.Struct, own: int
) -> Iterator[dict[str, Any]]:
    """Each setting with what stands in for it, the nearest first: `own` choice, the broker's, Kafka's default."""
    for each in settings:
        told, usual = settings.told(each, chosen, config), each.default
        if each.field:
            usual = settings.text(each, getattr(brokers, each.field))
            now = settings.text(each, getattr(config, each.field))
            told = now if told is None and now != usual else told
        synonyms = [] if told is None else [_synonym(each.name, told, own)]
        if each.broker and usual != each.default:
            synonyms.append(_synonym(each.broker, usual, _SOURCE_STATIC))
        elif each.name == "min.insync.replicas":  # Kafka 4.1 and later have it so for all topics (KIP-966)
            synonyms.append(_synonym(each.broker, usual, _SOURCE_DYNAMIC_DEFAULT))
        if each.broker:
            synonyms.append(_synonym(each.broker, each.default, _SOURCE_DEFAULT))
        value, source = (told, own) if told is not None else (usual, _SOURCE_DEFAULT)
        source = synonyms[0]["source"] if synonyms else source
        yield _row(each.name, value, each.type, source, settings.about(each), synonyms, changeable=True)


def _synonym(name: str, value: str, source: int) -> dict[str, Any]:
    return {"name": name, "value": value, "source": source}


def _of_broker(call: Call) -> Iterator[dict[str, Any]]:
    """The rows of a broker's settings: those of its start, its defaults for topics and groups, and their ranges."""
    tables = ((TOPIC_SETTINGS, topic_defaults(call)), (GROUP_SETTINGS, call.broker.groups.configs.default))
    for settings, config in tables:
        for each in settings:
            if each.broker and (settings is TOPIC_SETTINGS or each.broker != each.name):
                value = settings.text(each, getattr(config, each.field)) if each.field else each.default
                source = _SOURCE_DEFAULT if value == each.default else _SOURCE_STATIC
                default = _synonym(each.broker, each.default, _SOURCE_DEFAULT)
                own = [_synonym(each.broker, value, source)] if source == _SOURCE_STATIC else []
                kafka_type = _TYPES.get(each.broker, each.type)
                yield _row(each.broker, value, kafka_type, source, settings.about(each), [*own, default])
            if each.broker.startswith(("group.consumer.", "group.share.")) and each.range is not None:
                group, kind, rest = each.broker.split(".", 2)
                for word, limit in zip(("min", "max"), each.range, strict=False):
                    yield _row(f"{group}.{kind}.{word}.{rest}", str(limit), each.type, _SOURCE_STATIC)
    for name, value in _of_start(call).items():
        kafka_type = BOOLEAN if value in {"true", "false"} else _TYPES.get(name, INT if value.isdigit() else STRING)
        yield _row(name, value, kafka_type, _SOURCE_STATIC)


# Of the settings below, those that are neither numbers of 4 bytes nor one text.
_TYPES = {
    "advertised.listeners": LIST,
    "group.streams.assignors": LIST,
    "listeners": LIST,
    "log.dirs": LIST,
    "log.retention.ms": LONG,
    "offsets.topic.replication.factor": SHORT,
    "process.roles": LIST,
    "transaction.state.log.replication.factor": SHORT,
}


def _of_start(call: Call) -> dict[str, str]:
    context, groups = call.context, call.broker.groups.config
    listeners = f"{context.security_protocol}://{call.host}:{call.port}"
    retention_ms = topic_defaults(call).retention_ms
    return {
        "advertised.listeners": listeners,
        "auto.create.topics.enable": str(bool(context.create_topics)).lower(),
        "broker.id": str(NODE_ID),
        "default.replication.factor": "1",
        "delete.topic.enable": "true",
        "errors.deadletterqueue.auto.create.topics.enable": "false",
        "errors.deadletterqueue.topic.name.prefix": DEAD_LETTERS_PREFIX,
        "group.initial.rebalance.delay.ms": str(groups.initial_rebalance_delay_ms),
        "group.max.session.timeout.ms": str(context.max_session_timeout_ms),
        "group.max.size": str(groups.max_members),
        "group.min.session.timeout.ms": str(context.min_session_timeout_ms),
        "listeners": listeners,
        "log.dirs": directory(call),
        "log.retention.ms": str(retention_ms),
        "max.connections": str(context.limits.max_connections),
        "node.id": str(NODE_ID),
        "num.partitions": str(max(1, context.create_topics)),
        "offsets.topic.replication.factor": "1",
        "process.roles": "broker,controller",
        "socket.request.max.bytes": str(context.limits.max_frame_bytes),
        "transaction.max.timeout.ms": str(TransactionConfig().max_timeout_ms),
        "transaction.state.log.replication.factor": "1",
    }


def _row(
    name: str,
    value: str,
    kafka_type: int,
    source: int,
    about: str | None = None,
    synonyms: Sequence[Any] = (),
    *,
    changeable: bool = False,
) -> dict[str, Any]:
    return {
        "name": name,
        "value": value,
        "read_only": not changeable,
        "config_source": source,
        "config_type": kafka_type,
        "documentation": about,
        "synonyms": synonyms,
    }


_SET, _DELETE = 0, 1


@api("IncrementalAlterConfigs", 44, 0, 1)
def _incremental_alter_configs(call: Call, request: IncrementalAlterConfigsRequest) -> Answer:
    """Settings of topics and of share groups by Kafka's names, set or set back to their default.

    Left out: settings of brokers, which are those of its start.
    """
    return call.later("responses", partial(_alter, call, validate_only=request.validate_only), request.resources)


def _alter(call: Call, asked: Any, *, validate_only: bool) -> dict[str, Any]:
    changes: list[tuple[str, str | None]] = []
    try:
        _check_named_once(asked)
        for each in asked.configs:
            text = each.value
            if each.config_operation != _DELETE:
                _check_value(each)
            if each.config_operation in {APPEND, SUBTRACT}:
                text = call.context.host.call(partial(_listed, call, asked, each))
            elif each.config_operation not in {_SET, _DELETE}:
                raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is no operation {each.config_operation}")
            changes.append((each.name, None if each.config_operation == _DELETE else text))
    except BrokerError as error:
        return {"resource_type": asked.resource_type, "resource_name": asked.resource_name, **failed(error)}
    return altered(call, asked, changes, validate_only=validate_only)


def _check_value(change: Any) -> None:
    if change.value is None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{change.name[:100]} has no value")


def _check_named_once(asked: Any) -> None:
    """Raises INVALID_REQUEST, as Kafka does for all of a resource's changes."""
    names = [each.name for each in asked.configs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{twice[:100]} is named twice")


def _listed(call: Call, asked: Any, change: Any, _now_ns: int) -> str:
    if asked.resource_type != TOPIC:
        raise BrokerError(ErrorCode.INVALID_CONFIG, f"{change.name} is not a list")
    call.must_topic(ADMIN, asked.resource_name)
    setting = TOPIC_SETTINGS.named(change.name)
    (before,) = (row["value"] for row in _settings(call, TOPIC, asked.resource_name) if row["name"] == setting.name)
    return listed(setting, before, change.config_operation, change.value or "")


def altered(
    call: Call, asked: Any, changes: Sequence[tuple[str, str | None]], *, validate_only: bool
) -> dict[str, Any]:
    """The answer for the resource `asked` after `changes` of its settings; None sets one back to its default."""
    name = asked.resource_name

    def alter_topic(now_ns: int) -> None:
        call.must_topic(ADMIN, name)
        topic = call.broker.logs.topic(name)
        chosen = TOPIC_SETTINGS.chosen(topic.kafka_settings, changes)
        log = TOPIC_SETTINGS.on(call.broker.topics.config(name), topic_defaults(call), chosen, changes)
        if not validate_only:
            topic.kafka_settings = chosen
            call.handle(now_ns, ConfigureTopic(topic=name, log=LogSettings.of(log)))

    def alter_group(now_ns: int) -> None:
        call.must(ADMIN, "group", name)
        check_name(name, "group", ErrorCode.INVALID_GROUP_ID)
        configs = call.broker.groups.configs
        chosen = GROUP_SETTINGS.chosen(configs.kafka_settings.get(name, {}), changes)
        settings = GROUP_SETTINGS.on(configs.of(name), configs.default, chosen, changes)
        configs.check_heartbeats(name, settings)
        if not validate_only:
            call.handle(now_ns, ConfigureGroup(group=name, settings=GroupChanges.of(settings)))
            configs.kafka_settings[name] = chosen

    def alter_nothing(_now_ns: int) -> None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "only settings of topics and groups can be changed")

    alter = {TOPIC: alter_topic, GROUP: alter_group}.get(asked.resource_type, alter_nothing)
    return outcome(call.context.host.admin, alter, resource_type=asked.resource_type, resource_name=name)


_NAMES = {TOPIC: list(TOPIC_SETTINGS.by_name), GROUP: list(GROUP_SETTINGS.by_name)}


@api("AlterConfigs", 33, 0, 2)
def _alter_configs(call: Call, request: AlterConfigsRequest) -> Answer:
    """All settings of a topic or share group at once; what is not named is set back to its default.

    Clients of today ask for IncrementalAlterConfigs instead, except aiokafka, which has only this one.
    """
    return call.later("responses", partial(_replace, call, validate_only=request.validate_only), request.resources)


def _replace(call: Call, asked: Any, *, validate_only: bool) -> dict[str, Any]:
    try:
        _check_named_once(asked)
        for each in asked.configs:
            _check_value(each)
    except BrokerError as error:
        return {"resource_type": asked.resource_type, "resource_name": asked.resource_name, **failed(error)}
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
        GROUP: [name for name in call.broker.groups.configs.names() if call.may(READ, "group", name)],
    }
    wanted = dict.fromkeys(request.resource_types if call.version >= _FIRST_WITH_TYPES else (_CLIENT_METRICS,))
    unknown = sorted(wanted.keys() - there.keys())
    if unknown:
        raise BrokerError(ErrorCode.UNSUPPORTED_VERSION, f"there is no resource type {unknown[0]}")
    return {
        "config_resources": [
            {"resource_name": name, "resource_type": kind} for kind in wanted or there for name in there[kind]
        ]
    }
