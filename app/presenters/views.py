"""All view models of a window together: made once, connected to its panels, and fed with snapshots.

views = Views()
parts = views.make_parts(canvas)
window = MainWindow(parts, registry.actions(), menu_bar(registry), settings)
views.attach(window)
views.refresh(snapshot)     # as often as the window draws; only what is visible is brought up to date
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.presenters.assignments import AssignmentsModel
from app.presenters.block_chains import block_chains
from app.presenters.canvas import CanvasModel
from app.presenters.charts import ChartsPresenter
from app.presenters.connections import ConnectionsModel, ListenersPresenter
from app.presenters.crowd import LISTED_MAX, Crowd, Thinned
from app.presenters.dead_letters import DeadLettersModel
from app.presenters.events import EventsModel
from app.presenters.gauges import gauges
from app.presenters.in_flight import InFlightModel
from app.presenters.inspector import inspector_facts
from app.presenters.lookups import Lookup
from app.presenters.messages import MessagesModel
from app.presenters.navigator import NavigatorModel
from app.presenters.offsets import OffsetsModel
from app.presenters.owners import Owners
from app.presenters.ownership import OwnershipModel
from app.presenters.panel_presenter import PanelPresenter, TablePresenter
from app.presenters.rate_table import RateTable
from app.presenters.rates import Rates
from app.presenters.rebalances import RebalanceCards
from app.presenters.redriven import RedrivenModel
from app.presenters.reports import ReportsModel, ReportsPresenter
from app.presenters.schemas import RefusalsModel, SchemasPresenter, VersionsModel
from app.presenters.segments import SegmentsModel
from app.presenters.status import StatusModel
from app.presenters.timeline import TimelineModel
from app.presenters.trail import Trail
from broker_core.recording.ownership import Ownership
from broker_core.snapshots import Snapshot
from widgets.formats import Times, session_time
from widgets.i18n import tr
from widgets.main_window import MainWindow, Parts
from widgets.navigator import Navigator, NavRow, NavSection
from widgets.panels.assignments import AssignmentsPanel
from widgets.panels.backpressure import BackpressurePanel
from widgets.panels.charts import ChartsPanel
from widgets.panels.connections import ListenersPanel
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.panels.events import EventsPanel
from widgets.panels.in_flight import InFlightPanel
from widgets.panels.inspector import InspectorFacts, InspectorPanel
from widgets.panels.jobs import JobFacts, JobsPanel
from widgets.panels.log_on_disk import LogOnDiskPanel
from widgets.panels.messages import MessagesPanel
from widgets.panels.offsets import OffsetsPanel
from widgets.panels.rebalances import RebalancesPanel
from widgets.panels.report import ReportPanel
from widgets.panels.schemas import SchemasPanel
from widgets.theme import current_theme


class Views(QObject):
    """The view models. `selected` is the id of what the inspector shows; "" for nothing.

    `lookups` has, by the kind of an id, what knows facts that no snapshot holds; `ways` where a link leads that is no
    thing to look at. `momentChosen(time_ns)` comes whenever
    a person points at a moment in a panel, `refreshed` when a snapshot is shown in all of the window.
    """

    momentChosen = Signal(object)
    refreshed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.owners = Owners()
        self.times = Times()
        self.rates = Rates()
        self.ownership = OwnershipModel(self.owners, self)
        self.assignments = AssignmentsModel(self.owners, self.times, self)
        self.offsets = OffsetsModel(self.owners, self.rates, self)
        self.in_flight = InFlightModel(self.owners, self.times, self)
        self.dead_letters = DeadLettersModel(self.times, self)
        self.redriven = RedrivenModel(self.times, self)
        self.rebalances = RebalanceCards(self.owners, self.times)
        self.rate_table = RateTable(self.rates, self)
        self.messages = MessagesModel(self.times, self)
        self.events = EventsModel(self.owners, self.times, self)
        self.segments = SegmentsModel(self.times, self)
        self.versions = VersionsModel(self)
        self.refusals = RefusalsModel(self.times, self)
        self.schemas: SchemasPresenter | None = None
        self.connections = ConnectionsModel(self.times, self)
        self.listeners: ListenersPresenter | None = None
        self.reports_model = ReportsModel(self)
        self.reports: ReportsPresenter | None = None
        self.charts: ChartsPresenter | None = None
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
        self._ownership = Ownership()
        self._window: MainWindow | None = None
        self._presenters: dict[str, PanelPresenter] = {}

    def _bookmarks(self) -> tuple[NavSection, ...]:
        """Named moments, below everything that the broker has."""
        rows = tuple(
            NavRow(f"bookmark:{time_ns}", name, figure=session_time(time_ns))
            for time_ns, name in self.timeline.bookmarks
        )
        return (NavSection("bookmarks", tr("Bookmarks"), "bookmark", rows, ""),)

    def make_parts(self, canvas: QWidget) -> Parts:
        """The panels over these models."""
        return Parts(
            canvas=canvas,
            navigator=Navigator(),
            messages=MessagesPanel(self.messages),
            assignments=AssignmentsPanel(self.assignments, self.ownership),
            offsets=OffsetsPanel(self.offsets),
            in_flight=InFlightPanel(self.in_flight),
            dead_letters=DeadLettersPanel(self.dead_letters, self.redriven),
            backpressure=BackpressurePanel(),
            charts=ChartsPanel(self.rate_table),
            events=EventsPanel(self.events),
            schemas=SchemasPanel(self.versions, self.refusals),
            listeners=ListenersPanel(self.connections),
            log_on_disk=LogOnDiskPanel(self.segments),
            jobs=JobsPanel(),
            report=ReportPanel(self.reports_model),
            rebalances=RebalancesPanel(),
            inspector=InspectorPanel(),
        )

    def attach(self, window: MainWindow) -> None:
        """Connect the panels of a window made with `make_parts` to their models."""
        self._window = window
        parts = window.parts
        self.add(
            TablePresenter("assignments", parts.assignments, self.assignments, also=self._around_owners, parent=self)
        )
        parts.assignments.groupChosen.connect(self._choose_group)
        self.add(TablePresenter("offsets", parts.offsets, self.offsets, also=self._around_offsets, parent=self))
        self.add(TablePresenter("in_flight", parts.in_flight, self.in_flight, also=self._around_leases, parent=self))
        self.add(
            TablePresenter("dead_letters", parts.dead_letters, self.dead_letters, also=self._around_bin, parent=self)
        )
        self.add(BackpressurePresenter("backpressure", parts.backpressure, self.rates, self))
        self.charts = ChartsPresenter("charts", parts.charts, self.rate_table, self.rates, self)
        self.add(self.charts)
        self.schemas = SchemasPresenter("schemas", parts.schemas, self.versions, self.refusals, self)
        self.schemas.said.connect(window.status.say)
        self.add(self.schemas)
        self.listeners = ListenersPresenter("listeners", parts.listeners, self.connections, self)
        self.add(self.listeners)
        self.reports = ReportsPresenter("report", parts.report, self.reports_model, self)
        self.add(self.reports)
        self.dead_letters.causes_changed.connect(parts.dead_letters.set_causes)
        parts.dead_letters.causeChosen.connect(self.dead_letters.set_cause)
        parts.dead_letters.currentChanged.connect(self._show_letter)
        window.tabShown.connect(lambda _name: self._show_tab())

    def add(self, presenter: PanelPresenter) -> None:
        """`presenter` keeps its tab up to date from now on."""
        self._presenters[presenter.tab] = presenter

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

    def follow_ownership(self, ownership: Ownership) -> None:
        """Another session begins, which `ownership` hears of."""
        self._ownership = ownership
        for one in (self.assignments, self.ownership, self.rebalances):
            one.follow(ownership)

    def restart(self) -> None:
        """Another session begins: forget what was looked up."""
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
        window.set_tab_count("dead_letters", sum(queue.dead for queue in snapshot.queues))
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
                facts = inspector_facts(self.snapshot, self.selected, self.rates, self._ownership)
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

    def _choose_group(self, _name: str) -> None:
        if self.snapshot is not None:
            self._around_owners(self.snapshot)

    def _around_owners(self, snapshot: Snapshot) -> None:
        """The history, of the group that is chosen there."""
        if self._window is None:
            return
        panel, names = self._window.parts.assignments, [group.name for group in snapshot.groups]
        shown = panel.groups.currentText()
        shown = shown if shown in names else (names[0] if names else "")
        panel.set_groups(names, shown)
        if panel.history:
            self.ownership.meet(snapshot, shown)

    def _around_offsets(self, _snapshot: Snapshot) -> None:
        if self._window is not None:
            self._window.parts.offsets.set_note(self.offsets.summary())

    def _around_leases(self, _snapshot: Snapshot) -> None:
        if self._window is not None:
            note = _overfull(self.in_flight.listed, self.in_flight.whole, tr("messages in flight"))
            self._window.parts.in_flight.set_note(note)
            self._window.parts.in_flight.set_messages(self.in_flight.listed)

    def _around_bin(self, snapshot: Snapshot) -> None:
        if self._window is not None:
            panel = self._window.parts.dead_letters
            panel.set_totals(snapshot.totals.dead_lettered, snapshot.totals.redriven)
            panel.set_note(_overfull(self.dead_letters.total, self.dead_letters.whole, tr("dead letters")))
            if not panel.selected_count():  # what is shown beside the table was redriven or purged meanwhile
                self._show_letter(None)

    def _show_letter(self, key: Hashable) -> None:
        if self._window is not None:
            self._window.parts.dead_letters.set_details(None if key is None else self.dead_letters.facts(key))

    def show_jobs(self, jobs: Sequence[JobFacts]) -> None:
        """Show jobs, the newest first."""
        if self._window is not None:
            self._window.parts.jobs.set_jobs(jobs)
            self._window.set_tab_count("jobs", sum(1 for job in jobs if job.state in ("Waiting", "Running")))


class BackpressurePresenter(PanelPresenter):
    """Gauges of whatever can hold a producer back."""

    def __init__(self, tab: str, panel: BackpressurePanel, rates: Rates, parent: QObject | None = None) -> None:
        super().__init__(tab, panel, parent)
        self._gauges = panel
        self._rates = rates

    def show(self, snapshot: Snapshot) -> None:
        """The gauges as they stand."""
        self._gauges.chains.set_chains(block_chains(snapshot, self._rates))
        self._gauges.set_gauges(gauges(snapshot))


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


def _overfull(listed: int, whole: int, what: str) -> str:
    if whole <= listed:
        return ""
    return tr(
        "{listed:,} of {whole:,} {what} are listed; every count is of all.", listed=listed, whole=whole, what=what
    )
