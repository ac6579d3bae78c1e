from __future__ import annotations

from collections.abc import Iterable, Mapping

from broker_core.broker.occurrences import FIELDS, unknown_thing
from broker_core.filters import parse
from broker_core.simulation.actions.alerts import RemoveAlert, SetAlert
from broker_core.simulation.alert_watch import AlertWatch
from broker_core.simulation.handlers.plan import Handler, Plan, refuse


class AlertHandler(Handler):
    def _set(self, action: SetAlert) -> Plan:
        context = self._context
        groups = {*context.groups, *context.broker.groups.groups()}
        things = {"group": groups, "queue": context.broker.queues.names(), "client": context.actors}
        return plan_alert(action, context.alerts, things, context.now_ns)

    def _remove(self, action: RemoveAlert) -> Plan:
        return plan_alert(action, self._context.alerts, {}, self._context.now_ns)


def plan_alert(
    action: SetAlert | RemoveAlert, alerts: AlertWatch, things: Mapping[str, Iterable[str]], now_ns: int
) -> Plan:
    """`things` are the names that there are by kind: group, queue, client. Raises INVALID_REQUEST."""
    old = alerts.get(action.name)
    before = None if old is None else SetAlert(old.name, old.when, old.for_s)
    if isinstance(action, SetAlert):
        unknown = unknown_thing(parse(action.when, FIELDS), things)
        if unknown is not None:
            raise refuse(str(unknown).removesuffix("."))
        return Plan(action, lambda: alerts.set(now_ns, action), before or RemoveAlert(action.name))
    if before is None:
        raise refuse(f"there is no alert {action.name}")
    return Plan(action, lambda: alerts.remove(now_ns, action.name), before)
