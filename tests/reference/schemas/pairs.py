"""Generated pairs of schemas: one, and the same after a few changes of the kind that people make."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

NAMES = ("id", "book", "price", "note", "tags")
# Named, since Apicurio reads a text that names none as draft-04.
_DRAFTS = ("http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-06/schema#")


# -- JSON Schema


def _json_leaf(rng: random.Random) -> dict[str, Any]:
    bound = rng.randint(0, 4)
    return rng.choice(
        [
            {"type": rng.choice(["string", "integer", "number", "boolean", "null"])},
            {"type": "string", rng.choice(["maxLength", "minLength"]): bound},
            {"type": "string", "pattern": rng.choice(["^a", "b$"])},
            {"type": rng.choice(["integer", "number"]), rng.choice(["minimum", "maximum", "exclusiveMinimum"]): bound},
            {"type": "integer", "multipleOf": rng.choice([1, 2, 3, 4, 6])},
            {"enum": rng.sample(["a", "b", "c", 1, 2], rng.randint(1, 3))},
            {"const": rng.choice(["a", 1])},
            {"type": ["string", "null"]},
            {},
        ]
    )


def _json(rng: random.Random, depth: int) -> dict[str, Any]:
    if depth == 0 or rng.random() < 0.3:
        return _json_leaf(rng)

    def inner() -> dict[str, Any]:
        return _json(rng, depth - 1)

    kind = rng.random()
    if kind < 0.55:
        names = rng.sample(NAMES, rng.randint(1, 3))
        found: dict[str, Any] = {"type": "object", "properties": {name: inner() for name in names}}
        if rng.random() < 0.4:
            found["required"] = rng.sample(names, rng.randint(1, len(names)))
        if rng.random() < 0.6:
            found["additionalProperties"] = rng.choice([False, False, True, _json_leaf(rng)])
        if rng.random() < 0.15:
            found[rng.choice(["minProperties", "maxProperties"])] = rng.randint(0, 3)
        if rng.random() < 0.1:
            found["dependencies"] = {names[0]: rng.sample(NAMES, 1)}
        return found
    if kind < 0.8:
        found = {"type": "array", "items": inner()}
        if rng.random() < 0.3:
            found |= {
                "items": [inner(), _json_leaf(rng)],
                "additionalItems": rng.choice([False, True, _json_leaf(rng)]),
            }
        if rng.random() < 0.3:
            found[rng.choice(["minItems", "maxItems"])] = rng.randint(0, 3)
        if rng.random() < 0.15:
            found["uniqueItems"] = True
        return found
    if kind < 0.95:
        return {rng.choice(["anyOf", "oneOf", "allOf"]): [inner() for _ in range(rng.randint(1, 3))]}
    return {"not": _json_leaf(rng)}


def _json_places(schema: Any) -> Iterator[dict[str, Any]]:
    """Every subschema that is an object."""
    if isinstance(schema, dict):
        yield schema
        for name, value in schema.items():
            if name == "properties":
                for each in value.values():
                    yield from _json_places(each)
            elif name in {"items", "additionalItems", "additionalProperties", "not", "anyOf", "oneOf", "allOf"}:
                for each in value if isinstance(value, list) else [value]:
                    yield from _json_places(each)


def _change_json(rng: random.Random, whole: Any) -> None:
    place = rng.choice(list(_json_places(whole)))
    keys = [key for key in place if key not in {"$schema", "type"}]
    roll = rng.random()
    properties = place.get("properties")
    if properties is not None and roll < 0.5:
        name = rng.choice(NAMES)
        required = place.setdefault("required", [])
        if roll < 0.2:
            properties[name] = {**_json_leaf(rng), **({"default": "a"} if rng.random() < 0.3 else {})}
        elif roll < 0.3 and len(properties) > 1:
            gone = rng.choice(list(properties))
            del properties[gone]
            place["required"] = [each for each in required if each != gone]
        elif name in required:
            required.remove(name)
        elif name in properties:
            required.append(name)
        if not place["required"]:
            del place["required"]
    elif place.get("type") == "object" and roll < 0.6:
        place["additionalProperties"] = rng.choice([True, False, _json_leaf(rng)])
    elif keys and roll < 0.8:
        key = rng.choice(keys)
        value = place[key]
        if isinstance(value, int) and not isinstance(value, bool):
            place[key] = max(1, value + rng.choice([-1, 1]))
        elif isinstance(value, list) and len(value) > 1 and key != "required":
            value.pop(rng.randrange(len(value)))
        elif isinstance(value, list) and key in {"anyOf", "oneOf", "allOf", "items"}:
            value.append(_json_leaf(rng))
        elif key == "enum":
            value.append(rng.choice(["d", 3]))
        elif key not in {"properties", "required"}:
            del place[key]
    elif "type" in place and roll < 0.9:
        widened = {"integer": "number", "string": ["string", "null"], "number": "integer", "null": ["null", "boolean"]}
        place["type"] = widened.get(str(place["type"]), place["type"])
    else:
        leaf = _json_leaf(rng)
        place.clear()
        place |= leaf


def json_pair(rng: random.Random) -> tuple[str, str]:
    draft = rng.choice(_DRAFTS)
    older = {"$schema": draft, **_json(rng, 2)}
    newer = copy.deepcopy(older)
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        _change_json(rng, newer)
        newer["$schema"] = draft
    return json.dumps(older), json.dumps(newer)


# -- Avro

_PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_DEFAULTS: dict[str, Any] = {"null": None, "boolean": True, "int": 1, "long": 2, "float": 0.5, "double": 1.5}
_DEFAULTS |= {"bytes": "a", "string": "b"}


class _Avro:
    """A type, and the names that it has taken."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._count = 0

    def type(self, depth: int) -> Any:
        rng = self._rng
        kind = rng.random()
        if depth == 0 or kind < 0.35:
            return rng.choice(_PRIMITIVES)
        if kind < 0.6:
            fields = [self.field(name, depth - 1) for name in rng.sample(NAMES, rng.randint(0, 3))]
            return {"type": "record", "name": self._name("R"), "fields": fields}
        if kind < 0.7:
            symbols = rng.sample(["A", "B", "C"], rng.randint(0, 3))
            found = {"type": "enum", "name": self._name("E"), "symbols": symbols}
            return {**found, "default": symbols[0]} if symbols and rng.random() < 0.3 else found
        if kind < 0.76:
            return {"type": "fixed", "name": self._name("F"), "size": rng.randint(1, 3)}
        if kind < 0.82:
            return {
                "type": "bytes",
                "logicalType": "decimal",
                "precision": rng.randint(0, 5),
                "scale": rng.randint(0, 3),
            }
        if kind < 0.88:
            return {"type": "array", "items": self.type(depth - 1)}
        if kind < 0.92:
            return {"type": "map", "values": self.type(depth - 1)}
        named = [each for each in (self.type(depth - 1) for _ in range(2)) if isinstance(each, dict) and "name" in each]
        return [*rng.sample(_PRIMITIVES, rng.randint(1, 3)), *named]

    def field(self, name: str, depth: int) -> dict[str, Any]:
        kind = self.type(depth)
        found = {"name": name, "type": kind}
        if isinstance(kind, str) and self._rng.random() < 0.4:
            found["default"] = _DEFAULTS[kind]
        return found

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"


