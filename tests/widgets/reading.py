"""What widgets show, as a person reads it."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QAbstractItemView, QLabel, QTableWidget

from widgets.controls import LinkButton
from widgets.dialogs.assignors import AssignorsDialog
from widgets.facts import FactsGrid
from widgets.overlays import RING_ROOM, Ring
from widgets.panels.backpressure import BlockChains
from widgets.panels.inspector import InspectorPanel
from widgets.panels.report import FindingFacts, ReportPanel


def _rows(grid: FactsGrid) -> list[tuple[QLabel, QLabel, LinkButton]]:
    return [row for row in grid._rows if not (row[1].isHidden() and row[2].isHidden())]


def facts_of(grid: FactsGrid) -> list[tuple[str, str]]:
    return [(name.text(), value.text()) for name, value, _link in _rows(grid)]


def _links(inspector: InspectorPanel) -> list[LinkButton]:
    grids = [grid for _heading, grid in inspector.sections.parts if not grid.isHidden()]
    return [link for grid in grids for _name, _value, link in _rows(grid) if not link.isHidden()]


def links(inspector: InspectorPanel) -> dict[str, str]:
    """What each says, and where it leads."""
    return {link.whole: link.target for link in _links(inspector)}


def links_of(chains: BlockChains) -> list[LinkButton]:
    return [link.button for line in chains._lines for link in line.links]


def link(inspector: InspectorPanel, target: str) -> LinkButton | None:
    return next((link for link in _links(inspector) if link.target == target), None)


def shown_rows(table: QTableWidget) -> list[list[str]]:
    items = [[table.item(row, at) for at in range(table.columnCount())] for row in range(table.rowCount())]
    return [["" if item is None else str(item.text()) for item in row] for row in items]


def column(dialog: AssignorsDialog, name: str) -> list[str]:
    place = 2 + [plan.name for plan in dialog._plans].index(name)
    return [row[place] for row in shown_rows(dialog.table)]


def words(listed: QAbstractItemView) -> list[str]:
    rows = listed.model()
    return [rows.index(row, 0).data(Qt.ItemDataRole.UserRole) for row in range(rows.rowCount())]


def findings(panel: ReportPanel) -> tuple[FindingFacts, ...]:
    return panel._shown[0] or ()


def sentence(panel: ReportPanel) -> str:
    """What stands there if there are no findings."""
    label = panel._area.findChild(QLabel)
    return label.text() if label is not None and not findings(panel) else ""


def around(ring: Ring) -> QRect | None:
    return None if ring.isHidden() else ring.geometry().adjusted(RING_ROOM, RING_ROOM, -RING_ROOM, -RING_ROOM)
