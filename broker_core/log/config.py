from __future__ import annotations

from typing import Annotated, Literal

from broker_core.kinds import Range
from broker_core.limits import INDEX_INTERVAL_BYTES, MAX_MESSAGE_BYTES, MAX_TTL_MS, SEGMENT_BYTES
from broker_core.settings import NotNegative, Positive, Settings

Durability = Literal["memory", "file", "fsync"]
Cleanup = Literal["delete", "compact", "delete,compact", "none"]
TimestampType = Literal["CreateTime", "LogAppendTime"]
CompressionType = Literal["producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"]

MAX_SEGMENT_BYTES = 1 << 30  # positions up to twice this must fit into 4 bytes
_DAY_MS = 86_400_000

SegmentBytes = Annotated[int, Range(1, MAX_SEGMENT_BYTES)]


class LogConfig(Settings, frozen=True, kw_only=True):
    """Settings of a log. Times are in milliseconds, sizes in bytes; None is no limit.

    `durability`: messages in `memory` are lost with the process, in `file` they survive it, and with `fsync` they
    survive a power cut once they are acknowledged. A segment is rolled at `segment_bytes`, or when its first batch is
    `segment_ms` old. `retention_*` remove whole segments where `cleanup` names
    `delete`; where it names `compact`, the latest message of each key is kept. `tombstone_ms` is the time for
    which compaction keeps tombstones. `message_ttl_ms` limits the time to live of all messages. `timestamp_type` is
    whose time messages have: the Kafka client's (CreateTime), or the broker's when it appends them (LogAppendTime).
    Messages of the broker's own clients have its time in both cases. `compression_type` is what batches are compressed
    by when they are stored; with `producer` they stay as they came.
    """

    durability: Durability = "memory"
    segment_bytes: SegmentBytes = SEGMENT_BYTES
    segment_ms: Positive | None = 7 * _DAY_MS
    index_interval_bytes: SegmentBytes = INDEX_INTERVAL_BYTES
    max_message_bytes: SegmentBytes = MAX_MESSAGE_BYTES
    cleanup: Cleanup = "delete"
    retention_ms: NotNegative | None = None
    retention_bytes: NotNegative | None = None
    tombstone_ms: NotNegative = _DAY_MS
    message_ttl_ms: Annotated[int, Range(0, MAX_TTL_MS)] | None = None
    timestamp_type: TimestampType = "CreateTime"
    compression_type: CompressionType = "producer"

    @property
    def deletes(self) -> bool:
        """Whether old segments are deleted."""
        return self.cleanup.startswith("delete")

    @property
    def compacts(self) -> bool:
        """Whether the latest message of each key is kept, and others go."""
        return self.cleanup.endswith("compact")
