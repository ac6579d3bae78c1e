"""Keeps one panel up to date. Only the panel in front is updated; the others wait until they are in front."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject

from app.presenters.columns import ColumnModel
from app.presenters.filters import help_rows
from app.presenters.owners import Owners
from app.presenters.table import SnapshotModel, TableModel
from app.sessions.history.past import History
from app.sessions.history.series import SessionSeries
from app.sessions.session_controller import SessionController
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
    dead_letter_topics: Callable[[], Collection[str]] = tuple
    """Topics that contain dead letters whatever they are called."""

    @property
    def series(self) -> SessionSeries:
        """The series of the open session."""
        return self.controller.collectors.series


P = TypeVar("P", bound=Panel)


class PanelPresenter(QObject, Generic[P]):
    """Makes its panel over its models. The filter of the panel is that of the first one."""

    panel_class: type[P]
    counts_all = False  # of a snapshot that is too large to be listed

    def __init__(self, sources: Sources, *models: ColumnModel[Any]) -> None:
        super().__init__()
        self._controller = sources.controller
        self.panel: P = self.panel_class(*models)  # type: ignore[arg-type]  # each takes its models
        for model in models:
            model.setParent(self)
            model.filter_checked.connect(self.panel.set_filter_problem)
        self._filtered: ColumnModel[Any] | None = None
        if models:
            self.filter_in(models[0])
            if isinstance(models[0], TableModel) and isinstance(self.panel, TablePanel):
                models[0].filtering_changed.connect(self.panel.set_filtering)
                models[0].counted.connect(lambda _shown, total: self.panel.set_total(total))

    def filter_in(self, table: ColumnModel[Any]) -> None:
        """The panel's filter, and its help, are those of `table` from now on."""
        if self._filtered is not None:
            self.panel.filterChanged.disconnect(self._filtered.set_filter)
        self._filtered = table
        self.panel.filterChanged.connect(table.set_filter)
        self.panel.filter_field.set_help(help_rows(table.fields))

    def show(self, snapshot: Snapshot) -> None:
        """The panel is in front: bring it up to date."""

    def restart(self) -> None:
        """Another session begins; the controller has it."""

    def let_in(self) -> None:
        """Another moment is shown: new rows do not wait."""

    def thing_of(self, _key: Any) -> str:
        """The id of what the inspector shows when the row with this key is chosen; "" for nothing."""
        return ""

    def tab_count(self, _snapshot: Snapshot) -> int | None:
        """The count behind the title of the tab, 0 for none; None if it does not follow snapshots."""
        return None


class TablePresenter(PanelPresenter[P]):
    def __init__(self, sources: Sources, model: SnapshotModel[Any], *models: ColumnModel[Any]) -> None:
        super().__init__(sources, model, *models)
        self._table = model
        self._snapshot: Snapshot | None = None

    def restart(self) -> None:
        self._snapshot = None
        self._table.set_rows(())

    def let_in(self) -> None:
        self._table.let_in()

    def show(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._table.set_snapshot(snapshot)
        self.show_around(snapshot)

    def show_again(self) -> None:
        """Show the same snapshot again, of which more is known now."""
        if self._snapshot is not None:
            self.show(self._snapshot)

    def show_around(self, snapshot: Snapshot) -> None:
        """Notes and totals beside the table."""


def overfull_words(listed: int, whole: int, what: str) -> str:
    """The note of a table that lists less than there is; "" if it lists all."""
    if whole <= listed:
        return ""
    return tr(
        "{listed:,} of {whole:,} {what} are listed; the counts include all of them.",
        listed=listed,
        whole=whole,
        what=what,
    )
