"""Serializers. Deserializing builds plain values only; invalid bytes raise UNREADABLE."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_MESSAGE_BYTES, MAX_VALUE_DEPTH
from broker_core.schemas.avro_schema import AvroSchema
from broker_core.schemas.json_text import InvalidJsonError, dump_json, levels, read_json
from broker_core.schemas.problem import InvalidDataError, summary
from broker_core.schemas.registry import HEAD_BYTES, SchemaRegistry, frame, framed_id
from broker_core.settings import checked


class BytesSerializer:
    """Bytes as they are."""

    def serialize(self, value: bytes) -> bytes:
        """Raises UNSERIALIZABLE for anything but bytes."""
        if not isinstance(value, bytes | bytearray | memoryview):
            raise _unserializable(f"bytes are expected, not a {type(value).__name__}")
        return _bounded(bytes(value))

    def deserialize(self, data: bytes) -> bytes:
        return data


class StringSerializer:
    """Text in UTF-8."""

    def serialize(self, value: str) -> bytes:
        """Raises UNSERIALIZABLE for anything but text, and for a lone surrogate."""
        if not isinstance(value, str):
            raise _unserializable(f"text is expected, not a {type(value).__name__}")
        return _bounded(_encoded(value))

    def deserialize(self, data: bytes) -> str:
        """Raises UNREADABLE if `data` is not UTF-8."""
        try:
            return data.decode()
        except AttributeError:
            raise _unreadable(f"bytes are expected, not a {type(data).__name__}") from None
        except UnicodeDecodeError as error:
            raise _unreadable(f"byte {error.start} is not UTF-8") from None


class JsonSerializer:
    """JSON (RFC 8259): None, bool, int, float, str, list, and dict with text keys. NaN and infinity are refused."""

    def serialize(self, value: Any) -> bytes:
        """Raises UNSERIALIZABLE."""
        try:
            return _bounded(_encoded(dump_json(value)))
        except InvalidJsonError as error:
            raise _unserializable(str(error)) from None

    def deserialize(self, data: bytes) -> Any:
        """Raises UNREADABLE, also for a duplicate name in an object."""
        try:
            return read_json(data)
        except InvalidJsonError as error:
            raise _unreadable(str(error)) from None


_PACKED = frozenset({type(None), bool, int, float, str, bytes, list, datetime.datetime, msgspec.msgpack.Ext})
_PACKED_NAMES = frozenset({bool, int, float, str, bytes})


class MessagePackSerializer:
    """MessagePack: the values of JSON, bytes, datetimes with a zone, and keys of other types. Integers have 64 bits."""

    def serialize(self, value: Any) -> bytes:
        """Raises UNSERIALIZABLE."""
        _check_packed(value, _unserializable)
        try:
            return _bounded(msgspec.msgpack.encode(value))
        except (ValueError, TypeError, OverflowError) as error:
            raise _unserializable(str(error)) from None

    def deserialize(self, data: bytes) -> Any:
        """Raises UNREADABLE."""
        try:
            value = msgspec.msgpack.decode(data)
        except RecursionError:
            raise _unreadable(f"it is nested deeper than {MAX_VALUE_DEPTH} levels") from None
        except (ValueError, TypeError, OverflowError) as error:
            raise _unreadable(str(error)) from None
        _check_packed(value, _unreadable)
        return value


class AvroSerializer:
    """Avro binary encoding, prefixed with the schema's id (Confluent's wire format).

    `version` is the schema for writing, and the one to which other versions are resolved on reading.
    """

    @checked
    def __init__(self, registry: SchemaRegistry, subject: str, version: int | Literal["latest"] = "latest") -> None:
        """`version` is the writer's. Raises UNKNOWN_SUBJECT, UNKNOWN_SCHEMA_VERSION, INVALID_CONFIG."""
        self._registry = registry
        found = registry.version(subject, version)
        self._id, schema = found.id, registry.schema(found.id)
        if not isinstance(schema, AvroSchema):
            raise BrokerError(ErrorCode.INVALID_CONFIG, f"{subject} {found.version} is not an Avro schema")
        self._schema = schema

    def serialize(self, value: Any) -> bytes:
        """Raises UNSERIALIZABLE."""
        try:
            return _bounded(frame(self._id, self._schema.encode(value)))
        except InvalidDataError as error:
            raise _unserializable(summary(error.problems)) from None

    def deserialize(self, data: bytes) -> Any:
        """The value, resolved to this version of the schema. Raises UNREADABLE with the pointer of the field."""
        writer = self._written(data)
        try:
            return writer.decode(data, HEAD_BYTES, None if writer is self._schema else self._schema)
        except InvalidDataError as error:
            raise _unreadable(summary(error.problems)) from None

    def _written(self, data: bytes) -> AvroSchema:
        """The schema that `data` was written with. Raises UNREADABLE."""
        schema_id = framed_id(data)
        if schema_id is None:
            raise _unreadable("it does not begin with a zero byte and the id of its schema")
        try:
            schema = self._registry.schema(schema_id)
        except BrokerError as error:
            raise _unreadable(f"its schema is not known ({error.about})") from None
        if not isinstance(schema, AvroSchema):
            raise _unreadable("it was not written with an Avro schema")
        return schema


def _check_packed(value: Any, failed: Callable[[str], BrokerError]) -> None:
    try:
        for item in itertools.chain.from_iterable(levels(value)):
            if type(item) is dict:
                odd = next((name for name in item if type(name) not in _PACKED_NAMES), None)
                if odd is not None:
                    raise failed(f"a {type(odd).__name__} cannot be a name")
            elif type(item) not in _PACKED:
                raise failed(f"a {type(item).__name__} cannot be represented")
    except InvalidJsonError as error:
        raise failed(str(error)) from None


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise _unserializable("the text has a lone surrogate, which is not UTF-8") from None


def _bounded(data: bytes) -> bytes:
    if len(data) > MAX_MESSAGE_BYTES:
        raise BrokerError(ErrorCode.MESSAGE_TOO_LARGE, f"{len(data):,} bytes; {MAX_MESSAGE_BYTES:,} are allowed")
    return data


def _unserializable(reason: str) -> BrokerError:
    return BrokerError(ErrorCode.UNSERIALIZABLE, reason)


def _unreadable(reason: str) -> BrokerError:
    return BrokerError(ErrorCode.UNREADABLE, reason)
