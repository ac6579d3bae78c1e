from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from broker_core.flow.config import FlowConfig
from broker_core.log.config import Cleanup, CompressionType, Durability, LogConfig, TimestampType
from broker_core.log.partitioners import PartitionerKind
from broker_core.operations.entry import Entry
from broker_core.operations.fields import (
    Limit,
    Name,
    NewName,
    Offset,
    PartitionCount,
    Positive,
    SegmentBytes,
)
from broker_core.operations.request import Input, Request, Result
from broker_core.operations.rights import ADMIN, READ, Right, Visible
from broker_core.schemas.rule import SchemaRule
from broker_core.settings import about
from broker_core.snapshots import GateView, TopicView


class LogSettings(Input, frozen=True, kw_only=True):
    """Settings of a log; a setting that is left out stays as it is, null is "no limit". Times in milliseconds.

    `retention_bytes`, for each partition, and `retention_ms` delete whole segments; `message_ttl_ms` is the age after
    which messages are not delivered.
    """

    segment_bytes: Annotated[
        SegmentBytes | UnsetType, about("size at which a segment file is closed; retention deletes whole segments")
    ] = UNSET
    segment_ms: Annotated[Positive | UnsetType | None, about("age at which a segment file is closed")] = UNSET
    max_message_bytes: Annotated[SegmentBytes | UnsetType, about("largest message")] = UNSET
    cleanup: Annotated[
        Cleanup | UnsetType,
        about("delete old segments, or compact: keep the latest value of each key; both, or none"),
    ] = UNSET
    retention_ms: Annotated[Limit | UnsetType | None, about("age after which messages are deleted")] = UNSET
    retention_bytes: Annotated[
        Limit | UnsetType | None, about("size of a partition above which its oldest messages are deleted")
    ] = UNSET
    tombstone_ms: Annotated[Limit | UnsetType, about("how long compaction keeps the deletion of a key")] = UNSET
    message_ttl_ms: Annotated[Limit | UnsetType | None, about("age after which messages are not delivered")] = UNSET
    timestamp_type: Annotated[
        TimestampType | UnsetType,
        about("whose time messages have: the producer's, or the broker's when it appends them"),
    ] = UNSET
    compression_type: Annotated[
        CompressionType | UnsetType, about("what stored batches are compressed by (producer: as they come)")
    ] = UNSET

    def on(self, base: LogConfig) -> LogConfig:
        """`base` with these. Raises INVALID_CONFIG."""
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        return msgspec.structs.replace(base, **{name: value for name, value in given.items() if value is not UNSET})

    @staticmethod
    def of(config: LogConfig | None) -> LogSettings:
        """All settings of `config`; none for None."""
        if config is None:
            return LogSettings()
        return AllLogSettings(**{name: getattr(config, name) for name in config.__struct_fields__})


class AllLogSettings(LogSettings, frozen=True, kw_only=True):
    """With the settings that only a program in the broker's own process can choose."""

    durability: Durability | UnsetType = UNSET
    index_interval_bytes: SegmentBytes | UnsetType = UNSET


# -- results


class TopicsAnswer(Result, frozen=True, kw_only=True):
    """The topics that the caller may read, in the order of creation."""

    topics: list[TopicView]


class Demands(Result, frozen=True, kw_only=True):
    """What a topic or queue demands of its producers: `flow` holds the limits, `gate` how much of them is used."""

    partitioner: str
    rule: SchemaRule | None
    flow: FlowConfig | None
    gate: GateView | None


class RecordsDeleted(Result, frozen=True, kw_only=True):
    """The start offset of each partition."""

    start_offsets: dict[str, int]


# -- requests


class ListTopics(Request[TopicsAnswer], frozen=True, kw_only=True):
    """Topics, without the logs of queues."""


class CreateTopic(Request[TopicView], frozen=True, kw_only=True):
    """A new topic."""

    name: NewName
    partitions: Annotated[PartitionCount, about("number of partitions")] = 1
    partitioner: Annotated[PartitionerKind, about("how keys choose partitions")] = "crc32"
    log: LogSettings = LogSettings()
    flow: FlowConfig | None = None
    rule: SchemaRule | None = None


