"""A client of a remote broker's HTTP listener, with the operations and errors of a broker in process."""

from __future__ import annotations

import contextlib
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import urlencode

import msgspec
import urllib3
from urllib3 import exceptions
from urllib3.util import parse_url

from broker_core.closable import Closable
from broker_core.decoding import from_json
from broker_core.errors import BrokerError, ConfigError, ErrorCode
from broker_core.operations.catalogue import entry_of
from broker_core.operations.entry import Entry
from broker_core.operations.http_form import DEFAULT_PORT, HttpParts, form_of
from broker_core.operations.request import Problem, Request
from broker_core.settings import TIMEOUT, TimeS, checked_class, validated

T = TypeVar("T")

_CONNECTIONS = 8  # that are kept; more are closed after use
_CONNECT_S = 10.0
_PAUSES_S = (0.05, 0.2, 0.8)  # before repeating what is safe to repeat
_PIECE_BYTES = 1 << 16
_MOST_BYTES = 256 * 1_048_576  # of one response
# Problems of HTTP without an error code of the broker.
_BY_STATUS = {
    401: ErrorCode.UNAUTHORIZED,
    403: ErrorCode.FORBIDDEN,
    413: ErrorCode.REQUEST_TOO_LARGE,
    429: ErrorCode.THROTTLED,
    500: ErrorCode.INTERNAL_ERROR,
    503: ErrorCode.CLOSED,
}
Waiting = Callable[[BrokerError, float], object]


class _BrokenOffError(BrokerError):
    """The connection ended before the response."""


class _Response(NamedTuple):
    status: int
    headers: Any
    data: bytes


