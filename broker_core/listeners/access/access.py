"""Authentication and authorization: tokens and access rules.

A broker that only this machine can reach is open by default. Any other needs tokens. An access file is TOML:

    [[principals]]
    name = "billing"
    token = "at least sixteen characters"   # or token_sha256 = "the digest in hexadecimal"

    [[rules]]
    principal = "billing"                    # a name, or "*" for all
    operations = ["read", "write"]           # read, write, admin
    topics = ["orders", "invoices-*"]        # or queues, groups, subjects, transactional_ids; broker = true: the rest
    deny = false                             # a rule that denies wins over all that allow
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from broker_core.access import OPERATION_VERBS, Acl, Acls, ResourceKind
from broker_core.errors import BrokerError, ConfigError, ErrorCode
from broker_core.limits import MAX_NAME_CHARS
from broker_core.operations.entry import Operation
from broker_core.settings import Settings, checked, checked_class

_DECISIONS_KEPT = 10_000

MIN_TOKEN_CHARS = 16  # 80 bits of base32, which cannot be guessed through a network


class Principal(msgspec.Struct, frozen=True):
    """A client's identity."""

    name: str


ANYBODY = Principal("anybody")  # every client, if no token is required


class PrincipalEntry(Settings, frozen=True, forbid_unknown_fields=True):
    """A name with its token, or with the SHA-256 of it."""

    name: str
    token: str = ""
    token_sha256: str = ""

    def digest(self) -> bytes:
        """The SHA-256 of the token. Raises INVALID_CONFIG unless exactly one usable token is given."""
        if bool(self.token) == bool(self.token_sha256):
            raise ConfigError(f"principal {self.name!r} needs either token or token_sha256")
        if self.token:
            if len(self.token) < MIN_TOKEN_CHARS:
                raise ConfigError(f"the token of {self.name!r} must have at least {MIN_TOKEN_CHARS} characters")
            return digest_of(self.token)
        try:
            digest = bytes.fromhex(self.token_sha256)
        except ValueError:
            digest = b""
        if len(digest) != hashlib.sha256().digest_size:
            raise ConfigError(f"token_sha256 of {self.name!r} must have 64 hexadecimal digits")
        return digest


class Rule(Settings, frozen=True, forbid_unknown_fields=True):
    """`principal` may (or, with `deny`, may not) do `operations` to what the patterns name; `*` is any characters."""

    principal: str
    operations: tuple[Operation, ...]
    topics: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    broker: bool = False
    deny: bool = False
    transactional_ids: tuple[str, ...] = ()

    def concerns(self, principal: str, operation: Operation, kind: ResourceKind, name: str) -> bool:
        """Whether the rule applies."""
        if self.principal not in {"*", principal} or operation not in self.operations:
            return False
        if kind == "broker":
            return self.broker
        return any(fnmatchcase(name, pattern) for pattern in getattr(self, f"{kind}s"))


class AccessFile(Settings, frozen=True, forbid_unknown_fields=True):
    principals: tuple[PrincipalEntry, ...]
    rules: tuple[Rule, ...] = ()


EVERYTHING = Rule("*", tuple(Operation), ("*",), ("*",), ("*",), ("*",), broker=True, transactional_ids=("*",))


