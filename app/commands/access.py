from __future__ import annotations

from app.commands.context import CommandContext, Handlers, lacking
from app.commands.forms import Given
from app.presenters.access import KINDS, RIGHTS, AccessPanel, details, what, who
from broker_core.access import AccessRow, Acl, ClientQuota
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.access import CreateAcls, DeleteAcls, DeleteUser, RemoveQuota, SetQuota
from widgets.dialogs.form import Values
from widgets.i18n import tr

_NAMED = ("kind", tuple(kind for kind in KINDS if kind != "broker"))


class AccessHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind = context.registry.bind
        bind("create_acl", self.ask_acl, self._why_impossible(CreateAcls))
        bind("set_quota", self.ask_quota, self._why_impossible(SetQuota))
        unselected = lacking(self._selected_row, tr("Select a row of the panel Access first."))
        bind("remove_access", self.ask_remove, self._why_impossible(DeleteAcls), unselected)

    def _selected_row(self) -> AccessRow | None:
        key = self._context.window.tab(AccessPanel).current_key()
        return next((row for row in self._snapshot.access if row.identity == key), None)

    def ask_acl(self) -> None:
        named = {"shown_for": _NAMED}
        fields: Given = {"operation": {"words": RIGHTS}, "kind": {"words": KINDS}, "name": named, "prefixed": named}
        self.form("create_acl", lambda v: CreateAcls(acls=(Acl(**v),)), fields, of=(Acl,))

    def ask_quota(self) -> None:
        def made(v: Values) -> SetQuota:
            return SetQuota(quota=ClientQuota(v["key"], v["bytes_per_s"], v["user"] or None, v["client_id"] or None))

        self.form("set_quota", made, of=(ClientQuota,))

    def ask_remove(self) -> None:
        if row := self._selected_row():
            told = ", ".join(filter(None, (who(row), what(row), details(row))))
            self.form("remove_access", lambda _v: _removal(row), what=told)


def _removal(row: AccessRow) -> UserAction:
    if isinstance(row, Acl):
        return DeleteAcls(acls=(row,))
    if isinstance(row, ClientQuota):
        return RemoveQuota(key=row.key, user=row.user, client_id=row.client_id)
    return DeleteUser(user=row.user, mechanism=row.mechanism)
