"""Alerts: set and removed."""

from __future__ import annotations

from broker_core.broker.occurrences import FIELDS, unknown_thing
from broker_core.filters import parse
from broker_core.simulation.actions.alerts import AlertAction, RemoveAlert, SetAlert
from broker_core.simulation.context import SimulationContext
from broker_core.simulation.handlers.plan import Plan, refuse


class AlertHandler:
    """Of the watch of one simulation."""

    def __init__(self, context: SimulationContext) -> None:
        self._context = context

    def prepare(self, action: AlertAction) -> Plan:
        """What there is to do. Raises INVALID_REQUEST where there is no such alert, or nothing that it asks for."""
        watch, context = self._context.alerts, self._context
        old = watch.get(action.name)
        back = None if old is None else SetAlert(old.name, old.when, old.for_s)
        if isinstance(action, SetAlert):
            alert = action.alert()
            broker = context.broker
            groups = {*context.groups, *broker.groups.groups()}
            things = {"group": groups, "queue": broker.queues.names(), "client": context.actors}
            unknown = unknown_thing(parse(alert.when, FIELDS), things)
            if unknown is not None:
                raise refuse(str(unknown).removesuffix("."))
            return Plan(action, lambda: watch.set(context.now_ns, alert), back or RemoveAlert(action.name))
        if back is None:
            raise refuse(f"there is no alert {action.name}")
        return Plan(action, lambda: watch.remove(context.now_ns, action.name), back)