@checked_class(fast=("principal",))
class Access:
    """Decides who may do what. Thread-safe; only its ACLs change."""

    def __init__(
        self,
        principals: tuple[PrincipalEntry, ...] = (),
        rules: tuple[Rule, ...] = (EVERYTHING,),
        acls: Acls | None = None,
    ) -> None:
        """Without principals no token is required, and the rules for "*" apply. Raises INVALID_CONFIG."""
        names = [entry.name for entry in principals]
        twice = {name for name in names if names.count(name) > 1}
        unknown = {rule.principal for rule in rules} - {*names, "*"}
        if twice:
            raise ConfigError(f"principal {min(twice)!r} is there twice")
        if unknown:
            raise ConfigError(f"a rule speaks of {min(unknown)!r}, but there is no such principal")
        self._digests = [(entry.digest(), Principal(entry.name)) for entry in principals]
        self._tokens = {entry.name: entry.token for entry in principals if entry.token}
        self._principals = principals
        self._rules = rules
        self._acls = acls or Acls()
        self._decided: tuple[tuple[Acl, ...], dict[tuple[object, ...], bool]] = ((), {})  # by these ACLs

    @classmethod
    @checked
    def of_token(cls, token: str) -> Access:
        """One token, which allows everything."""
        return cls((PrincipalEntry("token", token),))

    @classmethod
    @checked
    def of_file(cls, path: Path | str) -> Access:
        """Raises INVALID_CONFIG if the file cannot be read or is not an access file."""
        try:
            found = msgspec.toml.decode(Path(path).read_bytes(), type=AccessFile)
        except OSError as error:
            raise ConfigError(f"the access file {path} cannot be read ({error.strerror})") from error
        except (msgspec.DecodeError, ValueError) as error:
            raise ConfigError(f"the access file {path} is invalid ({error})") from error
        if not found.principals:
            raise ConfigError(f"the access file {path} names no principals")
        return cls(found.principals, found.rules)

    def with_acls(self, acls: Acls) -> Access:
        """The same with the rules of `acls`, as they stand at each question."""
        return Access(self._principals, self._rules, acls)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules without the ACLs."""
        return self._rules

    @property
    def open(self) -> bool:
        """Whether no token is required."""
        return not self._digests

    def principal(self, token: str | None) -> Principal:
        """The principal with this token; every token is compared, in constant time. Raises UNAUTHORIZED."""
        if self.open:
            return ANYBODY
        digest = digest_of(token if isinstance(token, str) else "")
        found: Principal | None = None
        for known, principal in self._digests:
            if hmac.compare_digest(known, digest):
                found = principal
        if found is None:
            raise BrokerError(
                ErrorCode.UNAUTHORIZED, "no token was sent" if token is None else "the broker does not know the token"
            )
        return found

    def token(self, name: str) -> str | None:
        """The token of the principal `name`, for a challenge; None if only its digest is known, or no such one."""
        return self._tokens.get(name)

    def allows(self, principal: Principal, operation: Operation, kind: ResourceKind, name: str = "") -> bool:
        """Whether `principal` may. What no rule allows is denied; a rule that denies wins."""
        acls, decided = self._decided
        if acls is not self._acls.all or len(decided) > _DECISIONS_KEPT:
            acls, decided = self._decided = self._acls.all, {}
        question = (principal.name, operation, kind, name)
        answer = decided.get(question)
        if answer is None:
            rules: tuple[Rule | Acl, ...] = (*self._rules, *acls)
            denials = [rule.deny for rule in rules if rule.concerns(*question)]
            answer = bool(denials) and not any(denials)
            if len(name) <= MAX_NAME_CHARS:
                decided[question] = answer
        return answer

    def check(self, principal: Principal, operation: Operation, kind: ResourceKind, name: str = "") -> None:
        """Raises FORBIDDEN if `allows` is False."""
        if not self.allows(principal, operation, kind, name):
            what = "the broker as a whole" if kind == "broker" else f"{kind} {name[:249]}"
            raise BrokerError(ErrorCode.FORBIDDEN, f"{principal.name} may not {OPERATION_VERBS[operation]} {what}")

    def check_bind(self, address: str) -> None:
        """Raises INVALID_CONFIG if other machines could connect to `address` without a token."""
        if self.open and not is_loopback(address):
            raise ConfigError(
                f"{address or 'every address'} can be reached from other machines, so a token is needed; "
                "give one, or listen on 127.0.0.1"
            )


def digest_of(token: str) -> bytes:
    try:
        data = token.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate, which no connection brings
        data = token.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).digest()


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches `address`, an IP address or a name. Of names, only localhost does."""
    if address.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False
