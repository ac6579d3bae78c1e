"""Messages as they go in and as they come out of the log."""

from __future__ import annotations

import msgspec

Headers = tuple[tuple[str, bytes], ...]


class Message(msgspec.Struct, frozen=True, gc=False):
    """What a producer hands over. Keys, values and header values are bytes; the broker never looks inside.

    `ttl_ms` is the time after publishing at which the message expires, a century at most. `priority` 0 is the most
    urgent.
    """

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    ttl_ms: int | None = None
    priority: int = 0


class StoredMessage(msgspec.Struct, frozen=True, gc=False):
    """A message as read from a partition; `published_ns` is session time, `timestamp_ms` the Unix time on disk."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    published_ns: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()

    @property
    def size_bytes(self) -> int:
        """Bytes of key and value."""
        return len(self.key or b"") + len(self.value or b"")


class Run(msgspec.Struct, frozen=True, gc=False):
    """Messages of one partition with consecutive offsets that were published at the same moment."""

    offset: int
    count: int
    size_bytes: int
    published_ns: int

    @property
    def end_offset(self) -> int:
        """The offset after the last one."""
        return self.offset + self.count
