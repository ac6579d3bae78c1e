"""Requests, read within limits: the declared size first, then the bytes, then the type."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request

from broker_core.decoding import from_json
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.limits import Budget, GuardConfig, too_large
from broker_core.operations.fields import MAX_INT
from broker_core.operations.http_form import unreadable

T = TypeVar("T")

_ANYTHING = msgspec.json.Decoder()
_JSON_TYPE = re.compile(r"application/(vnd\.schemaregistry(\.v1)?\+)?json\s*(;.*)?", re.IGNORECASE)


class HeldBytes:
    """The bytes of the budget that a request holds."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.bytes = 0

    def more(self, size_bytes: int) -> None:
        """Hold more bytes. Raises THROTTLED if all requests together hold too many."""
        self._budget.hold(size_bytes)
        self.bytes += size_bytes


# zlib: 16 more than the window's bits selects gzip's frame.
_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
# Below this size the ratio is not checked: a short run of one character has a large one.
_FREE_BYTES = 65_536


class Inflater:
    """Decompresses one body, piece by piece."""

    def __init__(self, encoding: str, limits: GuardConfig) -> None:
        """`encoding` is gzip or deflate, as in HTTP's Content-Encoding. Raises UNREADABLE for any other."""
        bits = _WINDOW_BITS.get(encoding)
        if bits is None:
            raise BrokerError(ErrorCode.UNREADABLE, f"content-encoding {encoding[:40]!r} is not gzip or deflate")
        self._zlib = zlib.decompressobj(wbits=bits)
        self._encoding = encoding
        self._limits = limits
        self._in_bytes = self._out_bytes = 0

    def feed(self, packed: bytes) -> bytes:
        """The bytes of `packed`. Raises REQUEST_TOO_LARGE beyond a limit, UNREADABLE for a broken stream."""
        limits = self._limits
        self._in_bytes += len(packed)
        by_ratio = max(_FREE_BYTES, self._in_bytes * limits.max_decompression_ratio)
        most = min(limits.max_decompressed_bytes, by_ratio)
        try:
            # One byte more than allowed shows that there is more; zlib takes 0 for "no limit".
            unpacked = self._zlib.decompress(packed, most - self._out_bytes + 1)
        except zlib.error as error:
            raise BrokerError(ErrorCode.UNREADABLE, f"the body is not {self._encoding}") from error
        self._out_bytes += len(unpacked)
        if self._out_bytes > most:
            raise too_large(self._out_bytes, most)
        if self._zlib.unused_data:
            raise BrokerError(ErrorCode.UNREADABLE, f"there is data after the end of the {self._encoding} body")
        return unpacked

    def end(self) -> None:
        """Raises UNREADABLE if the stream has no end."""
        if not self._zlib.eof:
            raise BrokerError(ErrorCode.UNREADABLE, f"the {self._encoding} body ends too early")


async def read_body(request: Request, limits: GuardConfig, held: HeldBytes) -> bytes:
    """The decompressed body.

    Raises REQUEST_TOO_LARGE (by the declared length before anything is read), MALFORMED_REQUEST, THROTTLED,
    HTTPException for a media type that is not JSON, ClientDisconnect.
    """
    headers = request.headers
    media_type = headers.get("content-type")
    if media_type is not None and not _JSON_TYPE.fullmatch(media_type.strip()):
        raise HTTPException(415, f"the body must be application/json, not {media_type[:60]}")
    declared = headers.get("content-length", "")
    if declared.isascii() and declared.isdigit():
        limits.check_body(int(declared))
    encoding = headers.get("content-encoding", "identity").strip().lower()
    inflater = None if encoding == "identity" else Inflater(encoding, limits)
    pieces: list[bytes] = []
    size_bytes = 0
    async for piece in request.stream():
        if piece and media_type is None:
            # A page of another site may send it without asking.
            raise HTTPException(415, "the body must be application/json, and its Content-Type must say so")
        size_bytes += len(piece)
        limits.check_body(size_bytes)
        unpacked = piece if inflater is None else inflater.feed(piece)
        held.more(len(unpacked))
        pieces.append(unpacked)
    if inflater is not None:
        inflater.end()
    return b"".join(pieces)


def decoded(body: bytes, kind: type[T]) -> T:
    """The body as `kind`. Raises MALFORMED_REQUEST, with the path of the wrong value."""
    try:
        try:
            found: T = from_json(body, kind)
        except msgspec.ValidationError as error:
            if "got `float`" not in str(error):
                raise
            # In JSON Schema, 3.0 is an integer.
            found = msgspec.convert(_whole(_ANYTHING.decode(body)), kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise unreadable("the body", error, kind) from error
    except RecursionError as error:
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, "the body is nested too deeply") from error
    return found


def _whole(value: Any) -> Any:
    match value:
        case float():
            return int(value) if value.is_integer() and abs(value) <= MAX_INT else value
        case list():
            return [_whole(each) for each in value]
        case dict():
            return {name: _whole(each) for name, each in value.items()}
    return value


def query_of(request: Request, kind: type[T], *, passes_over: bool = False) -> T:
    """The query of the URL as `kind`. Raises MALFORMED_REQUEST, for a parameter that is not known, too, unless it
    `passes_over` those.
    """
    fields = kind.__struct_encode_fields__  # type: ignore[attr-defined]
    given = [item for item in request.query_params.multi_items() if not passes_over or item[0] in fields]
    values: Mapping[str, str] = dict(given)
    if len(values) != len(given):
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, "a parameter of the query is repeated")
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise unreadable("the query", error, kind) from error


def converted(text: str, kind: Any, what: str) -> Any:
    """A part of the path as `kind`. Raises MALFORMED_REQUEST."""
    try:
        return msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError as error:
        raise unreadable(f"{what} in the path", error, kind) from error
