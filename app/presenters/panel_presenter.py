"""What brings one panel up to date. Only the panel in front is updated; the others wait until they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from PySide6.QtCore import QObject

from app.filters.help import help_rows
from broker_core.filters import Fields
from broker_core.snapshots import Snapshot
from widgets.panels.panel import Panel
from widgets.panels.table_panel import TablePanel


class SnapshotTable(Protocol):
    """A table model over snapshots."""

    counted: Any
    filter_judged: Any
    sifted: Any
    fields: Fields

    def set_snapshot(self, snapshot: Snapshot) -> None:
        """The rows as they stand."""

    def set_filter(self, text: str) -> None:
        """Show only what fits."""


class PanelPresenter(QObject):
    """Keeps `panel`, the tab `tab`, up to date. A panel that needs more than snapshots has a subclass of its own."""

    def __init__(self, tab: str, panel: Panel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.tab = tab
        self.panel = panel

    def show(self, snapshot: Snapshot) -> None:
        """The panel is in front: bring it up to date."""

    def restart(self) -> None:
        """Another session begins."""


class TablePresenter(PanelPresenter):
    """Fills a table from its model, and connects the filter between them."""

    def __init__(
        self,
        tab: str,
        panel: TablePanel,
        model: SnapshotTable,
        *,
        also: Callable[[Snapshot], object] | None = None,
        parent: QObject | None = None,
    ) -> None:
        """`also(snapshot)` is called after the table was brought up to date: notes, totals."""
        super().__init__(tab, panel, parent)
        self._model = model
        self._also = also
        panel.filterChanged.connect(model.set_filter)
        model.filter_judged.connect(panel.set_filter_problem)
        model.sifted.connect(panel.set_sifting)
        panel.set_filter_help(help_rows(model.fields))
        model.counted.connect(lambda _shown, total: panel.set_total(total))

    def show(self, snapshot: Snapshot) -> None:
        """Rows, then what stands around them."""
        self._model.set_snapshot(snapshot)
        if self._also is not None:
            self._also(snapshot)
