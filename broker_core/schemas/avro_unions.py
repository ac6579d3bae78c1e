"""The choice of the branch with which a value of a union is written.

fastavro takes the first branch that accepts the value (bytes as a list of ints, a large int as a float), and its search
takes exponential time in the depth. Here the branch is one that returns an equal value on reading, each part of the
value is checked once for each type, and fastavro gets the branch's name.
"""

from __future__ import annotations

from typing import Any

from broker_core.schemas.avro_types import AvroType

_SECOND_CHOICE = {"double": 1, "float": 2, "fixed": 1}


def labelled(kind: AvroType, value: Any) -> Any:
    """`value` with (branch name, value) for unions in `kind` whose branch follows from the Python type."""
    return _Labels().of(kind, value)


class _Labels:
    def __init__(self) -> None:
        self._known: dict[tuple[int, int], bool] = {}

    def of(self, kind: AvroType, value: Any) -> Any:
        match kind.kind:
            case "record" if isinstance(value, dict):
                types = {field.name: field.type for field in kind.fields}
                return {name: self.of(types[name], item) if name in types else item for name, item in value.items()}
            case "array" if isinstance(value, list):
                return [self.of(kind.inner[0], item) for item in value]
            case "map" if isinstance(value, dict):
                return {name: self.of(kind.inner[0], item) for name, item in value.items()}
            case "union" if not isinstance(value, tuple):
                branch = self._branch(kind.inner, value)
                return value if branch is None else (branch.name or branch.kind, self.of(branch, value))
        return value

    def _branch(self, branches: tuple[AvroType, ...], value: Any) -> AvroType | None:
        # fastavro handles the values of logical types (dates and so on).
        fitting = [branch for branch in branches if branch.logical is None and self._fits(branch, value)]
        if isinstance(value, dict) and fitting:
            return max(fitting, key=lambda branch: sum(field.name in value for field in branch.fields))
        return min(fitting, key=lambda branch: _SECOND_CHOICE.get(branch.kind, 0), default=None)

    def _fits(self, kind: AvroType, value: Any) -> bool:
        if not isinstance(value, dict | list):
            return _is_plain(kind, value)
        key = (id(kind), id(value))
        if key not in self._known:
            self._known[key] = False  # a value that contains itself fits no type
            self._known[key] = self._inner_fits(kind, value)
        return self._known[key]

    def _inner_fits(self, kind: AvroType, value: Any) -> bool:
        match kind.kind:
            case "union":
                return any(self._fits(branch, value) for branch in kind.inner)
            case "array":
                return isinstance(value, list) and all(self._fits(kind.inner[0], item) for item in value)
            case "map":
                return isinstance(value, dict) and all(self._fits(kind.inner[0], item) for item in value.values())
            case "record":
                types = {field.name: field.type for field in kind.fields}
                return (
                    isinstance(value, dict)
                    and types.keys() >= value.keys()
                    and all(field.has_default or field.name in value for field in kind.fields)
                    and all(self._fits(types[name], item) for name, item in value.items())
                )
            case _:
                return False


def _is_plain(kind: AvroType, value: Any) -> bool:
    if kind.logical is not None:
        return True
    match kind.kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "int" | "long":
            limit = 1 << (31 if kind.kind == "int" else 63)
            return type(value) is int and -limit <= value < limit
        case "float" | "double":
            exact = 1 << (24 if kind.kind == "float" else 53)
            return isinstance(value, float) or (type(value) is int and -exact <= value <= exact)
        case "string":
            return isinstance(value, str)
        case "enum":
            return value in kind.symbols
        case "bytes":
            return isinstance(value, bytes)
        case "fixed":
            return isinstance(value, bytes) and len(value) == kind.size
        case "union":
            return any(_is_plain(branch, value) for branch in kind.inner)
        case _:
            return False
