from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers, lacking
from app.presenters.events_presenter import EventsPresenter
from broker_core.clock import NS_PER_S
from broker_core.events import Event
from broker_core.filters import quoted
from widgets.filter_field import both
from widgets.formats import session_time
from widgets.i18n import tr
from widgets.panels.events import EventsPanel


class EventHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        panel = self._panel = context.window.tab(EventsPanel)
        context.views.ways["published"] = self._between
        panel.currentChanged.connect(self._look_at)
        panel.opened.connect(lambda _seq: self._show_moment())
        panel.contextMenuRequested.connect(self._menu)
        context.registry.bind("my_actions", self._mine)
        unchosen = lacking(panel.current_key, tr("Choose an event in the panel Events first."))
        context.registry.bind("show_moment", self._show_moment, unchosen)

    def _look_at(self, seq: Hashable) -> None:
        if isinstance(seq, int):
            self._context.views.select(f"event:{seq}")
            self._context.registry.refresh("show_moment")

    def _mine(self) -> None:
        self._context.window.show_tab("events")
        self._panel.clear_filter()
        self._panel.choose("mine")

    def _between(self, moments: str) -> None:
        first, _, last = moments.partition("-")
        text = f"kind = published and time >= {filter_time(int(first))}"
        if last:
            text += f" and time < {filter_time(int(last))}"
        self._context.window.show_tab("events")
        self._panel.choose("all")
        self._panel.set_filter_text(text)

    def _current(self) -> Event | None:
        place = self._panel.table.currentIndex().row()
        return self._context.views.presenter(EventsPresenter).model.row_at(place) if place >= 0 else None

    def _show_moment(self) -> None:
        if (event := self._current()) is not None:
            self._context.controller.travel.to(event.time_ns)

    def _menu(self, _seq: Hashable, at: QPoint) -> None:
        if (event := self._current()) is None:
            return
        menu = QMenu(self._panel)
        menu.addAction(self._context.registry.action("show_moment"))
        if event.client:
            menu.addAction(tr("Only this client")).triggered.connect(lambda: self._only("client", event.client))
        if event.topic:
            menu.addAction(tr("Only this topic")).triggered.connect(lambda: self._only("topic", event.topic))
        menu.addAction(tr("Only this kind")).triggered.connect(lambda: self._only("kind", event.kind.value))
        menu.popup(at)
        menu.aboutToHide.connect(menu.deleteLater)

    def _only(self, field: str, value: str) -> None:
        self._panel.set_filter_text(both(self._panel.filter_text, f"{field} = {quoted(value)}"))


def filter_time(time_ns: int) -> str:
    """A session time as a filter reads it, exact to the nanosecond."""
    whole = session_time(time_ns).partition(".")[0]
    return f"{whole}.{time_ns % NS_PER_S:09d}".rstrip("0").rstrip(".")
