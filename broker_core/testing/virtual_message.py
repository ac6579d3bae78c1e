"""Messages and partitions as confluent-kafka has them."""

from __future__ import annotations

import msgspec

from broker_core.messages import Headers, StoredMessage

OFFSET_INVALID = -1001  # librdkafka's


class TopicPartition(msgspec.Struct, frozen=True):
    """A partition, with an offset if one is meant."""

    topic: str
    partition: int
    offset: int = OFFSET_INVALID


class VirtualMessage:
    """A message with the methods of confluent-kafka's."""

    def __init__(self, stored: StoredMessage) -> None:
        self._stored = stored

    def topic(self) -> str:
        """The topic's name."""
        return self._stored.topic

    def partition(self) -> int:
        """The partition's number."""
        return self._stored.partition

    def offset(self) -> int:
        """The offset in its partition."""
        return self._stored.offset

    def key(self) -> bytes | None:
        """The key."""
        return self._stored.key

    def value(self) -> bytes | None:
        """The value."""
        return self._stored.value

    def headers(self) -> Headers:
        """Pairs of a name and bytes."""
        return self._stored.headers

    def timestamp(self) -> tuple[int, int]:
        """(1, Unix time in milliseconds); 1 says that the producer has set it."""
        return 1, self._stored.timestamp_ms

    def error(self) -> None:
        """Always None: an error is raised."""