class DescribeTopic(Request[TopicView], frozen=True, kw_only=True):
    """A topic as it is now."""

    topic: Name


class DeleteTopic(Request[None], frozen=True, kw_only=True):
    """A topic that no subscription or queue uses."""

    topic: Name


class TopicConfig(Request[LogConfig], frozen=True, kw_only=True):
    """The settings of a topic's log."""

    topic: Name


class TopicDemands(Request[Demands], frozen=True, kw_only=True):
    """A topic or queue."""

    topic: Name


class ConfigureTopic(Request[LogConfig], frozen=True, kw_only=True):
    """New settings; a setting that is left out stays as it is."""

    topic: Name
    log: LogSettings = LogSettings()
    flow: FlowConfig | None = None


class AddPartitions(Request[TopicView], frozen=True, kw_only=True):
    """The new number of partitions, in all."""

    topic: Name
    total: Annotated[PartitionCount, about("number of partitions afterwards")]


class DeleteRecords(Request[RecordsDeleted], frozen=True, kw_only=True):
    """The offset before which messages are deleted, by partition."""

    topic: Name
    before: Annotated[dict[Annotated[str, Meta(pattern="^[0-9]{1,4}$")], Offset], Meta(max_length=10_000)]


class SetSchemaRule(Request[None], frozen=True, kw_only=True):
    """A rule for the values of a topic or queue."""

    topic: Name
    rule: SchemaRule


class RemoveSchemaRule(Request[None], frozen=True, kw_only=True):
    """A topic or queue that is to accept any value."""

    topic: Name


_READ, _ADMIN = (Right(READ, "topic", "topic"),), (Right(ADMIN, "topic", "topic"),)
_TAG = "Topics"
_look = partial(Entry, tag=_TAG, rights=_READ)
_change = partial(Entry, tag=_TAG, rights=_ADMIN, mode="slow", saved="catalog", errors=(409,))

ENTRIES = (
    _look(
        ListTopics,
        "GET /v1/topics",
        "List topics",
        rights=(),
        visible=Visible("topics", "topic"),
        details="Only those that the caller may read.",
    ),
    _change(
        CreateTopic,
        "POST /v1/topics",
        "Create a topic",
        rights=(Right(ADMIN, "topic", "name"),),
        created=True,
        errors=(404, 409),
    ),
    _look(DescribeTopic, "GET /v1/topics/{topic}", "Describe a topic: its partitions, counters and backpressure"),
    _change(DeleteTopic, "DELETE /v1/topics/{topic}", "Delete a topic, its messages and the offsets committed for it"),
    _look(TopicConfig, "GET /v1/topics/{topic}/config", "Show the settings of a topic's log"),
    _look(
        TopicDemands,
        "GET /v1/topics/{topic}/demands",
        "Show what a topic or queue demands of producers: partitioner, schema rule and limits",
        rights=(Right(READ, "topic or queue", "topic"),),
    ),
    _change(
        ConfigureTopic,
        "PATCH /v1/topics/{topic}/config",
        "Change the settings of a topic's log and its limits",
        repeatable=True,
        details="Retention (`retention_ms`, `retention_bytes`) is applied about once a second.",
    ),
    _change(
        AddPartitions,
        "POST /v1/topics/{topic}/partitions",
        "Add partitions to a topic; keys may be mapped to other partitions from then on",
    ),
    _change(
        DeleteRecords,
        "POST /v1/topics/{topic}/delete-records",
        "Delete the oldest messages of a topic, up to an offset",
        repeatable=True,
    ),
    _change(
        SetSchemaRule,
        "PUT /v1/topics/{topic}/schema-rule",
        "Accept only values that match a subject's schema",
        repeatable=True,
        body="rule",
    ),
    _change(RemoveSchemaRule, "DELETE /v1/topics/{topic}/schema-rule", "Accept any value again", repeatable=True),
)
