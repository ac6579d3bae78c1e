"""Requests of any version, as a client of Kafka 4 would send them."""

from __future__ import annotations

import io
import socket
import struct
from typing import Any

from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer

from broker_core.listeners.kafka import codec

CLIENT = b"\0\3raw"


def asked(port: int, key: int, version: int, body: dict[str, Any]) -> Any:
    """The response to one request, whose `body` is in the schema's field names."""
    schema = load_request_schema(key, version)
    flexible = schema.__header_schema__.__version__ > 1
    out = io.BytesIO()
    entity_writer(schema)(out, codec._maker(schema)(body))
    head = struct.pack(">hhi", key, version, 1) + CLIENT + (b"\0" if flexible else b"")
    frame = head + out.getvalue()
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(struct.pack(">i", len(frame)) + frame)
        with connection.makefile("rb") as incoming:
            (size,) = struct.unpack(">i", incoming.read(4))
            data = incoming.read(size)
    answer = load_response_schema(key, version)
    start = 4 + (answer.__header_schema__.__version__ > 0)
    return entity_reader(answer)(data[start:], 0)[0]
