from __future__ import annotations

from functools import partial
from typing import Any

from broker_core.simulation.actions import access
from broker_core.simulation.handlers.plan import Handler, Plan, refuse


class AccessHandler(Handler):
    """The broker refuses what cannot be done, and emits the events."""

    def _acls(self, action: access.CreateAcls | access.DeleteAcls) -> Plan:
        if isinstance(action, access.DeleteAcls):
            return self._plan(action, access.CreateAcls(acls=action.acls))
        new = tuple(acl for acl in action.acls if self._context.broker.access.acls.find(acl) is None)
        if not new:
            raise refuse("there are such ACLs already")
        return self._plan(action, access.DeleteAcls(acls=new))

    def _quota(self, action: access.SetQuota | access.RemoveQuota) -> Plan:
        quota = action.quota if isinstance(action, access.SetQuota) else action.any_rate
        old = self._context.broker.access.quotas.find(quota.identity)
        if old is not None:
            return self._plan(action, access.SetQuota(quota=old))
        return self._plan(action, access.RemoveQuota(key=quota.key, user=quota.user, client_id=quota.client_id))

    def _user(self, action: access.DeleteUser) -> Plan:
        return self._plan(action, None, final="A password is kept nowhere: set it anew.")

    def _plan(self, action: Any, inverse: Any, final: str = "") -> Plan:
        return Plan(action, partial(self._context.handle, action), inverse, final, reported=True)
