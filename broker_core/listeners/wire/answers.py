"""What a connection is told: replies and errors, written together."""

from __future__ import annotations

import asyncio
import logging

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.connections import Connection
from broker_core.wire.body import Body
from broker_core.wire.codec import Request, ServerCodec

_log = logging.getLogger(__name__)
THROTTLE_MS = 100
# A client that does not read what it has asked for: from here on it is not read from, and then it is cut.
WRITE_HIGH_BYTES = 1_048_576
WRITE_MOST_BYTES = 64 * 1_048_576


class Answers:
    """Of one connection, which is `seen` in the registry."""

    def __init__(self, transport: asyncio.Transport, seen: Connection) -> None:
        transport.set_write_buffer_limits(high=WRITE_HIGH_BYTES)
        self._transport = transport
        self._seen = seen
        self._said: list[bytes] = []
        self.lost = False  # nobody is there any more to be told anything

    def reply(self, request: Request, body: Body) -> None:
        """The answer to a request."""
        self._say(ServerCodec.reply(request, body))

    def refuse(self, correlation: int, error: BrokerError) -> None:
        """An error in the place of an answer."""
        self._seen.failed(str(error))
        self._say(ServerCodec.error(correlation, error, THROTTLE_MS if error.code is ErrorCode.THROTTLED else 0))

    def failed(self, request: Request, error: BaseException) -> None:
        """`refuse`; what is no error of the broker's own words is a fault of the broker."""
        if not isinstance(error, BrokerError):
            _log.error("%s failed", request.api.name, exc_info=error)
            about = f"{request.api.name} ended with {type(error).__name__}"
            error = BrokerError(ErrorCode.INTERNAL_ERROR, about)
        self.refuse(request.correlation, error)

    def _say(self, data: bytes) -> None:
        if not self.lost:
            self._said.append(data)
            self._seen.bytes_out += len(data)

    def flush(self) -> None:
        """Write what was said."""
        if not self._said or self.lost:
            return
        data, self._said = b"".join(self._said), []
        if self._transport.get_write_buffer_size() > WRITE_MOST_BYTES:
            self._seen.failed("cut: it did not read its replies")
            self._transport.abort()
        else:
            self._transport.write(data)
