"""All presenters of a window together: made once, connected to its panels, and given snapshots.

views = Views(controller, history)
window = MainWindow(views.make_parts(canvas), registry.actions, menu_bar(registry), settings)
views.attach(window)
views.refresh(snapshot)     # as often as the window draws; only what is visible is brought up to date
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from app.presenters.canvas import CanvasModel
from app.presenters.dead_letters import DeadLettersPresenter
from app.presenters.excerpt import LISTED_MAX, Excerpt, Excerpts
from app.presenters.inspector import about_scenario, inspector_facts
from app.presenters.lookups import Lookup
from app.presenters.navigator import NavigatorModel
from app.presenters.owners import Owners
from app.presenters.panel_presenter import PanelPresenter, Sources
from app.presenters.panels import PRESENTERS
from app.presenters.rebalances import RebalanceCards
from app.presenters.schemas import SchemasPresenter
from app.presenters.status import StatusModel
from app.presenters.timeline import TimelineModel
from app.sessions.history.life import place_of
from app.sessions.history.past import History
from app.sessions.session_controller import SessionController
from broker_core.snapshots import Snapshot
from widgets.canvas.canvas import Canvas
from widgets.cards import RebalancesPanel
from widgets.formats import Times, session_time
from widgets.i18n import tr
from widgets.main_window import MainWindow, Parts
from widgets.navigator import Navigator, NavRow, NavSection
from widgets.panels.inspector import InspectorFacts, InspectorPanel
from widgets.panels.lesson import LessonPanel
from widgets.panels.table_panel import TablePanel
from widgets.theme import current_theme

VISITS_MAX = 200
_PRESENT = -1


class Visits:
    """Ids in the order in which they were visited, as in a browser: a visit forgets what lay ahead."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._at = -1

    def visit(self, thing: str) -> None:
        """`thing` is looked at; "" (nothing) and what is shown already leave no trace."""
        if not thing or thing == self.here:
            return
        del self._ids[self._at + 1 :]
        self._ids.append(thing)
        del self._ids[:-VISITS_MAX]
        self._at = len(self._ids) - 1

    def forget(self) -> None:
        self._ids, self._at = [], -1

    @property
    def here(self) -> str:
        return self._ids[self._at] if self._at >= 0 else ""

    @property
    def has_back(self) -> bool:
        return self._at > 0

    @property
    def has_forward(self) -> bool:
        return self._at + 1 < len(self._ids)

    def back(self) -> str:
        self._at -= self.has_back
        return self.here

    def forward(self) -> str:
        self._at += self.has_forward
        return self.here


P = TypeVar("P", bound=PanelPresenter[Any])


