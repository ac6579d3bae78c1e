from __future__ import annotations

from app.commands.context import CommandContext, Handlers
from app.commands.forms import request_field
from app.commands.registry import Command
from app.presenters.access import KINDS, RIGHTS, details, what, who
from broker_core.access import AccessRow, Acl, ClientQuota
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.access import CreateAcls, DeleteAcls, DeleteUser, RemoveQuota, SetQuota
from widgets.i18n import mark, tr
from widgets.panels.access import AccessPanel
from widgets.panels.connections import ConnectionsPanel

_KEYS = {"producer_byte_rate": mark("what they send"), "consumer_byte_rate": mark("what they fetch")}
_NAMED = ("kind", tuple(kind for kind in KINDS if kind != "broker"))


class AccessHandlers(Handlers):
    COMMANDS = (
        Command("create_acl", "Create ACL...", "Listeners", "", "add", "What a principal may do, or may not."),
        Command("set_quota", "Set quota...", "Listeners", "", "", "How much Kafka clients may send or fetch."),
        Command("remove_access", "Remove ACL, quota or user...", "Listeners", "", "close", "The selected row."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        registry, panel = context.registry, context.window.tab(AccessPanel)
        self.bind_action("create_acl", CreateAcls, self.ask_acl)
        self.bind_action("set_quota", SetQuota, self.ask_quota)
        nothing = tr("Select a row of the panel Access first.")
        self.bind_action("remove_access", DeleteAcls, self.ask_remove, self._selected, nothing)
        panel.wanted.connect(registry.trigger)
        panel.currentChanged.connect(lambda _key: registry.refresh("remove_access"))
        context.window.tab(ConnectionsPanel).accessWanted.connect(lambda: context.window.show_tab("access"))
        for command in panel.buttons:
            action = registry.action(command)
            action.changed.connect(lambda name=command, action=action: panel.forbid(name, str(action.data() or "")))

    def _selected(self) -> AccessRow | None:
        key = self._context.window.tab(AccessPanel).current_key()
        return next((row for row in self._snapshot.access if row.identity == key), None)

    def ask_acl(self) -> None:
        self.form(
            tr("Create ACL"),
            tr(
                "It applies to Kafka and HTTP, in addition to a listener's access file. A denial always wins. "
                "Where no token is needed, everyone may do everything that no ACL denies."
            ),
            (
                request_field(Acl, "principal", tr("Principal")),
                request_field(Acl, "operation", tr("May"), words=RIGHTS, value="read"),
                request_field(Acl, "kind", tr("Kind"), words=KINDS, value="topic"),
                request_field(Acl, "name", tr("Name"), hint=tr("* is all of them"), shown_for=_NAMED),
                request_field(Acl, "prefixed", tr("And every name that begins with it"), shown_for=_NAMED),
                request_field(Acl, "deny", tr("Deny it")),
            ),
            tr("Create"),
            lambda v: CreateAcls(acls=(Acl(**v),)),
        )

    def ask_quota(self) -> None:
        hint = tr("Empty is any; * is every one that has no quota by name.")
        self.form(
            tr("Set quota"),
            tr("A request over the quota is answered at once, but the next one waits."),
            (
                request_field(ClientQuota, "user", tr("User"), hint=hint),
                request_field(ClientQuota, "client_id", tr("Client id"), hint=hint),
                request_field(ClientQuota, "key", tr("Limits"), words=_KEYS, value="producer_byte_rate"),
                request_field(
                    ClientQuota, "bytes_per_s", tr("At most"), value=100_000, decimals=0, suffix=tr(" bytes/s")
                ),
            ),
            tr("Set"),
            lambda v: SetQuota(
                quota=ClientQuota(v["key"], v["bytes_per_s"], v["user"] or None, v["client_id"] or None)
            ),
        )

    def ask_remove(self) -> None:
        row = self._selected()
        if row is not None:
            told = ", ".join(filter(None, (who(row), what(row), details(row))))
            about = tr("Remove this: {what}.", what=told)
            self.form(tr("Remove"), about, (), tr("Remove"), lambda _v: _removal(row), danger=True)


def _removal(row: AccessRow) -> UserAction:
    if isinstance(row, Acl):
        return DeleteAcls(acls=(row,))
    if isinstance(row, ClientQuota):
        return RemoveQuota(key=row.key, user=row.user, client_id=row.client_id)
    return DeleteUser(user=row.user, mechanism=row.mechanism)
