from __future__ import annotations

from app.commands.context import CommandContext, Handlers
from app.commands.forms import Given
from app.presenters.access import KINDS, RIGHTS, AccessPanel, details, what, who
from broker_core.access import AccessRow, Acl, ClientQuota
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.access import CreateAcls, DeleteAcls, DeleteUser, RemoveQuota, SetQuota
from widgets.dialogs.form import Values
from widgets.i18n import tr
from widgets.panels.connections import ConnectionsPanel

_NAMED = ("kind", tuple(kind for kind in KINDS if kind != "broker"))


class AccessHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self.bind_action("create_acl", CreateAcls, self.ask_acl)
        self.bind_action("set_quota", SetQuota, self.ask_quota)
        nothing = tr("Select a row of the panel Access first.")
        self.bind_action("remove_access", DeleteAcls, self.ask_remove, self._selected, nothing)
        context.window.tab(ConnectionsPanel).accessWanted.connect(lambda: context.window.show_tab("access"))

    def _selected(self) -> AccessRow | None:
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
        if row := self._selected():
            told = ", ".join(filter(None, (who(row), what(row), details(row))))
            self.form("remove_access", lambda _v: _removal(row), what=told)


def _removal(row: AccessRow) -> UserAction:
    if isinstance(row, Acl):
        return DeleteAcls(acls=(row,))
    if isinstance(row, ClientQuota):
        return RemoveQuota(key=row.key, user=row.user, client_id=row.client_id)
    return DeleteUser(user=row.user, mechanism=row.mechanism)
