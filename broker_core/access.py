"""Data a broker stores about its clients: ACLs, quotas, and users who authenticate by SCRAM (RFC 5802)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Hashable, Iterable
from typing import Annotated, ClassVar, Generic, Literal, Self, TypeVar

import msgspec
from msgspec import Meta

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_NAME_CHARS
from broker_core.settings import CallArguments, PositiveNumber, about

ResourceKind = Literal["topic", "queue", "group", "subject", "transactional_id", "broker"]
AclOperation = Literal["read", "write", "admin", "all"]
QuotaKey = Literal["producer_byte_rate", "consumer_byte_rate"]
Mechanism = Literal["SCRAM-SHA-256", "SCRAM-SHA-512"]
OPERATION_VERBS = {"read": "read", "write": "write", "admin": "administer", "all": "read, write and administer"}

ANY = "*"  # every principal, or every name; in a quota, everybody who has no quota of the same kind by name
DIGESTS: dict[Mechanism, str] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
MIN_ITERATIONS, MAX_ITERATIONS = 4_096, 16_384  # Kafka's; the least is its default
MAX_SALT_BYTES = 1_024


def _check(code: ErrorCode, *conditions: tuple[bool, str]) -> None:
    """Raises `code` with the sentence of the first condition that does not hold."""
    for holds, why in conditions:
        if not holds:
            raise BrokerError(code, why)


class Acl(CallArguments, frozen=True, forbid_unknown_fields=True):
    """`principal` may (or, with `deny`, may not) do `operation` to the resources of `kind` that `name` means.

    `name` is one name, the beginning of names if `prefixed`, or "*" for all; the broker as a whole has none.
    """

    principal: Annotated[str, about("principal or user it applies to; * means everyone")]
    operation: Annotated[AclOperation, about("what the principal may do")]
    kind: Annotated[ResourceKind, about("kind of resource")]
    name: Annotated[str, about("name of the resource; * means all of its kind; leave it out for the broker")] = ""
    prefixed: Annotated[bool, about("treat the name as a prefix")] = False
    deny: Annotated[bool, about("deny it, even if another rule allows it")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole, most = self.kind == "broker", MAX_NAME_CHARS
        _check(
            ErrorCode.MALFORMED_REQUEST,
            (1 <= len(self.principal) <= most, f"a principal has 1 to {most} characters"),
            (not (whole and (self.name or self.prefixed)), "the broker as a whole has no name"),
            (whole or bool(self.name), f"an ACL for a {self.kind} needs a name, or * for all"),
            (len(self.name) <= most, f"a name has at most {most} characters"),
        )

    def __str__(self) -> str:
        kind = self.kind.replace("_", " ")
        of = f"{kind}s whose names begin with {self.name}" if self.prefixed else f"{kind} {self.name}"
        return f"{self.principal} may {'not ' * self.deny}{OPERATION_VERBS[self.operation]} {of}".rstrip()

    @property
    def identity(self) -> Acl:
        """The identifying fields, which are unique."""
        return self

    def told(self, removed: bool) -> str:
        """The sentence for a change of it."""
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
        return name.startswith(self.name) if self.prefixed else self.name in {ANY, name}


class ClientQuota(CallArguments, frozen=True, forbid_unknown_fields=True):
    """The limit `bytes_per_s` for `key` of a `user`, a `client_id`, or a user with that client id.

    None is any, and "*" everybody who has no quota of the same kind by name.
    """

    key: Annotated[QuotaKey, about("what is limited")]
    bytes_per_s: Annotated[PositiveNumber, about("maximum bytes per second")]
    user: Annotated[str | None, about("user; * is every user who has no quota by name")] = None
    client_id: Annotated[str | None, about("client id; * is every one that has no quota by name")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [name for name in (self.user, self.client_id) if name is not None]
        _check(
            ErrorCode.MALFORMED_REQUEST,
            (bool(names), "a quota is for a user, a client-id, or both"),
            (all(1 <= len(name) <= MAX_NAME_CHARS for name in names), f"a name has 1 to {MAX_NAME_CHARS} characters"),
        )

    @property
    def identity(self) -> tuple[str | None, str | None, QuotaKey]:
        return self.user, self.client_id, self.key

    @property
    def entity(self) -> str:
        """The clients that the quota is for, in words."""
        named = [(kind, name) for kind, name in (("user", self.user), ("client id", self.client_id)) if name]
        return " with ".join(f"every {kind}" if name == ANY else f"{kind} {name}" for kind, name in named)

    def told(self, removed: bool) -> str:
        which = f"the {self.key} of {self.entity}"
        return f"removed {which}" if removed else f"set {which} to {self.bytes_per_s:g}"


class ScramUser(CallArguments, frozen=True, forbid_unknown_fields=True):
    """A user, and how the password is checked; `iterations` are those with which it was salted."""

    _code: ClassVar[ErrorCode] = ErrorCode.UNACCEPTABLE_CREDENTIAL

    user: str
    mechanism: Mechanism
    iterations: Annotated[int, Meta(ge=MIN_ITERATIONS, le=MAX_ITERATIONS)]

    @property
    def identity(self) -> tuple[str, str]:
        return self.user, self.mechanism

    def told(self, removed: bool) -> str:
        return f"{'deleted' if removed else 'set'} the {self.mechanism} credential of {self.user}"


class ScramCredential(msgspec.Struct, frozen=True):
    """The keys against which the password of a user is checked; the password itself is kept nowhere."""

    user: ScramUser
    salt: bytes
    stored_key: bytes
    server_key: bytes

    @classmethod
    def of_salted(cls, user: str, mechanism: Mechanism, iterations: int, salt: bytes, salted_password: bytes) -> Self:
        """Raises UNACCEPTABLE_CREDENTIAL."""
        digest = DIGESTS[mechanism]
        _check(
            ErrorCode.UNACCEPTABLE_CREDENTIAL,
            (1 <= len(user) <= MAX_NAME_CHARS, f"a user name has 1 to {MAX_NAME_CHARS} characters"),
            (1 <= len(salt) <= MAX_SALT_BYTES, f"a salt has 1 to {MAX_SALT_BYTES} bytes"),
            (len(salted_password) == hashlib.new(digest).digest_size, f"the salted password is not one of {mechanism}"),
        )
        stored_key = hashlib.new(digest, hmac.digest(salted_password, b"Client Key", digest)).digest()
        server_key = hmac.digest(salted_password, b"Server Key", digest)
        return cls(ScramUser(user, mechanism, iterations), salt, stored_key, server_key)

    @property
    def identity(self) -> tuple[str, str]:
        return self.user.identity


AccessRow = Acl | ClientQuota | ScramUser  # the rows that a snapshot has
#: What events call the rows that they tell of.
ROW_TYPES: dict[str, type[AccessRow]] = {"acl": Acl, "quota": ClientQuota, "user": ScramUser}
R = TypeVar("R", bound=AccessRow | ScramCredential)


class AccessTable(Generic[R]):
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


Acls = AccessTable[Acl]
