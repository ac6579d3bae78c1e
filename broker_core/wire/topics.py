"""Topics: what there is, and what is to be there."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from broker_core.flow.config import FlowConfig
from broker_core.log.config import LogConfig
from broker_core.log.partitioners import PartitionerKind
from broker_core.schemas.rule import SchemaRule
from broker_core.snapshots import TopicView
from broker_core.wire.body import Body, Int32, Int64, Name

Place = tuple[Name, Int32]  # topic, partition


class Metadata(Body, frozen=True):
    """What a client must know of these to publish and to read. With `create`, missing ones are made, where allowed."""

    names: tuple[Name, ...]
    create: bool = False


class TopicInfo(Body, frozen=True):
    """`priorities` is 0 for a topic; a queue has that many levels, a partition each. Without `batches`, the flow policy
    or the schema judges each message by itself, so a batch holds one."""

    name: str
    partitions: int
    partitioner: PartitionerKind
    priorities: int
    batches: bool
    log: LogConfig


class MetadataReply(Body, frozen=True):
    """Those that are there. `revision` is another one when anything of this may have changed."""

    revision: int
    topics: tuple[TopicInfo, ...]


class ListTopics(Body, frozen=True):
    """The names of all topics."""


class Names(Body, frozen=True):
    """Names, in the order of the list that was asked for."""

    names: tuple[str, ...]


class CreateTopic(Body, frozen=True):
    """See `Broker.create_topic`."""

    name: Name
    partitions: Annotated[int, msgspec.Meta(ge=-(1 << 31), le=(1 << 31))]
    partitioner: PartitionerKind = "crc32"
    flow: FlowConfig | None = None
    log: LogConfig | None = None
    schema: SchemaRule | None = None


class DeleteTopic(Body, frozen=True):
    """See `Broker.delete_topic`."""

    name: Name


class AddPartitions(Body, frozen=True):
    """See `Broker.add_partitions`."""

    name: Name
    total: Int32


class ConfigureTopic(Body, frozen=True):
    """See `Broker.configure_topic`."""

    name: Name
    log: LogConfig | None = None
    flow: FlowConfig | None = None


class DescribeTopic(Body, frozen=True):
    """A topic, or the log of a queue."""

    name: Name


class TopicDescription(Body, frozen=True):
    """Where it stands, how it is kept, what it takes, and which values."""

    view: TopicView
    log: LogConfig
    flow: FlowConfig | None = None
    rule: SchemaRule | None = None
    partitioner: PartitionerKind = "crc32"


class DeleteRecords(Body, frozen=True):
    """Delete the messages below the offset of each partition."""

    name: Name
    before: dict[Int32, Int64]


class StartOffsets(Body, frozen=True):
    """The start offsets of partitions, now."""

    offsets: dict[int, int]


class ListOffsets(Body, frozen=True):
    """Where partitions begin or end, or the first offset at a Unix time or later."""

    places: tuple[Place, ...]
    what: Literal["start", "end", "time"]
    timestamp_ms: Int64 = 0


class Offsets(Body, frozen=True):
    """One for each place that was asked for, in order; None where there is none."""

    offsets: tuple[int | None, ...]
