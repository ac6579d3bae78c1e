"""Avro encoding and decoding by fastavro, within limits.

fastavro's compiled reader and writer recurse without a limit: 18 kB of nested records crash the process. So every
length, index, text and depth is checked before data is decoded. Of a union's branches fastavro writes the first that
accepts the value (bytes as a list of ints, a large int as a float), after a search of exponential time in the depth.
Here it is one that returns an equal value on reading, each part of the value is checked once for each type, and
fastavro gets the branch's name.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import fastavro

from broker_core.limits import MAX_VALUE_DEPTH, MAX_VALUES
from broker_core.schemas.avro_types import AvroType, Path, read_avro
from broker_core.schemas.json_text import InvalidJsonError, levels
from broker_core.schemas.problem import InvalidDataError, Problem, pointer_to, shortened


def check_binary(kind: AvroType, data: bytes, at: int = 0) -> None:
    """Raises InvalidDataError unless `data` from `at` on is exactly one value of `kind`."""
    check = _BinaryCheck(data, at)
    check.value(kind, ())
    surplus = len(data) - check.at
    if surplus:
        raise _wrong((), f"there are {surplus:,} bytes after the end of the value")


def _wrong(path: Path, message: str) -> InvalidDataError:
    return InvalidDataError([Problem(pointer_to(*path), message)])


class _BinaryCheck:
    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self.at = at
        # Items of no bytes, such as nulls, could be any number in a few bytes.
        self._left = min(MAX_VALUES, 10_000 + 100 * len(data))

    def value(self, kind: AvroType, path: Path) -> None:
        self._left -= 1
        if self._left < 0:
            raise _wrong(path, "there are more values than its bytes can have")
        if len(path) > MAX_VALUE_DEPTH:
            raise _wrong(path, f"it is nested deeper than {MAX_VALUE_DEPTH} levels")
        match kind.kind:
            case "record":
                for field in kind.fields:
                    self.value(field.type, (*path, field.name))
            case "array" | "map":
                self._blocks(kind, path)
            case "union":
                # A branch adds no path component; the depth counts the record inside.
                self.value(kind.inner[self._index(path, len(kind.inner), "branch")], path)
            case "enum":
                self._index(path, len(kind.symbols), "symbol")
            case "null":
                pass
            case _:
                self._plain(kind, path)

    def _plain(self, kind: AvroType, path: Path) -> None:
        match kind.kind:
            case "boolean":
                if self._take(1, path)[0] > 1:
                    raise _wrong(path, "the byte of a boolean is neither 0 nor 1")
            case "int" | "long":
                self._integer(path, 32 if kind.kind == "int" else 64)
            case "string":
                self._text(path)
            case "bytes":
                self._take(self._length(path), path)
            case _:
                self._take({"float": 4, "double": 8}.get(kind.kind, kind.size), path)

    def _blocks(self, kind: AvroType, path: Path) -> None:
        place = 0
        while count := self._integer(path, 64):
            if count < 0:
                self._length(path)
            for _ in range(abs(count)):
                name = self._text(path) if kind.kind == "map" else place
                self.value(kind.inner[0], (*path, name))
                place += 1

    def _take(self, count: int, path: Path) -> bytes:
        end = self.at + count
        if end > len(self._data):
            raise _wrong(path, f"the data end {end - len(self._data):,} bytes too early")
        taken = self._data[self.at : end]
        self.at = end
        return taken

    def _integer(self, path: Path, bits: int) -> int:
        """A zigzag varint."""
        number = shift = 0
        while True:
            byte = self._take(1, path)[0]
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift >= 70:
                raise _wrong(path, "a number has more than ten bytes")
        if number >= 1 << bits:
            raise _wrong(path, f"a number does not fit into {bits} bits")
        return (number >> 1) ^ -(number & 1)

    def _length(self, path: Path) -> int:
        length = self._integer(path, 64)
        if length < 0:
            raise _wrong(path, "a length is negative")
        return length

    def _index(self, path: Path, count: int, what: str) -> int:
        index = self._integer(path, 32)
        if not 0 <= index < count:
            raise _wrong(path, f"there is no {what} {index}; there are {count}")
        return index

    def _text(self, path: Path) -> str:
        try:
            return self._take(self._length(path), path).decode()
        except UnicodeDecodeError:
            raise _wrong(path, "the text is not UTF-8") from None


_SECOND_CHOICE = {"double": 1, "float": 2, "fixed": 1}


class _Labels:
    """Values with (branch name, value) for unions whose branch follows from the Python type."""

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


class AvroSchema:
    """A parsed and checked schema. Immutable and thread-safe."""

    def __init__(self, text: str, referenced: Iterable[str] = ()) -> None:
        """`referenced` are the texts of schemas whose types it may name. Raises InvalidSchemaError."""
        self.text = text
        self.type, plain, before = read_avro(text, referenced)
        named: dict[str, Any] = {}
        for each in (*before, plain):
            self._parsed = fastavro.parse_schema(each, named, _ignore_default_error=True)  # checked by read_avro

    def encode(self, value: Any) -> bytes:
        """The binary encoding of `value`. Raises InvalidDataError."""
        try:  # fastavro's compiled writer recurses without a limit
            for _level in levels(value):
                pass
        except (InvalidJsonError, TypeError) as error:  # an array without a dimension is a collection of nothing
            raise _wrong((), str(error)) from None
        out = io.BytesIO()
        try:
            fastavro.schemaless_writer(out, self._parsed, _Labels().of(self.type, value), strict_allow_default=True)
        except Exception as error:  # fastavro raises many types
            raise _wrong((), shortened(f"{type(error).__name__}: {error}")) from None
        data = out.getvalue()
        check_binary(self.type, data)  # fastavro writes integers of any size; the result must be readable
        return data

    def problems_of_binary(self, data: bytes, at: int = 0) -> list[Problem]:
        """The problems of the value in `data` from `at` on."""
        try:
            self.decode(data, at)
        except InvalidDataError as error:
            return error.problems
        return []

    def decode(self, data: bytes, at: int = 0, reader: AvroSchema | None = None) -> Any:
        """The value in `data` from `at` on, written with this schema, resolved to `reader`. Raises InvalidDataError."""
        check_binary(self.type, data, at)
        source = io.BytesIO(data)
        source.seek(at)
        try:
            return fastavro.schemaless_reader(source, self._parsed, None if reader is None else reader._parsed)
        except Exception as error:  # a date after the year 9999, an invalid UUID, schemas that do not resolve
            raise _wrong((), shortened(f"{type(error).__name__}: {error}")) from None
