from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

K = TypeVar("K")
V = TypeVar("V")

TopicPartition = tuple[str, int]  # a partition of a topic

Headers = tuple[tuple[str, bytes | None], ...]  # a value may be null, as in Kafka

# Record headers for values that Kafka's record format has no field for.
TTL_HEADER = "brokerscope.ttl_ms"
PRIORITY_HEADER = "brokerscope.priority"


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The values of each key, such as the partitions of each topic, in the order of `pairs`."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def header_texts(headers: Headers) -> tuple[str, ...]:
    """`name: value` of each."""
    return tuple(f"{name}: {(value or b'').decode(errors='replace')}" for name, value in headers)


class OffsetAndMetadata(msgspec.Struct, frozen=True, gc=False):
    """A committed offset, the next one to read. `leader_epoch` is -1 if the client sent none."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1


class Message(msgspec.Struct, frozen=True, gc=False):
    """A message to publish. Keys, values and header values are bytes.

    The message expires `ttl_ms` (a century at most) after publishing. `priority` 0 is the most urgent.
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
    """A stored message. `published_ns` is session time, `timestamp_ms` Unix time.

    `headers` include those that the broker has added.
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
        """`topic/partition/offset`, unique in the broker."""
        return f"{self.topic}/{self.partition}/{self.offset}"

    @property
    def size_bytes(self) -> int:
        """Bytes of key and value."""
        return len(self.key or b"") + len(self.value or b"")

    @property
    def priority(self) -> int:
        """The producer's priority; 0 is the most urgent."""
        return self._noted(PRIORITY_HEADER) or 0

    @property
    def ttl_ms(self) -> int | None:
        """The time from publishing to expiry; None is never."""
        return self._noted(TTL_HEADER)

    def _noted(self, name: str) -> int | None:
        # The last one counts: the broker's headers come after the producer's.
        for key, value in reversed(self.headers):
            if key == name and value is not None and value.isdigit() and len(value) < 20:
                return int(value)
        return None


class MessageRun(msgspec.Struct, frozen=True, gc=False):
    """Messages of one partition with consecutive offsets that were published at the same moment."""

    offset: int
    count: int
    size_bytes: int
    published_ns: int

    @property
    def end_offset(self) -> int:
        return self.offset + self.count
