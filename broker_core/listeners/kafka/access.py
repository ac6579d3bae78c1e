"""What clients may do, with which passwords, and how much of it: ACLs, SCRAM users (KIP-554) and quotas (KIP-13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from broker_core.access import ANY as ANY_NAME
from broker_core.access import (
    Acl,
    AclOperation,
    ClientQuota,
    Mechanism,
    QuotaKey,
    ResourceKind,
    ScramCredential,
    ScramUser,
)
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access import changes
from broker_core.listeners.awaiting import ServedHost
from broker_core.listeners.kafka.call import ADMIN, DONE, FEW_ELEMENTS, READ, Answer, Call, api, failed, outcome
from broker_core.messages import grouped
from broker_core.operations.access import CreateAcls, DeleteAcls, DeleteUser, RemoveQuota, SetQuota, SetUser

if TYPE_CHECKING:
    from kio.schema.alter_client_quotas.v1.request import AlterClientQuotasRequest
    from kio.schema.alter_user_scram_credentials.v0.request import AlterUserScramCredentialsRequest
    from kio.schema.create_acls.v3.request import CreateAclsRequest
    from kio.schema.delete_acls.v3.request import DeleteAclsRequest
    from kio.schema.describe_acls.v3.request import DescribeAclsRequest
    from kio.schema.describe_client_quotas.v1.request import DescribeClientQuotasRequest
    from kio.schema.describe_user_scram_credentials.v0.request import DescribeUserScramCredentialsRequest

# -- ACLs

_ANY, _MATCH, _LITERAL, _PREFIXED = 1, 2, 3, 4
_DENY, _ALLOW = 2, 3
_ANY_HOST = "*"
_USER = "User:"
_CLUSTER_NAME = "kafka-cluster"
_KINDS: dict[int, ResourceKind] = {2: "topic", 3: "group", 4: "broker", 5: "transactional_id"}
_TYPES = {kind: number for number, kind in _KINDS.items()}
_OPERATIONS: dict[int, AclOperation] = {2: "all", 3: "read", 4: "write", 7: "admin"}
_OPERATION_NUMBERS = {operation: number for number, operation in _OPERATIONS.items()}


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
    operation = _OPERATIONS.get(asked.operation)
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
        _OPERATION_NUMBERS[acl.operation],
        _DENY if acl.deny else _ALLOW,
    )


def acl_filter(asked: Any) -> Callable[[Binding], bool]:
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
            and _fits_name(binding, asked.resource_name_filter, asked.pattern_type_filter)
        )

    return fits


def _fits_name(binding: Binding, name: str | None, pattern_type: int) -> bool:
    if pattern_type == _MATCH and name is not None:
        if binding.pattern_type == _PREFIXED:
            return name.startswith(binding.resource_name)
        return binding.resource_name in {ANY_NAME, name}
    return pattern_type in {_ANY, _MATCH, binding.pattern_type} and name in {None, binding.resource_name}


@api("DescribeAcls", 29, 1, 3, most_elements=FEW_ELEMENTS)
def _describe_acls(call: Call, request: DescribeAclsRequest) -> Answer:
    """The ACLs that a filter is for, and the rules of the access file as far as ACLs can say the same."""
    call.must(READ, "broker")
    fits = acl_filter(request)
    resources = grouped((binding[:3], binding) for binding in filter(fits, bindings(call)))
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
    return call.later("results", lambda asked: outcome(_create_acl, call, asked), request.creations)


def _create_acl(call: Call, asked: Any) -> None:
    call.must(ADMIN, "broker")
    _change(call, CreateAcls(acls=(acl_of(asked),)))


def _change(call: Call, request: CreateAcls | DeleteAcls | SetUser | DeleteUser) -> None:
    changes.ask(call.context.host, call.context.access, call.principal, request, call.client)


_IN_THE_FILE = failed(BrokerError(ErrorCode.INVALID_REQUEST, changes.IN_THE_FILE))


@api("DeleteAcls", 31, 1, 3, most_elements=FEW_ELEMENTS)
def _delete_acls(call: Call, request: DeleteAclsRequest) -> Answer:
    """Delete the ACLs that filters are for.

    Rules of the access file are changed in the file: each that a filter is for is answered with INVALID_REQUEST, as
    is what would keep the client from altering ACLs.
    """
    return call.later("filter_results", partial(outcome, _delete_filtered, call), request.filters)


def _delete_filtered(call: Call, asked: Any) -> dict[str, Any]:
    call.must(ADMIN, "broker")
    fits = acl_filter(asked)
    found = {binding: acl for binding, acl in bindings(call).items() if fits(binding)}
    gone = [acl for acl in found.values() if call.broker.access.acls.find(acl) is not None]
    if gone:
        _change(call, DeleteAcls(acls=tuple(gone)))
    return {
        "matching_acls": [
            {**binding._asdict(), **(DONE if acl in gone else _IN_THE_FILE)} for binding, acl in found.items()
        ]
    }


# -- users with passwords

_MECHANISMS: Final[dict[int, Mechanism]] = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_MECHANISM_NUMBERS: Final = {mechanism: number for number, mechanism in _MECHANISMS.items()}


@api("DescribeUserScramCredentials", 50, 0, 0, most_elements=FEW_ELEMENTS)
def _describe_user_scram_credentials(call: Call, request: DescribeUserScramCredentialsRequest) -> Answer:
    """The users that AlterUserScramCredentials made, with mechanisms and iterations; without names, all of them."""
    call.must(READ, "broker")
    users = grouped((each.user.user, each.user) for each in call.broker.access.credentials.all)
    asked = Counter(each.name for each in request.users or ()) or Counter(users.keys())
    rows = [_described_user(name, users.get(name, []), times) for name, times in asked.items()]
    return {"results": rows, "error_message": ""}


def _described_user(name: str, credentials: list[ScramUser], times: int) -> dict[str, Any]:
    if times > 1 or not credentials:
        code = ErrorCode.DUPLICATE_RESOURCE if times > 1 else ErrorCode.RESOURCE_NOT_FOUND
        return {"user": name, **failed(BrokerError(code, name))}
    rows = [{"mechanism": _MECHANISM_NUMBERS[each.mechanism], "iterations": each.iterations} for each in credentials]
    return {"user": name, "credential_infos": rows}


@api("AlterUserScramCredentials", 51, 0, 0, most_elements=FEW_ELEMENTS)
def _alter_user_scram_credentials(call: Call, request: AlterUserScramCredentialsRequest) -> Answer:
    """Users with passwords of their own for SCRAM (KIP-554); a restart keeps them.

    The client sends the salted password, of which the two keys of RFC 5802 are kept. Iterations are 4,096 to
    16,384, as in Kafka. A user is a principal in rules, ACLs and quotas. A principal whose token stands in the
    access file is no user. All that is asked for the user is done, or nothing.
    """
    by_user: dict[str, list[Any]] = {}
    asked: list[Any] = [*request.deletions, *request.upsertions]
    for each in asked:
        by_user.setdefault(each.name, []).append(each)
    return call.later("results", lambda user: outcome(_alter_user, call, user, by_user[user], user=user), by_user)


def _alter_user(call: Call, user: str, asked: list[Any]) -> None:
    call.must(ADMIN, "broker")
    if len({each.mechanism for each in asked}) < len(asked):
        raise BrokerError(ErrorCode.DUPLICATE_RESOURCE, user)
    for request in [_user_request(call, user, each) for each in asked]:
        _change(call, request)


def _user_request(call: Call, user: str, asked: Any) -> SetUser | DeleteUser:
    """Raises what is wrong with it, before anything of the user is changed."""
    mechanism = _MECHANISMS.get(asked.mechanism)
    if mechanism is None:
        raise BrokerError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, f"there are {', '.join(_MECHANISMS.values())}")
    if not hasattr(asked, "salted_password"):
        if call.broker.access.credentials.find((user, mechanism)) is None:
            raise BrokerError(ErrorCode.RESOURCE_NOT_FOUND, f"{user} with {mechanism}")
        return DeleteUser(user=user, mechanism=mechanism)
    salt, salted = bytes(asked.salt), bytes(asked.salted_password)
    ScramCredential.of_salted(user, mechanism, asked.iterations, salt, salted)
    return SetUser(user=user, mechanism=mechanism, iterations=asked.iterations, salt=salt, salted_password=salted)


# -- quotas

_MAX_THROTTLE_MS = 10_000  # at a time; what is left counts for the next request
_KEY_OF_API: dict[str, QuotaKey] = {
    "Produce": "producer_byte_rate",
    "Fetch": "consumer_byte_rate",
    "ShareFetch": "consumer_byte_rate",
}


def quota_throttle_ms(
    host: ServedHost, user: str, client_id: str, api: str, *, size_bytes: int, reply_bytes: int
) -> int:
    """Count a request and its reply. Returns the milliseconds until the client's next request may be served."""
    quotas, key = host.broker.access.quotas, _KEY_OF_API.get(api)
    if key is None or not quotas.any:
        return 0
    counted_bytes = size_bytes if key == "producer_byte_rate" else reply_bytes
    wait_ns = host.call(lambda now_ns: quotas.spend(now_ns, user, client_id, key, counted_bytes))
    return min(-(-wait_ns // NS_PER_MS), _MAX_THROTTLE_MS)


USER, CLIENT_ID = "user", "client-id"  # Kafka's types of entities; of addresses (ip) there are none
_IP = "ip"
_EXACT, _DEFAULT, _ANY_ENTITY = 0, 1, 2
_MOST_COMPONENTS = 20  # of a filter, with room for tags; each is held against each quota


@api("DescribeClientQuotas", 48, 0, 1, most_elements=_MOST_COMPONENTS)
def _describe_client_quotas(call: Call, request: DescribeClientQuotasRequest) -> Answer:
    call.must(READ, "broker")
    fits = [_quota_filter(each) for each in request.components]
    types = {each.entity_type for each in request.components}
    found: dict[tuple[tuple[str, str], ...], list[dict[str, Any]]] = {}
    for quota in call.broker.access.quotas.all:
        entity = {USER: quota.user, CLIENT_ID: quota.client_id}
        of = {entity_type: name for entity_type, name in entity.items() if name is not None}
        if all(fit(of) for fit in fits) and (not request.strict or set(of) == types):
            found.setdefault(tuple(of.items()), []).append({"key": quota.key, "value": quota.bytes_per_s})
    rows = []
    for names, values in found.items():
        named = [{"entity_type": kind, "entity_name": None if name == ANY_NAME else name} for kind, name in names]
        rows.append({"entity": named, "values": values})
    return {"entries": rows, "error_message": ""}


def _quota_filter(component: Any) -> Callable[[dict[str, str]], bool]:
    entity_type, how = component.entity_type, component.match_type
    if entity_type not in {USER, CLIENT_ID, _IP} or how not in {_EXACT, _DEFAULT, _ANY_ENTITY}:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a filter is for user, client-id or ip, by name, default or any")
    if how == _ANY_ENTITY:
        return lambda named: entity_type in named
    wanted = ANY_NAME if how == _DEFAULT else component.match
    return lambda named: named.get(entity_type) == wanted


@api("AlterClientQuotas", 49, 0, 1, most_elements=FEW_ELEMENTS)
def _alter_client_quotas(call: Call, request: AlterClientQuotasRequest) -> Answer:
    """`producer_byte_rate` and consumer_byte_rate of users and client ids; a restart keeps them.

    Who is beyond a quota gets its reply at once, with throttle_time_ms, and its next request is served after that
    time. Left out, and refused: request_percentage, controller_mutation_rate, and quotas of addresses (ip). All that is
    asked for an entity is done, or nothing.
    """

    def row(asked: Any) -> dict[str, Any]:
        entity = [{"entity_type": each.entity_type, "entity_name": each.entity_name} for each in asked.entity]
        return outcome(_alter_quota, call, asked, request.validate_only, entity=entity)

    return call.later("entries", row, request.entries)


def _alter_quota(call: Call, asked: Any, validate_only: bool) -> None:
    call.must(ADMIN, "broker")
    user, client_id = _quota_entity(asked)
    quotas = [  # the rate of one that is removed says nothing
        (ClientQuota(each.key, 1 if each.remove else each.value, user, client_id), each.remove) for each in asked.ops
    ]
    for quota, removed in () if validate_only else quotas:
        if not removed:
            call.ask(SetQuota(quota=quota))
        elif call.broker.access.quotas.find(quota.identity) is not None:
            call.ask(RemoveQuota(key=quota.key, user=user, client_id=client_id))


def _quota_entity(asked: Any) -> tuple[str | None, str | None]:
    """The user and the client id, as in `ClientQuota`."""
    types = [each.entity_type for each in asked.entity]
    names = {each.entity_type: ANY_NAME if each.entity_name is None else each.entity_name for each in asked.entity}
    problems = (
        (not set(types) <= {USER, CLIENT_ID}, "a quota is for a user, a client-id, or both"),
        (len(set(types)) < len(types), "a quota names each of user and client-id once"),
        (any(each.entity_name == ANY_NAME for each in asked.entity), "a name is null for the default, and not *"),
    )
    for wrong, why in problems:
        if wrong:
            raise BrokerError(ErrorCode.INVALID_REQUEST, why)
    return names.get(USER), names.get(CLIENT_ID)
