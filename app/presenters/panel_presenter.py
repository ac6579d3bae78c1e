"""What brings one panel up to date. Only the panel in front is; the others wait until they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from PySide6.QtCore import QObject

from app.filters.parsing import help_rows
from app.presenters.owners import Owners
from app.presenters.rates import Rates
from app.sessions.history.history import History
from app.sessions.session_controller import SessionController
from broker_core.filters import Fields
from broker_core.snapshots import Snapshot
from widgets.formats import Times
from widgets.i18n import tr
from widgets.panels.panel import Panel
from widgets.panels.table_panel import TablePanel


@dataclass(frozen=True)
class Sources:
    controller: SessionController
    history: History
    owners: Owners
    times: Times
    rates: Rates


class FilteredModel(Protocol):
    counted: Any
    filter_checked: Any
    filtering_changed: Any
    fields: Fields

    def set_filter(self, text: str) -> None:
        """Show only what fits."""


class SnapshotModel(FilteredModel, Protocol):
    def set_snapshot(self, snapshot: Snapshot) -> None:
        """The rows as they stand."""

    def set_rows(self, rows: tuple[()]) -> None:
        """There are none."""

    def let_in(self) -> None:
        """Show rows that wait."""


class PanelPresenter(QObject):
    panel_class: ClassVar[type[Panel]]
    travels = 0  # through time before it was shown for the last time

    def __init__(self, panel: Panel, parent: QObject | None, *models: QObject) -> None:
        super().__init__(parent)
        self.panel = panel
        for model in models:
            model.setParent(self)

    def show(self, snapshot: Snapshot) -> None:
        """The panel is in front: bring it up to date."""

    def restart(self) -> None:
        """Another session begins; the controller has it."""

    def let_in(self) -> None:
        """Another moment is shown: new rows do not wait."""

    def tab_count(self, _snapshot: Snapshot) -> int | None:
        """The count behind the title of the tab, 0 for none; None if it does not follow snapshots."""
        return None


def connect_filter(panel: Panel, model: FilteredModel) -> None:
    """The panel's filter is the model's, with its fields in the help; a table panel shows the counts."""
    panel.filterChanged.connect(model.set_filter)
    model.filter_checked.connect(panel.set_filter_problem)
    panel.set_filter_help(help_rows(model.fields))
    if isinstance(panel, TablePanel):
        model.filtering_changed.connect(panel.set_filtering)
        model.counted.connect(lambda _shown, total: panel.set_total(total))


class TablePresenter(PanelPresenter):
    def __init__(self, panel: TablePanel, model: SnapshotModel, parent: QObject | None, *models: QObject) -> None:
        super().__init__(panel, parent, *models)
        self._table = model
        connect_filter(panel, model)

    def restart(self) -> None:
        self._table.set_rows(())

    def let_in(self) -> None:
        self._table.let_in()

    def show(self, snapshot: Snapshot) -> None:
        self._table.set_snapshot(snapshot)
        self.show_around(snapshot)

    def show_around(self, snapshot: Snapshot) -> None:
        """Notes and totals beside the table."""


def overfull_words(listed: int, whole: int, what: str) -> str:
    """The note of a table that lists less than there is; "" if it lists all."""
    if whole <= listed:
        return ""
    return tr(
        "{listed:,} of {whole:,} {what} are listed; every count is of all.", listed=listed, whole=whole, what=what
    )
