"""Changes of ACLs and users, as both listeners take them: what the broker cannot judge is in the access file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from broker_core.access import Acl, AclOperation, Acls, ResourceKind
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Access, Principal
from broker_core.listeners.awaiting import ServedHost
from broker_core.operations.access import CreateAcls, DeleteAcls, SetUser
from broker_core.operations.entry import ADMIN, Operation
from broker_core.operations.request import Request, check
from broker_core.replies import Reply

T = TypeVar("T")


def ask(host: ServedHost, access: Access, principal: Principal, request: Request[T], client: str) -> T:
    """`host.ask` for CreateAcls, DeleteAcls and SetUser, all of which must leave the access file as it is.

    Raises INVALID_REQUEST if the principal could alter ACLs no more, or for an ACL that stands in the file, and
    UNACCEPTABLE_CREDENTIAL for a principal of the file.
    """

    check(request)

    def change(now_ns: int) -> Reply[T]:
        _judge(access, principal, host.broker.access.acls, request)
        return host.broker.handle(now_ns, request, client)

    return host.wait(host.admin(change))


def _judge(access: Access, principal: Principal, kept: Acls, request: Request[T]) -> None:
    acls = Acls(kept.all)
    match request:
        case CreateAcls():
            for acl in request.acls:
                acls.put(acl)
        case DeleteAcls():
            of_file = set(acls_of_file(access))
            for acl in request.acls:
                if acl in of_file and kept.find(acl) is None:
                    raise BrokerError(ErrorCode.INVALID_REQUEST, IN_THE_FILE)
                acls.remove(acl)
        case SetUser() if access.token(request.user) is not None:
            about = f"the token of {request.user} is in the access file; change it there"
            raise BrokerError(ErrorCode.UNACCEPTABLE_CREDENTIAL, about)
    if not access.with_acls(acls).allows(principal, ADMIN, "broker"):
        about = f"{principal.name} could no longer change ACLs; let another principal do it"
        raise BrokerError(ErrorCode.INVALID_REQUEST, about)


IN_THE_FILE = "the rule is in the access file; change it there"


def with_file(access: Access, acls: Iterable[Acl]) -> tuple[Acl, ...]:
    """The ACLs of the access file, and after them those of `acls` that it does not have."""
    return tuple(dict.fromkeys((*acls_of_file(access), *acls)))


def acls_of_file(access: Access) -> Iterator[Acl]:
    """The ACLs that say the same as the rules of the access file; none if there is no file.

    Left out are patterns with a "*" that is not at the end.
    """
    named: tuple[ResourceKind, ...] = ("topic", "queue", "group", "subject", "transactional_id")
    for rule in () if access.open else access.rules:
        all_of_them = set(rule.operations) == set(Operation)
        rights: list[AclOperation] = ["all"] if all_of_them else [each.value for each in rule.operations]
        patterns = [(kind, pattern) for kind in named for pattern in getattr(rule, f"{kind}s")]
        for kind, pattern in patterns + [("broker", "")] * rule.broker:
            name = pattern.removesuffix("*")
            if not set(name) & set("*?["):
                prefixed = name != pattern and bool(name)
                for each in rights:
                    yield Acl(rule.principal, each, kind, name or pattern, prefixed, rule.deny)
