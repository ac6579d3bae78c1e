"""The broker as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.clock import NS_PER_MS
from broker_core.operations import observe

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker


def _list_slow_readers(broker: Broker, now_ns: int, request: observe.ListSlowReaders) -> observe.SlowReadersAnswer:
    max_lag_ns = None if request.max_lag_ms is None else request.max_lag_ms * NS_PER_MS
    return observe.SlowReadersAnswer(slow_readers=list(broker.views.slow_readers(now_ns, request.max_lag, max_lag_ns)))


def _list_damage(broker: Broker, _now_ns: int, _request: observe.ListDamage) -> observe.DamageAnswer:
    return observe.DamageAnswer(damage=list(broker.corruption.sentences))
