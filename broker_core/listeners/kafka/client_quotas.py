from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from broker_core.access import ANY, ClientQuota, QuotaKey
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.awaiting import ServedHost
from broker_core.listeners.kafka.call import ADMIN, FEW_ELEMENTS, READ, Answer, Call, api, outcome
from broker_core.operations.access import RemoveQuota, SetQuota

if TYPE_CHECKING:
    from kio.schema.alter_client_quotas.v1.request import AlterClientQuotasRequest
    from kio.schema.describe_client_quotas.v1.request import DescribeClientQuotasRequest

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
_EXACT, _DEFAULT, _ANY = 0, 1, 2
_MOST_COMPONENTS = 20  # of a filter, with room for tags; each is held against each quota


@api("DescribeClientQuotas", 48, 0, 1, most_elements=_MOST_COMPONENTS)
def _describe_client_quotas(call: Call, request: DescribeClientQuotasRequest) -> Answer:
    call.must(READ, "broker")
    fits = [_matching(each) for each in request.components]
    types = {each.entity_type for each in request.components}
    found: dict[tuple[tuple[str, str], ...], list[dict[str, Any]]] = {}
    for quota in call.broker.access.quotas.all:
        of = _names_of(quota)
        if all(fit(of) for fit in fits) and (not request.strict or set(of) == types):
            found.setdefault(tuple(of.items()), []).append({"key": quota.key, "value": quota.bytes_per_s})
    rows = []
    for names, values in found.items():
        named = [{"entity_type": kind, "entity_name": None if name == ANY else name} for kind, name in names]
        rows.append({"entity": named, "values": values})
    return {"entries": rows, "error_message": ""}


def _names_of(quota: ClientQuota) -> dict[str, str]:
    """The names of its entity by Kafka's types."""
    named = {USER: quota.user, CLIENT_ID: quota.client_id}
    return {entity_type: name for entity_type, name in named.items() if name is not None}


def _matching(component: Any) -> Callable[[dict[str, str]], bool]:
    entity_type, how = component.entity_type, component.match_type
    if entity_type not in {USER, CLIENT_ID, _IP} or how not in {_EXACT, _DEFAULT, _ANY}:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a filter is for user, client-id or ip, by name, default or any")
    if how == _ANY:
        return lambda named: entity_type in named
    wanted = ANY if how == _DEFAULT else component.match
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
        return outcome(_alter, call, asked, request.validate_only, entity=entity)

    return call.later("entries", row, request.entries)


def _alter(call: Call, asked: Any, validate_only: bool) -> None:
    call.must(ADMIN, "broker")
    user, client_id = _entity(asked)
    quotas = [  # the rate of one that is removed says nothing
        (ClientQuota(each.key, 1 if each.remove else each.value, user, client_id), each.remove) for each in asked.ops
    ]
    for quota, removed in () if validate_only else quotas:
        if not removed:
            call.ask(SetQuota(quota=quota))
        elif call.broker.access.quotas.find(quota.identity) is not None:
            call.ask(RemoveQuota(key=quota.key, user=user, client_id=client_id))


def _entity(asked: Any) -> tuple[str | None, str | None]:
    """The user and the client id, as in `ClientQuota`."""
    types = [each.entity_type for each in asked.entity]
    names = {each.entity_type: ANY if each.entity_name is None else each.entity_name for each in asked.entity}
    problems = (
        (not set(types) <= {USER, CLIENT_ID}, "a quota is for a user, a client-id, or both"),
        (len(set(types)) < len(types), "a quota names each of user and client-id once"),
        (any(each.entity_name == ANY for each in asked.entity), "a name is null for the default, and not *"),
    )
    for wrong, why in problems:
        if wrong:
            raise BrokerError(ErrorCode.INVALID_REQUEST, why)
    return names.get(USER), names.get(CLIENT_ID)
