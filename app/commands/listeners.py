from __future__ import annotations

from functools import partial

from app.commands.context import CommandContext, Handlers
from app.commands.registry import Command
from app.presenters.connections import ConnectionsPresenter
from app.presenters.requests import RequestsPresenter
from app.sessions.listeners import PORTS, Kind, Listeners
from broker_core.operations.observe import CutConnection
from broker_core.simulation.simulation import Simulation
from widgets.i18n import tr
from widgets.panels.connections import ConnectionsPanel, ListenerFacts


class ListenerHandlers(Handlers):
    COMMANDS = (
        Command(
            "listener_kafka", "Open the Kafka listener", "Listeners", "", "", "Unmodified Kafka clients can connect."
        ),
        Command(
            "listener_http", "Open the HTTP listener", "Listeners", "", "", "Programs can use the broker over HTTP."
        ),
        Command("listeners_close", "Close all listeners", "Listeners", "", "", "Closes every connection."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self.listeners = Listeners(context.controller, self)
        panel, bind = context.window.tab(ConnectionsPanel), context.registry.bind
        for kind, port in PORTS.items():
            bind(f"listener_{kind}", partial(self._open, kind, port), partial(self._why_not_open, kind), Simulation)
        self.bind_with("listeners_close", self.listeners.close_all, self._open_ones, tr("No listener is open."))
        panel.openRequested.connect(self._open)
        panel.closeRequested.connect(self.listeners.shut)
        panel.cutRequested.connect(lambda key: self._cut(int(key)) if key is not None else None)
        self.listeners.reported.connect(context.show_message)
        self.listeners.changed.connect(self._show)
        context.views.presenter(RequestsPresenter).attach(self.listeners.requests)
        context.views.presenter(ConnectionsPresenter).attach(
            self.listeners.facts,
            lambda: (*self.listeners.connections(), *self.listeners.ended(), *self._controller.source.connections),
            self.listeners.apis,
            self._why_not,
        )

    def _open(self, kind: Kind, port: int) -> None:
        if why := self._why_not():
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

    def _why_not(self) -> str:
        return self._context.why_ended() or self._controller.why_not(Simulation)

    def _why_not_open(self, kind: Kind) -> str:
        is_open = any(facts.kind == kind and (facts.where or facts.opening) for facts in self.listeners.facts())
        return tr("It is already open.") if is_open else self._why_not()

    def _open_ones(self) -> list[ListenerFacts]:
        return [facts for facts in self.listeners.facts() if facts.where]

    def _show(self) -> None:
        self._context.window.tab(ConnectionsPanel).set_listeners(self.listeners.facts())
        self._context.registry.refresh()
