from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers
from app.presenters.palette_search import PaletteSearch, things
from app.presenters.panels import PANELS
from app.sessions.history.keys import Published, published
from broker_core.clock import ns_from_s, s_from_ns
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.clients import AddConsumer, AddProducer, AddWorker, DuplicateClient
from broker_core.simulation.actions.groups import CreateGroup
from broker_core.simulation.actions.queues import CreateQueue, CreateSubscription
from broker_core.simulation.actions.topics import CreateTopic
from broker_core.simulation.handlers import Performed
from widgets.palette import CommandPalette
from widgets.panels.charts import ChartsPanel

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
    MENU = (
        ("topic", "show_offsets show_backpressure mark_dead_letters"),
        ("lane producer", "show_offsets show_backpressure"),
        ("group", "show_assignments show_offsets"),
        (" worker workers node rest bookmark transaction fault", "zoom_in zoom_out zoom_fit"),
    )

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
            ("toggle_left", window.open_left),
            ("toggle_right", window.open_right),
            ("toggle_bottom", window.open_bottom),
            ("toggle_timeline", window.open_timeline),
            ("beside", window.put_beside),
            ("focus", window.focus_canvas),
            ("maximise", window.maximise),
        ):
            bind(command, partial(self._toggle, command, show))
        window.togglesChanged.connect(self._show_toggles)
        self._show_toggles(window.toggle_states())
        navigator = window.parts.navigator
        navigator.chosen.connect(self._choose)
        navigator.opened.connect(self._open)
        navigator.filterChanged.connect(self._filter_navigator)
        navigator.contextMenuRequested.connect(self._canvas_menu)
        charts, timeline = window.tab(ChartsPanel), window.timeline
        charts.momentChosen.connect(lambda seconds: context.controller.travel.to(ns_from_s(seconds)))
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
        named = things(context.controller.snapshot, context.views.sources.series, context.window.timeline.facts.ticks)
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
        kind, separator, _name = chosen.partition(":")
        if not separator:
            self._context.registry.trigger(chosen)
        elif not self._context.views.follow(chosen):
            self._choose(chosen)
            if kind in _OPENS:
                self._open(chosen)
            self._context.canvas.setFocus()

    def _show_toggles(self, shown: Mapping[str, bool]) -> None:
        for command, on in shown.items():
            self._context.registry.set_checked(command, on)

    def _toggle(self, command: str, show: Callable[[bool], None]) -> None:
        show(self._context.registry.action(command).isChecked())

    def _choose(self, item_id: str) -> None:
        if not self._context.views.follow(item_id):
            self._context.canvas.reveal(item_id)
            self._select(item_id)

    def _go_to(self, time_ns: str) -> None:
        self._context.controller.travel.to(int(time_ns))

    def _note_new(self, performed: Performed | None, source: str) -> None:
        self._new = "" if performed is None or source else self._made(performed.action)

    def _made(self, action: UserAction) -> str:
        if isinstance(action, DuplicateClient):
            actor = self._snapshot.actor(action.client)
            return "" if actor is None else f"{actor.role}:{action.name}"
        kind, name = _MADE.get(type(action), ("", ""))
        return f"{kind}:{getattr(action, name)}" if kind else ""

    def _choose_new(self) -> None:
        if self._new and self._context.canvas.draws(self._new):
            new, self._new = self._new, ""
            self._choose(new)

    def _filter_navigator(self, text: str) -> None:
        views, navigator = self._context.views, self._context.window.parts.navigator
        navigator.set_filter_problem(views.navigator_model.set_filter(text))
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
