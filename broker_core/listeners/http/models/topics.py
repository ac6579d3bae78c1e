"""Topics, their settings, and messages by the batch."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from broker_core.flow.config import FlowConfig
from broker_core.limits import MAX_TTL_MS, MAX_WAIT_MS
from broker_core.listeners.http.models.basics import (
    MAX_INT,
    Client,
    Encoding,
    JsonValue,
    MaxMessages,
    Name,
    NewName,
    Offset,
    Partition,
    Request,
    Shape,
)
from broker_core.log.config import LogConfig
from broker_core.log.partitioners import PartitionerKind
from broker_core.schemas.rule import SchemaRule
from broker_core.snapshots import TopicView

PartitionCount = Annotated[int, Meta(ge=1, le=1_000)]
Positive = Annotated[int, Meta(ge=1, le=MAX_INT)]
Limit = Annotated[int, Meta(ge=0, le=MAX_INT)]
SegmentBytes = Annotated[int, Meta(ge=1, le=1 << 30)]
Rate = Annotated[float, Meta(ge=0.001, le=1e9)]
WaitMs = Annotated[float, Meta(gt=0, le=MAX_WAIT_MS)]
TtlMs = Annotated[int, Meta(ge=1, le=MAX_TTL_MS)]


class LogSettings(Request, frozen=True, kw_only=True):
    """How a log is kept; what is left out stays as it is, null is "no limit". Times in milliseconds.

    `retention_bytes`, for each partition, and `retention_ms` remove whole segments; `message_ttl_ms` is how long a
    message is handed out at most.
    """

    segment_bytes: SegmentBytes | UnsetType = UNSET
    segment_ms: Positive | UnsetType | None = UNSET
    max_message_bytes: SegmentBytes | UnsetType = UNSET
    cleanup: Literal["delete", "compact"] | UnsetType = UNSET
    retention_ms: Limit | UnsetType | None = UNSET
    retention_bytes: Limit | UnsetType | None = UNSET
    tombstone_ms: Limit | UnsetType = UNSET
    message_ttl_ms: Limit | UnsetType | None = UNSET

    def on(self, base: LogConfig) -> LogConfig:
        """`base` with these. Raises INVALID_CONFIG."""
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        return msgspec.structs.replace(base, **{name: value for name, value in given.items() if value is not UNSET})


class FlowSettings(Request, frozen=True, kw_only=True):
    """How much a topic or queue takes; null is "no limit".

    `max_messages` and `max_bytes` limit what the slowest reader has not finished with, `rate_per_s` messages a second.
    """

    max_messages: Positive | None = None
    max_bytes: Positive | None = None
    policy: Literal["block", "reject", "drop_newest", "drop_oldest", "priority_evict"] = "block"
    rate_per_s: Rate | None = None
    burst: Annotated[float, Meta(ge=1, le=1e9)] | None = None
    block_timeout_ms: WaitMs | None = None

    def config(self) -> FlowConfig:
        """Raises INVALID_CONFIG for a burst without a rate."""
        return FlowConfig(
            max_messages=self.max_messages,
            max_bytes=self.max_bytes,
            policy=self.policy,
            rate_per_s=self.rate_per_s,
            burst=self.burst if self.rate_per_s is not None else None,
            block_timeout_ms=self.block_timeout_ms,
        )


class Rule(Request, frozen=True, kw_only=True):
    """Values must be accepted by the subject's schema; `mode` says what becomes of those that are not."""

    subject: Name
    mode: Literal["refuse", "dead_letter"] = "refuse"

    def rule(self) -> SchemaRule:
        """As the core has it."""
        return SchemaRule(self.subject, self.mode)


class CreateTopic(Request, frozen=True, kw_only=True):
    """A new topic."""

    name: NewName
    partitions: PartitionCount = 1
    partitioner: PartitionerKind = "crc32"
    log: LogSettings = LogSettings()
    flow: FlowSettings | None = None
    rule: Rule | None = None


class ConfigureTopic(Request, frozen=True, kw_only=True):
    """Settings from now on; what is left out stays."""

    log: LogSettings = LogSettings()
    flow: FlowSettings | None = None


class AddPartitions(Request, frozen=True, kw_only=True):
    """How many partitions there are to be, in all."""

    total: PartitionCount


class DeleteRecords(Request, frozen=True, kw_only=True):
    """Messages below the offset are deleted, in each of these partitions."""

    before: Annotated[dict[Annotated[str, Meta(pattern="^[0-9]{1,4}$")], Offset], Meta(max_length=10_000)]


class RecordsDeleted(Shape, frozen=True, kw_only=True):
    """The first offset that is still there, by partition."""

    start_offsets: dict[str, int]


