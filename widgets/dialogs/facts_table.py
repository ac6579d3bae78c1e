"""An answer in a sentence, and a table that proves it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QGuiApplication, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QProgressBar,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from widgets.facts import let_wrap, plain_label
from widgets.i18n import tr
from widgets.panels.cell_painter import as_plain, tabular_font
from widgets.theme import current_theme, qcolour


@dataclass(frozen=True, slots=True)
class FactsTable:
    """`rows` under `headers`; in `strong` are the numbers of rows that matter. `numeric` columns stand to the right."""

    sentence: str
    headers: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    strong: frozenset[int] = frozenset()
    numeric: frozenset[int] = frozenset()
    note: str = ""
    state: str = ""  # a colour token for the sentence; "" for none


class FactsTableDialog(QDialog):
    """Shows that it is working until `set_facts`."""

    def __init__(self, title: str, waiting: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(980, 520)
        self.sentence = plain_label(waiting, "heading", self)
        self.note = plain_label("", "muted", self)
        for label in (self.sentence, self.note):
            let_wrap(label)
        self.progress = QProgressBar(self)
        self.progress.setRange(0, 1000)
        self.filter = QLineEdit(self)
        self.filter.setPlaceholderText(tr("Filter"))
        self.filter.setClearButtonEnabled(True)
        self.filter.setAccessibleName(tr("Filter the rows"))
        self.filter.textChanged.connect(self._show_only)
        self.table = QTableWidget(self)
        self.table.setAccessibleName(title)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.table.setShowGrid(False)
        self.table.hide()
        self.filter.hide()
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        copy = self.buttons.addButton(tr("Copy"), QDialogButtonBox.ButtonRole.ActionRole)
        copy.setAutoDefault(False)
        self.buttons.button(QDialogButtonBox.StandardButton.Close).setDefault(True)
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        copy.clicked.connect(self._copy)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for widget in (self.sentence, self.progress, self.filter, self.table, self.note, self.buttons):
            column.addWidget(widget, 1 if widget is self.table else 0)

    def set_progress(self, fraction: float) -> None:
        """How far the work is, 0 to 1."""
        self.progress.setValue(round(fraction * 1000))

    def set_facts(self, facts: FactsTable) -> None:
        """The answer."""
        theme, table = current_theme(), self.table
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
                table.setItem(row, column, item)
        for column in range(len(facts.headers)):
            header = table.horizontalHeaderItem(column)
            if header is not None and column in facts.numeric:
                header.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        table.resizeColumnsToContents()
        if facts.headers:
            table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.setVisible(bool(facts.rows))
        self.filter.setVisible(len(facts.rows) > 12)

    def texts(self) -> list[tuple[str, ...]]:
        """What the table says, row by row."""
        return [
            tuple(item.text() for column in range(self.table.columnCount()) if (item := self.table.item(row, column)))
            for row in range(self.table.rowCount())
        ]

    def _show_only(self, text: str) -> None:
        wanted = text.strip().casefold()
        for row, texts in enumerate(self.texts()):
            self.table.setRowHidden(row, wanted not in " ".join(texts).casefold())

    def _copy(self) -> None:
        """The sentence and the table, with tabs, as a table program takes them."""
        headers = [self.table.horizontalHeaderItem(column) for column in range(self.table.columnCount())]
        lines = [self.sentence.text(), "\t".join(header.text() for header in headers if header is not None)]
        lines += ["\t".join(texts) for texts in self.texts()]
        QGuiApplication.clipboard().setText("\n".join(lines))
