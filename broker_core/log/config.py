"""How a partition log stores, keeps and cleans what it holds."""

from __future__ import annotations

from typing import Annotated, Literal

from broker_core.kinds import Range
from broker_core.limits import INDEX_INTERVAL_BYTES, MAX_MESSAGE_BYTES, MAX_TTL_MS, SEGMENT_BYTES
from broker_core.settings import NotNegative, Positive, Settings

Durability = Literal["memory", "file", "fsync"]
Cleanup = Literal["delete", "compact"]

MAX_SEGMENT_BYTES = 1 << 30  # twice as much must have a position in 4 bytes
_DAY_MS = 86_400_000

SegmentBytes = Annotated[int, Range(1, MAX_SEGMENT_BYTES)]


class LogConfig(Settings, frozen=True, kw_only=True):
    """Settings of one partition log; None is "no limit".

    `durability`: `memory` dies with the process, `file` survives it, `fsync` survives a power cut once `sync` has
    returned. A segment is rolled at `segment_bytes` or when its first batch is `segment_ms` old. `retention_*` apply
    where `cleanup` is `delete`, and remove whole segments. `tombstone_ms` is how long compaction keeps the message
    without a value that deletes a key. `message_ttl_ms` is how long a message is handed out at most, whatever its own
    time to live.
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
