from __future__ import annotations

from broker_core.broker.broker import Broker, Handlers
from broker_core.broker.conditions import FIELDS, why_never
from broker_core.clock import NS_PER_MS, ns_from_ms
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.filters import FilterError, parse
from broker_core.operations import clock, faults, observe
from broker_core.replies import Reply
from broker_core.snapshots import SlowReader


def _list_slow_readers(broker: Broker, now_ns: int, request: observe.ListSlowReaders, _client: str) -> list[SlowReader]:
    max_lag_ns = None if request.max_lag_ms is None else request.max_lag_ms * NS_PER_MS
    return broker.views.slow_readers(now_ns, request.max_lag, max_lag_ns)


def _observe(broker: Broker, now_ns: int, request: observe.ObserveBroker, _client: str) -> observe.Observed:
    events, missed = broker.recent.since(request.seen)
    return observe.Observed(
        epoch_ms=broker.clock.epoch_ms, missed=missed, events=events, snapshot=broker.snapshot(now_ns)
    )


def _begin_fault(broker: Broker, now_ns: int, request: faults.BeginFault, _client: str) -> faults.FaultAnswer:
    name = broker.client_faults.begin(now_ns, request).name
    return next(each for each in _answers(broker) if each.name == name)


def _answers(broker: Broker) -> list[faults.FaultAnswer]:
    return [
        faults.FaultAnswer(name=name, what=view.what, since_ns=view.since_ns, until_ns=view.until_ns)
        for name, view in broker.client_faults.views().items()
    ]


def _stop(broker: Broker, now_ns: int, _request: clock.StopClock, client: str) -> clock.ClockAnswer:
    broker.clock.stop(now_ns, client)
    return _answer(broker, now_ns)


def _start(broker: Broker, now_ns: int, _request: clock.StartClock, client: str) -> clock.ClockAnswer:
    broker.clock.start(now_ns, client)
    return _answer(broker, now_ns)


def _jump(broker: Broker, now_ns: int, request: clock.JumpClock, client: str) -> Reply[clock.ClockAnswer]:
    by_ms = request.unix_ms - broker.clock.unix_ms(now_ns)
    return _moved(broker, now_ns, by_ms, request.members_stay, client)


def _moved(broker: Broker, now_ns: int, by_ms: float, members_stay: bool, client: str) -> Reply[clock.ClockAnswer]:
    moved = broker.clock.advance(now_ns, by_ms, client, members_stay=members_stay)
    return moved.map(lambda at_ns: _answer(broker, at_ns))


def _answer(broker: Broker, now_ns: int) -> clock.ClockAnswer:
    time_ms = now_ns / NS_PER_MS
    return clock.ClockAnswer(time_ms=time_ms, unix_ms=broker.clock.unix_ms(now_ns), stopped=broker.clock.is_stopped)


def _wait_until(
    broker: Broker, now_ns: int, request: observe.WaitUntil, _client: str
) -> Reply[observe.ConditionAnswer]:
    try:
        condition = parse(request.condition, FIELDS)
    except FilterError as error:
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, f"the condition {request.condition!r}: {error}") from None
    if condition.takes_all:
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, 'the condition is empty; say what to wait for, as in "lag = 0"')
    never = why_never(condition)
    if never:
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, f"the condition {request.condition!r} never holds: {never}")
    return broker.conditions.wait(now_ns, condition, now_ns + ns_from_ms(request.timeout_ms))


def _audit(broker: Broker, now_ns: int, _request: observe.AuditBroker, _client: str) -> list[observe.VerdictAnswer]:
    why = "this broker does not keep its events; open one for tests, with EmbeddedBroker or serve --testing"
    return must(broker.auditor, ErrorCode.INVALID_REQUEST, why)(now_ns)


HANDLERS: Handlers = {
    observe.ListSlowReaders: _list_slow_readers,
    observe.ListDamage: lambda b, now_ns, r, _client: list(b.corruption.sentences),
    observe.ObserveBroker: _observe,
    faults.BeginFault: _begin_fault,
    faults.ListFaults: lambda b, now_ns, r, _client: _answers(b),
    faults.EndFault: lambda b, now_ns, r, _client: b.client_faults.end(now_ns, r.fault),
    clock.DescribeClock: lambda b, now_ns, r, _client: _answer(b, now_ns),
    clock.StopClock: _stop,
    clock.StartClock: _start,
    clock.AdvanceClock: lambda b, now_ns, r, client: _moved(b, now_ns, r.by_ms, r.members_stay, client),
    clock.JumpClock: _jump,
    observe.WaitUntil: _wait_until,
    observe.AuditBroker: _audit,
}
