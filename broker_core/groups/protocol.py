"""Kafka's ConsumerProtocol, versions 0 to 3 (KIP-54, 429, 792, 881): the metadata that members exchange.

The coordinator forwards these bytes, and decodes them only for views and events.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_GROUP_METADATA_BYTES
from broker_core.messages import TopicPartition, grouped

SUBSCRIPTION_VERSION = 3
ASSIGNMENT_VERSION = 0

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")


class MemberSubscription(msgspec.Struct, frozen=True, gc=False):
    """The subscription of a member. `owned` are the (topic, partition) that it owned before the rebalance.

    `generation` is the one of `owned`, -1 for none. `instance_id` is not part of the bytes; assignors order members by
    it.
    """

    topics: tuple[str, ...]
    user_data: bytes = b""
    owned: tuple[TopicPartition, ...] = ()
    generation: int = -1
    rack: str = ""
    instance_id: str = ""


class Assignment(msgspec.Struct, frozen=True, gc=False):
    """The assignment of a member: (topic, partition), sorted."""

    partitions: tuple[TopicPartition, ...]
    user_data: bytes = b""


def encode_subscription(subscription: MemberSubscription, version: int = SUBSCRIPTION_VERSION) -> bytes:
    """The bytes of `version`, 0 to 3; fields of later versions are left out."""
    parts = [_INT16.pack(version), _INT32.pack(len(subscription.topics))]
    parts.extend(_string(topic) for topic in subscription.topics)
    parts.append(_bytes(subscription.user_data))
    if version >= 1:
        parts.append(_partitions(subscription.owned))
    if version >= 2:
        parts.append(_INT32.pack(subscription.generation))
    if version >= 3:
        parts.append(_string(subscription.rack) if subscription.rack else _INT16.pack(-1))
    return b"".join(parts)


def decode_subscription(data: bytes, instance_id: str = "") -> MemberSubscription:
    """The subscription in `data`, without fields of versions above 3. Raises INVALID_REQUEST for invalid bytes.

    Clients that say version 1 and end before its field, as @platformatic/kafka, own nothing.
    """
    reader = _ProtocolReader(data, "subscription")
    version = reader.version()
    topics = tuple(reader.string() for _ in range(reader.count(2)))
    user_data = reader.nullable_bytes()
    owned = reader.partitions() if version >= 1 and not reader.at_end else ()
    generation = reader.int32() if version >= 2 else -1
    rack = reader.nullable_string() if version >= 3 else ""
    return MemberSubscription(topics, user_data, owned, generation, rack, instance_id)


def decode_members(members: Iterable[tuple[str, str, bytes]]) -> Mapping[str, MemberSubscription]:
    """Subscriptions by member id, from (member id, instance id, metadata)."""
    return {member_id: decode_subscription(data, instance_id) for member_id, instance_id, data in members}


def encode_assignment(partitions: Iterable[TopicPartition], user_data: bytes = b"") -> bytes:
    return _INT16.pack(ASSIGNMENT_VERSION) + _partitions(partitions) + _bytes(user_data)


def decode_assignment(data: bytes) -> Assignment:
    """The assignment in `data`; b"" is an empty one, as in Kafka. Raises INVALID_REQUEST for invalid bytes."""
    if not data:
        return Assignment(())
    reader = _ProtocolReader(data, "assignment")
    reader.version()
    return Assignment(reader.partitions(), reader.nullable_bytes())


def _string(text: str) -> bytes:
    encoded = text.encode()
    if len(encoded) > 32_767:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{text[:20]!r}... has more than 32,767 bytes")
    return _INT16.pack(len(encoded)) + encoded


def _bytes(data: bytes) -> bytes:
    return _INT32.pack(len(data)) + data


def _partitions(partitions: Iterable[TopicPartition]) -> bytes:
    by_topic = grouped(sorted(partitions))
    parts = [_INT32.pack(len(by_topic))]
    for topic, numbers in by_topic.items():
        parts.append(_string(topic))
        parts.append(struct.pack(f">i{len(numbers)}i", len(numbers), *numbers))
    return b"".join(parts)


class _ProtocolReader:
    """Reads fields from the front of `data`; never allocates more than its length."""

    def __init__(self, data: bytes, what: str) -> None:
        self._data = data
        self._at = 0
        self._what = what
        if len(data) > MAX_GROUP_METADATA_BYTES:
            raise self._error(f"has {len(data)} bytes, {MAX_GROUP_METADATA_BYTES} are allowed")

    def _error(self, why: str) -> BrokerError:
        return BrokerError(ErrorCode.INVALID_REQUEST, f"the {self._what} of a member {why}")

    def _take(self, size: int) -> bytes:
        end = self._at + size
        if size < 0 or end > len(self._data):
            raise self._error(f"ends at byte {len(self._data)} inside a field")
        taken = self._data[self._at : end]
        self._at = end
        return taken

    @property
    def at_end(self) -> bool:
        return self._at == len(self._data)

    def version(self) -> int:
        number = self._int16()
        if number < 0:
            raise self._error(f"has version {number}")
        return number

    def _int16(self) -> int:
        return int(_INT16.unpack(self._take(2))[0])

    def int32(self) -> int:
        return int(_INT32.unpack(self._take(4))[0])

    def count(self, element_bytes: int) -> int:
        """The length of an array; an error where the rest cannot hold that many elements of `element_bytes`."""
        number = self.int32()
        if number < 0 or number * element_bytes > len(self._data) - self._at:
            raise self._error(f"announces {number} elements, which do not fit")
        return number

    def _text(self, size: int) -> str:
        try:
            return self._take(size).decode()
        except UnicodeDecodeError:
            raise self._error("has a text that is not UTF-8") from None

    def string(self) -> str:
        return self._text(self._int16())

    def nullable_string(self) -> str:
        size = self._int16()
        return "" if size == -1 else self._text(size)

    def nullable_bytes(self) -> bytes:
        size = self.int32()
        return b"" if size == -1 else self._take(size)

    def partitions(self) -> tuple[TopicPartition, ...]:
        found: list[TopicPartition] = []
        for _ in range(self.count(6)):
            topic = self.string()
            number = self.count(4)
            found.extend((topic, partition) for partition in struct.unpack(f">{number}i", self._take(4 * number)))
        return tuple(sorted(found))
