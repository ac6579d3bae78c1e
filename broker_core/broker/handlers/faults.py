"""Faults that clients meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.operations import faults

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker


def _begin_fault(broker: Broker, now_ns: int, request: faults.BeginFault) -> faults.FaultAnswer:
    name = broker.client_faults.begin(now_ns, request.fault()).name
    return next(each for each in _answers(broker) if each.name == name)


def _list_faults(broker: Broker, _now_ns: int, _request: faults.ListFaults) -> faults.FaultsAnswer:
    return faults.FaultsAnswer(faults=_answers(broker))


def _end_fault(broker: Broker, now_ns: int, request: faults.EndFault) -> None:
    broker.client_faults.end(now_ns, request.fault)


def _answers(broker: Broker) -> list[faults.FaultAnswer]:
    return [
        faults.FaultAnswer(name=name, what=view.what, since_ns=view.since_ns, until_ns=view.until_ns)
        for name, view in broker.client_faults.views().items()
    ]
