"""What a broker keeps about its clients: ACLs, quotas, and users who authenticate by SCRAM (RFC 5802)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Hashable, Iterable
from typing import Annotated, Generic, Literal, Protocol, Self, TypeVar

from msgspec import Meta

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_NAME_CHARS
from broker_core.settings import CallArguments, PositiveNumber, about

ResourceKind = Literal["topic", "queue", "group", "subject", "transactional_id", "broker"]
AclOperation = Literal["read", "write", "admin", "all"]
QuotaKey = Literal["producer_byte_rate", "consumer_byte_rate"]
Mechanism = Literal["SCRAM-SHA-256", "SCRAM-SHA-512"]

ANY = "*"  # every principal, or every name
DEFAULT = ""  # in place of a name in a quota: everybody who has no quota of the same kind by name
DIGESTS: dict[Mechanism, str] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
MIN_ITERATIONS, MAX_ITERATIONS = 4_096, 16_384  # Kafka's; the least is its default
MAX_SALT_BYTES = 1_024


def _must(holds: bool, code: ErrorCode, why: str) -> None:
    if not holds:
        raise BrokerError(code, why)


def _check_name(what: str, name: str, least: int = 1) -> None:
    why = f"a {what} has {least} to {MAX_NAME_CHARS} characters"
    _must(least <= len(name) <= MAX_NAME_CHARS, ErrorCode.INVALID_REQUEST, why)


class Acl(CallArguments, frozen=True, forbid_unknown_fields=True):
    """`principal` may (or, with `deny`, may not) do `operation` to the resources of `kind` that `name` means.

    `name` is one name, the beginning of names if `prefixed`, or "*" for all; the broker as a whole has none.
    """

    principal: Annotated[str, about("principal or user that it is for; * is everybody")]
    operation: Annotated[AclOperation, about("what the principal may do")]
    kind: Annotated[ResourceKind, about("kind of resource")]
    name: Annotated[str, about("name of the resource; * is all of its kind, and the broker has none")] = ""
    prefixed: Annotated[bool, about("the name is only the beginning of names")] = False
    deny: Annotated[bool, about("forbid it, whatever else allows it")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_name("principal", self.principal)
        whole = self.kind == "broker"
        why = "the broker as a whole has no name" if whole else f"an ACL for a {self.kind} needs a name, or * for all"
        _must(whole == (not self.name), ErrorCode.INVALID_REQUEST, why)
        _check_name("name", self.name, 0)
        _must(not (whole and self.prefixed), ErrorCode.INVALID_REQUEST, "the broker has no names that begin alike")

    def __str__(self) -> str:
        names = f"whose names begin with {self.name}" if self.prefixed else self.name
        what = "read, write, admin" if self.operation == "all" else self.operation
        return f"{self.principal} may {'not ' * self.deny}{what} {self.kind} {names}".rstrip()

    @property
    def identity(self) -> Acl:
        return self

    def told(self, removed: bool) -> str:
        return f"{'deleted' if removed else 'created'} the ACL: {self}"

    def concerns(self, principal: str, operation: str, kind: ResourceKind, name: str) -> bool:
        return (
            kind == self.kind
            and self.operation in {operation, "all"}
            and self.principal in {ANY, principal}
            and (kind == "broker" or self.means(name))
        )

    def means(self, name: str) -> bool:
        """Whether it is about what is called `name`."""
        if self.prefixed:
            return name.startswith(self.name)
        return self.name in {ANY, name}


class ClientQuota(CallArguments, frozen=True, forbid_unknown_fields=True):
    """The limit `bytes_per_s` for `key` of a `user`, a `client_id`, or a user with that client id.

    None is any, and "" everybody who has no quota of the same kind by name.
    """

    key: Annotated[QuotaKey, about("what is limited")]
    bytes_per_s: Annotated[PositiveNumber, about("most bytes a second")]
    user: Annotated[str | None, about('user; "" is every user who has no quota by name')] = None
    client_id: Annotated[str | None, about('client id; "" is every one that has no quota by name')] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        is_for = (self.user, self.client_id)
        why = "a quota is for a user, a client-id, or both"
        _must(any(each is not None for each in is_for), ErrorCode.INVALID_REQUEST, why)
        for name in is_for:
            _check_name("name", name or "", 0)

    @property
    def identity(self) -> tuple[str | None, str | None, QuotaKey]:
        return self.user, self.client_id, self.key

    @property
    def entity(self) -> str:
        """Whom it is for, in words."""
        named = {"user": self.user, "client id": self.client_id}
        parts = [f"{kind} {name}" if name else f"every {kind}" for kind, name in named.items() if name is not None]
        return " with ".join(parts)

    def told(self, removed: bool) -> str:
        return (
            f"removed the {self.key} of {self.entity}"
            if removed
            else f"set the {self.key} of {self.entity} to {self.bytes_per_s:g}"
        )


class ScramUser(CallArguments, frozen=True, forbid_unknown_fields=True):
    """A user, and how the password is checked; `iterations` are those with which it was salted."""

    user: str
    mechanism: Mechanism
    iterations: Annotated[int, Meta(ge=MIN_ITERATIONS, le=MAX_ITERATIONS)]

    @property
    def identity(self) -> tuple[str, str]:
        return self.user, self.mechanism

    def told(self, removed: bool) -> str:
        return f"{'deleted' if removed else 'set'} the {self.mechanism} credential of {self.user}"


class ScramCredential(ScramUser, frozen=True, forbid_unknown_fields=True):
    """A user with the keys against which a password is checked; the password itself is kept nowhere."""

    salt: bytes
    stored_key: bytes
    server_key: bytes

    @classmethod
    def of_salted(cls, user: str, mechanism: Mechanism, iterations: int, salt: bytes, salted_password: bytes) -> Self:
        """Raises UNACCEPTABLE_CREDENTIAL."""
        digest = DIGESTS[mechanism]
        size = hashlib.new(digest).digest_size
        why_iterations = f"iterations are {MIN_ITERATIONS} to {MAX_ITERATIONS}, and not {iterations}"
        for holds, why in (
            (1 <= len(user) <= MAX_NAME_CHARS, f"a user name has 1 to {MAX_NAME_CHARS} characters"),
            (MIN_ITERATIONS <= iterations <= MAX_ITERATIONS, why_iterations),
            (1 <= len(salt) <= MAX_SALT_BYTES, f"a salt has 1 to {MAX_SALT_BYTES} bytes"),
            (len(salted_password) == size, f"the salted password is not one of {mechanism}"),
        ):
            _must(holds, ErrorCode.UNACCEPTABLE_CREDENTIAL, why)
        stored_key = hashlib.new(digest, hmac.digest(salted_password, b"Client Key", digest)).digest()
        server_key = hmac.digest(salted_password, b"Server Key", digest)
        return cls(user, mechanism, iterations, salt, stored_key, server_key)

    @property
    def public(self) -> ScramUser:
        """Without the keys, as it is shown and recorded."""
        return ScramUser(self.user, self.mechanism, self.iterations)


class Row(Protocol):
    @property
    def identity(self) -> Hashable:
        """Equal for the rows of which there is one."""

    def told(self, removed: bool) -> str:
        """What a change of it is in the timeline."""


R = TypeVar("R", bound=Row)


class Kept(Generic[R]):
    """Rows in the order in which they came. `all` is replaced as a whole, so any thread may read it."""

    def __init__(self, rows: Iterable[R] = ()) -> None:
        self.all = tuple(rows)

    def find(self, identity: Hashable) -> R | None:
        return next((row for row in self.all if row.identity == identity), None)

    def put(self, row: R) -> None:
        """Add it, or put it in the place of the one with the same identity."""
        self.all = tuple({**{each.identity: each for each in self.all}, row.identity: row}.values())

    def remove(self, row: R) -> None:
        self.all = tuple(each for each in self.all if each.identity != row.identity)


Acls = Kept[Acl]
Shown = Acl | ClientQuota | ScramUser  # the rows that a snapshot has
#: What events call the rows that they tell of.
SHOWN: dict[str, type[Shown]] = {"acl": Acl, "quota": ClientQuota, "user": ScramUser}
