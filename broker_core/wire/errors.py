"""Errors of the broker on the wire, and errors of the wire itself."""

from __future__ import annotations

from broker_core.errors import BrokerError, ErrorCode
from broker_core.wire.body import ErrorBody

_BY_NUMBER = {code.code: code for code in ErrorCode}


class ThrottledError(BrokerError):
    """An error of a broker that asks to wait `throttle_ms` before the next request."""

    def __init__(self, code: ErrorCode, about: str, throttle_ms: int) -> None:
        super().__init__(code, about)
        self.throttle_ms = throttle_ms


class LocalProtocolError(Exception):
    """This side was about to say something that the protocol does not allow: a mistake in the program."""


class RemoteProtocolError(Exception):
    """The other side has said something that the protocol does not allow; nothing it says can be relied on any more."""


def broker_error(number: int, about: str, throttle_ms: int = 0) -> BrokerError:
    """The error with this number; one that a newer broker knows and we do not is an INVALID_REQUEST that names it."""
    code = _BY_NUMBER.get(number)
    if code is None:
        return BrokerError(ErrorCode.INVALID_REQUEST, f"the broker's error {number}: {about}")
    return ThrottledError(code, about, throttle_ms) if throttle_ms else BrokerError(code, about)


def error_body(error: BrokerError, throttle_ms: int = 0) -> ErrorBody:
    """For the wire."""
    return ErrorBody(error.code.code, error.about, throttle_ms)
