"""Conversion of keys, values and headers between bytes and JSON, without loss.

A value that is not a string is stored as JSON with the header `content-type: application/json`, and is read as what it
was. Bytes that are not UTF-8 are Base64 in JSON, marked by an `encoding`, as are all if that is asked for.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
from collections.abc import Mapping
from typing import Any

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.reserved_headers import OWN_PREFIX
from broker_core.messages import Headers, StoredMessage
from broker_core.operations.fields import Encoding
from broker_core.snapshots import DeadLetterView

CONTENT_TYPE = "content-type"
JSON_TYPE = b"application/json"
_JSON_HEADER = (CONTENT_TYPE, JSON_TYPE)
_BASE64 = "base64:"  # begins a header that is no text

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def json_bytes(data: bytes | None) -> Any:
    """Bytes of a message for programs: a text if they are UTF-8, else {"base64": ...}."""
    text, encoding = text_of(data)
    return {"base64": text} if encoding == "base64" else text


def bytes_of(text: str | None, encoding: Encoding = "text", what: str = "key") -> bytes | None:
    """The bytes of `text`. Raises MALFORMED_REQUEST for what is not Base64."""
    if text is None:
        return None
    try:
        if encoding == "text":
            return text.encode()
        return base64.b64decode(text, validate=True)
    except UnicodeEncodeError as error:
        raise BrokerError(
            ErrorCode.MALFORMED_REQUEST, f"the {what} contains a lone surrogate, which is not valid text"
        ) from error
    except (binascii.Error, ValueError) as error:
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, f"the {what} is marked as base64, but is not") from error


def stored_value(value: Any, encoding: Encoding, headers: Headers) -> tuple[bytes | None, Headers]:
    """The bytes to store for a JSON `value`, and its headers. Raises MALFORMED_REQUEST as `bytes_of`."""
    if value is None or isinstance(value, str):
        return bytes_of(value, encoding, "value"), headers
    if encoding == "base64":
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, "the value is marked as base64, but is not a string")
    if not any(name == CONTENT_TYPE for name, _ in headers):
        headers = (*headers, _JSON_HEADER)
    return json_of(value, "value"), headers


def json_of(value: Any, what: str) -> bytes:
    """`value` as JSON. Raises MALFORMED_REQUEST for what JSON cannot hold."""
    try:
        return _encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        told = f"the {what} cannot be written as JSON ({error})"
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, told) from error


def retyped(headers: Headers, kind: Headers, encoding: Encoding) -> Headers:
    """The `headers` of a message whose value is replaced by one of `stored_value`, which gave `kind` as its headers."""
    if kind:
        return (*(header for header in headers if header[0] != CONTENT_TYPE), *kind)
    if encoding == "text":
        # A text would be taken for JSON.
        return tuple(header for header in headers if header != _JSON_HEADER)
    return headers


def text_of(data: bytes | None) -> tuple[str | None, Encoding]:
    """`data` as text, or as Base64 if it is not text."""
    if data is None:
        return None, "text"
    try:
        return data.decode(), "text"
    except UnicodeDecodeError:
        return base64_of(data), "base64"


def shown_value(data: bytes | None, headers: Headers, wanted: Encoding = "text") -> tuple[Any, Encoding]:
    """The JSON value of stored bytes, and its encoding."""
    if data is not None and wanted == "base64":
        return base64_of(data), "base64"
    if data is not None and _JSON_HEADER in headers:
        try:
            return _decode(data), "text"
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass  # its header says so, but it is not
    return text_of(data)


def shown_pair(stored: StoredMessage | DeadLetterView, wanted: Encoding = "text") -> tuple[Any, str | None, Encoding]:
    """(value, key, encoding): both as text or JSON, or both as Base64 if one of them is not text."""
    value, encoding = shown_value(stored.value, stored.headers, wanted)
    key, key_encoding = text_of(stored.key)
    if encoding == key_encoding == wanted:
        return value, key, encoding
    return base64_of(stored.value), base64_of(stored.key), "base64"


def shown(stored: StoredMessage | DeadLetterView, wanted: Encoding = "text") -> dict[str, Any]:
    """The fields `value`, `key`, `headers` and `encoding`: as text or JSON, or Base64 if that is `wanted` or needed."""
    value, key, encoding = shown_pair(stored, wanted)
    headers = shown_headers(stored.headers) if stored.headers else {}
    return {"value": value, "key": key, "headers": headers, "encoding": encoding}


def shown_headers(headers: Headers) -> dict[str, str]:
    """Headers as text, without the broker's own."""
    found = {}
    for name, value in headers:
        if name.startswith(OWN_PREFIX):
            continue
        text, encoding = text_of(value)
        found[name] = f"{_BASE64}{text}" if encoding == "base64" else text or ""
    return found


def headers_of(shown: Mapping[str, str]) -> Headers:
    """The headers that `shown_headers` gave as text."""
    return tuple((name, _header_of(text)) for name, text in shown.items())


def _header_of(text: str) -> bytes:
    if text.startswith(_BASE64):
        with contextlib.suppress(ValueError):
            return base64.b64decode(text.removeprefix(_BASE64), validate=True)
    return text.encode()


def base64_of(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")
