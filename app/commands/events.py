from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers
from app.presenters.events_presenter import EventsPresenter
from broker_core.events import Event
from broker_core.filters import quoted
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
        choose = tr("Choose an event in the panel Events first.")
        self.bind_with("show_moment", self._show_moment, lambda: panel.table.currentIndex().isValid(), choose)

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
        text = f"kind = published and time >= {clock(int(first))}"
        if last:
            text += f" and time < {clock(int(last))}"
        self._context.window.show_tab("events")
        self._panel.choose("all")
        self._panel.set_filter_text(text)

    def _current(self) -> Event | None:
        place = self._panel.table.currentIndex().row()
        return self._context.views.presenter(EventsPresenter).model.row_at(place) if place >= 0 else None

    def _show_moment(self) -> None:
        event = self._current()
        if event is not None:
            self._context.views.momentChosen.emit(event.time_ns)

    def _menu(self, _seq: Hashable, at: QPoint) -> None:
        event = self._current()
        if event is None:
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
        before = self._panel.filter_text
        wanted = f"{field} = {quoted(value)}"
        self._panel.set_filter_text(f"({before}) and {wanted}" if before else wanted)


def clock(time_ns: int) -> str:
    """A session time as a filter reads it, exact to the nanosecond."""
    whole = session_time(time_ns).partition(".")[0]
    fraction = f"{time_ns % 1_000_000_000:09d}".rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole
