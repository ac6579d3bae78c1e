from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from broker_core.access import ANY as ANY_NAME
from broker_core.access import Acl, AclOperation, ResourceKind
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access import changes
from broker_core.listeners.kafka.call import ADMIN, DONE, FEW_ELEMENTS, READ, Answer, Call, api, failed, outcome
from broker_core.operations.access import CreateAcls, DeleteAcls

if TYPE_CHECKING:
    from kio.schema.create_acls.v3.request import CreateAclsRequest
    from kio.schema.delete_acls.v3.request import DeleteAclsRequest
    from kio.schema.describe_acls.v3.request import DescribeAclsRequest

_ANY, _MATCH, _LITERAL, _PREFIXED = 1, 2, 3, 4
_DENY, _ALLOW = 2, 3
_ANY_HOST = "*"
_USER = "User:"
_CLUSTER_NAME = "kafka-cluster"
_KINDS: dict[int, ResourceKind] = {2: "topic", 3: "group", 4: "broker", 5: "transactional_id"}
_TYPES = {kind: number for number, kind in _KINDS.items()}
_RIGHTS: dict[int, AclOperation] = {2: "all", 3: "read", 4: "write", 7: "admin"}
_NUMBERS = {rights: number for number, rights in _RIGHTS.items()}


class Binding(NamedTuple):
    """An ACL as Kafka has it; the numbers are Kafka's."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


_OF_ACL = Binding._fields[3:]  # what stands in the row of its resource is left out


def acl_of(asked: Any) -> Acl:
    """The rule for a binding that is to be created. Raises INVALID_REQUEST for what no rule can express."""
    kind = _KINDS.get(asked.resource_type)
    operation = _RIGHTS.get(asked.operation)
    name = asked.resource_name
    problems = (
        (kind is None, "ACLs are for topics, groups, transactional ids and the cluster"),
        (operation is None, "ACLs are for READ, WRITE, ALTER (which includes CREATE and DELETE) or ALL"),
        (asked.resource_pattern_type not in {_LITERAL, _PREFIXED}, "a pattern is literal or prefixed"),
        (asked.permission_type not in {_DENY, _ALLOW}, "an ACL allows or denies"),
        (asked.host != _ANY_HOST, "an ACL is for all hosts (*)"),
        (not asked.principal.startswith(_USER), "a principal is User:NAME, or User:* for all"),
        (kind == "broker" and name != _CLUSTER_NAME, f"the name of the cluster is {_CLUSTER_NAME}"),
    )
    for wrong, why in problems:
        if wrong:
            raise BrokerError(ErrorCode.INVALID_REQUEST, why)
    assert kind is not None and operation is not None
    return Acl(
        asked.principal.removeprefix(_USER),
        operation,
        kind,
        "" if kind == "broker" else name,
        prefixed=asked.resource_pattern_type == _PREFIXED,
        deny=asked.permission_type == _DENY,
    )


def bindings(call: Call) -> dict[Binding, Acl]:
    """All that ACLs and the access file say of what Kafka has, which has neither queues nor subjects."""
    acls = (*changes.acls_of_file(call.context.access), *call.broker.access.acls.all)
    return {binding_of(acl): acl for acl in acls if acl.kind in _TYPES}


def binding_of(acl: Acl) -> Binding:
    return Binding(
        _TYPES[acl.kind],
        acl.name or _CLUSTER_NAME,
        _PREFIXED if acl.prefixed else _LITERAL,
        f"{_USER}{acl.principal}",
        _ANY_HOST,
        _NUMBERS[acl.operation],
        _DENY if acl.deny else _ALLOW,
    )


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


@api("DescribeAcls", 29, 1, 3, most_elements=FEW_ELEMENTS)
def _describe_acls(call: Call, request: DescribeAclsRequest) -> Answer:
    """The ACLs that a filter is for, and the rules of the access file as far as ACLs can say the same."""
    call.must(READ, "broker")
    fits = matching(request)
    resources: dict[tuple[int, str, int], list[Binding]] = {}
    for binding in filter(fits, bindings(call)):
        resources.setdefault(binding[:3], []).append(binding)
    rows = [
        {
            "resource_type": resource_type,
            "resource_name": name,
            "pattern_type": pattern_type,
            "acls": [dict(zip(_OF_ACL, each[3:], strict=True)) for each in found],
        }
        for (resource_type, name, pattern_type), found in resources.items()
    ]
    return {"resources": rows}


@api("CreateAcls", 30, 1, 3, most_elements=FEW_ELEMENTS)
def _create_acls(call: Call, request: CreateAclsRequest) -> Answer:
    """Rules for topics, groups, transactional ids and the cluster; a restart keeps them.

    They hold beside those of the access file, for HTTP too. What a rule cannot express, and what would keep the
    client from altering ACLs, is INVALID_REQUEST with the reason.
    """
    return call.later("results", lambda asked: outcome(_create, call, asked), request.creations)


def _create(call: Call, asked: Any) -> None:
    call.must(ADMIN, "broker")
    _change(call, CreateAcls(acls=(acl_of(asked),)))


def _change(call: Call, request: CreateAcls | DeleteAcls) -> None:
    changes.ask(call.context.host, call.context.access, call.principal, request, call.client)


_IN_THE_FILE = failed(BrokerError(ErrorCode.INVALID_REQUEST, changes.IN_THE_FILE))


@api("DeleteAcls", 31, 1, 3, most_elements=FEW_ELEMENTS)
def _delete_acls(call: Call, request: DeleteAclsRequest) -> Answer:
    """Delete the ACLs that filters are for.

    Rules of the access file are changed in the file: each that a filter is for is answered with INVALID_REQUEST, as
    is what would keep the client from altering ACLs.
    """
    return call.later("filter_results", partial(outcome, _delete, call), request.filters)


def _delete(call: Call, asked: Any) -> dict[str, Any]:
    call.must(ADMIN, "broker")
    fits = matching(asked)
    found = {binding: acl for binding, acl in bindings(call).items() if fits(binding)}
    gone = [acl for acl in found.values() if call.broker.access.acls.find(acl) is not None]
    if gone:
        _change(call, DeleteAcls(acls=tuple(gone)))
    return {
        "matching_acls": [
            {**binding._asdict(), **(DONE if acl in gone else _IN_THE_FILE)} for binding, acl in found.items()
        ]
    }
