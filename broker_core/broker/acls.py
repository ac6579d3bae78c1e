"""ACLs: rules that Kafka's admin clients create and delete, beside those of the access file."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from broker_core.operations.rights import Operation, ResourceKind

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