@checked_class(fast=("ask",))
class HttpBroker(Closable):
    """A client of the HTTP listener at `url`: http:// or https:// with host and port; of a host alone, it asks
    `DEFAULT_PORT` without TLS. Thread-safe.

    `ca_file` holds the trusted certificates for https, in PEM; the default are the system's. `timeout_s` limits each
    request, on top of a wait that the request itself asks for. `on_wait(error, seconds)` is called before each wait for
    a broker that cannot serve a request yet. `if_kafka` is what to do if Kafka is spoken there. Raises INVALID_CONFIG
    for an invalid URL or token.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        ca_file: Path | str | None = None,
        timeout_s: TimeS = 30.0,
        on_wait: Waiting | None = None,
        if_kafka: str = "",
    ) -> None:
        self.url = checked_url(url)
        self.has_token = token is not None
        self._heard = False
        self._timeout_s, self._if_kafka = timeout_s, if_kafka
        self._on_wait: Waiting = on_wait or (lambda _error, _seconds: None)
        self._headers = {"Accept": "application/json", "User-Agent": "brokerscope"}
        if token is not None:
            if not (token.isascii() and token.isprintable()):
                raise ConfigError("a token may only contain printable ASCII characters, because HTTP carries no others")
            self._headers["Authorization"] = f"Bearer {token}"
        trust = _trust(self.url, ca_file)
        self._pool = urllib3.connection_from_url(self.url, maxsize=_CONNECTIONS, retries=False, **trust)
        self._closed = False

    def ask(self, request: Request[T], timeout_s: float | None = None) -> T:
        """The result of an operation of the catalogue; its errors are those of `BrokerHost.ask`.

        What is safe to repeat is repeated where the connection fails, and after a wait where the broker asks for one;
        so is whatever it refuses with "too many requests", but for parked operations. Raises CONNECTION_LOST if
        nothing listens, no broker answers, or the answer breaks off, REQUEST_TOO_LARGE if it is more than 256 MiB, and
        REQUEST_TIMED_OUT: what changes something may be done all the same.
        """
        validated("timeout_s", TIMEOUT, timeout_s)
        entry = entry_of(request)
        with _encoding(entry.request.__name__):
            parts = form_of(entry).parts(request)
            parts = parts._replace(path=f"{parts.path}?{urlencode(parts.query)}" if parts.query else parts.path)
        ends_s = time.monotonic() + (self._timeout_s + _own_wait_s(entry, request) if timeout_s is None else timeout_s)
        response = self._answered(parts, ends_s, repeatable=entry.is_repeatable, waits=entry.mode != "parked")
        result: Any = None if entry.result is None else self._decoded(response, entry.result)
        return cast(T, result)

    def post(self, path: str, body: Any) -> Any:
        """The reply of an endpoint outside the catalogue to a JSON `body`; None if empty. Raises as `ask`."""
        with _encoding("the body"):
            parts = HttpParts("POST", path, {}, msgspec.json.encode(body))
        response = self._answered(parts, time.monotonic() + self._timeout_s, repeatable=False, waits=True)
        return self._decoded(response, Any) if response.data else None

    def close(self) -> None:
        """Close the connections. A second call does nothing."""
        self._closed = True
        self._pool.close()

    # -- inside

    def _answered(self, parts: HttpParts, ends_s: float, *, repeatable: bool, waits: bool) -> _Response:
        """The response, perhaps after repeating the request; with `waits` after "too many requests" in any case."""
        pauses = iter(_PAUSES_S)
        while True:
            error: BrokerError
            try:
                response = self._sent(parts, ends_s, repeatable=repeatable)
            except _BrokenOffError as broken:
                error, pause_s = broken, next(pauses, None) if repeatable else None
            else:
                if 200 <= response.status < 300:
                    return response
                error = self._refused(response)
                # "Too many requests" means that nothing was done.
                again = (waits and response.status == 429) or (repeatable and error.retriable)
                asked_s: str = response.headers.get("Retry-After", "")
                pause_s = float(asked_s) if again and asked_s.isdecimal() else None
            if pause_s is None or time.monotonic() + pause_s >= ends_s:
                raise error
            self._on_wait(error, pause_s)
            time.sleep(pause_s)

    def _sent(self, parts: HttpParts, ends_s: float, *, repeatable: bool) -> _Response:
        """The response, whole. Raises CLOSED, CONNECTION_LOST, REQUEST_TIMED_OUT, REQUEST_TOO_LARGE."""
        if self._closed:
            raise BrokerError(ErrorCode.CLOSED, f"the client of {self.url}")
        headers = self._headers if parts.body is None else {**self._headers, "Content-Type": "application/json"}
        left_s = max(0.001, ends_s - time.monotonic())
        doubt = "" if repeatable else "; it may have been done all the same"
        try:
            response = self._pool.request(
                parts.verb,
                parts.path,
                body=parts.body,
                headers=headers,
                timeout=urllib3.Timeout(connect=min(_CONNECT_S, left_s), read=left_s),
                redirect=False,
                preload_content=False,
            )
            data = _read(response, ends_s)
            has_end = response.status >= 300 or response.status == 204 or response.chunked
            if not data and not has_end and "Content-Length" not in response.headers:
                raise exceptions.HTTPError("the end of the headers is missing")
            self._heard = True
            return _Response(response.status, response.headers, data)
        except (exceptions.ReadTimeoutError, TimeoutError) as error:
            about = f"{parts.verb} {parts.path} got no reply from {self.url}{doubt}"
            raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, about, possibly_stored=bool(doubt)) from error
        except (exceptions.NewConnectionError, exceptions.ConnectTimeoutError) as error:
            about = f"nothing listens at {self.url}; brokerscope serve opens a broker"
            if isinstance(error, exceptions.NameResolutionError):
                about = f"the host of {self.url} is not known"
            raise BrokerError(ErrorCode.CONNECTION_LOST, about) from error
        except exceptions.SSLError as error:
            reason = _reason(error)
            if "WRONG_VERSION_NUMBER" in reason:
                raise self._no_broker("it does not speak TLS; use an http address") from error
            raise self._no_broker(f"TLS fails: {reason}; trust its certificate with --tls-ca FILE") from error
        except (exceptions.HTTPError, OSError) as error:
            if "BadStatusLine" in repr(error) or "LineTooLong" in repr(error):
                raise self._no_broker("it does not speak HTTP") from error
            about = f"{self.url} broke off its reply to {parts.verb} {parts.path}{doubt}"
            if not self._heard and self.url.startswith("http:"):
                about += "; if it uses TLS, use an https address"
                about += f"; if it speaks Kafka, {self._if_kafka}" if self._if_kafka else ""
            raise _BrokenOffError(ErrorCode.CONNECTION_LOST, about, possibly_stored=bool(doubt)) from error

    def _decoded(self, response: _Response, kind: Any) -> Any:
        try:
            return from_json(response.data, kind)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise self._no_broker("its reply is not a broker's") from None

    def _refused(self, response: _Response) -> BrokerError:
        status = response.status
        if 300 <= status < 400:
            where = response.headers.get("Location", "another address")
            return self._no_broker(f"it redirects to {where}; use that address")
        try:
            problem = from_json(response.data, Problem)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return self._no_broker(f"it replies {status}, but not as a broker does")
        return error_of(problem, status)

    def _no_broker(self, why: str) -> BrokerError:
        return BrokerError(ErrorCode.CONNECTION_LOST, f"{self.url} is not the HTTP listener of a broker: {why}")


def checked_url(text: str) -> str:
    """`text` as a URL; the default scheme is http. Raises INVALID_CONFIG."""
    try:
        found = parse_url(text if "://" in text else f"http://{text}")
    except exceptions.LocationParseError as error:
        raise ConfigError(f"{text!r} is not a URL such as http://127.0.0.1:{DEFAULT_PORT}") from error
    if found.auth:
        raise ConfigError("a broker's URL has no user name or password; give a token with --token-file")
    if found.scheme not in {"http", "https"} or not found.host or found.query or found.port == 0:
        raise ConfigError(f"{text!r} is not a URL such as http://127.0.0.1:{DEFAULT_PORT}")
    if found.path not in {None, "", "/"}:
        raise ConfigError(f"{text!r} has a path; a broker's URL ends with its port")
    port = "" if found.port is None and "://" in text else f":{found.port or DEFAULT_PORT}"
    return f"{found.scheme}://{found.host}{port}"


def error_of(problem: Problem, status: int) -> BrokerError:
    code = ErrorCode.__members__.get(problem.error) or _BY_STATUS.get(status, ErrorCode.MALFORMED_REQUEST)
    about = problem.message.removesuffix(".")
    if about == code.sentence:
        about = ""
    about = about.removeprefix(f"{code.sentence}: ")
    return BrokerError(code, about, possibly_stored=problem.possibly_stored is True)


@contextlib.contextmanager
def _encoding(what: str) -> Iterator[None]:
    """Raises MALFORMED_REQUEST for what no HTTP request can carry, such as half a character."""
    try:
        yield
    except (UnicodeEncodeError, TypeError, ValueError) as error:
        if isinstance(error, BrokerError):
            raise
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, f"{what} cannot be sent ({error})") from error


def _trust(url: str, ca_file: Path | str | None) -> dict[str, Any]:
    if not url.startswith("https:"):
        return {}
    try:
        return {"ssl_context": ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))}
    except OSError as error:  # an SSLError is one
        reason = getattr(error, "reason", None) or error.strerror or str(error)
        raise ConfigError(f"{ca_file} contains no certificates to trust ({reason}); give a PEM file") from error


def _own_wait_s(entry: Entry, request: Request[Any]) -> float:
    holder = getattr(request, entry.body) if entry.body else request
    return float(getattr(holder, "timeout_ms", 0)) / 1_000


def _read(response: urllib3.BaseHTTPResponse, ends_s: float) -> bytes:
    """The body, limited in time and size. Raises TimeoutError, HTTPError, REQUEST_TOO_LARGE."""
    pieces: list[bytes] = []
    size_bytes = 0
    with contextlib.ExitStack() as undo:
        undo.callback(response.close)
        for piece in response.stream(_PIECE_BYTES):
            pieces.append(piece)
            size_bytes += len(piece)
            if size_bytes > _MOST_BYTES:
                raise BrokerError(ErrorCode.REQUEST_TOO_LARGE, f"its reply has more than {_MOST_BYTES:,} bytes")
            if time.monotonic() > ends_s:
                raise TimeoutError
        undo.pop_all()
    response.release_conn()
    return b"".join(pieces)


def _reason(error: Exception) -> str:
    cause = error.args[0] if error.args else error
    return str(getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or cause)
