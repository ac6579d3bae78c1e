"""Requests and responses read by `kio`'s schemas, trusting no length in them.

The library's own reader is compiled and takes memory for as many elements as an array announces before it looks for
them; a frame of a few bytes ends the process. Here every length is held against what is left. Time spans and times come
as whole milliseconds.
"""

from __future__ import annotations

import operator
import struct
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import timedelta
from functools import cache, partial
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from kio.schema.index import api_key_map, schema_name_map

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.schemas import load_request_schema, load_response_schema

Read = Callable[["Cursor"], Any]
Data = bytes | memoryview
#: The rows of each array of a response or of a row, and what was read of them together.
Memory = dict[str, tuple[Sequence["_Row"], tuple[Any, ...]]]
_Row = tuple[bytes, Any, Memory]  # what it was read of, what was read, and of its own arrays


class Cursor:
    """A place in the bytes of a request that may have `most_elements` in all its arrays together.

    With a `memory` of the last response to the same request, the rows of its arrays that have the same bytes are not
    read again, but are the same objects; they are not to be changed. It takes what is read now.
    """

    __slots__ = ("_data", "_elements_left", "_end", "memory", "position")

    def __init__(self, data: Data, position: int, most_elements: int, memory: Memory | None = None) -> None:
        self._data = data
        self.memory = memory
        self._elements_left = most_elements
        self.position = position
        self._end = len(data)

    def take(self, size: int) -> Data:
        """The next `size` bytes. Raises MALFORMED_REQUEST if there are fewer."""
        end = self.position + size
        if size < 0 or end > self._end:
            raise BrokerError(ErrorCode.MALFORMED_REQUEST, f"{size} bytes are announced at byte {self.position}")
        found = self._data[self.position : end]
        self.position = end
        return found

    def passes(self, data: bytes) -> bool:
        """Whether `data` comes next; then it lies behind. Of a response only."""
        assert isinstance(self._data, bytes)
        there = self._data.startswith(data, self.position)
        self.position += len(data) * there
        return there

    def since(self, position: int) -> bytes:
        return bytes(self._data[position : self.position])

    def numbers(self, kind: struct.Struct) -> tuple[Any, ...]:
        """Raises MALFORMED_REQUEST if they are not there."""
        position = self.position
        if position + kind.size > self._end:
            self.take(kind.size)
        self.position += kind.size
        return kind.unpack_from(self._data, position)

    def number(self, kind: struct.Struct) -> Any:
        return self.numbers(kind)[0]

    def varint(self) -> int:
        """An unsigned number of at most 32 bits, seven in a byte."""
        position = self.position
        if position < self._end and self._data[position] < 0x80:  # nearly always
            self.position += 1
            return self._data[position]
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 28:
                raise BrokerError(ErrorCode.MALFORMED_REQUEST, "a length has more than five bytes")

    def count(self, flexible: bool) -> int:
        """The elements of an array, -1 for null; each takes a byte at least. Raises as `take`, or REQUEST_TOO_LARGE."""
        count: int = self.varint() - 1 if flexible else self.number(_INT32)
        if count > self._end - self.position:
            raise BrokerError(ErrorCode.MALFORMED_REQUEST, f"{count} elements are announced at byte {self.position}")
        self._elements_left -= max(0, count)
        if self._elements_left < 0:
            raise BrokerError(ErrorCode.REQUEST_TOO_LARGE, "it has more elements than a request of its API may have")
        return count

    def sized(self, flexible: bool, kind: struct.Struct) -> Data | None:
        """Bytes behind their length; None for null."""
        size = self.varint() - 1 if flexible else self.number(kind)
        return None if size == -1 else self.take(size)

    def blob(self, flexible: bool) -> bytes | None:
        found = self.sized(flexible, _INT32)
        return None if found is None else bytes(found)

    def text(self, flexible: bool) -> str | None:
        found = self.sized(flexible, _INT16)
        try:
            return None if found is None else str(found, "utf-8")
        except UnicodeDecodeError:
            raise BrokerError(ErrorCode.MALFORMED_REQUEST, "a text is not UTF-8") from None

    def tags(self, known: dict[int, tuple[str, Read]], into: dict[str, Any]) -> None:
        """The tagged fields behind the others; those that are not known are passed over."""
        for _ in range(self.count(True) + 1):  # that of an array is written one greater
            tag, size = self.varint(), self.varint()
            data = self.take(size)
            if tag in known:
                name, read = known[tag]
                cursor = Cursor(data, 0, self._elements_left)
                into[name] = read(cursor)
                self._elements_left = cursor._elements_left


_INT8, _INT16, _INT32, _INT64 = (struct.Struct(f">{code}") for code in "bhiq")
_UINT16, _FLOAT64, _BOOL = struct.Struct(">H"), struct.Struct(">d"), struct.Struct(">?")
NUMBERS = {
    "int8": _INT8,
    "int16": _INT16,
    "int32": _INT32,
    "int64": _INT64,
    "uint16": _UINT16,
    "float64": _FLOAT64,
    "bool": _BOOL,
    "error_code": _INT16,
    "timedelta_i32": _INT32,
    "timedelta_i64": _INT64,
    "datetime_i64": _INT64,
}


def client_id(cursor: Cursor, flexible: bool) -> str:
    """The rest of a request's header after its fixed part; the client id is never compact."""
    found = cursor.text(False)
    if flexible:
        cursor.tags({}, {})
    return found or ""


