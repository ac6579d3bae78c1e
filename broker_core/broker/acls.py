"""ACLs that Kafka's admin clients create, beside the access file, and SCRAM's credentials (RFC 5802)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from broker_core.operations.entry import Operation, ResourceKind

EVERYBODY = "*"
ANY_NAME = "*"


class Acl(msgspec.Struct, frozen=True):
    """`principal` may (or, with `deny`, may not) do `operations` to the resources of `kind` that `name` means.

    `name` is one name, the beginning of names where `prefixed`, or "*" for all. The broker as a whole has one name.
    """

    principal: str
    operations: tuple[Operation, ...]
    kind: ResourceKind
    name: str
    prefixed: bool = False
    deny: bool = False

    def __str__(self) -> str:
        names = f"whose names begin with {self.name}" if self.prefixed else self.name
        return f"{self.principal} may {'not ' * self.deny}{', '.join(self.operations)} {self.kind} {names}"

    def concerns(self, principal: str, operation: Operation, kind: ResourceKind, name: str) -> bool:
        return (
            kind == self.kind
            and operation in self.operations
            and self.principal in {EVERYBODY, principal}
            and (kind == "broker" or self.means(name))
        )

    def means(self, name: str) -> bool:
        if self.prefixed:
            return name.startswith(self.name)
        return self.name in {ANY_NAME, name}


class Acls:
    """The ACLs of a broker. `all` is replaced as a whole, so any thread may read it."""

    def __init__(self, acls: tuple[Acl, ...] = ()) -> None:
        self.all = acls

    def add(self, acls: Iterable[Acl]) -> None:
        self.all = tuple(dict.fromkeys((*self.all, *acls)))

    def remove(self, acls: Iterable[Acl]) -> None:
        gone = set(acls)
        self.all = tuple(acl for acl in self.all if acl not in gone)


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
