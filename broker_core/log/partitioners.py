"""Partitioners. A key maps to the same partition in every process."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Literal

from broker_core.errors import ConfigError
from broker_core.messages import Message

PartitionerKind = Literal["crc32", "murmur2"]
STICKY_MESSAGES = 16  # consecutive messages without a key that share a partition, and so a batch


def crc32_partition(key: bytes, partitions: int) -> int:
    """CRC-32 of the key modulo `partitions`: librdkafka's `consistent` partitioner."""
    return zlib.crc32(key) % partitions


def murmur2_partition(key: bytes, partitions: int) -> int:
    """Positive murmur2 of the key modulo `partitions`: the Java clients' default partitioner."""
    # Here, for all of aiokafka's clients come with it.
    from aiokafka.partitioner import murmur2

    return int(murmur2(key) & 0x7FFFFFFF) % partitions


_OF_KEY = {"crc32": crc32_partition, "murmur2": murmur2_partition}


class Partitioner:
    """Chooses partitions: by the hash of the key; without a key `sticky_messages` to each partition in turn."""

    def __init__(
        self, kind: PartitionerKind = "crc32", *, sticky_messages: int = STICKY_MESSAGES, first_turn: int = 0
    ) -> None:
        if kind not in _OF_KEY:
            raise ConfigError(f"partitioner {kind!r} must be one of crc32, murmur2")
        if sticky_messages < 1:
            raise ConfigError(f"sticky_messages {sticky_messages} must be at least 1")
        self.kind = kind
        self._of_key = _OF_KEY[kind]
        self._sticky_messages = sticky_messages
        self._keyless = first_turn * sticky_messages

    def choose(self, key: bytes | None, partitions: int) -> int:
        if key is not None:
            return self._of_key(key, partitions)
        turn = self._keyless // self._sticky_messages
        self._keyless += 1
        return turn % partitions

    def stay(self, partitions: int) -> tuple[int, int]:
        """(partition for the next messages without a key, their number); these count as chosen."""
        turn, stayed = divmod(self._keyless, self._sticky_messages)
        self._keyless += self._sticky_messages - stayed
        return turn % partitions, self._sticky_messages - stayed

    def give_back(self, count: int) -> None:
        """Return `count` unused choices of the last `stay`."""
        self._keyless -= count

    def divide(self, messages: Sequence[Message], partitions: int) -> dict[int, list[Message]]:
        """`messages` by partition, one run each: with a key as by `choose`, without one in runs of equal length."""
        keys = [message.key for message in messages]
        parts: dict[int, list[Message]] = {}
        if keys.count(None) < len(keys):
            for key, message in zip(keys, messages, strict=True):
                parts.setdefault(self.choose(key, partitions), []).append(message)
            return parts
        run = max(self._sticky_messages, -(-len(messages) // partitions))
        for first in range(0, len(messages), run):
            turn = self._keyless // self._sticky_messages
            parts[turn % partitions] = list(messages[first : first + run])
            self._keyless = (turn + 1) * self._sticky_messages
        return parts
