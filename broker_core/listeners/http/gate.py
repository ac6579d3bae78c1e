"""ASGI middleware: counts requests, checks Host and Origin, and enforces the budget.

A page of any site can make a browser send requests to 127.0.0.1, and with a name that it lets point there (DNS
rebinding) it can read the answers too. Such a request carries that name as its Host, or the page's Origin.
"""

from __future__ import annotations

import ipaddress
import re
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import unquote, urlsplit

from starlette.requests import Request

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import is_loopback
from broker_core.listeners.http.context import SLASH, HttpContext
from broker_core.listeners.http.problems import problem_of, problem_with
from broker_core.listeners.http.reading import HeldBytes

_PORTS = {"http": 80, "https": 443}
_SMALL_BYTES = 65_536  # answers up to this size fit a connection's buffer and are not counted
Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class OriginGuard:
    """The host names and origins that a listener accepts."""

    def __init__(
        self, address: str, names: Iterable[str] = (), origins: Iterable[str] = (), scheme: str = "http"
    ) -> None:
        """`address` is what the listener is bound to; `names` are further hosts, `origins` further pages' origins."""
        self._scheme = scheme
        self._loopback_only = is_loopback(address)
        self._names = {"localhost", address.lower().strip("[]"), *(name.lower().strip("[]") for name in names)} - {""}
        self._origins = {origin.lower().rstrip("/") for origin in origins}

    def check(self, host: str | None, origin: str | None) -> None:
        """Raises FORBIDDEN for a Host other than this listener, or an Origin that is neither it nor allowed."""
        place = None if host is None else _split(f"//{host}")
        if place is None or not self._knows(place[0]):
            raise BrokerError(
                ErrorCode.FORBIDDEN, f"the Host {str(host)[:80]!r} is not a name of this broker; use its address"
            )
        if origin is None or origin.lower().rstrip("/") in self._origins:
            return
        page = _split(origin)
        usual = _PORTS[self._scheme]
        if page is None or page != (place[0], usual if place[1] is None else place[1], self._scheme):
            raise BrokerError(ErrorCode.FORBIDDEN, f"pages of {origin[:80]!r} may not use this broker")

    def _knows(self, name: str) -> bool:
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        # DNS rebinding needs a name; an address always means itself.
        return address.is_loopback or not self._loopback_only


def _split(url: str) -> tuple[str, int | None, str] | None:
    """(host, port, scheme); None for a URL that has more than these, or is none."""
    try:
        parts = urlsplit(url)
        name, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not name or parts.username is not None or parts.path not in {"", "/"} or parts.query or parts.fragment:
        return None
    if port is None and parts.scheme:
        port = _PORTS.get(parts.scheme)
    return name.lower(), port, parts.scheme


def _path(scope: Scope) -> str:
    """The path, with what keeps a slash in a name apart from those between the parts."""
    raw = scope.get("raw_path", b"").decode("latin-1")
    path: str = scope["path"]
    return unquote(re.sub("%2f", SLASH, raw, flags=re.IGNORECASE)) if "%2f" in raw.lower() else path


class RequestGate:
    def __init__(self, inner: Application, context: HttpContext, origin: OriginGuard) -> None:
        self._inner = inner
        self._context = context
        self._origin = origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        context, begun_s = self._context, time.perf_counter()
        connection, drain = scope["state"]["connection"], scope["state"]["drain"]
        held = scope["state"]["held"] = HeldBytes(context.budget)
        status = 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                length = int(_header(message, b"content-length") or 0)
                if length > _SMALL_BYTES:
                    # An answer that a slow client does not read is held in memory, as a body is.
                    held.more(length)
                status = message["status"]
            await send(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                await drain()

        connection.requests += 1
        connection.heard_ns = context.host.now_ns
        try:
            context.budget.begin()
        except BrokerError as error:
            await problem_of(error)(scope, receive, send)
            return
        try:
            if _header(scope, b"content-length") and _header(scope, b"transfer-encoding"):
                # Somebody between may see where the request ends in another place (RFC 9112, 6.1).
                ends = problem_with(400, "both Content-Length and Transfer-Encoding", {"Connection": "close"})
                await ends(scope, receive, noting)
                return
            self._origin.check(_header(scope, b"host"), _header(scope, b"origin"))
            scope["path"] = _path(scope)
            await self._inner(scope, receive, noting)
        except BrokerError as error:
            connection.failed(str(error))
            refused = problem_of(error)
            status = refused.status_code
            await refused(scope, receive, send)
        except Exception as error:
            connection.failed(f"{type(error).__name__}: {error}")
            if status == 500:
                fault = problem_with(500, "this is a bug in the broker; its log has details")
                await fault(scope, receive, noting)
            raise
        finally:
            context.budget.end(held.bytes)
            context.metrics.served(Request(scope), status, time.perf_counter() - begun_s)


def _header(message: Message, name: bytes) -> str | None:
    values = [value for key, value in message["headers"] if key == name]
    # Two headers of one name are an attack: each reader may believe a different one.
    return values[0].decode("latin-1") if len(values) == 1 else None if not values else "\n"
