"""Times of one broker as those of another session: the moments of a request, an answer, a snapshot or an event moved.

Fields that end in `_ns` hold moments, but for a few that hold durations. One that is left out is none.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, TypeVar, get_args, get_type_hints

import msgspec

from broker_core.snapshots import GateView

S = TypeVar("S", bound=msgspec.Struct)

_DURATIONS: Final = {"lag_ns", "max_lag_ns"}


def moved(value: S, by_ns: int) -> S:
    """`value`, a struct, with all moments in it later by `by_ns`."""
    fields, parts = _fields(type(value))
    changes: dict[str, Any] = {}
    for name, unset in fields:
        time_ns = getattr(value, name)
        if time_ns is not None and time_ns != unset:
            changes[name] = time_ns + by_ns
    for name in parts:
        found = getattr(value, name)
        if isinstance(found, msgspec.Struct):
            changes[name] = moved(found, by_ns)
        elif found and isinstance(found, list | tuple) and isinstance(found[0], msgspec.Struct):
            changes[name] = type(found)([moved(each, by_ns) for each in found])
        elif found and isinstance(found, dict):
            changes[name] = {key: at + by_ns if _is_moment(key, at) else at for key, at in found.items()}
    if isinstance(value, GateView):
        changes["blocked"] = tuple((who, since_ns + by_ns) for who, since_ns in value.blocked)
    return msgspec.structs.replace(value, **changes) if changes else value


def _is_moment(name: str, value: object) -> bool:
    return name.endswith("_ns") and name not in _DURATIONS and isinstance(value, int)


@cache
def _fields(kind: type[Any]) -> tuple[tuple[tuple[str, Any], ...], tuple[str, ...]]:
    """The moments of a struct, each with what stands for none, and the fields in which others may be."""
    moments, parts = [], []
    hints = get_type_hints(kind)
    for field in msgspec.structs.fields(kind):
        if _is_moment(field.name, 0):
            moments.append((field.name, field.default))
        elif _holds(hints[field.name]):
            parts.append(field.name)
    return tuple(moments), tuple(parts)


def _holds(hint: Any) -> bool:
    """Whether there may be moments in a field of this type."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint is GateView or any(map(bool, _fields(hint)))
    if hint == dict[str, Any]:
        return True
    return any(map(_holds, get_args(hint)))
