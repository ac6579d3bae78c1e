"""A condition on a payload, as data: a field, a comparison, a value. Nothing is ever executed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

import msgspec

Comparison = Literal["equals", "differs", "above", "below", "contains"]
Scalar = str | int | float | bool


def _ordered(found: Any, wanted: Scalar) -> bool:
    """True where the two can be compared by size: two numbers, or two texts."""
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (found, wanted))
    return numbers or (isinstance(found, str) and isinstance(wanted, str))


_COMPARISONS: dict[Comparison, Callable[[Any, Any], bool]] = {
    "equals": lambda found, wanted: bool(found == wanted),
    "differs": lambda found, wanted: bool(found != wanted),
    "above": lambda found, wanted: _ordered(found, wanted) and bool(found > wanted),
    "below": lambda found, wanted: _ordered(found, wanted) and bool(found < wanted),
    "contains": lambda found, wanted: isinstance(found, str) and str(wanted) in found,
}


class Condition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`field` of a JSON payload compared with `value`; "a.b" is field b of object a, "" the payload as text.

    A payload that is not JSON, or lacks the field, does not match.
    """

    field: str = ""
    op: Comparison = "equals"
    value: Scalar

    def met_by(self, payload: bytes | None) -> bool:
        """True where `payload` matches."""
        if payload is None:
            return False
        if not self.field:
            return _COMPARISONS[self.op](payload.decode(errors="replace"), str(self.value))
        try:
            found = json.loads(payload)
        except (ValueError, RecursionError):
            return False
        for name in self.field.split("."):
            if not isinstance(found, dict) or name not in found:
                return False
            found = found[name]
        return _COMPARISONS[self.op](found, self.value)
