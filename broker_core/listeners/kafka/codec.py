"""Requests and responses of Kafka's protocol as bytes, by the message schemas of `kio`.

A response is given as nested mappings in the field names of the newest version; what a version does not have is left
out, what it has and is not given gets the schema's default. Errors are numbers, times are milliseconds.
"""

from __future__ import annotations

import struct
from dataclasses import fields
from typing import Any

import msgspec
from kio.schema.index import api_key_map, schema_name_map

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.reading import Cursor, Data, client_id, request_reader
from broker_core.kafka_messages.schemas import load_response_schema
from broker_core.kafka_messages.writing import Body, Parts, message_writer
from broker_core.log.segment_list import StoredBatches

_LEAST_HEADER = struct.Struct(">hhi")
_CORRELATION = struct.Struct(">i")
_LENGTH = struct.Struct(">i")


class Header(msgspec.Struct, frozen=True, gc=False):
    api_key: int
    version: int
    correlation_id: int


def header_of(frame: Data) -> Header:
    """The fixed part of a request's header. Raises MALFORMED_REQUEST."""
    if len(frame) < _LEAST_HEADER.size:
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, f"{len(frame)} bytes, which no request has")
    return Header(*_LEAST_HEADER.unpack_from(frame))


def request_of(header: Header, frame: Data, most_elements: int) -> tuple[str, Any]:
    """The client id and the request, whose version is known. Raises MALFORMED_REQUEST, REQUEST_TOO_LARGE."""
    read, flexible_header = request_reader(header.api_key, header.version)
    cursor = Cursor(frame, _LEAST_HEADER.size, most_elements)
    # Bytes behind the request are passed over, as Kafka does.
    return client_id(cursor, flexible_header), read(cursor)


def nearest_version(header: Header) -> int | None:
    """The version nearest to the header's whose form is known; None if the API is not known."""
    try:
        return min(schema_name_map[api_key_map[header.api_key]], key=lambda known: abs(known - header.version))
    except KeyError:
        return None


def has_error_code(header: Header) -> bool:
    return "error_code" in {field.name for field in fields(load_response_schema(header.api_key, header.version))}


def pieces(header: Header, body: Body) -> list[Data]:
    """The frame of a response, its length in front: `StoredBatches` as they are, and what is between them."""
    write, flexible_header = message_writer(load_response_schema, header.api_key, header.version)
    parts: Parts = [_CORRELATION.pack(header.correlation_id) + (b"\0" if flexible_header else b"")]
    write(body, parts)
    found: list[Data] = []
    between = [_LENGTH.pack(sum(map(len, parts)))]
    for part in parts:
        if isinstance(part, StoredBatches):
            found += (b"".join(between), *part.pieces)
            between = []
        else:
            between.append(part)
    return [*found, b"".join(between)]


def response(header: Header, body: Body) -> bytes:
    """`pieces` in one."""
    return b"".join(pieces(header, body))
