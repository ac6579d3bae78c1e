"""Requests and responses of Kafka's protocol as bytes, by the message schemas of `kio`.

A response is given as nested mappings in the field names of the newest version; what a version does not have is left
out, what it has and is not given gets the schema's default. Errors are numbers, times are milliseconds.
"""

from __future__ import annotations

import io
import struct
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

import msgspec
from kio.index import load_response_schema
from kio.schema.errors import ErrorCode as KafkaError
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_writer

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.reading import Cursor, client_id, reader, types_in

Body = Mapping[str, Any]
_LEAST_HEADER = struct.Struct(">hhi")
_CORRELATION = struct.Struct(">i")
_LENGTH = struct.Struct(">i")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Header(msgspec.Struct, frozen=True, gc=False):
    """What every request begins with."""

    api_key: int
    version: int
    correlation_id: int


def header_of(frame: bytes) -> Header:
    """The fixed part of a request's header. Raises MALFORMED_REQUEST."""
    if len(frame) < _LEAST_HEADER.size:
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, f"{len(frame)} bytes, which no request has")
    return Header(*_LEAST_HEADER.unpack_from(frame))


def request_of(header: Header, frame: bytes, most_elements: int) -> tuple[str, Any]:
    """The client id and the request, whose version is known. Raises MALFORMED_REQUEST, REQUEST_TOO_LARGE."""
    read, flexible_header = reader(header.api_key, header.version)
    cursor = Cursor(frame, _LEAST_HEADER.size, most_elements)
    # Bytes behind the request are passed over, as Kafka does.
    return client_id(cursor, flexible_header), read(cursor)


def nearest_version(header: Header) -> int | None:
    """The version nearest to the header's whose form is known; None where the API is not known."""
    try:
        return min(schema_name_map[api_key_map[header.api_key]], key=lambda known: abs(known - header.version))
    except KeyError:
        return None


def has_error_code(header: Header) -> bool:
    """Whether the response has one for the whole request."""
    return "error_code" in {field.name for field in fields(load_response_schema(header.api_key, header.version))}


def response(header: Header, version: int, body: Body) -> bytes:
    """The frame of a response, its length in front."""
    make, write, flexible_header = _response(header.api_key, version)
    buffer = io.BytesIO()
    buffer.write(b"\0\0\0\0" + _CORRELATION.pack(header.correlation_id) + (b"\0" if flexible_header else b""))
    write(buffer, make(body))
    frame = buffer.getbuffer()
    _LENGTH.pack_into(frame, 0, len(frame) - _LENGTH.size)
    return bytes(frame)


@cache
def _response(api_key: int, version: int) -> tuple[Callable[[Body], Any], Any, bool]:
    schema = load_response_schema(api_key, version)
    return _maker(schema), entity_writer(schema), schema.__header_schema__.__version__ > 0


def _maker(schema: type) -> Callable[[Body], Any]:
    """Makes an entity of `schema` of the mapping that describes it."""
    parts = [(each.name, *_part(each)) for each in fields(schema)]

    def make(body: Body) -> Any:
        return schema(
            **{
                name: convert(body[name]) if name in body else default
                for name, convert, default, needed in parts
                if needed or name in body
            }
        )

    return make


def _part(field: Field[Any]) -> tuple[Callable[[Any], Any], Any, bool]:
    """How a field is converted, what it is where it is not given, and whether the schema needs it."""
    kinds = [kind for kind in types_in(field.type) if kind is not types.NoneType]
    nested = next((kind for kind in kinds if is_dataclass(kind)), None)
    many = any(typing.get_origin(kind) is tuple for kind in (field.type, *typing.get_args(field.type)))
    optional = types.NoneType in typing.get_args(field.type)
    needed = field.default is MISSING
    if nested is not None:
        make = _maker(typing.cast(type, nested))
        if many:
            return lambda rows: None if rows is None else tuple(map(make, rows)), None if optional else (), needed
        return lambda row: None if row is None else make(row), None, needed
    if many:
        return lambda values: None if values is None else tuple(values), None if optional else (), needed
    kafka_type = field.metadata.get("kafka_type", "")
    convert, default = _PLAIN.get(kafka_type, (_same, 0))
    if convert is _time and not optional:
        convert, default = _always, _EPOCH
    return convert, None if optional else default, needed


def _same(value: Any) -> Any:
    return value


def _time(milliseconds: int) -> datetime | None:
    return None if milliseconds < 0 else _always(milliseconds)


def _always(milliseconds: int) -> datetime:
    """For a field that is never null: -1 is no time there, too."""
    return _EPOCH + timedelta(milliseconds=milliseconds)


def _span(milliseconds: int) -> timedelta:
    return timedelta(milliseconds=milliseconds)


_PLAIN: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "error_code": (KafkaError, KafkaError.none),
    "timedelta_i32": (_span, timedelta(0)),
    "timedelta_i64": (_span, timedelta(0)),
    "datetime_i64": (_time, None),
    "string": (_same, ""),
    "bytes": (_same, b""),
    "bool": (_same, False),
    "uuid": (_same, UUID(int=0)),
}
