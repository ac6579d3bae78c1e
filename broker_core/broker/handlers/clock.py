"""The clock of a broker that is used in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.broker.handlers.table import CLIENT
from broker_core.clock import NS_PER_MS
from broker_core.operations import clock
from broker_core.replies import Reply

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker


def _describe(broker: Broker, now_ns: int, _request: clock.DescribeClock) -> clock.ClockAnswer:
    return _answer(broker, now_ns)


def _stop(broker: Broker, now_ns: int, _request: clock.StopClock) -> clock.ClockAnswer:
    broker.clock.stop(now_ns, CLIENT)
    return _answer(broker, now_ns)


def _start(broker: Broker, now_ns: int, _request: clock.StartClock) -> clock.ClockAnswer:
    broker.clock.start(now_ns, CLIENT)
    return _answer(broker, now_ns)


def _advance(broker: Broker, now_ns: int, request: clock.AdvanceClock) -> Reply[clock.ClockAnswer]:
    return _moved(broker, now_ns, request.by_ms, request.members_stay)


def _jump(broker: Broker, now_ns: int, request: clock.JumpClock) -> Reply[clock.ClockAnswer]:
    return _moved(broker, now_ns, request.unix_ms - broker.clock.unix_ms(now_ns), request.members_stay)


def _moved(broker: Broker, now_ns: int, by_ms: float, members_stay: bool) -> Reply[clock.ClockAnswer]:
    moved = broker.clock.advance(now_ns, by_ms, CLIENT, members_stay=members_stay)
    return moved.map(lambda at_ns: _answer(broker, at_ns))


def _answer(broker: Broker, now_ns: int) -> clock.ClockAnswer:
    time_ms = now_ns / NS_PER_MS
    return clock.ClockAnswer(time_ms=time_ms, unix_ms=broker.clock.unix_ms(now_ns), stopped=broker.clock.is_stopped)
