"""Both ends of the protocol without a socket: bytes in, requests and replies out, and the other way round.

What a client does wrong comes out as a `BadRequest`, to be answered; what a broker does wrong raises
`RemoteProtocolError`, after which nothing it says counts; what this side does wrong raises `LocalProtocolError`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.wire.apis import APIS, BY_KEY, BY_REQUEST, ERROR, Api
from broker_core.wire.body import Body, ErrorBody
from broker_core.wire.errors import LocalProtocolError, RemoteProtocolError, broker_error
from broker_core.wire.frames import BadFrame, Data, Frame, FrameDecoder, encode_frame

DEFAULT_MAX_FRAME_BYTES = 16 * 1_048_576
_MAX_ABOUT_CHARS = 2_000
_encoder = msgspec.msgpack.Encoder()
_requests = {api.key: msgspec.msgpack.Decoder(api.request) for api in APIS}
_replies = {api.key: msgspec.msgpack.Decoder(api.reply) for api in APIS}
_errors = msgspec.msgpack.Decoder(ErrorBody)
_NOT_A_BODY = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)


class Request(NamedTuple):
    """A request to be answered under its correlation id."""

    correlation: int
    api: Api
    version: int
    body: Body
    size_bytes: int


class BadRequest(NamedTuple):
    """A frame that is no request, to be answered with `error`; after a `fatal` one the connection is of no use."""

    correlation: int
    error: BrokerError
    fatal: bool


class Answer(NamedTuple):
    """A reply, or the error in its place."""

    correlation: int
    body: Body | None
    error: BrokerError | None


class ServerCodec:
    """A broker's end."""

    def __init__(self, max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES) -> None:
        self.frames = FrameDecoder(max_frame_bytes)

    def receive(self, data: bytes) -> list[Request | BadRequest]:
        """What `data` completes. Never raises, whatever is in it."""
        return [self._request(frame) for frame in self.frames.feed(data)]

    @staticmethod
    def _request(frame: Frame | BadFrame) -> Request | BadRequest:
        if isinstance(frame, BadFrame):
            return BadRequest(frame.correlation, frame.error, frame.fatal)
        api = BY_KEY.get(frame.key)
        if api is None:
            error = BrokerError(ErrorCode.INVALID_REQUEST, f"there is no API with the key {frame.key}")
            return BadRequest(frame.correlation, error, False)
        if not api.min_version <= frame.version <= api.max_version:
            known = f"{api.min_version} to {api.max_version}"
            error = BrokerError(
                ErrorCode.UNSUPPORTED_VERSION, f"{api.name} in version {frame.version}; the broker knows {known}"
            )
            return BadRequest(frame.correlation, error, False)
        try:
            body = _requests[api.key].decode(frame.body)
        except _NOT_A_BODY as error:
            about = f"the body of {api.name} does not parse ({error})"[:_MAX_ABOUT_CHARS]
            return BadRequest(frame.correlation, BrokerError(ErrorCode.INVALID_REQUEST, about), False)
        return Request(frame.correlation, api, frame.version, body, len(frame.body))

    @staticmethod
    def reply(request: Request, body: Body) -> bytes:
        """The bytes of the answer. Raises LocalProtocolError where `body` is not the reply of that API."""
        if type(body) is not request.api.reply:
            raise LocalProtocolError(f"{type(body).__name__} is no reply to {request.api.name}")
        return encode_frame(request.api.key, request.version, request.correlation, _encoder.encode(body))

    @staticmethod
    def error(correlation: int, error: BrokerError, throttle_ms: int = 0) -> bytes:
        """The bytes of an error in the place of an answer."""
        body = ErrorBody(error.code.code, error.about[:_MAX_ABOUT_CHARS], throttle_ms)
        return encode_frame(ERROR, 0, correlation, _encoder.encode(body))


class ClientCodec:
    """A client's end. It numbers its requests and knows which of them wait for an answer."""

    def __init__(self, max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES) -> None:
        """Answers of up to `max_frame_bytes` are read; `max_request_bytes` is what the broker takes."""
        self._frames = FrameDecoder(max_frame_bytes)
        self._versions = {BY_KEY[0].key: 0}
        self._waiting: dict[int, Api] = {}
        self._next = 1
        self.max_request_bytes = DEFAULT_MAX_FRAME_BYTES

    def agree(self, offered: dict[int, tuple[int, int]]) -> None:
        """Use the highest version of each API that both know; `offered` is {key: (min, max)} of the broker."""
        self._versions = {}
        for key, (least, most) in offered.items():
            api = BY_KEY.get(key)
            if api is not None and max(least, api.min_version) <= min(most, api.max_version):
                self._versions[key] = min(most, api.max_version)

    def request(self, body: Body) -> tuple[int, bytes]:
        """(correlation id, bytes) of a request. Raises LocalProtocolError for what is none; UNSUPPORTED_VERSION for
        what the broker does not offer, REQUEST_TOO_LARGE for what it would refuse."""
        api = BY_REQUEST.get(type(body))
        if api is None:
            raise LocalProtocolError(f"{type(body).__name__} is no request")
        version = self._versions.get(api.key)
        if version is None:
            raise BrokerError(ErrorCode.UNSUPPORTED_VERSION, f"the broker does not know {api.name} as this client does")
        data = _encoder.encode(body)
        if len(data) + 8 > self.max_request_bytes:
            about = f"{api.name} has {len(data)} bytes, where {self.max_request_bytes} are the most"
            raise BrokerError(ErrorCode.REQUEST_TOO_LARGE, about)
        correlation = self._next
        self._next = correlation % 0x7FFF_FFFF + 1
        self._waiting[correlation] = api
        return correlation, encode_frame(api.key, version, correlation, data)

    def forget(self, correlation: int) -> None:
        """Nobody waits for this answer any more; where it comes all the same, it is passed over."""
        if correlation in self._waiting:
            self._waiting[correlation] = _FORGOTTEN

    def receive(self, data: bytes) -> list[Answer]:
        """What `data` completes. Raises RemoteProtocolError for what is no answer to anything that was asked."""
        found = [self._answer(frame) for frame in self._frames.feed(data)]
        return [answer for answer in found if answer is not None]

    def _answer(self, frame: Frame | BadFrame) -> Answer | None:
        if isinstance(frame, BadFrame):
            raise RemoteProtocolError(str(frame.error))
        api = self._waiting.pop(frame.correlation, None)
        if frame.key == ERROR:
            found: ErrorBody = _decoded(_errors, frame.body, "an error")
            error = broker_error(found.code, found.about, found.throttle_ms)
            if api is None:
                # It speaks of the connection as a whole.
                raise RemoteProtocolError(str(error))
            return None if api is _FORGOTTEN else Answer(frame.correlation, None, error)
        if api is _FORGOTTEN:
            return None
        if api is None or api.key != frame.key:
            raise RemoteProtocolError(f"an answer {frame.correlation} to nothing that was asked")
        return Answer(frame.correlation, _decoded(_replies[api.key], frame.body, f"the reply to {api.name}"), None)


_FORGOTTEN = Api(ERROR, ErrorBody, ErrorBody)


def _decoded(decoder: msgspec.msgpack.Decoder[Any], body: Data, what: str) -> Any:
    try:
        return decoder.decode(body)
    except _NOT_A_BODY as error:
        raise RemoteProtocolError(f"{what} does not parse ({error})") from error
