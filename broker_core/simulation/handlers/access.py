from __future__ import annotations

from functools import partial
from typing import Any

from broker_core.access import Acl
from broker_core.simulation.actions import access
from broker_core.simulation.handlers.plan import Handler, Plan, refuse


class AccessHandler(Handler):
    """The broker emits the events."""

    def _create_acls(self, action: access.CreateAcls) -> Plan:
        new = tuple(acl for acl in action.acls if not self._is_there(acl))
        if not new:
            raise refuse("what they say is said already")
        return self._plan(action, access.DeleteAcls(acls=new))

    def _delete_acls(self, action: access.DeleteAcls) -> Plan:
        for acl in action.acls:
            if not self._is_there(acl):
                raise refuse(f"there is no such ACL: {acl}")
        return self._plan(action, access.CreateAcls(acls=action.acls))

    def _is_there(self, acl: Acl) -> bool:
        return self._context.broker.access.acls.find(acl) is not None

    def _set_quota(self, action: access.SetQuota) -> Plan:
        quota = action.quota
        old = self._context.broker.access.quotas.find(quota.identity)
        if old is not None:
            return self._plan(action, access.SetQuota(quota=old))
        return self._plan(action, access.RemoveQuota(key=quota.key, user=quota.user, client_id=quota.client_id))

    def _remove_quota(self, action: access.RemoveQuota) -> Plan:
        old = self._context.broker.access.quotas.find(action.any_rate.identity)
        if old is None:
            raise refuse(f"there is no {action.key} of {action.any_rate.entity}")
        return self._plan(action, access.SetQuota(quota=old))

    def _delete_user(self, action: access.DeleteUser) -> Plan:
        if all(each.user != action.user for each in self._context.broker.access.credentials.all):
            raise refuse(f"there is no user {action.user}")
        return self._plan(action, None, final="A password is kept nowhere: set it anew.")

    def _plan(self, action: Any, inverse: Any, final: str = "") -> Plan:
        return Plan(action, partial(self._context.handle, action), inverse, final, reported=True)
