"""Messages as they go in and as they come out of the log."""

from __future__ import annotations

import msgspec

Headers = tuple[tuple[str, bytes], ...]

# The record headers in which the log keeps what Kafka's record format has no field for.
TTL_HEADER = "brokerscope.ttl_ms"
PRIORITY_HEADER = "brokerscope.priority"


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

    @property
    def size_bytes(self) -> int:
        """Bytes of key and value."""
        return len(self.key or b"") + len(self.value or b"")


class StoredMessage(msgspec.Struct, frozen=True, gc=False):
    """A message as read from a partition; `published_ns` is session time, `timestamp_ms` the Unix time on disk.

    `headers` hold what the broker has noted in them, too.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    published_ns: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()

    @property
    def id(self) -> str:
        """`topic/partition/offset`: no other message of the broker ever has the same."""
        return f"{self.topic}/{self.partition}/{self.offset}"

    @property
    def size_bytes(self) -> int:
        """Bytes of key and value."""
        return len(self.key or b"") + len(self.value or b"")

    @property
    def priority(self) -> int:
        """As its producer gave it; 0 is the most urgent."""
        return self._noted(PRIORITY_HEADER) or 0

    @property
    def ttl_ms(self) -> int | None:
        """How long it lives after publishing; None is for ever."""
        return self._noted(TTL_HEADER)

    def _noted(self, name: str) -> int | None:
        # The last one counts: the log's own come after those of the message.
        for key, value in reversed(self.headers):
            if key == name and value is not None and value.isdigit():
                return int(value)
        return None


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