def _avro_places(holder: Any, key: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of every type."""
    yield holder, key
    kind = holder[key]
    if isinstance(kind, list):
        for index in range(len(kind)):
            yield from _avro_places(kind, index)
    elif isinstance(kind, dict):
        for word in ("items", "values"):
            if word in kind:
                yield from _avro_places(kind, word)
        for each in kind.get("fields", ()):
            yield from _avro_places(each, "type")


def _change_avro(rng: random.Random, whole: list[Any], made: _Avro) -> None:
    holder, key = rng.choice(list(_avro_places(whole, 0)))
    kind = holder[key]
    fields = kind.get("fields") if isinstance(kind, dict) else None
    if fields is not None and rng.random() < 0.7:
        free = [name for name in NAMES if name not in {each["name"] for each in fields}]
        if fields and rng.random() < 0.5:
            field = rng.choice(fields)
            if rng.random() < 0.4:
                fields.remove(field)
            elif free and rng.random() < 0.5:
                field["aliases"], field["name"] = [field["name"]], free[0]
        elif free:
            fields.insert(rng.randint(0, len(fields)), made.field(free[0], 1))
    elif isinstance(kind, dict) and "symbols" in kind:
        kind["symbols"] = sorted({*kind["symbols"], "D"} - {rng.choice("ABCX")})
        if kind.get("default") not in kind["symbols"]:
            kind.pop("default", None)
    elif isinstance(kind, dict) and "size" in kind:
        kind["size"] += rng.choice([0, 1])
    elif isinstance(kind, dict) and "precision" in kind:
        kind[rng.choice(["precision", "scale"])] += 1
    elif isinstance(kind, dict) and "name" in kind:
        kind["aliases"], kind["name"] = [kind["name"]], f"{kind['name']}x"
    elif isinstance(kind, list):
        if len(kind) > 1 and rng.random() < 0.5:
            kind.pop(rng.randrange(len(kind)))
        else:
            kind += [each for each in rng.sample(_PRIMITIVES, 1) if each not in kind]
    elif (isinstance(holder, dict) and "default" not in holder) or holder is whole:
        wider = {"int": "long", "long": "double", "float": "double", "string": "bytes", "bytes": "string"}
        holder[key] = rng.choice(
            [wider.get(str(kind), kind), ["null", kind] if kind != "null" else kind, rng.choice(_PRIMITIVES)]
        )


def avro_pair(rng: random.Random) -> tuple[str, str]:
    made = _Avro(rng)
    older = [made.type(3)]
    newer = copy.deepcopy(older)
    for _ in range(rng.choice([0, 1, 1, 2])):
        _change_avro(rng, newer, made)
    return json.dumps(older[0]), json.dumps(newer[0])


# -- Protobuf

_SCALARS = ("int32", "int64", "uint32", "sint32", "bool", "string", "bytes", "float", "double", "fixed32", "sfixed64")


def _proto(rng: random.Random) -> dict[str, Any]:
    fields = {}
    for number in rng.sample(range(1, 7), rng.randint(1, 5)):
        kind = rng.choice([*_SCALARS, *_SCALARS, "N", "E", "map<string, int32>"])
        label = "" if kind.startswith("map") else rng.choice(["", "", "repeated "])
        fields[number] = [label, kind, f"{rng.choice(NAMES)}_{number}"]
    return {"syntax": rng.choice(["proto3", "proto3", "proto2"]), "fields": fields, "nested": "int32", "oneof": ()}


def _change_proto(rng: random.Random, file: dict[str, Any]) -> None:
    fields, roll = file["fields"], rng.random()
    number = rng.choice(list(fields)) if fields else None
    if roll < 0.2 or number is None:
        fields[rng.randint(7, 9)] = ["", rng.choice(_SCALARS), f"more_{rng.randint(1, 99)}"]
    elif roll < 0.35:
        del fields[number]
        file["oneof"] = tuple(each for each in file["oneof"] if each != number)
    elif roll < 0.6:
        fields[number][:2] = ["", rng.choice([*_SCALARS, "N", "E"])]
    elif roll < 0.7 and not fields[number][1].startswith("map"):
        fields[number][0] = rng.choice(["", "repeated ", "optional ", "required "])
    elif roll < 0.8:
        fields[number][2] += "x"
    elif roll < 0.9:
        file["nested"] = rng.choice(_SCALARS)
    else:
        plain = [each for each, (label, kind, _) in fields.items() if not label and not kind.startswith("map")]
        file["oneof"] = tuple(rng.sample(plain, min(len(plain), rng.randint(1, 2))))


def _proto_text(file: dict[str, Any]) -> str:
    two = file["syntax"] == "proto2"
    lines = [f'syntax = "{file["syntax"]}";', "message M {"]
    members = []
    for number, (label, kind, name) in file["fields"].items():
        if number in file["oneof"]:
            members.append(f"{kind} {name} = {number};")
            continue
        if two and not label and not kind.startswith("map"):
            label = "optional "  # noqa: PLW2901
        elif not two and label == "required ":
            label = ""  # noqa: PLW2901
        lines.append(f"  {label}{kind} {name} = {number};")
    if members:
        lines.append(f"  oneof one {{ {' '.join(members)} }}")
    label = "optional " if two else ""
    lines += [f"  message N {{ {label}{file['nested']} inner = 1; }}", "  enum E { NONE = 0; SOME = 1; }", "}"]
    return "\n".join(lines)


def protobuf_pair(rng: random.Random) -> tuple[str, str]:
    older = _proto(rng)
    newer = copy.deepcopy(older)
    for _ in range(rng.choice([0, 1, 1, 2])):
        _change_proto(rng, newer)
    return _proto_text(older), _proto_text(newer)


PAIRS: dict[str, Callable[[random.Random], tuple[str, str]]] = {
    "AVRO": avro_pair,
    "JSON": json_pair,
    "PROTOBUF": protobuf_pair,
}
