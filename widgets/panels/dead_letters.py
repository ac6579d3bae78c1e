from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QAction, QPainter
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QMenu, QToolButton, QWidget

from widgets.cells import CellDelegate, Index
from widgets.controls import named
from widgets.i18n import tr
from widgets.panels.message_details import MessageDetails
from widgets.panels.panel import declared
from widgets.panels.payload import VIEWS
from widgets.panels.two_tables import TwoTablesPanel
from widgets.row_table import RowTable
from widgets.side_by_side import side_by_side
from widgets.theme import Theme

MORE = (("try_redrive", "try_redrive_all", "edit_letter"), ("purge_selected", "purge_all"), ("stop_redrive",))
_CAUSE = Qt.ItemDataRole.UserRole
_COUNT = Qt.ItemDataRole.UserRole + 100


class CauseDelegate(CellDelegate):
    """A cause, cut if it is too long, and its count, which is not."""

    def draw(self, painter: QPainter, rect: QRect, index: Index, theme: Theme) -> None:
        inner = rect.adjusted(8, 0, -8, 0)
        number = str(index.data(_COUNT) or "")
        width = round(self._metrics.horizontalAdvance(number))
        self.text(painter, inner, number, theme.muted, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter))
        self.text(painter, inner.adjusted(0, 0, -width - 8, 0), str(index.data() or "").replace("\n", " "), theme.text)


class DeadLettersPanel(TwoTablesPanel):
    """Columns: died, cause, key, payload, origin, attempts, age, redrives; the second table has what was redriven.

    `causeChosen(cause)`, None for all; `redrivenChosen(key)` on a row of the second table.
    """

    info = declared("dead_letters")
    multiple = True

    causeChosen = Signal(object)
    redrivenChosen = Signal(object)

    def __init__(self, model: QAbstractItemModel, redriven: QAbstractItemModel) -> None:
        self.details = MessageDetails(tr("Select a dead letter to read it here."))
        self.details.payload.show_view(len(VIEWS))  # why it died comes before what it says
        self.causes = QListWidget()
        table = named(RowTable(redriven), tr("Redriven"))
        none = tr("Nothing has been redriven yet."), tr("Redrive dead letters to see the result for each message here.")
        offer = tr("Show the dead letters")
        tip = tr("What the redrive did to each message")
        super().__init__(model, table, tr("Redriven"), tip, (*none, offer))
        current = table.selectionModel().currentRowChanged
        current.connect(lambda index, _old: self.redrivenChosen.emit(self._key_at(index)))
        self.offerTaken.connect(lambda: self.second_button.setChecked(False))
        self.causes.currentItemChanged.connect(lambda _item, _old: self.causeChosen.emit(self.chosen_cause))
        self.selectionChanged.connect(lambda _count: self._count_in_buttons())
        self.set_causes([])

    def put_commands(self, actions: Mapping[str, QAction]) -> None:
        super().put_commands(actions)
        self.buttons["redrive_selected"].setProperty("role", "primary")
        more = QToolButton(self, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup)
        more.setText(tr("More"))
        more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        menu = QMenu(more, toolTipsVisible=True)
        for part in MORE:
            menu.addSeparator()
            menu.addActions([actions[command] for command in part])
        more.setMenu(menu)
        self.title_row.addWidget(more)
        self._count_in_buttons()

    def body(self) -> QWidget:
        self.causes.setAccessibleName(tr("Causes"))
        self.causes.setMinimumWidth(110)
        self.causes.setItemDelegate(CauseDelegate(self.causes))
        self.causes.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.causes.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.setMinimumWidth(260)
        parts, widths = (self.causes, self.table, self.details), (160, 900, 300)
        return side_by_side(self, *parts, stretch=(0, 1, 0), widths=widths, collapsible=True)

    def set_totals(self, dead_lettered: int, redriven: int) -> None:
        if self.shows_second:
            return
        if not dead_lettered:
            self.set_empty_words()
        else:
            first = tr("No dead letters left.")
            if redriven == 1:
                first = tr("No dead letters left: 1 was redriven.")
            elif redriven:
                first = tr("No dead letters left: {count:,} were redriven.", count=redriven)
            self.set_empty_words(first, tr(self.info.how))

    def set_causes(self, causes: list[tuple[str, int]]) -> None:
        """The causes with their counts, the most frequent first; the chosen one stays chosen."""
        chosen = self.chosen_cause
        total = sum(number for _cause, number in causes)
        wanted: list[tuple[str | None, int]] = [(None, total), *causes]
        self.causes.blockSignals(True)
        while self.causes.count() > len(wanted):
            self.causes.takeItem(self.causes.count() - 1)
        while self.causes.count() < len(wanted):
            self.causes.addItem(QListWidgetItem())
        current = 0
        for place, (cause, number) in enumerate(wanted):
            item = self.causes.item(place)
            item.setText(tr("All causes") if cause is None else cause)
            item.setData(_CAUSE, cause)
            item.setData(_COUNT, f"{number:,}")
            if cause is not None and cause == chosen:
                current = place
        self.causes.setCurrentRow(current)
        self.causes.blockSignals(False)
        if chosen is not None and current == 0:
            self.causeChosen.emit(None)

    @property
    def chosen_cause(self) -> str | None:
        item = self.causes.currentItem()
        cause: str | None = item.data(_CAUSE) if item is not None else None
        return cause

    @property
    def listed_count(self) -> int:
        return 0 if self.shows_second else self.shown_count()

    def _on_rows(self, *what: object) -> None:
        super()._on_rows(*what)
        self._count_in_buttons()

    def _on_cells(self, first: QModelIndex, last: QModelIndex) -> None:
        super()._on_cells(first, last)
        self._count_in_buttons()

    def _count_in_buttons(self) -> None:
        if not self.buttons:
            return
        chosen, listed = self.selected_count(), self.listed_count
        some = 0 < listed < (self._total or 0)  # others wait, or do not fit the filter
        words = tr("Redrive listed ({shown:,})", shown=listed) if some else tr("Redrive all ({shown:,})", shown=listed)
        self.buttons["redrive_selected"].setText(tr("Redrive selected ({chosen:,})", chosen=chosen))
        self.buttons["redrive_all"].setText(words)
