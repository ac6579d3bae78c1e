"""Doors for other programs: opened, closed, cut."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject

from app.commands.context import Desk
from app.commands.registry import Command
from app.sessions.listeners import PORTS, Doors, Kind
from widgets.i18n import tr


class DoorHandlers(QObject):
    """The panel Doors."""

    COMMANDS = (
        Command("door_kafka", "Open the Kafka listener", "Doors", "", "", "Kafka programs take part, unmodified."),
        Command("door_http", "Open the HTTP door", "Doors", "", "", "Programs use the broker over HTTP."),
        Command("door_wire", "Open the wire door", "Doors", "", "", "Programs use the broker's own protocol."),
        Command("doors_close", "Close all doors", "Doors", "", "", "Every connection ends."),
    )

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        self.doors = Doors(desk.player, self)
        panel, bind = desk.window.parts.doors, desk.registry.bind
        for kind, port in PORTS.items():
            bind(f"door_{kind}", partial(self._open, kind, port), partial(self._why_not_open, kind))
        bind("doors_close", self.doors.close_all, self._why_none_open)
        panel.openRequested.connect(self._open)
        panel.closeRequested.connect(self.doors.shut)
        panel.cutRequested.connect(lambda key: self.doors.cut(int(key)) if key is not None else None)
        self.doors.said.connect(desk.say)
        self.doors.changed.connect(self._show)
        if desk.views.doors is not None:
            desk.views.doors.follow(
                self.doors.facts, lambda: (*self.doors.connections(), *self.doors.ended()), self._why_not
            )

    def _open(self, kind: Kind, port: int) -> None:
        if why := self._why_not():
            self._desk.say(why)
            return
        self.doors.open(kind, port)
        self._desk.window.show_tab("doors")

    def _why_not(self) -> str:
        return self._desk.why_ended()

    def _why_not_open(self, kind: Kind) -> str:
        is_open = any(facts.kind == kind and (facts.where or facts.opening) for facts in self.doors.facts())
        return tr("It is open already.") if is_open else self._why_not()

    def _why_none_open(self) -> str:
        return "" if any(facts.where for facts in self.doors.facts()) else tr("No door is open.")

    def _show(self) -> None:
        self._desk.window.parts.doors.set_doors(self.doors.facts())
        self._desk.window.set_tab_count("doors", sum(1 for facts in self.doors.facts() if facts.where))
        self._desk.registry.refresh()
