"""A strict parser of Avro schemas (specification 1.12), which reports errors with their path."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from broker_core.schemas.json_text import read_schema_text
from broker_core.schemas.problem import InvalidSchemaError, Problem, distinct, pointer_to, shown

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
MAX_FIXED_BYTES = 1_048_576
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RANGES = {"int": 31, "long": 63}
Path = tuple[object, ...]


class AvroType(msgspec.Struct, eq=False):
    """A type. `kind` is a primitive's name, record, enum, fixed, array, map or union; other attributes may be empty.

    `path` is the path of its definition. `logical` is (name, precision, scale); the last two are 0 except for decimals.
    """

    kind: str
    path: Path
    name: str = ""  # with its namespace
    aliases: tuple[str, ...] = ()
    fields: tuple[AvroField, ...] = ()
    inner: tuple[AvroType, ...] = ()  # the item type of an array or map, the branches of a union
    symbols: tuple[str, ...] = ()
    default: str | None = None  # of an enum
    size: int = 0
    logical: tuple[str, int, int] | None = None

    @property
    def short_name(self) -> str:
        return self.name.rpartition(".")[2]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" if self.name else self.kind


class AvroField(msgspec.Struct, eq=False):
    name: str
    type: AvroType
    aliases: tuple[str, ...]
    has_default: bool


def read_avro(text: str, referenced: Iterable[str] = ()) -> tuple[AvroType, Any, list[Any]]:
    """(type, the same schema as plain values for fastavro, those of the schemas before it). Raises InvalidSchemaError.

    The types of the `referenced` schemas, in their order, are known to it.
    """
    reader = _Reader()
    before = [reader.type_of(read_schema_text(other), (), "")[1] for other in referenced]
    found, plain = reader.type_of(read_schema_text(text), (), "")
    reader.refuse_endless_records()
    if reader.problems:
        raise InvalidSchemaError(distinct(reader.problems))
    return found, plain, before


class _Reader:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._named: dict[str, AvroType] = {}

    def _wrong(self, path: Path, message: str) -> AvroType:
        self.problems.append(Problem(pointer_to(*path), message))
        return AvroType("null", path)

    def type_of(self, schema: Any, path: Path, namespace: str) -> tuple[AvroType, Any]:
        if isinstance(schema, str):
            return self._by_name(schema, path, namespace)
        if isinstance(schema, list):
            return self._union(schema, path, namespace)
        if not isinstance(schema, dict):
            return self._wrong(path, "a type is a name, an object or a list"), "null"
        kind = schema.get("type")
        if kind in ("array", "map"):
            word = "items" if kind == "array" else "values"
            found = AvroType(kind, path)
            inner, plain = self.type_of(schema.get(word), (*path, word), namespace)
            found.inner = (inner,)
            return found, {"type": kind, word: plain}
        if kind in ("record", "error", "enum", "fixed"):
            return self._definition(schema, path, namespace)
        if isinstance(kind, str) and kind in PRIMITIVES:
            found = AvroType(kind, path)
            return found, {"type": kind, **self._logical(schema, found, path)}
        if isinstance(kind, str | list | dict):
            return self.type_of(kind, (*path, "type"), namespace)
        return self._wrong((*path, "type"), "the type is missing"), "null"

    def _by_name(self, name: str, path: Path, namespace: str) -> tuple[AvroType, Any]:
        if name in PRIMITIVES:
            return AvroType(name, path), name
        for full in (name,) if "." in name or not namespace else (f"{namespace}.{name}",):
            if full in self._named:
                return self._named[full], full
        return self._wrong(path, f"there is no type {shown(name)}, or it is defined further down"), "null"

    def _union(self, schema: list[Any], path: Path, namespace: str) -> tuple[AvroType, Any]:
        found, plain, seen = AvroType("union", path), [], set()
        branches = []
        for index, branch in enumerate(schema):
            inner, form = self.type_of(branch, (*path, index), namespace)
            label = inner.name or inner.kind
            if inner.kind == "union":
                self._wrong((*path, index), "a union must not hold a union directly")
            if label in seen:
                self._wrong((*path, index), f"the union has {label} twice")
            seen.add(label)
            branches.append(inner)
            plain.append(form)
        found.inner = tuple(branches)
        return found, plain

    def _definition(self, schema: dict[str, Any], path: Path, namespace: str) -> tuple[AvroType, Any]:
        kind = "record" if schema["type"] == "error" else schema["type"]
        found = AvroType(kind, path)
        found.name, inside = self._full_name(schema, path, namespace)
        found.aliases = self._aliases(schema, path, inside)
        if found.name in self._named or found.name in PRIMITIVES:
            self._wrong((*path, "name"), f"the name {found.name} is taken")
        self._named[found.name] = found
        plain: dict[str, Any] = {"type": kind, "name": found.name}
        if found.aliases:
            plain["aliases"] = list(found.aliases)
        if kind == "record":
            plain["fields"] = self._fields(schema.get("fields"), found, path, inside)
        elif kind == "enum":
            plain |= self._symbols(schema, found, path)
        else:
            size = schema.get("size")
            if type(size) is not int or not 0 <= size <= MAX_FIXED_BYTES:
                self._wrong((*path, "size"), f"the size is a number from 0 to {MAX_FIXED_BYTES:,}")
                size = 0
            found.size = size
            plain |= {"size": size, **self._logical(schema, found, path)}
        return found, plain

    def _full_name(self, schema: dict[str, Any], path: Path, namespace: str) -> tuple[str, str]:
        """(full name, namespace of inner names)."""
        name: Any = schema.get("name")
        own: Any = schema.get("namespace", namespace)
        if not _is_name(name) or (own and not _is_name(own)):
            self._wrong((*path, "name"), "a name is made of letters, digits and _, and does not begin with a digit")
            return f"wrong{len(self._named)}", ""
        if "." in name:
            return name, name.rpartition(".")[0]
        return (f"{own}.{name}", own) if own else (name, "")

    def _aliases(self, schema: dict[str, Any], path: Path, namespace: str) -> tuple[str, ...]:
        aliases = schema.get("aliases", [])
        if not isinstance(aliases, list) or not all(_is_name(alias) for alias in aliases):
            self._wrong((*path, "aliases"), "aliases are a list of names")
            return ()
        return tuple(alias if "." in alias or not namespace else f"{namespace}.{alias}" for alias in aliases)

    def _symbols(self, schema: dict[str, Any], found: AvroType, path: Path) -> dict[str, Any]:
        symbols = schema.get("symbols")
        if not isinstance(symbols, list) or not all(
            isinstance(word, str) and _NAME.fullmatch(word) for word in symbols
        ):
            self._wrong((*path, "symbols"), "the symbols are a list of names")
            return {"symbols": ["wrong"]}
        if len(set(symbols)) < len(symbols):
            self._wrong((*path, "symbols"), "there must not be a symbol twice")
        found.symbols = tuple(symbols)
        if not isinstance(schema.get("default"), str):
            return {"symbols": symbols}
        if schema["default"] not in symbols:
            self._wrong((*path, "default"), "the default is not one of the symbols")
            return {"symbols": symbols}
        found.default = schema["default"]
        return {"symbols": symbols, "default": found.default}

    def _fields(self, fields: Any, record: AvroType, path: Path, namespace: str) -> list[Any]:
        if not isinstance(fields, list):
            self._wrong((*path, "fields"), "a record has a list of fields")
            return []
        found, plain, taken = [], [], set()
        for index, field in enumerate(fields):
            where = (*path, "fields", index)
            if not isinstance(field, dict) or not isinstance(field.get("name"), str) or "type" not in field:
                self._wrong(where, "a field is an object with a name and a type")
                continue
            name = field["name"]
            if not _NAME.fullmatch(name) or name in taken:
                self._wrong((*where, "name"), f"the name {shown(name)} is not allowed, or taken by another field")
            taken.add(name)
            kind, form = self.type_of(field["type"], (*where, "type"), namespace)
            aliases = self._aliases(field, where, "")
            entry: dict[str, Any] = {"name": name, "type": form}
            if aliases:
                entry["aliases"] = list(aliases)
            if "default" in field:
                entry["default"] = field["default"]
                # The default of a union may be of any branch since 1.12; before, of the first.
                if kind is not record and not self._is_default(field["default"], kind):
                    self._wrong((*where, "default"), f"the default is not a {kind}")
            found.append(AvroField(name, kind, aliases, "default" in field))
            plain.append(entry)
        record.fields = tuple(found)
        return plain

    def _logical(self, schema: dict[str, Any], found: AvroType, path: Path) -> dict[str, Any]:
        name = schema.get("logicalType")
        if not isinstance(name, str) or found.kind not in _LOGICAL_ON.get(name, ()):
            return {}  # what is unknown, mismatched or wrong is ignored, as specified
        if name != "decimal":
            found.logical = (name, 0, 0)
            return {"logicalType": name}
        precision, scale = schema.get("precision"), schema.get("scale", 0)
        if (
            type(precision) is not int
            or type(scale) is not int
            or not 0 <= scale <= precision <= 1_000
            or not precision
        ):
            return {}
        if found.kind == "fixed" and 10**precision > 2 ** (8 * found.size - 1):
            return {}
        found.logical = (name, precision, scale)
        return {"logicalType": name, "precision": precision, "scale": scale}

    def _is_default(self, value: Any, kind: AvroType) -> bool:
        if kind.kind == "union":
            return any(self._is_default(value, branch) for branch in kind.inner)
        if kind.kind in _RANGES:
            limit = 1 << _RANGES[kind.kind]
            return type(value) is int and -limit <= value < limit
        if kind.kind in ("float", "double"):
            return type(value) in (int, float)
        if kind.kind == "array":
            return isinstance(value, list) and all(self._is_default(item, kind.inner[0]) for item in value)
        if kind.kind == "map":
            return isinstance(value, dict) and all(self._is_default(item, kind.inner[0]) for item in value.values())
        if kind.kind == "record":
            return isinstance(value, dict) and all(
                self._is_default(value[field.name], field.type) if field.name in value else field.has_default
                for field in kind.fields
            )
        if kind.kind == "enum":
            return value in kind.symbols
        if kind.kind == "fixed":
            return isinstance(value, str) and len(value) == kind.size and all(ord(letter) < 256 for letter in value)
        if kind.kind == "bytes":
            return isinstance(value, str) and all(ord(letter) < 256 for letter in value)
        return type(value) is {"null": type(None), "boolean": bool, "string": str}[kind.kind]

    def refuse_endless_records(self) -> None:
        """Refuse records that contain themselves without a union, array or map: they have no finite value."""
        done: set[str] = set()

        def visit(record: AvroType, way: tuple[str, ...]) -> None:
            if record.name in way:
                self._wrong((*record.path, "fields"), f"the record {record.name} always holds itself")
            elif record.name not in done:
                for field in record.fields:
                    if field.type.kind == "record":
                        visit(field.type, (*way, record.name))
                done.add(record.name)

        for found in [*self._named.values()]:
            if found.kind == "record":
                visit(found, ())


_LOGICAL_ON = {
    "decimal": ("bytes", "fixed"),
    "uuid": ("string",),
    "date": ("int",),
    "time-millis": ("int",),
    "time-micros": ("long",),
    "timestamp-millis": ("long",),
    "timestamp-micros": ("long",),
    "local-timestamp-millis": ("long",),
    "local-timestamp-micros": ("long",),
}


def _is_name(name: object) -> bool:
    return isinstance(name, str) and all(_NAME.fullmatch(part) for part in name.split("."))
