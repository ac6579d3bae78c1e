"""Reading: fetches that wait, and where a group begins."""

from __future__ import annotations

from typing import Literal

from broker_core.messages import Headers, StoredMessage
from broker_core.wire.body import Body, Int32, Int64, Millis, Name

# offset, Unix time in ms, session time in ns, key, value, headers
WireMessage = tuple[int, int, int, bytes | None, bytes | None, Headers]


class Fetch(Body, frozen=True):
    """See `Broker.fetch`. It waits at most `wait_ms`, and gives about `max_bytes` of keys and values."""

    group: Name
    client: Name
    positions: tuple[tuple[Name, Int32, Int64], ...]
    max_messages: Int32
    wait_ms: Millis


class Part(Body, frozen=True):
    """Messages of one partition."""

    topic: str
    partition: int
    messages: tuple[WireMessage, ...]

    def stored(self, shift_ns: int) -> list[StoredMessage]:
        """As they were, but for their session times, which are `shift_ns` later."""
        topic, partition = self.topic, self.partition
        return [
            StoredMessage(topic, partition, offset, timestamp_ms, published_ns + shift_ns, key, value, headers)
            for offset, timestamp_ms, published_ns, key, value, headers in self.messages
        ]


class Messages(Body, frozen=True):
    """In the order in which they are handed out."""

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, messages: list[StoredMessage]) -> Messages:
        """`messages`, those of one partition together, as they come."""
        parts: list[Part] = []
        first = 0
        while first < len(messages):
            topic, partition = messages[first].topic, messages[first].partition
            last = first + 1
            while last < len(messages) and messages[last].partition == partition and messages[last].topic == topic:
                last += 1
            packed = tuple(
                (each.offset, each.timestamp_ms, each.published_ns, each.key, each.value, each.headers)
                for each in messages[first:last]
            )
            parts.append(Part(topic, partition, packed))
            first = last
        return cls(tuple(parts))

    def stored(self, shift_ns: int) -> list[StoredMessage]:
        """See `Part.stored`."""
        return [message for part in self.parts for message in part.stored(shift_ns)]


class ReadRecords(Body, frozen=True):
    """Messages of a partition, for no group: nothing is counted as delivered."""

    topic: Name
    partition: Int32
    offset: Int64
    max_messages: Int32


class BeginReading(Body, frozen=True):
    """`group` reads the partition from `offset` on, as after a seek."""

    group: Name
    topic: Name
    partition: Int32
    offset: Int64


class StartingOffset(Body, frozen=True):
    """See `Broker.starting_offset`."""

    group: Name
    topic: Name
    partition: Int32
    reset: Literal["earliest", "latest"]


class Offset(Body, frozen=True):
    """An offset, or None for none."""

    offset: int | None