@cache
def request_reader(api_key: int, version: int) -> tuple[Read, bool]:
    """Reads the body of a request, as a namespace; and whether the header before it has tagged fields.

    It has all fields of the newest version, too: those that this version lacks have their default.
    """
    schema = load_request_schema(api_key, version)
    newest = load_request_schema(api_key, max(schema_name_map[api_key_map[api_key]]))
    return _entity(schema, newest), schema.__header_schema__.__version__ > 1


@cache
def response_reader(api_key: int, version: int) -> tuple[Read, bool]:
    """A function that reads the body of a response, and whether its header has tagged fields."""
    schema = load_response_schema(api_key, version)
    return _entity(schema, schema, remembers=True), schema.__header_schema__.__version__ > 0


def _entity(schema: Any, newest: Any, remembers: bool = False) -> Read:
    flexible: bool = schema.__flexible__
    steps: list[tuple[tuple[str, ...], struct.Struct | Read]] = []
    tagged: dict[int, tuple[str, Read]] = {}
    own, later = fields(schema), {each.name: each for each in fields(newest)}
    defaults = {name: default_of(later[name]) for name in later.keys() - {each.name for each in own}}
    for each in own:
        read = _field(each, flexible, later.get(each.name, each), remembers)
        tag = each.metadata.get("tag")
        number = None if typing.get_args(each.type) else NUMBERS.get(each.metadata.get("kafka_type", ""))
        if tag is not None:
            tagged[tag] = (each.name, read)
            defaults[each.name] = default_of(each)
        elif number is not None and steps and isinstance(before := steps[-1][1], struct.Struct):  # read in one go
            steps[-1] = ((*steps[-1][0], each.name), struct.Struct(before.format + number.format[1:]))
        else:
            steps.append(((each.name,), read if number is None else number))

    def read_entity(cursor: Cursor) -> SimpleNamespace:
        values = dict(defaults)
        for names, step in steps:
            if isinstance(step, struct.Struct):
                values.update(zip(names, cursor.numbers(step), strict=True))
            else:
                values[names[0]] = step(cursor)
        if flexible:
            cursor.tags(tagged, values)
        return SimpleNamespace(**values)

    return read_entity


def default_of(field: Field[Any]) -> Any:
    """The default of a missing field, as it would be read."""
    default = field.default
    if isinstance(default, timedelta):
        return default // timedelta(milliseconds=1)
    if default is not MISSING or types.NoneType in typing.get_args(field.type):
        return None if default is MISSING else default
    if typing.get_origin(field.type) is tuple:
        return ()
    made = {"string": "", "bytes": b"", "records": b"", "bool": False, "uuid": UUID(int=0)}
    return made.get(field.metadata.get("kafka_type", ""), 0)


def _field(field: Field[Any], flexible: bool, newest: Field[Any], remembers: bool) -> Read:
    nested = nested_in(field)
    if nested is not None:
        one = _entity(nested, nested_in(newest) or nested, remembers)
    else:
        one = _plain(field.metadata["kafka_type"], flexible)
    is_nullable = types.NoneType in typing.get_args(field.type)
    read = one
    if is_array(field):
        one = partial(_present, one, field.name)
        is_kept = remembers and nested is not None
        read = partial(_remembered, field.name, one, flexible) if is_kept else partial(_array, one, flexible)
    elif nested is not None:
        return (lambda cursor: None if cursor.number(_INT8) < 0 else one(cursor)) if is_nullable else one
    return read if is_nullable else partial(_present, read, field.name)


def _array(one: Read, flexible: bool, cursor: Cursor) -> tuple[Any, ...] | None:
    count = cursor.count(flexible)
    return None if count < 0 else tuple([one(cursor) for _ in range(count)])


def _remembered(name: str, one: Read, flexible: bool, cursor: Cursor) -> tuple[Any, ...] | None:
    if cursor.memory is None:
        return _array(one, flexible, cursor)
    count = cursor.count(flexible)
    if count < 0:
        return None
    memory = cursor.memory
    before, found_before = memory.get(name, ((), ()))
    rows: list[_Row] = []
    for number in range(count):
        row = before[number] if number < len(before) else None
        if row is None or not cursor.passes(row[0]):
            position = cursor.position
            cursor.memory = inner = {} if row is None else row[2]
            value = one(cursor)
            row = cursor.since(position), value, inner
        rows.append(row)
    cursor.memory = memory
    if len(rows) == len(before) and all(map(operator.is_, rows, before)):
        return found_before
    memory[name] = rows, (found := tuple([value for _, value, _ in rows]))
    return found


def _present(read: Read, name: str, cursor: Cursor) -> Any:
    value = read(cursor)
    if value is None:
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, f"{name} is null")
    return value


def _plain(kafka_type: str, flexible: bool) -> Read:
    number = NUMBERS.get(kafka_type)
    if number is not None:
        return lambda cursor: cursor.number(number)
    match kafka_type:
        case "string":
            return lambda cursor: cursor.text(flexible)
        case "uuid":
            return lambda cursor: UUID(bytes=bytes(cursor.take(16)))
        case "records":  # as they are, since they may be large
            return lambda cursor: cursor.sized(flexible, _INT32)
    return lambda cursor: cursor.blob(flexible)


def nested_in(field: Field[Any]) -> Any:
    """The schema of what a field holds; None if that is plain."""
    return next(filter(is_dataclass, types_in(field.type)), None)


def is_array(field: Field[Any]) -> bool:
    return any(typing.get_origin(part) is tuple for part in types_in(field.type))


def types_in(kind: Any) -> list[Any]:
    found = [kind]
    for each in typing.get_args(kind):
        found += types_in(each)
    return found
