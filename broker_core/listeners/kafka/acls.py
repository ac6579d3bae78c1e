from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from broker_core.broker.acls import ANY_NAME, Acl, Acls
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Access, Rule
from broker_core.listeners.kafka.call import ADMIN, DONE, FEW_ELEMENTS, READ, WRITE, Answer, Call, api, failed, outcome
from broker_core.operations.entry import Operation, ResourceKind

_ANY, _MATCH, _LITERAL, _PREFIXED = 1, 2, 3, 4
_DENY, _ALLOW = 2, 3
_ANY_HOST = "*"
_USER = "User:"
_CLUSTER_NAME = "kafka-cluster"
_KINDS: dict[int, ResourceKind] = {2: "topic", 3: "group", 4: "broker", 5: "transactional_id"}
_TYPES = {kind: number for number, kind in _KINDS.items()}
_RIGHTS: dict[int, tuple[Operation, ...]] = {2: tuple(Operation), 3: (READ,), 4: (WRITE,), 7: (ADMIN,)}
_NUMBERS = {rights: number for number, rights in _RIGHTS.items()}
_MAX_NAME_CHARS = 249


class Binding(NamedTuple):
    """An ACL as Kafka has it; the numbers are Kafka's."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


def acl_of(asked: Any) -> Acl:
    """The rule for a binding that is to be created. Raises INVALID_REQUEST for what no rule can express."""
    kind = _KINDS.get(asked.resource_type)
    rights = _RIGHTS.get(asked.operation)
    name, principal = asked.resource_name, asked.principal.removeprefix(_USER)
    problems = (
        (kind is None, "ACLs are for topics, groups, transactional ids and the cluster"),
        (rights is None, "ACLs are for READ, WRITE, ALTER (which includes CREATE and DELETE) or ALL"),
        (asked.resource_pattern_type not in {_LITERAL, _PREFIXED}, "a pattern is literal or prefixed"),
        (asked.permission_type not in {_DENY, _ALLOW}, "an ACL allows or denies"),
        (asked.host != _ANY_HOST, "an ACL is for all hosts (*)"),
        (not asked.principal.startswith(_USER) or not principal, "a principal is User:NAME, or User:* for all"),
        (not name or len(name) > _MAX_NAME_CHARS, f"a resource name has 1 to {_MAX_NAME_CHARS} characters"),
        (kind == "broker" and name != _CLUSTER_NAME, f"the name of the cluster is {_CLUSTER_NAME}"),
        (kind == "broker" and asked.resource_pattern_type != _LITERAL, "the name of the cluster is literal"),
    )
    for wrong, why in problems:
        if wrong:
            raise BrokerError(ErrorCode.INVALID_REQUEST, why)
    assert kind is not None and rights is not None
    prefixed = asked.resource_pattern_type == _PREFIXED
    return Acl(principal, rights, kind, name, prefixed, deny=asked.permission_type == _DENY)


def binding_of(acl: Acl) -> Binding:
    """The binding that a rule of one right, or of all, was created by."""
    return Binding(
        _TYPES[acl.kind],
        acl.name,
        _PREFIXED if acl.prefixed else _LITERAL,
        f"{_USER}{acl.principal}",
        _ANY_HOST,
        _NUMBERS[acl.operations],
        _DENY if acl.deny else _ALLOW,
    )


def bindings_of_file(access: Access) -> Iterator[Binding]:
    """The bindings that say the same as the rules of the access file; none where there is no file.

    Left out are queues and subjects, which Kafka does not have, and patterns with a "*" that is not at the end.
    """
    for rule in () if access.open else access.rules:
        rights = [tuple(Operation)] if set(rule.operations) == set(Operation) else [(each,) for each in rule.operations]
        for kind, pattern in _patterns(rule):
            name = pattern.removesuffix("*")
            if not set(name) & set("*?["):
                prefixed = name != pattern and bool(name)
                for each in rights:
                    yield binding_of(Acl(rule.principal, each, kind, name or ANY_NAME, prefixed, rule.deny))


def _patterns(rule: Rule) -> Iterator[tuple[ResourceKind, str]]:
    yield from (("topic", pattern) for pattern in rule.topics)
    yield from (("group", pattern) for pattern in rule.groups)
    yield from (("transactional_id", pattern) for pattern in rule.transactional_ids)
    if rule.broker:
        yield "broker", _CLUSTER_NAME


def matching(asked: Any) -> Callable[[Binding], bool]:
    """Whether a binding is what the filter `asked` is for. Raises INVALID_REQUEST for unknown numbers."""
    numbers = (asked.resource_type_filter, asked.pattern_type_filter, asked.operation, asked.permission_type)
    if min(numbers) < _ANY:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "the filter has a value that this broker does not know")

    def fits(binding: Binding) -> bool:
        return (
            asked.resource_type_filter in {_ANY, binding.resource_type}
            and asked.principal_filter in {None, binding.principal}
            and asked.host_filter in {None, binding.host}
            and asked.operation in {_ANY, binding.operation}
            and asked.permission_type in {_ANY, binding.permission_type}
            and _named(binding, asked.resource_name_filter, asked.pattern_type_filter)
        )

    return fits


def _named(binding: Binding, name: str | None, pattern_type: int) -> bool:
    if pattern_type == _MATCH and name is not None:
        if binding.pattern_type == _PREFIXED:
            return name.startswith(binding.resource_name)
        return binding.resource_name in {ANY_NAME, name}
    return pattern_type in {_ANY, _MATCH, binding.pattern_type} and name in {None, binding.resource_name}


def must_still_rule(call: Call, changed: Iterable[Acl]) -> None:
    """Raises INVALID_REQUEST where with these ACLs the client could not alter ACLs any more."""
    access, principal = call.listener.access, call.principal
    if not access.with_acls(Acls(tuple(changed))).allows(principal, ADMIN, "broker"):
        raise BrokerError(
            ErrorCode.INVALID_REQUEST, f"{principal.name} could change no ACLs any more; let another principal do it"
        )


@api("DescribeAcls", 29, 1, 3, most_elements=FEW_ELEMENTS)
def _describe_acls(call: Call, request: Any) -> Answer:
    """The ACLs that a filter is for, and the rules of the access file as far as ACLs can say the same."""
    call.must(READ, "broker")
    fits = matching(request)
    bindings = dict.fromkeys((*bindings_of_file(call.listener.access), *map(binding_of, call.broker.acls.all)))
    resources: dict[tuple[int, str, int], list[Binding]] = {}
    for binding in filter(fits, bindings):
        resources.setdefault(binding[:3], []).append(binding)
    rows = [
        {
            "resource_type": resource_type,
            "resource_name": name,
            "pattern_type": pattern_type,
            "acls": [each._asdict() for each in found],
        }
        for (resource_type, name, pattern_type), found in resources.items()
    ]
    return {"resources": rows}


@api("CreateAcls", 30, 1, 3, most_elements=FEW_ELEMENTS)
def _create_acls(call: Call, request: Any) -> Answer:
    """Rules for topics, groups, transactional ids and the cluster; a restart keeps them.

    They hold beside those of the access file, for HTTP too. What a rule cannot express, and what would keep the
    client from altering ACLs, is INVALID_REQUEST with the reason.
    """
    return call.later("results", lambda asked: outcome(_create, call, asked), request.creations)


def _create(call: Call, asked: Any) -> None:
    call.must(ADMIN, "broker")
    acl = acl_of(asked)

    def create(now_ns: int) -> None:
        acls = call.broker.acls
        must_still_rule(call, (*acls.all, acl))
        acls.add([acl])
        call.changed(now_ns, f"created the ACL: {acl}")

    call.listener.host.admin(create)


_IN_THE_FILE = failed(BrokerError(ErrorCode.INVALID_REQUEST, "the rule stands in the access file; change it there"))


@api("DeleteAcls", 31, 1, 3, most_elements=FEW_ELEMENTS)
def _delete_acls(call: Call, request: Any) -> Answer:
    """Delete the ACLs that filters are for.

    Rules of the access file are changed in the file: each that a filter is for is answered with INVALID_REQUEST, as
    is what would keep the client from altering ACLs.
    """
    return call.later("filter_results", partial(outcome, _delete, call), request.filters)


def _delete(call: Call, asked: Any) -> dict[str, Any]:
    call.must(ADMIN, "broker")
    found: dict[Binding, dict[str, Any]] = {}

    def delete(now_ns: int) -> None:
        fits, acls = matching(asked), call.broker.acls
        gone = [acl for acl in acls.all if fits(binding_of(acl))]
        must_still_rule(call, [acl for acl in acls.all if acl not in gone])
        acls.remove(gone)
        for acl in gone:
            call.changed(now_ns, f"deleted the ACL: {acl}")
        found.update({binding: _IN_THE_FILE for binding in bindings_of_file(call.listener.access) if fits(binding)})
        found.update({binding_of(acl): DONE for acl in gone})

    call.listener.host.admin(delete)
    return {"matching_acls": [{**binding._asdict(), **outcome} for binding, outcome in found.items()]}