class PartitionAnswer(Shape, frozen=True, kw_only=True):
    """One partition."""

    partition: int
    start_offset: int
    end_offset: int
    size_bytes: int


class GateAnswer(Shape, frozen=True, kw_only=True):
    """The topic's backpressure."""

    policy: str
    depth: int
    limit: int | None
    rate_limit_per_s: float | None
    slowest: str
    blocked: list[str]
    rejected: int
    dropped: int


class TopicAnswer(Shape, frozen=True, kw_only=True):
    """A topic. `messages` are there now; what was `published`, in messages and bytes, counts since the broker was
    opened."""

    name: str
    partitions: list[PartitionAnswer]
    messages: int
    published: int
    published_bytes: int
    gate: GateAnswer | None

    @classmethod
    def of(cls, view: TopicView) -> TopicAnswer:
        """What the broker says of it."""
        gate = view.gate
        return cls(
            name=view.name,
            partitions=[
                PartitionAnswer(
                    partition=each.partition,
                    start_offset=each.start_offset,
                    end_offset=each.end_offset,
                    size_bytes=each.size_bytes,
                )
                for each in view.partitions
            ],
            messages=sum(each.end_offset - each.start_offset for each in view.partitions),
            published=view.published,
            published_bytes=view.published_bytes,
            gate=None
            if gate is None
            else GateAnswer(
                policy=gate.policy,
                depth=gate.depth,
                limit=gate.limit,
                rate_limit_per_s=gate.rate_limit_per_s,
                slowest=gate.slowest,
                blocked=[name for name, _since in gate.blocked],
                rejected=gate.rejected,
                dropped=gate.dropped,
            ),
        )


class TopicsAnswer(Shape, frozen=True, kw_only=True):
    """Those that the caller may read, in the order of creation."""

    topics: list[TopicAnswer]


class TopicConfigAnswer(Shape, frozen=True, kw_only=True):
    """All settings, with those that can only be chosen at the start."""

    durability: str
    segment_bytes: int
    segment_ms: int | None
    max_message_bytes: int
    cleanup: str
    retention_ms: int | None
    retention_bytes: int | None
    tombstone_ms: int
    message_ttl_ms: int | None

    @classmethod
    def of(cls, config: LogConfig) -> TopicConfigAnswer:
        """As the core has it."""
        return cls(**{name: getattr(config, name) for name in cls.__struct_fields__})


# -- messages


class Record(Request, frozen=True, kw_only=True, gc=False):
    """A message to be published. A `value` that is no string is stored as JSON; see `encoding` for bytes.

    Without a `partition`, its key chooses. `ttl_ms` after publishing it expires. `priority` 0 is the most urgent; a
    queue refuses those that it has no level for.
    """

    value: JsonValue
    key: str | None = None
    headers: Annotated[dict[str, str], Meta(max_length=1_000)] | None = None
    encoding: Encoding = "text"
    partition: Partition | None = None
    ttl_ms: TtlMs | None = None
    priority: Annotated[int, Meta(ge=0, le=255)] = 0


class PublishBatch(Request, frozen=True, kw_only=True):
    """Messages, published in this order. `timeout_ms` is how long they may wait for room."""

    messages: Annotated[list[Record], Meta(min_length=1, max_length=10_000)]
    producer_id: Client = ""
    timeout_ms: Annotated[int, Meta(ge=1, le=60_000)] = 30_000


class Placed(Shape, frozen=True, kw_only=True, gc=False):
    """What became of one message. `status` is stored, dropped, dead-lettered, or the code of an error.

    With an error it is not stored, and will not be, unless it is `possibly_stored`.
    """

    status: str
    partition: int | None
    offset: int | None
    possibly_stored: bool | UnsetType = UNSET


class BatchPublished(Shape, frozen=True, kw_only=True):
    """What became of each, in the order of the request; `failed` counts those that had an error."""

    count: int
    failed: int
    messages: list[Placed]


class ReadQuery(Request, frozen=True, kw_only=True):
    """Where to read from, and how much at most."""

    offset: Offset = 0
    max_messages: MaxMessages = 100
    max_bytes: Annotated[int, Meta(ge=1, le=8 * 1_048_576)] = 1_048_576
    encoding: Encoding = "text"


class MessageAnswer(Shape, frozen=True, kw_only=True, gc=False):
    """A stored message. `encoding` tells how to read value and key; other headers than text begin with "base64:"."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: str | None
    value: JsonValue
    headers: dict[str, str]
    encoding: Encoding


class MessagesAnswer(Shape, frozen=True, kw_only=True):
    """Messages in order, and where to read on."""

    messages: list[MessageAnswer]
    next_offset: int
    end_offset: int
