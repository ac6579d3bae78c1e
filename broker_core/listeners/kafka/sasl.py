"""SaslHandshake and SaslAuthenticate: PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512, with a principal's token as the password.

PLAIN needs no user name, because a token names its principal. SCRAM (RFC 5802) needs the principal's name, and a token
that the access file gives in plain text: a digest cannot be salted anew. By SCRAM come users of
AlterUserScramCredentials, too, with their own passwords. Left out: OAUTHBEARER, GSSAPI, delegation tokens and
re-authentication.
"""

from __future__ import annotations

import hmac
import secrets
from functools import cache
from typing import Any

import scramp

from broker_core.access import MIN_ITERATIONS, AccessTable, ScramCredential
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Access, Principal
from broker_core.listeners.kafka.call import Answer, Call, api

PLAIN = "PLAIN"
MECHANISMS = (PLAIN, "SCRAM-SHA-256", "SCRAM-SHA-512")
_SECRET = secrets.token_bytes(32)


def handshake(request: Any) -> dict[str, Any]:
    known = request.mechanism.upper() in MECHANISMS
    return {"error_code": 0 if known else ErrorCode.UNSUPPORTED_SASL_MECHANISM.code, "mechanisms": MECHANISMS}


class Exchange:
    """One client's authentication by one mechanism; `principal` is None until it has succeeded."""

    def __init__(self, access: Access, credentials: AccessTable[ScramCredential], mechanism: str) -> None:
        self.principal: Principal | None = None
        self._access = access
        self._credentials = credentials
        self._mechanism = mechanism.upper()
        self._scram: Any = None
        self._user = ""

    def step(self, auth_bytes: bytes) -> bytes:
        """The server's answer to the client's next message. Raises UNAUTHORIZED."""
        if self.principal is not None:
            raise BrokerError(ErrorCode.UNAUTHORIZED, "the client is already authenticated")
        if self._mechanism == PLAIN:
            self.principal = self._plain(auth_bytes)
            return b""
        if self._access.open and not self._credentials.all:
            about = "there are no principals and no users, so SCRAM cannot authenticate anyone"
            raise BrokerError(ErrorCode.UNAUTHORIZED, about)
        try:
            return self._scram_step(auth_bytes.decode("utf-8"))
        except (scramp.ScramException, UnicodeDecodeError, ValueError) as error:
            about = f"{self._mechanism} failed for {self._user[:100] or 'a client'}"
            raise BrokerError(ErrorCode.UNAUTHORIZED, about) from error

    def _plain(self, auth_bytes: bytes) -> Principal:
        parts = auth_bytes.split(b"\0")
        if len(parts) != 3:
            raise BrokerError(ErrorCode.UNAUTHORIZED, "SASL PLAIN needs a name and a password")
        try:
            return self._access.principal(parts[2].decode("utf-8", "replace"))
        except BrokerError:
            # The same for every name: nobody can guess which users there are.
            about = "the password is not a token of this broker; users with a password of their own need SCRAM"
            raise BrokerError(ErrorCode.UNAUTHORIZED, about) from None

    def _scram_step(self, message: str) -> bytes:
        if self._scram is None:
            self._scram = scramp.ScramMechanism(self._mechanism).make_server(self._credential)
            self._scram.set_client_first(message)
            return str(self._scram.get_server_first()).encode()
        self._scram.set_client_final(message)
        answer = str(self._scram.get_server_final()).encode()
        self.principal = Principal(self._user)
        return answer

    def _credential(self, user: str) -> Any:
        """Salt, stored key, server key and iterations that the password of `user` is checked against.

        An unknown user gets a salt that stays the same, and keys that no password has: names cannot be guessed.
        """
        self._user = user
        token = self._access.token(user)
        if token is not None:
            return _salted(self._mechanism, token)
        kept = self._credentials.find((user, self._mechanism))
        if kept is not None:
            return kept.salt, kept.stored_key, kept.server_key, kept.user.iterations
        digest = hmac.digest(_SECRET, user.encode(), "sha512" if self._mechanism.endswith("512") else "sha256")
        return digest[:32], secrets.token_bytes(len(digest)), secrets.token_bytes(len(digest)), MIN_ITERATIONS


@cache
def _salted(mechanism: str, token: str) -> Any:
    return scramp.ScramMechanism(mechanism).make_auth_info(token, iteration_count=MIN_ITERATIONS)


@api("SaslHandshake", 17, 0, 1)
@api("SaslAuthenticate", 36, 0, 2)
def _on_the_connection(call: Call, _request: Any) -> Answer:
    raise AssertionError("the connection itself authenticates")
