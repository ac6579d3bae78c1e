"""Answers that name addresses of brokers, with ours in their place; no other answer is touched.

An answer is read by our own reader, which trusts no length, before `kio` reads it, and it is changed only where `kio`
writes what it has read to the byte: what this program does not know of is never left out.
"""

from __future__ import annotations

import dataclasses
import io
import struct
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any, Final

from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i32, u16

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.reading import Cursor, response_reader
from broker_core.kafka_messages.schemas import load_response_schema

#: `address_for(node id, host, port)`: where a client finds that node; a node id below 0 is not said.
AddressFor = Callable[[int, str, int], tuple[str, int]]
PRODUCE, FETCH, METADATA, FIND_COORDINATOR, API_VERSIONS = 0, 1, 3, 10, 18
DESCRIBE_QUORUM, DESCRIBE_CLUSTER, SHARE_FETCH, SHARE_ACKNOWLEDGE = 55, 60, 78, 79
_ALWAYS: Final = frozenset({METADATA, FIND_COORDINATOR, DESCRIBE_QUORUM, DESCRIBE_CLUSTER})
#: By the first version that names the new leader's address.
WHERE_MOVED: Final = {PRODUCE: 10, FETCH: 16, SHARE_FETCH: 1, SHARE_ACKNOWLEDGE: 1}
#: What clients of a broker ask whose answers name addresses. A test holds it to the schemas.
NAMING: Final = _ALWAYS | WHERE_MOVED.keys()
_HEADER_BYTES: Final = 8  # length and correlation id
_MOST_ELEMENTS: Final = 50_000_000
_RANGE, _INT16 = struct.Struct(">hhh"), struct.Struct(">h")
_IDS: Final = ("node_id", "broker_id", "replica_id")


def reads(api_key: int, version: int) -> bool:
    """Whether an answer has to be looked at before it is passed on."""
    return api_key in _ALWAYS or version >= WHERE_MOVED.get(api_key, 1 << 15)


def newest(api_key: int) -> int:
    """The newest version whose form is known; -1 if the API is not."""
    return max(schema_name_map[api_key_map[api_key]]) if api_key in api_key_map else -1


def decoded(api_key: int, version: int, frame: bytes) -> Any:
    """The answer in a frame, its length in front. Raises MALFORMED_REQUEST."""
    read, flexible = response_reader(api_key, version)
    cursor = Cursor(memoryview(frame), _HEADER_BYTES, _MOST_ELEMENTS)
    if flexible:
        cursor.tags({}, {})
    return read(cursor)


def with_addresses(api_key: int, version: int, frame: bytes, address_for: AddressFor) -> bytes:
    """`frame`, which was `decoded`, with other addresses. Raises UNSUPPORTED_VERSION if it has more than is known."""
    if api_key == DESCRIBE_QUORUM:  # a node has another address as a controller
        return _changed(
            api_key, version, frame, lambda found: _readdressed(found, lambda _node, *at: address_for(-1, *at))
        )
    return _changed(api_key, version, frame, lambda found: _readdressed(found, address_for))


def with_throttle(api_key: int, version: int, frame: bytes, throttle_ms: int) -> bytes:
    """`frame` with that throttle time; as it is if its API has none."""
    if "throttle_time" not in {each.name for each in dataclasses.fields(load_response_schema(api_key, version))}:
        return frame
    decoded(api_key, version, frame)
    span = timedelta(milliseconds=throttle_ms)
    return _changed(api_key, version, frame, lambda found: dataclasses.replace(found, throttle_time=span))


def _changed(api_key: int, version: int, frame: bytes, change: Callable[[Any], Any]) -> bytes:
    read, write, at = _codec(api_key, version)
    found, _size = read(frame, at)
    same = io.BytesIO()
    write(same, found)
    if same.getbuffer() != memoryview(frame)[at:]:
        name = api_key_map[api_key]
        about = f"the cluster's answer to {name} v{version} has more than this program knows of"
        raise BrokerError(ErrorCode.UNSUPPORTED_VERSION, about)
    out = io.BytesIO()
    out.write(frame[:at])
    write(out, change(found))
    whole = out.getbuffer()
    whole[:4] = (len(whole) - 4).to_bytes(4, "big")
    return bytes(whole)


@cache
def _codec(api_key: int, version: int) -> tuple[Any, Any, int]:
    schema = load_response_schema(api_key, version)
    flexible = schema.__header_schema__.__version__ > 0
    return entity_reader(schema), entity_writer(schema), _HEADER_BYTES + flexible


def _readdressed(found: Any, address_for: AddressFor, node: int = -1) -> Any:
    changes: dict[str, Any] = {}
    node = next((int(getattr(found, name)) for name in _IDS if hasattr(found, name)), node)
    port = getattr(found, "port", -1)
    if port > 0 and hasattr(found, "host"):
        host, number = address_for(node, found.host, port)
        changes = {"host": host, "port": (u16 if isinstance(port, u16) else i32)(number)}
    for field in dataclasses.fields(found):
        value = getattr(found, field.name)
        if isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
            changes[field.name] = tuple([_readdressed(each, address_for, node) for each in value])
    return dataclasses.replace(found, **changes) if changes else found


def versions_cut(version: int, frame: bytes) -> bytes:
    """An answer to ApiVersions, in which APIs that name addresses end at the newest version that is known here.

    The cluster's own list where none ends later. Raises MALFORMED_REQUEST.
    """
    cursor = Cursor(memoryview(frame), _HEADER_BYTES, _MOST_ELEMENTS)
    if _INT16.unpack(cursor.take(_INT16.size))[0]:  # it is of version 0, whatever was asked for
        return frame
    flexible = version >= 3
    out = bytearray(frame)
    for _ in range(cursor.count(flexible)):
        at = cursor.position
        key, _oldest, most = _RANGE.unpack(cursor.take(_RANGE.size))
        if key in NAMING and most > newest(key):
            _INT16.pack_into(out, at + 2 * _INT16.size, newest(key))
        if flexible:
            cursor.tags({}, {})
    return bytes(out)
