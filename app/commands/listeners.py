from __future__ import annotations

from functools import partial

from app.commands.context import CommandContext, Handlers
from app.commands.forms import Given
from app.presenters.access import KINDS, RIGHTS, AccessPanel, details, what, who
from app.presenters.connections import ConnectionsPresenter
from app.presenters.requests import RequestsPresenter
from app.sessions.listeners import PORTS, Kind, Listeners
from broker_core.access import AccessRow, Acl, ClientQuota
from broker_core.listeners.connections import ApiView, RequestView
from broker_core.operations.observe import CutConnection
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.access import CreateAcls, DeleteAcls, DeleteUser, RemoveQuota, SetQuota
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import ConnectionView
from widgets.dialogs.form import Values
from widgets.i18n import tr
from widgets.panels.connections import ConnectionsPanel, ListenerFacts

_NAMED = ("kind", tuple(kind for kind in KINDS if kind != "broker"))


class ListenerHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self.listeners = Listeners(context.controller, self)
        context.leaving.connected = self._connected
        panel, bind = context.window.tab(ConnectionsPanel), context.registry.bind
        for kind, port in PORTS.items():
            bind(f"listener_{kind}", partial(self._open, kind, port), partial(self._why_not_open, kind))
        self.bind_with("listeners_close", self.listeners.close_all, self._open_ones, tr("No listener is open."))
        panel.openRequested.connect(self._open)
        panel.closeRequested.connect(self.listeners.shut)
        panel.cutRequested.connect(lambda key: self._cut(int(key)) if key is not None else None)
        self.listeners.reported.connect(context.show_message)
        self.listeners.changed.connect(self._show)
        context.views.presenter(RequestsPresenter).attach(self._requests, self._how)
        context.views.presenter(ConnectionsPresenter).attach(
            self._facts,
            lambda: (*self.listeners.connections(), *self.listeners.ended(), *self._controller.source.connections),
            self._apis,
            self._how,
        )
        self.bind_action("create_acl", CreateAcls, self.ask_acl)
        self.bind_action("set_quota", SetQuota, self.ask_quota)
        nothing = tr("Select a row of the panel Access first.")
        self.bind_action("remove_access", DeleteAcls, self.ask_remove, self._selected_row, nothing)
        context.window.tab(ConnectionsPanel).accessWanted.connect(lambda: context.window.show_tab("access"))

    def _connected(self) -> tuple[ConnectionView, ...]:
        passing = self._controller.source.passing
        return self.listeners.connections() if passing is None else passing.views()

    def _requests(self) -> tuple[RequestView, ...]:
        passing = self._controller.source.passing
        return self.listeners.requests() if passing is None else passing.requests()

    def _apis(self, number: int) -> tuple[ApiView, ...]:
        passing = self._controller.source.passing
        return self.listeners.apis(number) if passing is None else passing.apis(number)

    def _open(self, kind: Kind, port: int) -> None:
        if why := self._controller.why_not(Simulation):
            self._context.show_message(why)
            return
        self.listeners.open(kind, port)
        self._context.window.show_tab("connections")

    def _cut(self, number: int) -> None:
        if not self._controller.source.connections:
            self.listeners.cut(number)
            return
        told = tr("Connection {number} is cut.", number=number)
        show = self._context.show_message
        self._answers.ask(CutConnection(connection=number), lambda _none: show(told), show)

    def _facts(self) -> tuple[ListenerFacts, ...]:
        return () if self._controller.source.clients_come else self.listeners.facts()

    def _how(self) -> str:
        """How programs come here where no listener can be opened, or why they do not."""
        controller = self._controller
        return controller.why_not() or controller.source.clients_come or controller.why_not(Simulation)

    def _why_not_open(self, kind: Kind) -> str:
        is_open = any(facts.kind == kind and (facts.where or facts.opening) for facts in self.listeners.facts())
        return tr("It is already open.") if is_open else self._controller.why_not(Simulation)

    def _open_ones(self) -> list[ListenerFacts]:
        return [facts for facts in self.listeners.facts() if facts.where]

    def _show(self) -> None:
        self._context.window.tab(ConnectionsPanel).set_listeners(self._facts())
        self._context.registry.refresh()

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
