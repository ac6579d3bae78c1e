"""Serializers. Deserializing builds plain values only; invalid bytes raise UNREADABLE."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_MESSAGE_BYTES, MAX_VALUE_DEPTH, MAX_VALUES
from broker_core.schemas.avro_schema import AvroSchema
from broker_core.schemas.json_schema import JsonSchema
from broker_core.schemas.json_text import InvalidJsonError, dump_json, read_json
from broker_core.schemas.problem import InvalidDataError, Problem, summary
from broker_core.schemas.registry import HEAD_BYTES, SchemaRegistry, frame, framed_id
from broker_core.settings import checked

S = TypeVar("S")


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


_JSON = JsonSerializer()
_PACKED = frozenset({type(None), bool, int, float, str, bytes, datetime.datetime, msgspec.msgpack.Ext})
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


class _SchemaSerializer(Generic[S]):
    """Values of a subject's schema, prefixed with the schema's id (Confluent's wire format)."""

    _kind: ClassVar[tuple[type[Any], str]]

    @checked
    def __init__(self, registry: SchemaRegistry, subject: str, version: int | Literal["latest"] = "latest") -> None:
        """`version` is the writer's. Raises UNKNOWN_SUBJECT, UNKNOWN_SCHEMA_VERSION, INVALID_CONFIG."""
        self._registry = registry
        found = registry.version(subject, version)
        self._id = found.id
        kind, called = self._kind
        self._schema: S = registry.schema(found.id)  # type: ignore[assignment]
        if not isinstance(self._schema, kind):
            raise BrokerError(ErrorCode.INVALID_CONFIG, f"{subject} {found.version} is not {called}")

    def _written(self, data: bytes) -> S:
        """The schema that `data` was written with. Raises UNREADABLE."""
        schema_id = framed_id(data)
        if schema_id is None:
            raise _unreadable("it does not begin with a zero byte and the id of its schema")
        try:
            schema: Any = self._registry.schema(schema_id)
        except BrokerError as error:
            raise _unreadable(f"its schema is not known ({error.about})") from None
        kind, called = self._kind
        if not isinstance(schema, kind):
            raise _unreadable(f"it was not written with {called}")
        return cast(S, schema)


class JsonSchemaSerializer(_SchemaSerializer[JsonSchema]):
    """JSON that is valid under a subject's schema, prefixed with the schema's id (Confluent's wire format)."""

    _kind = (JsonSchema, "a JSON Schema")

    def serialize(self, value: Any) -> bytes:
        """Raises UNSERIALIZABLE with the JSON pointer of each violation."""
        data = _JSON.serialize(value)
        _refuse(self._schema.problems(value), _unserializable)
        return _bounded(frame(self._id, data))

    def deserialize(self, data: bytes) -> Any:
        """The value, validated against the schema that it was written with. Raises UNREADABLE."""
        schema = self._written(data)
        value = _JSON.deserialize(data[HEAD_BYTES:])
        _refuse(schema.problems(value), _unreadable)
        return value


class AvroSerializer(_SchemaSerializer[AvroSchema]):
    """Avro binary encoding, prefixed with the schema's id (Confluent's wire format).

    `version` is the schema for writing, and the one to which other versions are resolved on reading.
    """

    _kind = (AvroSchema, "an Avro schema")

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


def _check_packed(value: Any, failed: Callable[[str], BrokerError]) -> None:
    level, depth, count = [value], 0, 0
    while level:
        count += len(level)
        if depth > MAX_VALUE_DEPTH:
            raise failed(f"it is nested deeper than {MAX_VALUE_DEPTH} levels")
        if count > MAX_VALUES:
            raise failed(f"there are more than {MAX_VALUES:,} values")
        inner: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is dict:
                odd = next((name for name in item if type(name) not in _PACKED_NAMES), None)
                if odd is not None:
                    raise failed(f"a {type(odd).__name__} cannot be a name")
                inner.extend(item.values())
            elif kind is list:
                inner.extend(item)
            elif kind not in _PACKED:
                raise failed(f"a {kind.__name__} cannot be represented")
        level, depth = inner, depth + 1


def _refuse(problems: list[Problem], failed: Callable[[str], BrokerError]) -> None:
    if problems:
        raise failed(summary(problems))


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
