from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

from app.presenters.columns import Column, number_column
from app.presenters.panel_presenter import Sources, TablePresenter
from app.presenters.table import SnapshotModel
from broker_core.access import ANY, Acl, ClientQuota, ScramUser, Shown
from broker_core.snapshots import Snapshot
from resources.units import byte_size
from widgets.i18n import mark, tr
from widgets.panels.access import AccessPanel
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


class AccessRow(NamedTuple):
    """A row as texts; `bytes_per_s` is None for what is no quota."""

    key: Hashable
    kind: str
    who: str
    what: str
    about: str
    bytes_per_s: float | None
    denied: bool = False


class AccessModel(SnapshotModel[AccessRow]):
    def __init__(self) -> None:
        columns: tuple[Column[AccessRow], ...] = (
            Column("Kind", lambda row: row.kind, (70,)),
            Column("Who", lambda row: row.who, (150, 2)),
            Column(
                "What",
                lambda row: row.what,
                (160, 2),
                roles={Role.WARN: lambda row: "failure" if row.denied else ""},
            ),
            Column("Details", lambda row: row.about, (170, 3)),
            number_column(
                "At most (per s)",
                lambda row: row.bytes_per_s,
                (120,),
                shown=lambda rate: "" if rate is None else byte_size(rate),
                about="Bytes that a client may send or fetch per second; a request beyond that waits.",
                field="limit",
                kind="size",
            ),
        )
        super().__init__(columns, key=lambda row: row.key)

    def set_snapshot(self, snapshot: Snapshot) -> None:
        self.set_rows(tuple(map(shown, snapshot.access)))


def shown(each: Shown) -> AccessRow:
    match each:
        case Acl():
            return _of_acl(each)
        case ClientQuota():
            who = ", ".join(_clients_of(each))
            return AccessRow(each.identity, tr("Quota"), who, tr(_LIMITED[each.key]), "", each.bytes_per_s)
        case ScramUser():
            what = tr("authenticates by {way}", way=each.mechanism)
            about = tr("{count:,} iterations", count=each.iterations)
            return AccessRow(each.identity, tr("User"), each.user, what, about, None)


def _of_acl(acl: Acl) -> AccessRow:
    right, who = tr(RIGHTS[acl.operation]), tr("everybody") if acl.principal == ANY else acl.principal
    what = tr("may not {do}", do=right) if acl.deny else tr("may {do}", do=right)
    kind = tr(KINDS[acl.kind])
    if acl.prefixed:
        which = tr("{kind}: all that begin with {name}", kind=kind, name=acl.name)
    else:
        which = tr("{kind}: all", kind=kind) if acl.name == ANY else f"{kind}: {acl.name}" if acl.name else kind
    return AccessRow(acl, tr("ACL"), who, what, which, None, acl.deny)


def _clients_of(quota: ClientQuota) -> Iterator[str]:
    if quota.user is not None:
        yield tr("user {name}", name=quota.user) if quota.user else tr("every other user")
    if quota.client_id is not None:
        yield tr("client id {name}", name=quota.client_id) if quota.client_id else tr("every other client id")


class AccessPresenter(TablePresenter[AccessPanel]):
    panel_class = AccessPanel

    def __init__(self, sources: Sources) -> None:
        self.model = AccessModel()
        super().__init__(sources, self.model)
