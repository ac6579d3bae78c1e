"""Small Avro schemas, values of theirs, and schemas that are a few changes away."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

FIELDS = ["a", "b", "c"]
SYMBOLS = ["RED", "GREEN", "BLUE"]
_PRIMITIVES = st.sampled_from(["null", "boolean", "int", "long", "float", "double", "bytes", "string"])
_FLOAT32 = st.floats(allow_nan=False, allow_infinity=False, width=32)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": _FLOAT32,
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "bytes": st.sampled_from([b"", b"x", b"abc"]),  # such as a reader may take for text
    "string": st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
}


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3, names: list[str] | None = None) -> Any:
    """A schema; the types that it names have names of their own."""
    names = [] if names is None else names
    kind = draw(
        st.sampled_from(["primitive"] * 3 + (["record", "enum", "fixed", "array", "map", "union"] if depth else []))
    )
    if kind == "primitive":
        return draw(_PRIMITIVES)
    inner = schemas(depth - 1, names)
    if kind in ("record", "enum", "fixed"):
        names.append(f"T{len(names)}")
        found: dict[str, Any] = {"type": kind, "name": names[-1]}
        if kind == "enum":
            found["symbols"] = draw(st.lists(st.sampled_from(SYMBOLS), min_size=1, unique=True))
            if draw(st.booleans()):
                found["default"] = found["symbols"][0]
        elif kind == "fixed":
            found["size"] = draw(st.integers(0, 3))
        else:
            own = names[-1]
            fields = draw(st.lists(st.sampled_from(FIELDS), max_size=3, unique=True))
            found["fields"] = [
                {"name": name, "type": ["null", own], "default": None}
                if draw(st.integers(0, 5)) == 0
                else {"name": name, "type": draw(inner)}
                for name in fields
            ]
        return found
    if kind == "union":
        branches = draw(st.lists(inner, min_size=1, max_size=3))
        return branches if all(not isinstance(branch, list) for branch in branches) else branches[0]
    return {"type": kind, ("items" if kind == "array" else "values"): draw(inner)}


def value_of(draw: st.DrawFn, schema: Any, named: dict[str, Any], depth: int = 6) -> Any:
    """A value that the schema can write."""
    if isinstance(schema, list):
        plain = [branch for branch in schema if branch == "null"]
        return value_of(draw, draw(st.sampled_from(schema if depth > 0 else plain or schema)), named, depth - 1)
    if isinstance(schema, str):
        return draw(_VALUES[schema]) if schema in _VALUES else value_of(draw, named[schema], named, depth - 1)
    if "name" in schema:
        named[schema["name"]] = schema
    match schema["type"]:
        case "record":
            return {field["name"]: value_of(draw, field["type"], named, depth - 1) for field in schema["fields"]}
        case "enum":
            return draw(st.sampled_from(schema["symbols"]))
        case "fixed":
            return b"x" * schema["size"]
        case "array":
            count = draw(st.integers(0, 2)) if depth > 0 else 0
            return [value_of(draw, schema["items"], named, depth - 1) for _ in range(count)]
        case "map":
            count = draw(st.integers(0, 2)) if depth > 0 else 0
            return {f"k{place}": value_of(draw, schema["values"], named, depth - 1) for place in range(count)}
    return value_of(draw, schema["type"], named, depth)


def _places(schema: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) that holds a type."""
    found: list[tuple[Any, Any]] = []
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            keys: list[Any] = list(range(len(part)))
        elif isinstance(part, dict):
            keys = [key for key in ("items", "values") if key in part]
            for field in part.get("fields", []):
                found.append((field, "type"))
                waiting.append(field["type"])
        else:
            keys = []
        for key in keys:
            found.append((part, key))
            waiting.append(part[key])
    return found


def _records(schema: Any) -> list[dict[str, Any]]:
    found = [part[key] for part, key in _places([schema])]
    return [part for part in found if isinstance(part, dict) and part.get("type") in ("record", "enum")]


@st.composite
def changed(draw: st.DrawFn, schema: Any) -> Any:
    """The schema after up to three changes: promotions, optional fields, dropped fields, symbols, unions."""
    box = [copy.deepcopy(schema)]
    for _ in range(draw(st.integers(0, 3))):
        container, key = draw(st.sampled_from(_places(box)))
        part = container[key]
        match draw(st.sampled_from(["promote", "field", "less", "union", "any"])):
            case "promote" if isinstance(part, str) and part in _VALUES:
                container[key] = draw(st.sampled_from(["long", "float", "double", "bytes", "string"]))
            case "field" | "less" as what:
                for record in _records(box[0]):
                    if record["type"] == "enum":
                        record["symbols"] = draw(st.lists(st.sampled_from(SYMBOLS), min_size=1, unique=True))
                        record.pop("default", None)
                    elif what == "less" and record["fields"]:
                        record["fields"].pop()
                    elif not any(field["name"] == "d" for field in record["fields"]):
                        extra = {"name": "d", "type": "int", "default": 7}
                        record["fields"].insert(0, extra if draw(st.booleans()) else {"name": "d", "type": "int"})
            case "union" if not isinstance(part, list) and part != "null" and not isinstance(container, list):
                container[key] = ["null", part]
            case "any" if isinstance(part, str) and part in _VALUES:
                container[key] = draw(_PRIMITIVES)
            case _:
                pass
    return box[0]


@st.composite
def evolutions(draw: st.DrawFn) -> tuple[Any, Any, list[Any]]:
    """(older, newer, values of the older)."""
    older = draw(schemas())
    newer = draw(changed(older))
    return older, newer, [value_of(draw, older, {}) for _ in range(3)]
