from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_HEADERS
from broker_core.log.reserved_headers import users_headers
from broker_core.messages import Message

V = TypeVar("V")


@runtime_checkable
class Serializer(Protocol[V]):
    """Converts values to bytes and back. `deserialize(serialize(value)) == value` for every value of the format."""

    def serialize(self, value: V) -> bytes:
        """Raises UNSERIALIZABLE if the format cannot express `value`, MESSAGE_TOO_LARGE above 1 MiB."""
        ...

    def deserialize(self, data: bytes) -> V:
        """Raises UNREADABLE if `data` is not in the format."""
        ...


_log = logging.getLogger(__name__)
_ROWS = (tuple, list)  # isinstance with a union takes three times as long
_BYTES = "bytes or None"
_PAIRS = "pairs of a name, as text, and bytes"


def check_form(message: Message) -> None:
    """Raises INVALID_RECORD for a field of the wrong type, MESSAGE_TOO_LARGE for too many headers."""
    if not isinstance(message, Message):
        raise _wrong("a message", "a Message", message)
    if message.value is not None and not isinstance(message.value, bytes):
        raise _wrong("the value", _BYTES, message.value)
    if message.key is not None and not isinstance(message.key, bytes):
        raise _wrong("the key", _BYTES, message.key)
    if message.headers != ():
        _check_headers(message.headers)
    if message.ttl_ms is not None and not isinstance(message.ttl_ms, int):
        raise _wrong("ttl_ms", "a whole number or None", message.ttl_ms)
    if not isinstance(message.priority, int):
        raise _wrong("the priority", "a whole number", message.priority)


def _check_headers(headers: Any) -> None:
    if not isinstance(headers, _ROWS):
        raise _wrong("headers", _PAIRS, headers)
    for header in headers:
        if not isinstance(header, _ROWS) or len(header) != 2:
            raise _wrong("headers", _PAIRS, header)
        name, value = header
        if not isinstance(name, str):
            raise _wrong("the name of a header", "text", name)
        if value is not None and not isinstance(value, bytes):
            raise _wrong(f"header {name!r}", _BYTES, value)
        if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
            raise BrokerError(ErrorCode.INVALID_RECORD, f"header {name!r} has a lone surrogate, which is not UTF-8")
    if len(headers) > MAX_HEADERS and users_headers(tuple(headers)) > MAX_HEADERS:
        raise BrokerError(ErrorCode.MESSAGE_TOO_LARGE, f"{len(headers)} headers; a message has at most {MAX_HEADERS}")


def explained(messages: Sequence[Message], error: Exception) -> BrokerError:
    """The error of messages that could not be sent: the first invalid message, otherwise `error` itself."""
    if isinstance(error, BrokerError):
        return error
    try:
        for message in messages:
            check_form(message)
    except BrokerError as wrong:
        return wrong
    _log.error("messages could not be sent", exc_info=error)
    return BrokerError(ErrorCode.INTERNAL_ERROR, f"{type(error).__name__}: {error}")


def serialized(serializer: Serializer[Any] | None, value: Any) -> bytes | None:
    """`value` as bytes, text as UTF-8. None stays None, the tombstone of a key."""
    if value is None:
        return None
    if serializer is not None:
        data: Any = serializer.serialize(value)
        if not isinstance(data, bytes):
            kinds = f"{type(serializer).__name__} returned a {type(data).__name__}"
            raise BrokerError(ErrorCode.UNSERIALIZABLE, f"{kinds}; a serializer must return bytes")
        return data
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError as error:
            raise BrokerError(ErrorCode.UNSERIALIZABLE, f"the text cannot be encoded as UTF-8 ({error})") from error
    kind = type(value).__name__
    raise BrokerError(ErrorCode.INVALID_REQUEST, f"a {kind} is neither bytes nor text; give the producer a serializer")


def _wrong(what: str, wanted: str, found: object) -> BrokerError:
    return BrokerError(ErrorCode.INVALID_RECORD, f"{what} must be {wanted}, and is {found!r:.100}")


def deserialized(serializer: Serializer[Any] | None, data: bytes | None) -> Any:
    return data if serializer is None or data is None else serializer.deserialize(data)
