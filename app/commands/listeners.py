from __future__ import annotations

from functools import partial

from app.commands.context import CommandContext, Handlers, lacking
from app.presenters.connections import ConnectionsPresenter
from app.presenters.requests import RequestsPresenter
from app.sessions.listeners import PORTS, Kind, Listeners
from broker_core.listeners.connections import Connections
from broker_core.operations.observe import CutConnection
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import ConnectionView
from widgets.i18n import tr
from widgets.panels.connections import ConnectionsPanel, ListenerFacts


class ListenerHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self.listeners = Listeners(context.controller, self)
        context.leaving.connected = lambda: self._connections().views()
        panel, bind = context.window.tab(ConnectionsPanel), context.registry.bind
        for kind, port in PORTS.items():
            bind(f"listener_{kind}", partial(self._open, kind, port), partial(self._why_not_open, kind))
        no_open = lacking(lambda: any(each.where for each in self.listeners.facts()), tr("No listener is open."))
        bind("listeners_close", self.listeners.close_all, no_open)
        panel.openRequested.connect(self._open)
        panel.closeRequested.connect(self.listeners.shut)
        bind("cut_connection", self._cut, self._why_not_cut)
        self.listeners.reported.connect(context.show_message)
        self.listeners.changed.connect(self._show)
        context.views.presenter(RequestsPresenter).attach(lambda: self._connections().requests(), self._how)
        context.views.presenter(ConnectionsPresenter).attach(
            self._facts,
            lambda: (*self.listeners.views(), *self.listeners.ended(), *self._controller.source.connections),
            lambda number: self._connections().apis(number),
            self._how,
        )

    def _connections(self) -> Connections | Listeners:
        """Those of programs that are passed on to a cluster, or else of our listeners."""
        return self._controller.source.passing or self.listeners

    def _open(self, kind: Kind, port: int) -> None:
        if why := self._controller.why_not(Simulation):
            self._context.show_message(why)
            return
        self.listeners.open(kind, port)
        self._context.window.show_tab("connections")

    def _chosen(self) -> ConnectionView | None:
        presenter = self._context.views.presenter(ConnectionsPresenter)
        return presenter.model.row_of(presenter.panel.chosen_key())

    def _why_not_cut(self) -> str:
        if (chosen := self._chosen()) is None:
            return tr("Select a connection first.")
        return "" if chosen.ended_ns is None else tr("The connection has already ended.")

    def _cut(self) -> None:
        if (chosen := self._chosen()) is None:
            return
        if not self._controller.source.connections:
            self.listeners.cut(chosen.id)
            return
        told, show = tr("Connection {number} is cut.", number=chosen.id), self._context.show_message
        self._answers.ask(CutConnection(connection=chosen.id), lambda _none: show(told), show)

    def _facts(self) -> tuple[ListenerFacts, ...]:
        return () if self._controller.source.clients_come else self.listeners.facts()

    def _how(self) -> str:
        """How programs come here where no listener can be opened, or why they do not."""
        controller = self._controller
        return controller.why_not() or controller.source.clients_come or controller.why_not(Simulation)

    def _why_not_open(self, kind: Kind) -> str:
        is_open = any(facts.kind == kind and (facts.where or facts.opening) for facts in self.listeners.facts())
        return tr("It is already open.") if is_open else self._controller.why_not(Simulation)

    def _show(self) -> None:
        self._context.window.tab(ConnectionsPanel).set_listeners(self._facts())
        self._context.registry.refresh()
