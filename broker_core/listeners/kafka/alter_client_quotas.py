"""AlterClientQuotas (KIP-546): producer_byte_rate and consumer_byte_rate of users and client ids; a restart keeps them.

Who is beyond a quota gets its reply at once, with throttle_time_ms, and its next request is served after that time.
Left out, and refused: request_percentage, controller_mutation_rate, and quotas of addresses (ip).
"""

from __future__ import annotations

import typing
from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.client_quotas import DEFAULT, ClientQuota, QuotaEntity, QuotaKey, check
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, Later, failed
from broker_core.listeners.kafka.codec import Body
from broker_core.listeners.kafka.describe_client_quotas import CLIENT_ID, USER

KEY = 49
_KEYS: tuple[QuotaKey, ...] = typing.get_args(QuotaKey)
_MAX_NAME_CHARS = 249


def handle(call: Call, request: Any) -> Answer:
    """Each entity has an answer of its own: all that is asked for it is done, or nothing."""
    try:
        call.must(ADMIN, "broker")
    except BrokerError as error:
        return {"entries": [{**failed(error), "entity": _named(each)} for each in request.entries]}
    return Later(lambda: _all(call, request))


def _all(call: Call, request: Any) -> Body:
    return {"entries": [_alter(call, each, validate_only=request.validate_only) for each in request.entries]}


def _alter(call: Call, asked: Any, *, validate_only: bool) -> dict[str, Any]:
    def alter(_now_ns: int) -> None:
        entity = _entity(asked)
        quotas = [(ClientQuota(entity, _key(each.key), each.value), each.remove) for each in asked.ops]
        for quota, removed in quotas:
            if not removed:
                check(quota)
        for quota, removed in () if validate_only else quotas:
            if removed:
                call.broker.client_quotas.remove(quota.entity, quota.key)
            else:
                call.broker.client_quotas.put(quota)

    try:
        call.shared.host.admin(alter)
    except BrokerError as error:
        return {**failed(error), "entity": _named(asked)}
    return {"error_code": 0, "error_message": None, "entity": _named(asked)}


def _named(asked: Any) -> list[dict[str, Any]]:
    return [{"entity_type": each.entity_type, "entity_name": each.entity_name} for each in asked.entity]


def _entity(asked: Any) -> QuotaEntity:
    types = [each.entity_type for each in asked.entity]
    names = {each.entity_type: DEFAULT if each.entity_name is None else each.entity_name for each in asked.entity}
    problems = (
        (not types or not set(types) <= {USER, CLIENT_ID}, "a quota is for a user, a client-id, or both"),
        (len(set(types)) < len(types), "a quota names each of user and client-id once"),
        (any(each.entity_name == "" for each in asked.entity), "a name is null for the default, and not empty"),
        (
            any(len(name) > _MAX_NAME_CHARS for name in names.values()),
            f"a name has {_MAX_NAME_CHARS} characters at most",
        ),
    )
    for wrong, why in problems:
        if wrong:
            raise BrokerError(ErrorCode.INVALID_REQUEST, why)
    return QuotaEntity(names.get(USER), names.get(CLIENT_ID))


def _key(name: str) -> QuotaKey:
    for key in _KEYS:
        if key == name:
            return key
    raise BrokerError(ErrorCode.INVALID_REQUEST, f"{name[:100]} is not a quota here; there are {', '.join(_KEYS)}")
