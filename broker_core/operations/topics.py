from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from broker_core.flow.config import FlowConfig
from broker_core.limits import MAX_PARTITIONS
from broker_core.log.config import Durability, LogConfig
from broker_core.log.partitioners import PartitionerKind
from broker_core.operations.entry import ADMIN, LISTED, READ, Entry, Right, Visible, declaring
from broker_core.operations.fields import Name, NewName, Offset, PartitionCount, PartitionName
from broker_core.operations.request import Request, Result, SettingsChanges, changeable
from broker_core.plurals import counted
from broker_core.schemas.rule import SchemaRule
from broker_core.settings import LimitPolicy, about
from broker_core.snapshots import GateView, TopicView


class LogSettings(SettingsChanges[LogConfig], frozen=True, kw_only=True):
    """The fields of `LogConfig` that say what they mean; one that is left out stays as it is, null is "no limit"."""

    __annotations__ = changeable(LogConfig)
    vars().update(dict.fromkeys(__annotations__, UNSET))

    @staticmethod
    def of(config: LogConfig | None) -> LogSettings:
        """All settings of `config`; none for None."""
        return LogSettings() if config is None else AllLogSettings(**msgspec.structs.asdict(config))


class AllLogSettings(LogSettings, frozen=True, kw_only=True):
    """Log settings with `durability`, which only a program in the broker's own process can choose."""

    durability: Durability | UnsetType = UNSET


# -- results


class TopicSettings(Result, frozen=True, kw_only=True):
    """The log settings (`log`) and the limits of a topic or queue: `flow` holds the limits, `gate` how much of them is
    used.
    """

    log: LogConfig
    partitioner: str
    rule: SchemaRule | None
    flow: FlowConfig | None
    gate: GateView | None


# -- requests


ENTRIES: list[Entry] = []
_READ, _ADMIN = (Right(READ, "topic", "topic"),), (Right(ADMIN, "topic", "topic"),)
_TAG = "Topics"
_read_operation = declaring(ENTRIES, tag=_TAG, rights=_READ)
_admin_operation = declaring(ENTRIES, tag=_TAG, rights=_ADMIN, mode="slow", saved="catalog", errors=(409,))


@_read_operation("GET /v1/topics", "List topics", visible=Visible("topic"), **LISTED)
class ListTopics(Request[list[TopicView]], frozen=True, kw_only=True):
    """Topics, without the logs of queues."""


@_admin_operation(
    "POST /v1/topics", "Create a topic", rights=(Right(ADMIN, "topic", "name"),), created=True, errors=(404, 409)
)
class CreateTopic(Request[TopicView], frozen=True, kw_only=True):
    name: NewName
    partitions: Annotated[PartitionCount, about("number of partitions")] = 1
    partitioner: Annotated[PartitionerKind, about("how keys choose partitions")] = "crc32"
    log: LogSettings = LogSettings()
    flow: FlowConfig | None = None
    rule: SchemaRule | None = None


@_read_operation("GET /v1/topics/{topic}", "Describe a topic: its partitions, counters and backpressure")
class DescribeTopic(Request[TopicView], frozen=True, kw_only=True):
    topic: Name


@_admin_operation("DELETE /v1/topics/{topic}", "Delete a topic, its messages and the offsets committed for it")
class DeleteTopic(Request[None], frozen=True, kw_only=True):
    topic: Name


@_read_operation(
    "GET /v1/topics/{topic}/config",
    "Show the settings of a topic or queue: log, partitioner, schema rule and limits",
    rights=(Right(READ, "topic or queue", "topic"),),
    called="topic_config",
)
class TopicConfiguration(Request[TopicSettings], frozen=True, kw_only=True):
    topic: Name


# What becomes of messages that find no room, for a sentence.
_WHEN_FULL: dict[LimitPolicy, str] = {
    "block": "producers wait",
    "reject": "messages beyond it are rejected",
    "drop_newest": "the newest messages are dropped",
    "drop_oldest": "the oldest messages are dropped",
    "priority_evict": "lower priorities are evicted",
}


@_admin_operation(
    "PATCH /v1/topics/{topic}/config",
    "Change the settings of a topic's log and its limits",
    repeatable=True,
    details="Retention (`retention_ms`, `retention_bytes`) is applied about once per second.",
)
class ConfigureTopic(Request[TopicSettings], frozen=True, kw_only=True):
    """New settings; a setting that is left out stays as it is."""

    topic: Name
    log: LogSettings = LogSettings()
    flow: FlowConfig | None = None

    @property
    def sentence(self) -> str:
        flow = self.flow
        if flow is None or self.log != LogSettings():
            return f"configured {self.topic}"
        limits = [
            "" if flow.max_messages is None else counted(flow.max_messages, "message"),
            "" if flow.max_bytes is None else counted(flow.max_bytes, "byte"),
            "" if flow.rate_per_s is None else f"{flow.rate_per_s:g} messages/s",
        ]
        said = " and ".join(limit for limit in limits if limit)
        if not said:
            return f"lifted the limits of {self.topic}"
        only_rate = flow.max_messages is None and flow.max_bytes is None
        evicts = flow.policy in {"drop_oldest", "priority_evict"}  # which does not lower a rate
        return f"limited {self.topic} to {said}: {_WHEN_FULL['drop_newest' if only_rate and evicts else flow.policy]}"


@_admin_operation(
    "POST /v1/topics/{topic}/partitions",
    "Add partitions to a topic; keys may be mapped to other partitions from then on",
)
class AddPartitions(Request[TopicView], frozen=True, kw_only=True):
    topic: Name
    total: Annotated[PartitionCount, about("number of partitions afterwards")]


@_admin_operation(
    "POST /v1/topics/{topic}/delete-records", "Delete the oldest messages of a topic, up to an offset", repeatable=True
)
class DeleteRecords(Request[dict[str, int]], frozen=True, kw_only=True):
    """The offset before which messages are deleted, by partition. The result holds the new start offsets."""

    topic: Name
    before: Annotated[dict[PartitionName, Offset], Meta(max_length=MAX_PARTITIONS)]


@_admin_operation(
    "PUT /v1/topics/{topic}/schema-rule",
    "Accept only values that match a subject's schema",
    repeatable=True,
    body="rule",
)
class SetSchemaRule(Request[None], frozen=True, kw_only=True):
    topic: Name
    rule: SchemaRule


@_admin_operation("DELETE /v1/topics/{topic}/schema-rule", "Accept any value again", repeatable=True)
class RemoveSchemaRule(Request[None], frozen=True, kw_only=True):
    topic: Name
