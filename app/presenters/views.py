"""All presenters of a window together: made once, connected to its panels, and given snapshots.

views = Views(controller, history)
window = MainWindow(views.make_parts(canvas), registry.actions(), menu_bar(registry), settings)
views.attach(window)
views.refresh(snapshot)     # as often as the window draws; only what is visible is brought up to date
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.presenters.canvas import CanvasModel
from app.presenters.crowd import LISTED_MAX, Crowd, Thinned
from app.presenters.inspector import inspector_facts
from app.presenters.lookups import Lookup
from app.presenters.navigator import NavigatorModel
from app.presenters.owners import Owners
from app.presenters.panel_presenter import PanelPresenter, Sources
from app.presenters.panels import PRESENTERS
from app.presenters.rates import Rates
from app.presenters.rebalances import RebalanceCards
from app.presenters.schemas import SchemasPresenter
from app.presenters.status import StatusModel
from app.presenters.timeline import TimelineModel
from app.presenters.trail import Trail
from app.sessions.history.history import History
from app.sessions.session_controller import SessionController
from broker_core.snapshots import Snapshot
from widgets.formats import Times, session_time
from widgets.i18n import tr
from widgets.main_window import MainWindow, Parts
from widgets.navigator import Navigator, NavRow, NavSection
from widgets.panels.inspector import InspectorFacts, InspectorPanel
from widgets.panels.rebalances import RebalancesPanel
from widgets.theme import current_theme

P = TypeVar("P", bound=PanelPresenter)


class Views(QObject):
    """The presenters. `selected` is the id of what the inspector shows; "" for nothing.

    `lookups` has, by the kind of an id, what knows facts that no snapshot holds; `ways` where a link leads that is no
    thing to look at. `momentChosen(time_ns)` comes whenever
    a person points at a moment in a panel, `refreshed` when a snapshot is shown in all of the window.
    """

    momentChosen = Signal(object)
    refreshed = Signal()

    def __init__(self, controller: SessionController, history: History, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.owners = Owners()
        self.times = Times()
        self.rates = Rates()
        self._controller = controller
        sources = Sources(controller, history, self.owners, self.times, self.rates)
        self._presenters = {presenter.panel_class.info.name: presenter(sources, self) for presenter in PRESENTERS}
        self.rebalances = RebalanceCards(self.owners, self.times)
        self.navigator = NavigatorModel(self.rates, self._bookmarks)
        self.canvas = CanvasModel(self.owners, self.rates)
        self.timeline = TimelineModel(self.rates)
        self.status = StatusModel(self.rates)
        self.selected = ""
        self.trail = Trail()
        self.lookups: dict[str, Lookup] = {}
        self.ways: dict[str, Callable[[str], object]] = {}
        self.about: InspectorFacts | None = None
        self.running = True
        self.snapshot: Snapshot | None = None
        self._listed = Thinned(LISTED_MAX)
        self._window: MainWindow | None = None

    def _bookmarks(self) -> tuple[NavSection, ...]:
        """Named moments, below everything that the broker has."""
        rows = tuple(
            NavRow(f"bookmark:{time_ns}", name, figure=session_time(time_ns))
            for time_ns, name in self.timeline.bookmarks
        )
        return (NavSection("bookmarks", tr("Bookmarks"), "bookmark", rows, ""),)

    def make_parts(self, canvas: QWidget) -> Parts:
        """The canvas, and the panels around and below it."""
        panels = tuple(presenter.panel for presenter in self._presenters.values())
        return Parts(canvas, Navigator(), InspectorPanel(), RebalancesPanel(), panels)

    def attach(self, window: MainWindow) -> None:
        """Connect a window made with `make_parts`."""
        self._window = window
        self.presenter(SchemasPresenter).said.connect(window.status.say)
        window.tabShown.connect(lambda _name: self._show_tab())

    def presenter(self, kind: type[P]) -> P:
        """The presenter of that class."""
        found = self._presenters[kind.panel_class.info.name]
        assert isinstance(found, kind)
        return found

    def select(self, selected: str) -> None:
        """Show the facts of a thing: one on the canvas, or of a kind in `lookups`; "" for nothing."""
        self.trail.visit(selected)
        self.look_at(selected)

    def look_at(self, selected: str) -> None:
        """As `select`, without a trace in the trail."""
        self.selected = selected
        if self._window is not None:
            canvas: Any = self._window.parts.canvas
            canvas.set_selected(selected)
        self.show_selected()

    def restart(self) -> None:
        """The controller shows another session: follow it, and forget what was looked up."""
        collectors = self._controller.collectors
        self.owners.follow(collectors.hues)
        self.rates.follow(collectors.series)
        self.timeline.follow(collectors.timeline)
        self.rebalances.follow(collectors.ownership)
        self.trail.forget()
        for lookup in self.lookups.values():
            lookup.restart()
        for presenter in self._presenters.values():
            presenter.restart()

    def refresh(self, snapshot: Snapshot, *, panels: bool = True) -> None:
        """Show a snapshot: canvas and clock always; with `panels`, whatever else is visible."""
        window = self._window
        self.snapshot = snapshot
        self.owners.meet_all(snapshot)
        if window is None:
            return
        window.toolbar.set_clock(session_time(snapshot.time_ns), self.times.wall(snapshot.time_ns))
        canvas: Any = window.parts.canvas
        canvas.set_view(self.canvas.view(snapshot, self.running, self.selected), current_theme())
        if not panels:
            return
        if window.parts.navigator.isVisible():
            window.parts.navigator.set_sections(self.navigator.meet(snapshot))
            canvas.set_dimmed(self.navigator.dimmed)
        window.timeline.set_facts(self.timeline.meet(snapshot))
        window.status.set_facts(self.status.meet(snapshot))
        for name, presenter in self._presenters.items():
            if (count := presenter.tab_count(snapshot)) is not None:
                window.set_tab_count(name, count)
        if window.right.isVisible():
            window.parts.rebalances.set_rebalances(self.rebalances.of(snapshot))
            self.show_selected()
        self._show_tab()
        self.refreshed.emit()

    def show_selected(self) -> None:
        """Bring the inspector up to date."""
        if self._window is None or self.snapshot is None:
            return
        kind, _, name = self.selected.partition(":")
        lookup = self.lookups.get(kind)
        if lookup is not None:
            facts = lookup.facts(self.snapshot, name)
        else:
            facts = self.about
            if self.selected:
                facts = inspector_facts(self.snapshot, self.selected, self.rates, self._controller.collectors.ownership)
        panel = self._window.parts.inspector
        panel.set_turns(back=self.trail.has_back, forward=self.trail.has_forward)
        panel.set_facts(facts)

    def _show_tab(self) -> None:
        """Bring the panel in front up to date; the others wait until they are."""
        window, snapshot = self._window, self.snapshot
        if window is None or snapshot is None or not window.tabs.isVisible():
            return
        presenter = self._presenters.get(window.shown_tab())
        if presenter is not None:
            crowd = self._listed.of(snapshot, self.selected)
            presenter.panel.set_part(_part_words(crowd))
            presenter.show(crowd.snapshot)


def _part_words(crowd: Crowd) -> str:
    """Nothing where a panel is given everything."""
    if crowd.is_whole:
        return ""
    left_out = (
        tr("{count:,} topics", count=crowd.topics) if crowd.topics else "",
        tr("{count:,} groups", count=crowd.groups) if crowd.groups else "",
        tr("{count:,} queues", count=crowd.queues) if crowd.queues else "",
    )
    return tr(
        "Not listed: {what}. What clients use comes first, and whatever is selected in the navigator.",
        what=", ".join(part for part in left_out if part),
    )
