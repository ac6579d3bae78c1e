"""Checks of Host and Origin, against pages of other sites.

A page of any site can make a browser send requests to 127.0.0.1, and with a name that it lets point there (DNS
rebinding) it can read the answers too. Such a request carries that name as its Host, or the page's Origin.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import is_loopback

_PORTS = {"http": 80, "https": 443}


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
