from __future__ import annotations

from broker_core.operations import access
from broker_core.simulation.actions.action import Action


class CreateAcls(access.CreateAcls, Action, frozen=True, kw_only=True, tag="create_acls"):
    @property
    def sentence(self) -> str:
        return "; ".join(acl.told(False) for acl in self.acls)


class DeleteAcls(access.DeleteAcls, Action, frozen=True, kw_only=True, tag="delete_acls"):
    @property
    def sentence(self) -> str:
        return "; ".join(acl.told(True) for acl in self.acls)


class SetQuota(access.SetQuota, Action, frozen=True, kw_only=True, tag="set_quota"):
    @property
    def sentence(self) -> str:
        return self.quota.told(False)


class RemoveQuota(access.RemoveQuota, Action, frozen=True, kw_only=True, tag="remove_quota"):
    @property
    def sentence(self) -> str:
        return self.any_rate.told(True)


class DeleteUser(access.DeleteUser, Action, frozen=True, kw_only=True, tag="delete_user"):
    """There is no action that sets a password: actions are recorded."""

    says = "deleted user {user}"
