from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from broker_core.clock import NS_PER_MS
from broker_core.errors import ConfigError
from broker_core.limits import INDEX_INTERVAL_BYTES, MAX_MESSAGE_BYTES, SEGMENT_BYTES
from broker_core.settings import Long, Positive, PositiveLong, Settings, Share, TimeMsOrZero, about

Durability = Literal["memory", "file", "fsync"]
Cleanup = Literal["delete", "compact", "delete,compact", "none"]
TimestampType = Literal["CreateTime", "LogAppendTime"]
CompressionType = Literal["producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"]

MAX_SEGMENT_BYTES = 1 << 30  # positions up to twice this must fit into 4 bytes
_DAY_MS = 86_400_000

SegmentBytes = Annotated[int, Meta(ge=1, le=MAX_SEGMENT_BYTES)]
_NEVER_MS = (1 << 63) - 1


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

    A setting that says what it means can be chosen from outside. `setting_table` has Kafka's names.
    """

    durability: Durability = "memory"
    cleanup: Annotated[
        Cleanup, about("delete old segments, or compact: keep the latest value of each key; both, or none")
    ] = "delete"
    retention_ms: Annotated[Long | None, about("age after which messages are deleted")] = None
    retention_bytes: Annotated[
        Long | None, about("size of a partition above which its oldest messages are deleted")
    ] = None
    segment_bytes: Annotated[
        SegmentBytes, about("size at which a segment file is closed; retention deletes whole segments")
    ] = SEGMENT_BYTES
    segment_ms: Annotated[PositiveLong | None, about("age at which a segment file is closed")] = 7 * _DAY_MS
    max_message_bytes: Annotated[SegmentBytes, about("largest message")] = MAX_MESSAGE_BYTES
    timestamp_type: Annotated[
        TimestampType, about("which timestamp messages get: the producer's, or the broker's when it appends them")
    ] = "CreateTime"
    compression_type: Annotated[CompressionType, about("how stored batches are compressed (producer: as received)")] = (
        "producer"
    )
    tombstone_ms: Annotated[Long, about("how long compaction keeps the deletion of a key")] = _DAY_MS
    message_ttl_ms: Annotated[TimeMsOrZero | None, about("age after which messages are not delivered")] = None
    index_interval_bytes: Annotated[SegmentBytes, about("bytes of a segment file between two entries of its index")] = (
        INDEX_INTERVAL_BYTES
    )
    timestamp_before_max_ms: Annotated[Long, about("how old a Kafka client's timestamp may be (CreateTime)")] = (
        _NEVER_MS
    )
    timestamp_after_max_ms: Annotated[
        Long, about("how far in the future a Kafka client's timestamp may be (CreateTime)")
    ] = 3_600_000
    max_decompressed_bytes: Annotated[Positive, about("largest message inside a Kafka client's compressed batch")] = (
        2_147_483_639
    )
    gzip_level: Annotated[Annotated[int, Meta(ge=-1, le=9)], about("level where messages are stored as gzip")] = -1
    lz4_level: Annotated[Annotated[int, Meta(ge=1, le=17)], about("level where messages are stored as lz4")] = 9
    zstd_level: Annotated[
        Annotated[int, Meta(ge=-131_072, le=22)], about("level where messages are stored as zstd")
    ] = 3
    dirty_ratio: Annotated[Share, about("share of a log that is new before it is compacted again")] = 0.5
    min_compaction_lag_ms: Annotated[Long, about("age below which compaction leaves messages alone")] = 0
    max_compaction_lag_ms: Annotated[PositiveLong, about("age at which messages are compacted in any case")] = _NEVER_MS
    takes_dead_letters: Annotated[bool, about("whether share groups may write dead letters to it")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_compaction_lag_ms > self.max_compaction_lag_ms:
            least, most = self.min_compaction_lag_ms, self.max_compaction_lag_ms
            raise ConfigError(f"min_compaction_lag_ms {least} must be at most max_compaction_lag_ms, {most}")

    @property
    def compression_level(self) -> int | None:
        """Level for `compression_type`; None for the codec's default, for which Kafka's lz4 has a faster way."""
        levels = {"gzip": (self.gzip_level, -1), "lz4": (self.lz4_level, 9), "zstd": (self.zstd_level, 3)}
        level, usual = levels.get(self.compression_type, (None, None))
        return None if level == usual else level

    @property
    def roll_ms(self) -> int | None:
        """The age at which a segment is closed: what is still written to is not compacted."""
        most = self.max_compaction_lag_ms if self.compacts else _NEVER_MS
        return most if self.segment_ms is None and most < _NEVER_MS else self.segment_ms and min(self.segment_ms, most)

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
