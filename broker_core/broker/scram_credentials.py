"""What the passwords of users are checked against by SCRAM (RFC 5802); the passwords themselves are not kept."""

from __future__ import annotations

from typing import Literal

import msgspec

Mechanism = Literal["SCRAM-SHA-256", "SCRAM-SHA-512"]


class ScramCredential(msgspec.Struct, frozen=True):
    """The credential of `user` for one mechanism; `iterations` are those with which its password was salted."""

    user: str
    mechanism: Mechanism
    iterations: int
    salt: bytes
    stored_key: bytes
    server_key: bytes


class ScramCredentials:
    """The credentials of a broker. `all` is replaced as a whole, so any thread may read it."""

    def __init__(self) -> None:
        self.all: tuple[ScramCredential, ...] = ()

    def find(self, user: str, mechanism: str) -> ScramCredential | None:
        return next((each for each in self.all if (each.user, each.mechanism) == (user, mechanism)), None)

    def put(self, credential: ScramCredential) -> None:
        self.remove(credential.user, credential.mechanism)
        self.all = (*self.all, credential)

    def remove(self, user: str, mechanism: str) -> None:
        self.all = tuple(each for each in self.all if (each.user, each.mechanism) != (user, mechanism))
