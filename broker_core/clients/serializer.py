from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

V = TypeVar("V")


@runtime_checkable
class Serializer(Protocol[V]):
    """Converts values to bytes and back. `deserialize(serialize(value)) == value` for every value of the format."""

    def serialize(self, value: V) -> bytes:
        """Raises UNSERIALIZABLE where the format cannot express `value`, MESSAGE_TOO_LARGE above 1 MiB."""
        ...

    def deserialize(self, data: bytes) -> V:
        """Raises UNREADABLE where `data` is not in the format."""
        ...
