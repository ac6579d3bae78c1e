from __future__ import annotations

from app.presenters.columns import Column, number_column
from app.presenters.panel_presenter import Sources, TablePresenter
from app.presenters.table import SnapshotModel
from broker_core.access import ANY, AccessRow, Acl, ClientQuota
from broker_core.snapshots import Snapshot
from widgets.i18n import localized, mark, tr
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel
from widgets.roles import Role

RIGHTS = {"read": mark("read"), "write": mark("write"), "admin": mark("administer"), "all": mark("do anything")}
KINDS = {
    "topic": mark("topic"),
    "queue": mark("queue"),
    "group": mark("group"),
    "subject": mark("schema subject"),
    "transactional_id": mark("transactional id"),
    "broker": mark("the broker as a whole"),
}
_LIMITED = {"producer_byte_rate": mark("may send"), "consumer_byte_rate": mark("may fetch")}


class AccessModel(SnapshotModel[AccessRow]):
    def __init__(self) -> None:
        columns: tuple[Column[AccessRow], ...] = (
            Column("Kind", kind_of, (70,)),
            Column("Who", who, (150, 2)),
            Column(
                "What",
                what,
                (160, 2),
                roles={Role.WARN: lambda row: "failure" if isinstance(row, Acl) and row.deny else ""},
            ),
            Column("Details", details, (170, 3)),
            number_column(
                "At most (per s)",
                lambda row: row.bytes_per_s if isinstance(row, ClientQuota) else None,
                (120,),
                shown=lambda rate: localized(f"{rate:,.0f} B"),
                absent="",
                about="Bytes that a client may send or fetch per second; a request beyond that waits.",
                field="limit",
                kind="size",
            ),
        )
        super().__init__(columns, key=lambda row: row.identity)

    def set_snapshot(self, snapshot: Snapshot) -> None:
        self.set_rows(snapshot.access)


def kind_of(row: AccessRow) -> str:
    return tr("ACL") if isinstance(row, Acl) else tr("Quota") if isinstance(row, ClientQuota) else tr("User")


def who(row: AccessRow) -> str:
    if isinstance(row, Acl):
        return tr("everyone") if row.principal == ANY else row.principal
    if not isinstance(row, ClientQuota):
        return row.user
    user = tr("every other user") if row.user == ANY else tr("user {name}", name=row.user)
    client_id = tr("every other client id") if row.client_id == ANY else tr("client id {name}", name=row.client_id)
    return ", ".join(words for name, words in ((row.user, user), (row.client_id, client_id)) if name is not None)


def what(row: AccessRow) -> str:
    if isinstance(row, Acl):
        right = tr(RIGHTS[row.operation])
        if row.deny and row.operation == "all":
            return tr("may do nothing")
        return tr("may not {do}", do=right) if row.deny else tr("may {do}", do=right)
    if isinstance(row, ClientQuota):
        return tr(_LIMITED[row.key])
    return tr("authenticates by {way}", way=row.mechanism)


def details(row: AccessRow) -> str:
    if isinstance(row, ClientQuota):
        return ""
    if not isinstance(row, Acl):
        return tr("{count:,} iterations", count=row.iterations)
    kind = tr(KINDS[row.kind])
    if row.prefixed:
        return tr("{kind}: all that begin with {name}", kind=kind, name=row.name)
    return tr("{kind}: all", kind=kind) if row.name == ANY else f"{kind}: {row.name}" if row.name else kind


class AccessPanel(TablePanel):
    info = declared("access")


class AccessPresenter(TablePresenter[AccessPanel]):
    panel_class = AccessPanel

    def __init__(self, sources: Sources) -> None:
        self.model = AccessModel()
        super().__init__(sources, self.model)
        sources.controller.acted.connect(lambda _performed, _source: self.model.let_in(next_too=True))
