"""How a partition log stores, keeps and cleans what it holds."""

from __future__ import annotations

from typing import Literal

import msgspec

from broker_core.errors import ConfigError
from broker_core.limits import INDEX_INTERVAL_BYTES, MAX_MESSAGE_BYTES, MAX_TTL_MS, SEGMENT_BYTES

Durability = Literal["memory", "file", "fsync"]
Cleanup = Literal["delete", "compact"]

MAX_SEGMENT_BYTES = 1 << 30  # twice as much must have a position in 4 bytes
_DAY_MS = 86_400_000


class LogConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of one partition log; None is "no limit".

    `durability`: `memory` dies with the process, `file` survives it, `fsync` survives a power cut once `sync` has
    returned. A segment is rolled at `segment_bytes` or when its first batch is `segment_ms` old. `retention_*` apply
    where `cleanup` is `delete`, and remove whole segments. `tombstone_ms` is how long compaction keeps the message
    without a value that deletes a key. `message_ttl_ms` is how long a message is handed out at most, whatever its own
    time to live.
    """

    durability: Durability = "memory"
    segment_bytes: int = SEGMENT_BYTES
    segment_ms: int | None = 7 * _DAY_MS
    index_interval_bytes: int = INDEX_INTERVAL_BYTES
    max_message_bytes: int = MAX_MESSAGE_BYTES
    cleanup: Cleanup = "delete"
    retention_ms: int | None = None
    retention_bytes: int | None = None
    tombstone_ms: int = _DAY_MS
    message_ttl_ms: int | None = None

    def __post_init__(self) -> None:
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise ConfigError(f"{name} is {value}; it must be from {least} to {most}")
        if self.durability not in {"memory", "file", "fsync"}:
            raise ConfigError(f"durability {self.durability!r} must be memory, file or fsync")
        if self.cleanup not in {"delete", "compact"}:
            raise ConfigError(f"cleanup {self.cleanup!r} must be delete or compact")


_FOREVER = 1 << 62
_RANGES = {
    "segment_bytes": (1, MAX_SEGMENT_BYTES),
    "segment_ms": (1, _FOREVER),
    "index_interval_bytes": (1, MAX_SEGMENT_BYTES),
    "max_message_bytes": (1, MAX_SEGMENT_BYTES),
    "retention_ms": (0, _FOREVER),
    "retention_bytes": (0, _FOREVER),
    "tombstone_ms": (0, _FOREVER),
    "message_ttl_ms": (0, MAX_TTL_MS),
}
