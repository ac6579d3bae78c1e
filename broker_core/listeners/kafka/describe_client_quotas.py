"""DescribeClientQuotas (KIP-546): the quotas whose users and client ids a filter is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.client_quotas import DEFAULT, QuotaEntity
from broker_core.listeners.kafka.call import READ, Answer, Call, failed

KEY = 48
USER, CLIENT_ID = "user", "client-id"  # Kafka's types of entities; of addresses (ip) there are none
_IP = "ip"
_EXACT, _DEFAULT, _ANY = 0, 1, 2


def handle(call: Call, request: Any) -> Answer:
    """By entity."""
    try:
        call.must(READ, "broker")
        fits = [_matching(each) for each in request.components]
    except BrokerError as error:
        return {**failed(error), "entries": None}
    types = {each.entity_type for each in request.components}
    found: dict[QuotaEntity, list[dict[str, Any]]] = {}
    for quota in call.broker.client_quotas.all:
        named = names_of(quota.entity)
        if all(fit(named) for fit in fits) and (not request.strict or set(named) == types):
            found.setdefault(quota.entity, []).append({"key": quota.key, "value": quota.bytes_per_s})
    entries = [{"entity": rows_of(entity), "values": values} for entity, values in found.items()]
    return {"error_code": 0, "error_message": None, "entries": entries}


def names_of(entity: QuotaEntity) -> dict[str, str]:
    """The names of an entity by Kafka's types."""
    named = {USER: entity.user, CLIENT_ID: entity.client_id}
    return {entity_type: name for entity_type, name in named.items() if name is not None}


def rows_of(entity: QuotaEntity) -> list[dict[str, Any]]:
    """An entity as Kafka has it, a default as null."""
    return [
        {"entity_type": entity_type, "entity_name": None if name == DEFAULT else name}
        for entity_type, name in names_of(entity).items()
    ]


def _matching(component: Any) -> Callable[[dict[str, str]], bool]:
    entity_type, how = component.entity_type, component.match_type
    if entity_type not in {USER, CLIENT_ID, _IP} or how not in {_EXACT, _DEFAULT, _ANY}:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a filter is for user, client-id or ip, by name, default or any")
    if how == _ANY:
        return lambda named: entity_type in named
    wanted = DEFAULT if how == _DEFAULT else component.match
    return lambda named: named.get(entity_type) == wanted
