from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from broker_core.clock import NS_PER_MS
from broker_core.limits import INDEX_INTERVAL_BYTES, MAX_MESSAGE_BYTES, SEGMENT_BYTES
from broker_core.settings import NotNegative, Positive, Settings, TimeMsOrZero, about

Durability = Literal["memory", "file", "fsync"]
Cleanup = Literal["delete", "compact", "delete,compact", "none"]
TimestampType = Literal["CreateTime", "LogAppendTime"]
CompressionType = Literal["producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"]

MAX_SEGMENT_BYTES = 1 << 30  # positions up to twice this must fit into 4 bytes
_DAY_MS = 86_400_000

SegmentBytes = Annotated[int, Meta(ge=1, le=MAX_SEGMENT_BYTES)]


class LogConfig(Settings, frozen=True, kw_only=True):
    """Settings of a log. Times are in milliseconds, sizes in bytes; None is no limit.

    `durability`: messages in `memory` are lost with the process, in `file` they survive it, and with `fsync` they
    survive a power cut once they are acknowledged. A segment is rolled at `segment_bytes`, or when its first batch is
    `segment_ms` old. `retention_*` remove whole segments if `cleanup` names `delete`; where it names `compact`, the
    latest message of each key is kept. `tombstone_ms` is the time for which compaction keeps tombstones.
    `message_ttl_ms` limits the time to live of all messages. `timestamp_type` is whose time messages have: the Kafka
    client's (CreateTime), or the broker's when it appends them (LogAppendTime). Messages of the broker's own clients
    have its time in both cases. `compression_type` is what batches are compressed by when they are stored; with
    `producer` they stay as they came.

    A setting that says what it means can be chosen from outside; if it has a name in Kafka, by that, too.
    """

    durability: Durability = "memory"
    index_interval_bytes: SegmentBytes = INDEX_INTERVAL_BYTES
    cleanup: Annotated[
        Cleanup,
        about("delete old segments, or compact: keep the latest value of each key; both, or none", "cleanup.policy"),
    ] = "delete"
    retention_ms: Annotated[NotNegative | None, about("age after which messages are deleted", "retention.ms")] = None
    retention_bytes: Annotated[
        NotNegative | None, about("size of a partition above which its oldest messages are deleted", "retention.bytes")
    ] = None
    segment_bytes: Annotated[
        SegmentBytes, about("size at which a segment file is closed; retention deletes whole segments", "segment.bytes")
    ] = SEGMENT_BYTES
    segment_ms: Annotated[Positive | None, about("age at which a segment file is closed", "segment.ms")] = 7 * _DAY_MS
    max_message_bytes: Annotated[SegmentBytes, about("largest message", "max.message.bytes")] = MAX_MESSAGE_BYTES
    timestamp_type: Annotated[
        TimestampType,
        about(
            "which timestamp messages get: the producer's, or the broker's when it appends them",
            "message.timestamp.type",
        ),
    ] = "CreateTime"
    compression_type: Annotated[
        CompressionType, about("how stored batches are compressed (producer: as received)", "compression.type")
    ] = "producer"
    tombstone_ms: Annotated[
        NotNegative, about("how long compaction keeps the deletion of a key", "delete.retention.ms")
    ] = _DAY_MS
    message_ttl_ms: Annotated[TimeMsOrZero | None, about("age after which messages are not delivered")] = None

    @property
    def deletes(self) -> bool:
        """Whether old segments are deleted."""
        return self.cleanup.startswith("delete")

    @property
    def compacts(self) -> bool:
        """Whether the latest message of each key is kept, and others go."""
        return self.cleanup.endswith("compact")

    def is_too_old(self, published_ns: int, now_ns: int) -> bool:
        """Whether retention deletes a message at `now_ns`."""
        return self.retention_ms is not None and now_ns - published_ns > self.retention_ms * NS_PER_MS
