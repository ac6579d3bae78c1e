"""Moments in snapshots, events, requests and their answers, moved to another session time.

A field whose name ends in `_ns` is a moment, unless it is one of `_DURATIONS`; its default stands for none. Of all
other fields only `GateView.blocked` has moments. Keep to that in new fields.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, TypeVar, cast, get_args, get_type_hints

import msgspec

from broker_core.snapshots import GateView

T = TypeVar("T")

_DURATIONS: Final = frozenset({"lag_ns", "max_lag_ns"})


def moved(value: T, by_ns: int) -> T:
    """`value`, a request, an answer, a snapshot or an event, with all moments in its structs later by `by_ns`."""
    return cast(T, _moved(value, by_ns))


def _moved(value: Any, by_ns: int) -> Any:
    if isinstance(value, dict):
        return {key: at + by_ns if _is_moment(key, at) else _moved_struct(at, by_ns) for key, at in value.items()}
    if isinstance(value, list | tuple):
        has_structs = value and isinstance(value[0], msgspec.Struct)
        return type(value)([_moved_struct(each, by_ns) for each in value]) if has_structs else value
    return _moved_struct(value, by_ns)


def _moved_struct(value: Any, by_ns: int) -> Any:
    if not isinstance(value, msgspec.Struct):
        return value
    fields, parts = _fields(type(value))
    changes: dict[str, Any] = {}
    for name, unset in fields:
        time_ns = getattr(value, name)
        if time_ns is not None and time_ns != unset:
            changes[name] = time_ns + by_ns
    for name in parts:
        if found := getattr(value, name):
            changes[name] = _moved(found, by_ns)
    if isinstance(value, GateView):
        changes["blocked"] = tuple((who, since_ns + by_ns) for who, since_ns in value.blocked)
    return msgspec.structs.replace(value, **changes) if changes else value


def _is_moment(name: object, value: object) -> bool:
    return isinstance(name, str) and name.endswith("_ns") and name not in _DURATIONS and isinstance(value, int)


@cache
def _fields(kind: type[Any]) -> tuple[tuple[tuple[str, Any], ...], tuple[str, ...]]:
    """The moments of a struct, each with what stands for none, and the fields in which others may be."""
    moments, parts = [], []
    hints = get_type_hints(kind)
    for field in msgspec.structs.fields(kind):
        if _is_moment(field.name, 0):
            moments.append((field.name, field.default))
        elif _may_hold(hints[field.name]):
            parts.append(field.name)
    return tuple(moments), tuple(parts)


def _may_hold(hint: Any) -> bool:
    """Whether there may be moments in a field of this type."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint is GateView or any(map(bool, _fields(hint)))
    return hint == dict[str, Any] or any(map(_may_hold, get_args(hint)))
