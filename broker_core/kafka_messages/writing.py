"""Messages of Kafka's protocol as bytes, from nested mappings, by the message schemas of `kio`.

A mapping has the field names of the newest version; what a version does not have is left out, what it has and is not
given gets the schema's default. Errors are numbers, times are milliseconds. What no version has is a mistake and fails.
The library's own writer makes an object of each row first, and asks of each number whether it is one.
"""

from __future__ import annotations

import struct
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, fields
from functools import cache, partial
from itertools import groupby
from typing import Any
from uuid import UUID

from kio.schema.index import api_key_map, schema_name_map

from broker_core.kafka_messages.reading import NUMBERS, default_of, is_array, nested_in
from broker_core.varint import varint

Body = Mapping[str, Any]
Parts = list[Any]  # bytes, and what a body has instead of them, as it is
Write = Callable[[Any, Parts], None]
Length = Callable[[int], bytes]

# Rows about what a request names carry each word that schemas have for it; the schema of the row takes its own.
_ROW_WORDS = frozenset(
    ("name", "topic", "topic_name", "topic_id", "error_code", "error_message", "node_id", "broker_id")
)


@cache
def message_writer(load_schema: Callable[[int, int], Any], api_key: int, version: int) -> tuple[Write, bool]:
    """The writer of a request or a response, as `load_schema` is for; True if the header before it is flexible."""
    schema = load_schema(api_key, version)
    versions = [load_schema(api_key, each) for each in schema_name_map[api_key_map[api_key]]]
    return writer(schema, versions), schema.__header_schema__.__flexible__


def writer(schema: Any, versions: Sequence[Any] = ()) -> Write:
    """Appends what a body of `schema` is to a list of bytes.

    Keys that neither it nor one of the other `versions` of it has raise TypeError.
    """
    versions = (schema, *versions)
    flexible: bool = schema.__flexible__
    known = _ROW_WORDS.union(each.name for version in versions for each in fields(version))
    plain = [each for each in fields(schema) if "tag" not in each.metadata]
    steps: list[Write] = []
    for is_number, group in groupby(
        plain, lambda each: each.metadata.get("kafka_type") in NUMBERS and not is_array(each)
    ):
        run = [*group]
        steps += [_numbers(run)] if is_number else [_step(each.name, *_value(each, flexible, versions)) for each in run]
    if flexible:
        tagged = {each.metadata["tag"]: each for each in fields(schema) if "tag" in each.metadata}
        steps.append(_tags([(tag, tagged[tag].name, *_value(tagged[tag], True, versions)) for tag in sorted(tagged)]))

    def write(body: Body, parts: Parts) -> None:
        if not known.issuperset(body):
            raise TypeError(f"{schema.__name__} has no {', '.join(sorted(body.keys() - known))}")
        for step in steps:
            step(body, parts)

    return write


def _numbers(run: Sequence[Field[Any]]) -> Write:
    """Writes fields that follow each other in one go."""
    pack = struct.Struct(">" + "".join(NUMBERS[each.metadata["kafka_type"]].format[1:] for each in run)).pack
    defaults = [(field.name, -1 if (default := default_of(field)) is None else default) for field in run]

    def write(body: Body, parts: Parts) -> None:
        given = body.get
        parts.append(pack(*[given(name, default) for name, default in defaults]))

    return write


def _step(name: str, write_value: Write, absent: bytes) -> Write:
    def write(body: Body, parts: Parts) -> None:
        if name in body:
            write_value(body[name], parts)
        else:
            parts.append(absent)

    return write


def _tags(tagged: Sequence[tuple[int, str, Write, bytes]]) -> Write:
    """Writes the tagged fields that are given, and are neither null nor what they are if they are not given."""

    def write(body: Body, parts: Parts) -> None:
        given: dict[int, bytes] = {}
        for tag, name, write_value, absent in tagged:
            if body.get(name) is not None and (data := _bytes(write_value, body[name])) != absent:
                given[tag] = data
        parts.append(varint(len(given)))
        for tag, data in given.items():
            parts += (varint(tag), varint(len(data)), data)

    return write if tagged else lambda _body, parts: parts.append(b"\0")


def _bytes(write: Write, value: Any) -> bytes:
    parts: Parts = []
    write(value, parts)
    return b"".join(parts)


def _value(field: Field[Any], flexible: bool, versions: Sequence[Any]) -> tuple[Write, bytes]:
    """Writes the value of a field; and what that is if none is given."""
    kafka_type, nested, default = field.metadata.get("kafka_type", ""), nested_in(field), default_of(field)
    one: Write
    if nested is not None:
        others = (nested_in(each) for kind in versions for each in fields(kind) if each.name == field.name)
        one = writer(nested, [kind for kind in others if kind is not None])
    elif kafka_type in NUMBERS:
        one = partial(_packed, NUMBERS[kafka_type])
    elif kafka_type == "uuid":
        one = _uuid
    else:
        one = partial(_sized, _compact if flexible else struct.Struct(">h" if kafka_type == "string" else ">i").pack)
    write: Write = one
    if is_array(field):
        write = partial(_array, one, _compact if flexible else struct.Struct(">i").pack)
    elif nested is not None and types.NoneType in typing.get_args(field.type) and "tag" not in field.metadata:
        write = partial(_nullable, one)
    return write, _bytes(write, {} if nested is not None and default not in {None, ()} else default)


def _packed(number: struct.Struct, value: Any, parts: Parts) -> None:
    parts.append(number.pack(value))


def _uuid(value: UUID | None, parts: Parts) -> None:
    parts.append(bytes(16) if value is None else value.bytes)


def _sized(length: Length, value: Any, parts: Parts) -> None:
    data = value.encode() if isinstance(value, str) else b"" if value is None else value
    parts += (length(-1 if value is None else len(data)), data)


def _nullable(one: Write, value: Any, parts: Parts) -> None:
    parts.append(b"\xff" if value is None else b"\1")
    if value is not None:
        one(value, parts)


def _array(one: Write, length: Length, values: Any, parts: Parts) -> None:
    rows = values if values is None or hasattr(values, "__len__") else [*values]
    parts.append(length(-1 if rows is None else len(rows)))
    for each in rows or ():
        one(each, parts)


def _compact(length: int) -> bytes:
    """A length, -1 for null."""
    return varint(length + 1)
