"""Kafka's names for the settings of a topic, both ways."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from broker_core.errors import ConfigError
from broker_core.log.config import LogConfig

_UNLIMITED = "-1"
_INT, _LONG, _LIST, _STRING = 3, 5, 7, 2  # Kafka's numbers of configuration types


class TopicSetting(NamedTuple):
    """A setting by Kafka's `name` and by our `field`; `nullable` where -1 is "no limit"."""

    name: str
    field: str
    kafka_type: int
    nullable: bool
    about: str


SETTINGS = (
    TopicSetting("cleanup.policy", "cleanup", _LIST, False, "delete what is old, or compact: keep the latest by key"),
    TopicSetting("retention.ms", "retention_ms", _LONG, True, "how old a message gets before it may be deleted"),
    TopicSetting("retention.bytes", "retention_bytes", _LONG, True, "how large a partition gets before the oldest go"),
    TopicSetting("segment.bytes", "segment_bytes", _INT, False, "how large a segment file gets"),
    TopicSetting("segment.ms", "segment_ms", _LONG, True, "how old a segment gets before the next begins"),
    TopicSetting("max.message.bytes", "max_message_bytes", _INT, False, "the largest batch that is taken"),
    TopicSetting(
        "message.timestamp.type",
        "timestamp_type",
        _STRING,
        False,
        "whose time it is: CreateTime or LogAppendTime",
    ),
    TopicSetting("compression.type", "compression_type", _STRING, False, "what stored batches are compressed by"),
    TopicSetting("delete.retention.ms", "tombstone_ms", _LONG, False, "how long compaction keeps tombstones"),
)
_BY_NAME = {each.name: each for each in SETTINGS}
# What other brokers let one choose and this one has one way of: the one value that is taken.
FIXED = {
    "min.insync.replicas": "1",
    "unclean.leader.election.enable": "false",
}


def with_settings(base: LogConfig, given: Iterable[tuple[str, str | None]]) -> LogConfig:
    """`base` with settings by Kafka's names; a value of None is that of `LogConfig()`. Raises INVALID_CONFIG."""
    changes: dict[str, Any] = {}
    for name, text in given:
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
    if setting.kafka_type in {_LIST, _STRING}:
        return text
    if setting.nullable and text == _UNLIMITED:
        return None
    if not text.lstrip("-").isdigit():
        raise ConfigError(f"{setting.name} is {text[:60]!r}, which is not a whole number")
    return int(text)


def text_of(setting: TopicSetting, config: LogConfig) -> str:
    """The setting's value as Kafka writes it."""
    value = getattr(config, setting.field)
    return _UNLIMITED if value is None else str(value)
