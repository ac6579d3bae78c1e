"""SaslHandshake and SaslAuthenticate: PLAIN, with a token of the broker's access rules as the password.

The name is not asked about: a token says who somebody is. Left out: SCRAM, OAUTHBEARER and GSSAPI.
"""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Access, Principal

HANDSHAKE_KEY, AUTHENTICATE_KEY = 17, 36
MECHANISMS = ("PLAIN",)
_UNSUPPORTED_MECHANISM = 33


def handshake(request: Any) -> dict[str, Any]:
    """Say which mechanisms there are."""
    known = request.mechanism.upper() in MECHANISMS
    return {"error_code": 0 if known else _UNSUPPORTED_MECHANISM, "mechanisms": MECHANISMS}


def authenticate(access: Access, request: Any) -> Principal:
    """Who it is. Raises UNAUTHORIZED."""
    parts = bytes(request.auth_bytes).split(b"\0")
    if len(parts) != 3:
        raise BrokerError(ErrorCode.UNAUTHORIZED, "SASL PLAIN needs a name and a password")
    return access.principal(parts[2].decode("utf-8", "replace"))
