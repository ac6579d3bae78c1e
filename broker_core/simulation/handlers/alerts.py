from __future__ import annotations

from broker_core.broker.occurrences import FIELDS, unknown_thing
from broker_core.filters import parse
from broker_core.simulation.actions.alerts import RemoveAlert, SetAlert
from broker_core.simulation.handlers.plan import Handler, Plan, refuse


class AlertHandler(Handler):
    """Of the watch of one simulation."""

    def _set(self, action: SetAlert) -> Plan:
        context, alert = self._context, action.alert()
        groups = {*context.groups, *context.broker.groups.groups()}
        things = {"group": groups, "queue": context.broker.queues.names(), "client": context.actors}
        unknown = unknown_thing(parse(alert.when, FIELDS), things)
        if unknown is not None:
            raise refuse(str(unknown).removesuffix("."))
        back = self._there(action.name) or RemoveAlert(action.name)
        return Plan(action, lambda: context.alerts.set(context.now_ns, alert), back)

    def _remove(self, action: RemoveAlert) -> Plan:
        context, back = self._context, self._there(action.name)
        if back is None:
            raise refuse(f"there is no alert {action.name}")
        return Plan(action, lambda: context.alerts.remove(context.now_ns, action.name), back)

    def _there(self, name: str) -> SetAlert | None:
        old = self._context.alerts.get(name)
        return None if old is None else SetAlert(old.name, old.when, old.for_s)