class Views(QObject):
    """The presenters. `selected` is the id of what the inspector shows; "" for nothing.

    `lookups` has, by the kind of an id, what knows facts that no snapshot holds; `ways` where a link leads that is no
    thing to look at. `refreshed` comes when a snapshot is shown in all of the window, `inspected` when the inspector is
    up to date.
    """

    inspected = Signal()
    refreshed = Signal()

    def __init__(
        self,
        controller: SessionController,
        history: History,
        parent: QObject | None = None,
        dead_letter_topics: Callable[[], Collection[str]] = tuple,
    ) -> None:
        super().__init__(parent)
        self.owners = Owners()
        self.times = Times()
        self._controller = controller
        self.sources = sources = Sources(controller, history, self.owners, self.times, dead_letter_topics)
        self._presenters = {presenter.panel_class.info.name: presenter(sources) for presenter in PRESENTERS}
        for presenter in self._presenters.values():
            presenter.setParent(self)
            if isinstance(presenter.panel, TablePanel):
                presenter.panel.currentChanged.connect(partial(self._look_at, presenter))
        self.rebalances = RebalanceCards(self.owners, self.times)
        self.navigator_model = NavigatorModel(sources.series, self._bookmarks)
        self.navigator_model.dead_by_topic = self.presenter(DeadLettersPresenter).topics.counts
        self.canvas_model = CanvasModel(self.owners, sources.series)
        self.timeline_model = TimelineModel(sources.series)
        self.status_model = StatusModel(sources.series)
        self.selected = ""
        self.visits = Visits()
        self.lookups: dict[str, Lookup] = {}
        self.ways: dict[str, Callable[[str], object]] = {}
        self.about: InspectorFacts | None = None
        self.running = True
        self.snapshot: Snapshot | None = None
        self._listed = Excerpts(LISTED_MAX)
        self._drawn: tuple[bool, str, frozenset[str]] | None = None
        self._looks_at_ns = _PRESENT
        self._to_let_in: set[PanelPresenter[Any]] = set()  # whose held rows are of another moment
        self._window: MainWindow | None = None

    def _bookmarks(self) -> tuple[NavSection, ...]:
        rows = tuple(
            NavRow(f"bookmark:{time_ns}", name, figure=session_time(time_ns))
            for time_ns, name in self.timeline_model.bookmarks
        )
        return (NavSection("bookmarks", tr("Bookmarks"), "bookmark", rows, ""),)

    def make_parts(self, canvas: Canvas) -> Parts:
        self._canvas = canvas
        panels = tuple(presenter.panel for presenter in self._presenters.values())
        return Parts(canvas, Navigator(), LessonPanel(), InspectorPanel(), RebalancesPanel(), panels)

    def attach(self, window: MainWindow) -> None:
        self._window = window
        self.presenter(SchemasPresenter).reported.connect(window.status.show_message)
        window.tabShown.connect(lambda _name: self._show_tab())
        window.togglesChanged.connect(lambda _states: self._show_tab())

    def presenter(self, kind: type[P]) -> P:
        found = self._presenters[kind.panel_class.info.name]
        assert isinstance(found, kind)
        return found

    def follow(self, target: str) -> bool:
        """Go where a link leads; False if that is a thing to look at."""
        kind, _, name = target.partition(":")
        if kind in self.ways:
            self.ways[kind](name)
        return kind in self.ways

    def select(self, selected: str) -> None:
        """Show the facts of a thing: one on the canvas, or of a kind in `lookups`; "" for nothing."""
        self.visits.visit(selected)
        self.inspect(selected)

    def _look_at(self, presenter: PanelPresenter[Any], key: object) -> None:
        thing = "" if key is None else presenter.thing_of(key)
        if thing:
            self.select(thing)

    def inspect(self, selected: str) -> None:
        self.selected = selected
        if self._window is not None:
            drawn = next((one for one in on_canvas(selected) if self._canvas.draws(one)), "")
            self._canvas.set_selected(drawn)
            self._window.right.bring(self._window.parts.inspector if selected else None)
        self.show_selected()

    def restart(self) -> None:
        collectors = self._controller.collectors
        self.owners.attach(collectors.hues)
        for model in (self.canvas_model, self.navigator_model, self.status_model, self.timeline_model):
            model.series = collectors.series
        self.timeline_model.attach(collectors.timeline)
        self.rebalances.attach(collectors.ownership, deliveries=collectors.deliveries)
        scenario = self._controller.source.scenario
        self.about = None if scenario is None else about_scenario(scenario, tr(self._controller.source.described))
        self.visits.forget()
        for lookup in self.lookups.values():
            lookup.restart()
        for presenter in self._presenters.values():
            needs = presenter.panel.info.needs
            unknown = bool(needs) and not self._controller.source.knows(needs)
            presenter.panel.set_source(unknown=unknown, goes_on=tr(self._controller.source.goes_on))
            presenter.panel.clear_filter()
            presenter.restart()

    def refresh(self, snapshot: Snapshot, *, drawing: bool = True, panels: bool = True) -> None:
        """Show a snapshot: canvas, clock and status bar with `drawing`; with `panels`, whatever else is visible."""
        window = self._window
        shown = self.running, self.selected, self.navigator_model.dimmed
        # If the present has not changed, neither has any rate; those of the past may still be read from a file.
        is_drawn = self._controller.live and snapshot is self.snapshot and shown == self._drawn
        self.snapshot, self._drawn = snapshot, shown if drawing else None
        self._notice_travel(snapshot.time_ns)
        self.owners.update_all(snapshot)
        if window is None:
            return
        if drawing:
            window.toolbar.set_clock(session_time(snapshot.time_ns), self.times.wall(snapshot.time_ns))
            view = self._canvas.view if is_drawn else self.canvas_model.view(snapshot, *shown)
            self._canvas.set_view(view, current_theme())
            window.status.set_facts(self.status_model.update(snapshot))
        if not panels:
            return
        if window.parts.navigator.isVisible():
            window.parts.navigator.set_sections(self.navigator_model.update(snapshot))
            self._canvas.set_dimmed(self.navigator_model.dimmed)
        window.timeline.set_facts(self.timeline_model.update(snapshot))
        for name, presenter in self._presenters.items():
            if (count := presenter.tab_count(snapshot)) is not None:
                window.set_tab_count(name, count)
        if window.right.isVisible():
            window.parts.rebalances.set_rebalances(self.rebalances.of(snapshot))
            self.show_selected()
        self._show_tab()
        self.refreshed.emit()

    def show_selected(self) -> None:
        if self._window is None or self.snapshot is None:
            return
        kind, _, name = self.selected.partition(":")
        lookup = self.lookups.get(kind)
        if lookup is not None:
            facts = lookup.facts(self.snapshot, name)
        else:
            facts = self.about
            if self.selected:
                collectors = self._controller.collectors
                facts = inspector_facts(self.snapshot, self.selected, collectors.series, collectors.ownership)
        self._window.parts.inspector.set_facts(facts)
        self.inspected.emit()

    def _notice_travel(self, time_ns: int) -> None:
        travel = self._controller.travel
        place_ns = time_ns if travel.looking_back else _PRESENT
        if place_ns != self._looks_at_ns and not travel.playing:
            self._looks_at_ns, self._to_let_in = place_ns, set(self._presenters.values())

    def _show_tab(self) -> None:
        window, snapshot = self._window, self.snapshot
        if window is None or snapshot is None or not window.shows_panels:
            return
        presenter = self._presenters.get(window.shown_tab())
        if presenter is not None:
            excerpt = Excerpt(snapshot) if presenter.counts_all else self._listed.of(snapshot, self.selected)
            presenter.panel.set_part(_part_words(excerpt))
            presenter.show(excerpt.snapshot)
            if presenter in self._to_let_in:
                self._to_let_in.remove(presenter)
                presenter.let_in()


def on_canvas(selected: str) -> tuple[str, ...]:
    """The id to frame for an inspected one, the first that is drawn: for a message, its partition or queue."""
    kind, _, name = selected.partition(":")
    place = place_of(name) if kind == "message" else None
    return (selected,) if place is None else (f"lane:{place.topic}/{place.partition}", f"queue:{place.topic}")


def _part_words(excerpt: Excerpt) -> str:
    if excerpt.is_whole:
        return ""
    left_out = (
        tr("{count:,} topics", count=excerpt.topics) if excerpt.topics else "",
        tr("{count:,} groups", count=excerpt.groups) if excerpt.groups else "",
        tr("{count:,} queues", count=excerpt.queues) if excerpt.queues else "",
    )
    return tr(
        "Not listed: {what}. Those in use and the one selected in the navigator come first.",
        what=", ".join(part for part in left_out if part),
    )
