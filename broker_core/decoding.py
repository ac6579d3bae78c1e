"""Decoders, one a type: two threads that used a type of msgspec for the first time at once would crash the process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_making = threading.Lock()
_made: dict[tuple[Any, Any], Any] = {}


def from_json(data: bytes | str, kind: type[T]) -> T:
    """Raises msgspec.ValidationError, msgspec.DecodeError."""
    return _decode(msgspec.json.Decoder, kind)(data)


def from_msgpack(data: bytes | memoryview[int], kind: type[T]) -> T:
    """Raises msgspec.ValidationError, msgspec.DecodeError."""
    return _decode(msgspec.msgpack.Decoder, kind)(data)


def _decode(maker: Any, kind: type[T]) -> Callable[[Any], T]:
    found: Callable[[Any], T] | None = _made.get((maker, kind))
    if found is None:
        with _making:
            found = _made[maker, kind] = maker(kind).decode
    return found
