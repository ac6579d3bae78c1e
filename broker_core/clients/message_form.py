"""Whether a message is one that can be stored: Python lets anything into its fields."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_HEADERS
from broker_core.log.reserved_headers import users_headers
from broker_core.messages import Message

if TYPE_CHECKING:
    from broker_core.clients.serializer import Serializer

_log = logging.getLogger(__name__)
_ROWS = (tuple, list)  # the union of both takes three times as long to look at
_BYTES = "bytes or None"
_PAIRS = "pairs of a name, as text, and bytes"


def check_form(message: Message) -> None:
    """Raises INVALID_RECORD where a field is not of its type, MESSAGE_TOO_LARGE where there are too many headers."""
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
        if not isinstance(value, bytes):
            raise _wrong(f"header {name!r}", "bytes", value)
        if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
            raise BrokerError(ErrorCode.INVALID_RECORD, f"half a character, which UTF-8 has not, in header {name!r}")
    if len(headers) > MAX_HEADERS and users_headers(tuple(headers)) > MAX_HEADERS:
        raise BrokerError(ErrorCode.MESSAGE_TOO_LARGE, f"{len(headers)} headers; a message has at most {MAX_HEADERS}")


def explained(messages: Sequence[Message], error: Exception) -> BrokerError:
    """Why these could not be sent: what is wrong with one of them, else `error`, which nobody has foreseen."""
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
    """Bytes of `value`, text as UTF-8; None stays None, for it is what deletes a key."""
    if value is None:
        return None
    if serializer is not None:
        data: Any = serializer.serialize(value)
        if not isinstance(data, bytes):
            kinds = f"{type(serializer).__name__} gave a {type(data).__name__}"
            raise BrokerError(ErrorCode.UNSERIALIZABLE, f"{kinds}; a serializer must give bytes")
        return data
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError as error:
            raise BrokerError(ErrorCode.UNSERIALIZABLE, f"the text is no UTF-8 ({error})") from error
    kind = type(value).__name__
    raise BrokerError(ErrorCode.INVALID_REQUEST, f"a {kind} is neither bytes nor text; give the producer a serializer")


def _wrong(what: str, wanted: str, found: object) -> BrokerError:
    return BrokerError(ErrorCode.INVALID_RECORD, f"{what} must be {wanted}, and is {found!r:.100}")
