"""What turns values into the bytes of a message and back."""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

V = TypeVar("V")


@runtime_checkable
class Serializer(Protocol[V]):
    """Both ways of one format. `deserialize(serialize(value)) == value` for every value of the format."""

    def serialize(self, value: V) -> bytes:
        """Raises UNSERIALIZABLE where the format has no form for `value`, MESSAGE_TOO_LARGE past 1 MiB."""
        ...

    def deserialize(self, data: bytes) -> V:
        """Raises UNREADABLE where `data` are not in the format."""
        ...
