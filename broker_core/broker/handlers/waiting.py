"""Waiting until a condition holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.broker.conditions import FIELDS, why_never
from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.filters import FilterError, parse
from broker_core.operations import waiting
from broker_core.replies import Reply

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker


def _wait_until(broker: Broker, now_ns: int, request: waiting.WaitUntil) -> Reply[waiting.ConditionAnswer]:
    try:
        condition = parse(request.condition, FIELDS)
    except FilterError as error:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"the condition {request.condition!r}: {error}") from None
    if condition.takes_all:
        raise BrokerError(ErrorCode.INVALID_REQUEST, 'the condition is empty; say what to wait for, as in "lag = 0"')
    never = why_never(condition)
    if never:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"the condition {request.condition!r} never holds: {never}")
    deadline_ns = now_ns + ns_from_ms(request.timeout_ms)
    return broker.conditions.wait(now_ns, condition, deadline_ns).map(
        lambda found: waiting.ConditionAnswer(holds=found[0], what=found[1])
    )
