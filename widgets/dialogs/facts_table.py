from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QGuiApplication, QKeySequence
from PySide6.QtWidgets import (
    QCheckBox,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QProgressBar,
    QTableWidgetItem,
    QWidget,
)

from widgets.boxes import vbox
from widgets.bytes_text import as_plain
from widgets.controls import plain_label
from widgets.dialogs.dialog import Dialog, TextTable
from widgets.i18n import tr
from widgets.icons import icon
from widgets.theme import current_theme, px, qcolour, tabular_font

LEAST_WIDTH = 560


@dataclass(frozen=True, slots=True)
class FactsTable:
    """`rows` under `headers`; in `strong` are the numbers of rows that matter. `numeric` columns stand to the right.

    `wide` is the column that takes the room that is left; `folded` rows are shown on demand. `verdicts` has, by the
    number of a row, a column that has a colour token and an icon beside its word.
    """

    sentence: str
    headers: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    strong: frozenset[int] = frozenset()
    numeric: frozenset[int] = frozenset()
    note: str = ""
    state: str = ""  # a colour token for the sentence; "" for none
    wide: int = 0
    folded: frozenset[int] = frozenset()
    verdicts: Mapping[int, tuple[int, str, str]] = field(default_factory=dict)


class FactsTableDialog(Dialog):
    def __init__(self, title: str, waiting: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent, once=True)
        self.sentence = plain_label(waiting, "heading", self, fill=True)
        self.note = plain_label("", "muted", self, fill=True)
        self.progress = QProgressBar(self)
        self.progress.setRange(0, 1000)
        self.filter = QLineEdit(self, placeholderText=tr("Filter"), clearButtonEnabled=True)
        self.filter.setAccessibleName(tr("Filter the rows"))
        self.filter.textChanged.connect(lambda _text: self._show_only())
        self.unfold = QCheckBox(self)
        self.unfold.hide()
        self.unfold.toggled.connect(lambda _on: self._show_only())
        self._folded: frozenset[int] = frozenset()
        self.table = TextTable(0, 0, title, self)
        self.table.setSizeAdjustPolicy(TextTable.SizeAdjustPolicy.AdjustToContents)
        self.table.hide()
        self.filter.hide()
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        copy = self.buttons.addButton(tr("Copy"), QDialogButtonBox.ButtonRole.ActionRole)
        copy.setAutoDefault(False)
        self.buttons.button(QDialogButtonBox.StandardButton.Close).setDefault(True)
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        copy.clicked.connect(self._copy)
        self.buttons.rejected.connect(self.reject)
        above = (self.sentence, self.progress, self.filter, self.unfold)
        self._column = vbox(*above, (self.table, 1), self.note, self.buttons, on=self)
        self._fit_rows()

    def _fit_rows(self) -> None:
        """Size the dialog to its rows, within the window; the widest column shrinks, but not below its header."""
        most = self.largest()
        wanted = self.table.sizeHint().width() + self.table.verticalScrollBar().sizeHint().width()
        margins = self._column.contentsMargins()
        width = min(most.width(), max(px(LEAST_WIDTH), wanted + margins.left() + margins.right()))
        self.resize(width, min(most.height(), self._column.totalHeightForWidth(width)))
        self._column.activate()

    def set_progress(self, fraction: float) -> None:
        self.progress.setValue(round(fraction * 1000))

    def set_facts(self, facts: FactsTable) -> None:
        theme, table, centre = current_theme(), self.table, self.geometry().center()
        self.sentence.setText(facts.sentence)
        self.sentence.setStyleSheet(f"color: {theme.colour(facts.state)};" if facts.state else "")
        self.note.setText(facts.note)
        self.note.setVisible(bool(facts.note))
        self.progress.hide()
        table.clear()
        table.setColumnCount(len(facts.headers))
        table.setRowCount(len(facts.rows))
        table.setHorizontalHeaderLabels(list(facts.headers))
        for row, texts in enumerate(facts.rows):
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setToolTip(as_plain(text))
                if column in facts.numeric:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                    item.setFont(tabular_font(12))
                if row in facts.strong:
                    item.setBackground(QBrush(qcolour(theme.accent_soft)))
                if (row in facts.verdicts) and facts.verdicts[row][0] == column:
                    _place, token, picture = facts.verdicts[row]
                    item.setForeground(QBrush(qcolour(theme.colour(token))))
                    item.setIcon(icon(picture, theme, token))
                table.setItem(row, column, item)
        for column in range(len(facts.headers)):
            header = table.horizontalHeaderItem(column)
            if header is not None and column in facts.numeric:
                header.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        table.resizeColumnsToContents()
        table.setVisible(bool(facts.rows))
        self.filter.setVisible(len(facts.rows) > 12)
        self._folded = facts.folded
        self.unfold.setText(tr("Show the {count:,} that do not differ", count=len(facts.folded)))
        self.unfold.setVisible(bool(facts.folded))
        self._show_only()
        self._fit_rows()
        if self.isVisible():  # or what has grown ends beyond the screen
            self.move(self.pos() + centre - self.geometry().center())
        columns = table.horizontalHeader()
        others = columns.length() - columns.sectionSize(facts.wide)
        if facts.headers and others + columns.sectionSizeHint(facts.wide) <= table.viewport().width():
            columns.setSectionResizeMode(facts.wide, QHeaderView.ResizeMode.Stretch)

    def texts(self) -> list[tuple[str, ...]]:
        return [
            tuple(item.text() for column in range(self.table.columnCount()) if (item := self.table.item(row, column)))
            for row in range(self.table.rowCount())
        ]

    def _show_only(self) -> None:
        wanted = self.filter.text().strip().casefold()
        folded = frozenset() if self.unfold.isChecked() else self._folded
        for row, texts in enumerate(self.texts()):
            self.table.setRowHidden(row, row in folded or wanted not in " ".join(texts).casefold())

    def _copy(self) -> None:
        headers = [self.table.horizontalHeaderItem(column) for column in range(self.table.columnCount())]
        lines = [self.sentence.text(), "\t".join(header.text() for header in headers if header is not None)]
        lines += ["\t".join(texts) for texts in self.texts()]
        QGuiApplication.clipboard().setText("\n".join(lines))
