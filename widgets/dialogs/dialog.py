from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTableWidget, QTableWidgetItem, QWidget

from widgets.i18n import tr
from widgets.panels.cell_painter import tabular_font

MARGINS = (16, 14, 16, 14)


class Dialog(QDialog):
    def __init__(self, title: str, parent: QWidget | None, *, modal: bool = False, once: bool = False) -> None:
        """With `once` it is deleted when it closes."""
        super().__init__(parent, modal=modal)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, once)

    def make_buttons(self, accept: str, reject: str = "") -> None:
        """`accept_button` does `_accept`. What is made later comes after the buttons for the Tab key."""
        self.buttons = QDialogButtonBox(self)
        self.accept_button = self.buttons.addButton(accept, QDialogButtonBox.ButtonRole.AcceptRole)
        self.accept_button.setDefault(True)
        self.cancel_button = self.buttons.addButton(reject or tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)

    def _accept(self) -> None:
        self.accept()


class TextTable(QTableWidget):
    """Rows of texts that are only read."""

    def __init__(self, rows: int, columns: int, name: str, parent: QWidget | None = None) -> None:
        super().__init__(rows, columns, parent)
        self.setAccessibleName(name)
        self.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def put(self, row: int, column: int, text: str, *, bold: bool = False) -> QTableWidgetItem:
        item = QTableWidgetItem(text)
        item.setFont(tabular_font(weight=QFont.Weight.Bold if bold else QFont.Weight.Normal))
        self.setItem(row, column, item)
        return item
