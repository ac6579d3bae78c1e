from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers
from app.presenters.events_presenter import EventsPresenter
from app.presenters.lookups import EventLookup, LaneLookup, MessageLookup, RebalanceLookup
from app.presenters.palette_search import PaletteSearch, things
from app.presenters.panels import PANELS
from app.presenters.redeliveries import RedeliveriesPanel, RedeliveriesPresenter, place_of
from app.presenters.schemas import SchemaLookup, SchemasPresenter
from app.sessions.history.keys import Published, published
from broker_core.clock import ns_from_s, s_from_ns
from broker_core.events import Event
from broker_core.filters import quoted
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.clients import AddConsumer, AddProducer, AddWorker, DuplicateClient
from broker_core.simulation.actions.groups import CreateGroup
from broker_core.simulation.actions.queues import CreateQueue, CreateSubscription
from broker_core.simulation.actions.topics import CreateTopic
from broker_core.simulation.handlers import Performed
from widgets.formats import session_time
from widgets.i18n import tr
from widgets.palette import CommandPalette
from widgets.panels.charts import ChartsPanel
from widgets.panels.events import EventsPanel
from widgets.panels.panel import Panel
from widgets.panels.table_panel import TablePanel


class FilterHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        for panel in context.window.parts.panels:
            panel.filterSaved.connect(self._save)
            panel.filterDeleted.connect(self._delete)
        none = tr("This panel has no filter.")
        self.bind_with(
            "filter_help",
            lambda: self._panel().show_filter_help(),
            lambda: self._panel().filter_field is not None,
            none,
        )
        self._show()

    def _save(self, name: str, text: str) -> None:
        self._context.settings.keep_filter(name, text)
        self._show()

    def _delete(self, name: str) -> None:
        self._context.settings.forget_filter(name)
        self._show()

    def _show(self) -> None:
        for panel in self._context.window.parts.panels:
            panel.set_saved_filters(list(self._context.settings.saved_filters.items()))

    def _panel(self) -> Panel:
        window = self._context.window
        return window.panel(window.shown_tab())


_ZOOM = ("zoom_in", "zoom_out", "zoom_fit")
# What to look at, by the kind of thing that was clicked.
_PANELS_OF = {
    "topic": ("show_offsets", "show_backpressure", "mark_dead_letters"),
    "lane": ("show_offsets", "show_backpressure"),
    "producer": ("show_offsets", "show_backpressure"),
    "group": ("show_assignments", "show_offsets"),
    "consumer": (),
    "queue": (),
    "dlq": (),
}

_OPENS = {
    "node": "show_brokers",
    "topic": "show_offsets",
    "lane": "show_offsets",
    "group": "show_assignments",
    "consumer": "show_assignments",
    "worker": "show_in_flight",
    "queue": "show_in_flight",
    "dlq": "show_dead_letters",
}


# What an action makes: its kind, and the field with its name.
_MADE: dict[type[UserAction], tuple[str, str]] = {
    AddConsumer: ("consumer", "consumer"),
    AddProducer: ("producer", "producer"),
    AddWorker: ("worker", "worker"),
    CreateTopic: ("topic", "name"),
    CreateQueue: ("queue", "name"),
    CreateSubscription: ("queue", "name"),
    CreateGroup: ("group", "group"),
}


class ViewHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._palette = CommandPalette(context.window)
        self._palette.chosen.connect(self._run_or_show)
        self._search: PaletteSearch | None = None  # that of the palette, since it was opened
        context.views.ways |= {"moment": self._go_to, "bookmark": self._go_to}
        bind, window, canvas = context.registry.bind, context.window, context.canvas
        canvas.selected.connect(self._select)
        canvas.opened.connect(lambda item_id: self._open(item_id) if item_id.partition(":")[0] in _OPENS else None)
        canvas.contextMenuRequested.connect(self._canvas_menu)
        bind("filter", window.focus_filter)
        bind("palette", self._open_palette)
        for panel in PANELS:
            bind(f"show_{panel.name}", partial(window.show_tab, panel.name))
        for command, show in (
            ("toggle_left", window.toggle_left),
            ("toggle_right", window.toggle_right),
            ("toggle_bottom", window.toggle_bottom),
            ("toggle_timeline", window.toggle_timeline),
            ("beside", window.put_beside),
            ("focus", window.focus_canvas),
            ("maximise", window.maximise),
        ):
            bind(command, partial(self._toggle, command, show))
        window.sidesShown.connect(self._show_sides)
        self._show_sides(window.sides())
        navigator = window.parts.navigator
        navigator.chosen.connect(self._choose)
        navigator.opened.connect(self._open)
        navigator.filterChanged.connect(self._filter_navigator)
        navigator.contextMenuRequested.connect(self._canvas_menu)
        charts, timeline = window.tab(ChartsPanel), window.timeline
        charts.momentChosen.connect(lambda seconds: context.views.momentChosen.emit(ns_from_s(seconds)))
        # One cursor for the charts and the timeline.
        charts.pointed.connect(lambda seconds: timeline.set_pointer(None if seconds is None else ns_from_s(seconds)))
        timeline.pointed.connect(lambda time_ns: charts.set_cursor(None if time_ns is None else s_from_ns(time_ns)))
        self._new = ""  # what was made, and is not seen yet
        context.controller.acted.connect(self._note_new)
        context.controller.opened.connect(lambda: self._note_new(None, ""))
        context.views.refreshed.connect(self._choose_new)
        bind("zoom_in", canvas.zoom_in)
        bind("zoom_out", canvas.zoom_out)
        bind("zoom_fit", canvas.fit)

    def _open_palette(self) -> None:
        context = self._context
        named = things(context.controller.snapshot, context.views.rates, context.window.timeline.facts.ticks)
        search = self._search = PaletteSearch(context.controller.snapshot, context.controller.source.end_ns)
        events = context.controller.snapshot.events
        context.history.ask(lambda past: published(past, events), lambda found: self._know(search, found))
        self._palette.show_entries([*context.registry.entries(), *named], search.found)

    def _know(self, search: PaletteSearch, published: Published) -> None:
        if search is self._search:
            search.know(published)
            self._palette.search_again()

    def _run_or_show(self, chosen: str) -> None:
        """A command runs; a thing is chosen, framed on the canvas, has the keyboard there, and its panel in front."""
        kind, separator, name = chosen.partition(":")
        if not separator:
            self._context.registry.trigger(chosen)
        elif kind in self._context.views.ways:
            self._context.views.ways[kind](name)
        else:
            self._choose(chosen)
            if kind in _OPENS:
                self._open(chosen)
            self._context.canvas.setFocus()

    def _show_sides(self, shown: Mapping[str, bool]) -> None:
        for command, on in shown.items():
            self._context.registry.set_checked(command, on)

    def _toggle(self, command: str, show: Callable[[bool], None]) -> None:
        show(self._context.registry.action(command).isChecked())

    def _choose(self, item_id: str) -> None:
        kind, _, name = item_id.partition(":")
        if kind == "bookmark":
            self._go_to(name)
            return
        self._context.canvas.reveal(item_id)
        self._select(item_id)

    def _go_to(self, time_ns: str) -> None:
        self._context.views.momentChosen.emit(int(time_ns))

    def _note_new(self, performed: Performed | None, source: str) -> None:
        self._new = "" if performed is None or source else self._made(performed.action)

    def _made(self, action: UserAction) -> str:
        if isinstance(action, DuplicateClient):
            kind = next((actor.role for actor in self._snapshot.actors if actor.name == action.client), "")
            return f"{kind}:{action.name}" if kind else ""
        kind, name = _MADE.get(type(action), ("", ""))
        return f"{kind}:{getattr(action, name)}" if kind else ""

    def _choose_new(self) -> None:
        if self._new and self._context.canvas.draws(self._new):
            new, self._new = self._new, ""
            self._choose(new)

    def _filter_navigator(self, text: str) -> None:
        views, navigator = self._context.views, self._context.window.parts.navigator
        navigator.set_filter_problem(views.navigator.set_filter(text))
        views.refresh(self._snapshot)

    def _open(self, item_id: str) -> None:
        kind, _, name = item_id.partition(":")
        if kind == "dlq":
            self._context.views.ways["dead_letters"](name)
        else:
            self._context.registry.trigger(_OPENS.get(kind, "show_charts"))

    def _select(self, selected: str) -> None:
        self._context.views.select(selected)
        self._context.window.parts.navigator.select(selected)
        self._context.registry.refresh()

    def _canvas_menu(self, clicked: str, at: QPoint) -> None:
        kind, _, name = clicked.partition(":")
        menu = QMenu(self._context.window, toolTipsVisible=True)
        menu.setObjectName("canvas_menu")
        self._select(clicked)
        for add in self._context.menu_parts:
            add(kind, name, menu)
        menu.popup(at)
        menu.aboutToHide.connect(menu.deleteLater)

    def _add_to_menu(self, kind: str, _name: str, menu: QMenu) -> None:
        for command in _PANELS_OF.get(kind, _ZOOM):
            menu.addAction(self._context.registry.action(command))


class InspectorHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        views, window = context.views, context.window
        views.lookups |= {
            "message": MessageLookup(self._answers, context.history, views.times, self),
            "lane": LaneLookup(self._answers, context.history, views.rates, self),
            "event": EventLookup(context.history, views.times, self),
            "rebalance": RebalanceLookup(views.rebalances),
            "schema": SchemaLookup(lambda: views.presenter(SchemasPresenter).model),
        }
        for lookup in views.lookups.values():
            lookup.changed.connect(views.show_selected)
        panel = window.parts.inspector
        panel.followed.connect(self.open_link)
        panel.momentChosen.connect(views.momentChosen)
        panel.backWanted.connect(lambda: views.inspect(views.visits.back()))
        views.momentChosen.connect(context.controller.travel.to)
        panel.forwardWanted.connect(lambda: views.inspect(views.visits.forward()))
        window.parts.rebalances.chosen.connect(lambda key: views.select(f"rebalance:{key[0]}/{key[1]}"))
        window.tab(RedeliveriesPanel).opened.connect(self._browse)
        for each in window.parts.panels:
            if isinstance(each, TablePanel) and each.buttons:
                each.selectionChanged.connect(partial(self._refresh, each))
        before, after = tr("There is no earlier one."), tr("There is no later one.")
        self.bind_with("inspect_back", panel.backWanted.emit, lambda: views.visits.has_back, before)
        self.bind_with("inspect_forward", panel.forwardWanted.emit, lambda: views.visits.has_forward, after)

    def open_link(self, target: str) -> None:
        kind, _, name = target.partition(":")
        way = self._context.views.ways.get(kind)
        if way is not None:
            way(name)
        else:
            self._context.views.select(target)
            self._context.registry.refresh()

    def _browse(self, key: Hashable) -> None:
        row = self._context.views.presenter(RedeliveriesPresenter).model.row_of(key)
        if row is not None:
            self.open_link(f"browse:{place_of(row).name}")

    def _refresh(self, panel: TablePanel, _selected: int) -> None:
        self._context.registry.refresh(*panel.buttons)


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
