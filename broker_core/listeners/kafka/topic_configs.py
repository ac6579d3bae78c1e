"""Kafka's names for the settings of a topic, both ways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from broker_core.errors import ConfigError
from broker_core.log.config import LogConfig
from broker_core.operations.field_info import FieldInfo, field_info

APPEND, SUBTRACT = 2, 3  # Kafka's numbers of operations
_UNLIMITED = "-1"
_INT, _LONG, _LIST, _STRING = 3, 5, 7, 2  # Kafka's numbers of configuration types


class TopicSetting(NamedTuple):
    """A setting of a topic by Kafka's `name`; a field of `LogConfig`."""

    name: str
    field: str
    info: FieldInfo

    @property
    def kafka_type(self) -> int:
        if self.info.choices:
            return _LIST if self.field == "cleanup" else _STRING
        return _INT if self.field.endswith("_bytes") and not self.info.nullable else _LONG


_INFOS = {field: field_info(LogConfig, field) for field in LogConfig.__struct_fields__}
SETTINGS = tuple(TopicSetting(info.kafka, field, info) for field, info in _INFOS.items() if info.kafka)
_BY_NAME = {each.name: each for each in SETTINGS}
# What other brokers let one choose and this one has one way of: the one value that is taken.
FIXED = {
    "min.insync.replicas": "1",
    "unclean.leader.election.enable": "false",
    "remote.storage.enable": "false",
}
_NEVER = str((1 << 63) - 1)
# What has no effect here, with Kafka's default: it is kept, and told to those who ask.
KEPT = {
    "file.delete.delay.ms": "60000",
    "flush.messages": _NEVER,
    "flush.ms": _NEVER,
    "follower.replication.throttled.replicas": "",
    "index.interval.bytes": "4096",
    "leader.replication.throttled.replicas": "",
    "local.retention.bytes": "-2",
    "local.retention.ms": "-2",
    "max.compaction.lag.ms": _NEVER,
    "message.timestamp.after.max.ms": "3600000",
    "message.timestamp.before.max.ms": _NEVER,
    "min.cleanable.dirty.ratio": "0.5",
    "min.compaction.lag.ms": "0",
    "preallocate": "false",
    "segment.index.bytes": "10485760",
    "segment.jitter.ms": "0",
}
# Names of a broker's settings for its topics if they are not that of the topic behind "log.".
OF_BROKER = {
    **{name: name for name in ("compression.type", *FIXED)},
    "delete.retention.ms": "log.cleaner.delete.retention.ms",
    "file.delete.delay.ms": "log.segment.delete.delay.ms",
    "flush.messages": "log.flush.interval.messages",
    "flush.ms": "log.flush.interval.ms",
    "max.compaction.lag.ms": "log.cleaner.max.compaction.lag.ms",
    "max.message.bytes": "message.max.bytes",
    "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
    "min.compaction.lag.ms": "log.cleaner.min.compaction.lag.ms",
    "segment.index.bytes": "log.index.size.max.bytes",
    "segment.jitter.ms": "log.roll.jitter.ms",
    "segment.ms": "log.roll.ms",
}
_CLEANUPS = ("delete", "compact")


def with_kept(base: Mapping[str, str], given: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """`base` with what is `KEPT` only; None takes a setting back. Raises INVALID_CONFIG."""
    kept = dict(base)
    for name, text in given:
        if name in KEPT:
            kept.pop(name, None)
            if text is not None:
                kept[name] = _like(name, text, KEPT[name])
    return kept


def _like(name: str, text: str, usual: str) -> str:
    try:
        if usual in {"true", "false"}:
            good = text in {"true", "false"}
        else:
            good = not usual or (float(text) >= -2 and ("." in usual or int(text) is not None))
    except ValueError:
        good = False
    if not good:
        raise ConfigError(f"{name} is {text[:60]!r}, which is not the same type as {usual}")
    return text


def listed(config: LogConfig, operation: int, name: str, text: str | None) -> str:
    """The list `name` of `config` with (APPEND) or without (SUBTRACT) what `text` names. Raises INVALID_CONFIG."""
    if name != "cleanup.policy":
        raise ConfigError(f"{name} is not a list, so nothing can be appended to it or subtracted from it")
    named = (text or "").split(",")
    there = text_of(_BY_NAME[name], config).split(",")
    wanted = [each for each in there if each not in named] + (named if operation == APPEND else [])
    return ",".join(each for each in wanted if each)


def with_settings(base: LogConfig, given: Iterable[tuple[str, str | None]]) -> LogConfig:
    """`base` with settings by Kafka's names; a value of None is that of `LogConfig()`. Raises INVALID_CONFIG."""
    changes: dict[str, Any] = {}
    for name, text in given:
        if name in KEPT:
            continue
        if name in FIXED:
            if text not in {None, FIXED[name]}:
                raise ConfigError(f"{name} is {FIXED[name]} here, and {text} cannot be chosen")
            continue
        setting = _BY_NAME.get(name)
        if setting is None:
            raise ConfigError(f"{name} is not a setting of topics here; there are {', '.join(_BY_NAME)}")
        changes[setting.field] = _value(setting, text)
    return msgspec.structs.replace(base, **changes)


def _value(setting: TopicSetting, text: str | None) -> Any:
    if text is None:
        return getattr(LogConfig(), setting.field)
    if setting.kafka_type == _LIST:
        return _cleanup(text)
    if setting.kafka_type == _STRING:
        return text
    if setting.info.nullable and text == _UNLIMITED:
        return None
    if not text.lstrip("-").isdigit():
        raise ConfigError(f"{setting.name} is {text[:60]!r}, which is not a whole number")
    return int(text)


def _cleanup(text: str) -> str:
    named = {each.strip() for each in text.split(",")} - {""}
    if not named.issubset(_CLEANUPS):
        raise ConfigError(f"cleanup.policy is {text[:60]!r}; it is delete, compact, both, or nothing")
    return ",".join(each for each in _CLEANUPS if each in named) or "none"


def text_of(setting: TopicSetting, config: LogConfig) -> str:
    value = getattr(config, setting.field)
    if setting.kafka_type == _LIST and value == "none":
        return ""
    return _UNLIMITED if value is None else str(value)
