"""Export report...: where to, and whether to open it when it is there."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from widgets.facts import plain_label, set_plain_tip


def folder_problem(text: str) -> str:
    """Why a report cannot be written there, in one sentence; "" where it can."""
    if not text.strip():
        return "Choose a folder for the report."
    folder = Path(text.strip()).expanduser()
    if not folder.is_absolute():
        return "Give the folder's whole path."
    if folder.exists() and not folder.is_dir():
        return "This is a file, not a folder; choose a folder."
    parent = next((one for one in (folder, *folder.parents) if one.exists()), None)
    if parent is None or not parent.is_dir() or not os.access(parent, os.W_OK):
        return "Nothing can be written there; choose another folder."
    return ""


class ExportReportDialog(QDialog):
    """Folder and one choice. `exportRequested(folder, open_when_finished)` on Export."""

    exportRequested = Signal(str, bool)

    def __init__(
        self, folder: str, about: str = "", open_when_finished: bool = True, parent: QWidget | None = None
    ) -> None:
        """`about` says what the report is made of, as "the session up to 02:14"."""
        super().__init__(parent)
        self.setWindowTitle("Export report")
        self.setModal(True)
        self.folder = QLineEdit(folder, self)
        self.folder.setAccessibleName("Folder")
        self.browse = QPushButton("Browse...", self)
        self.open_when_finished = QCheckBox("Open the report when it is finished", self)
        self.open_when_finished.setChecked(open_when_finished)
        self.problem = plain_label("", "muted", self)
        self.problem.setWordWrap(True)
        buttons = QDialogButtonBox(self)
        self.export_button = buttons.addButton("Export", QDialogButtonBox.ButtonRole.AcceptRole)
        self.export_button.setDefault(True)
        buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        row = QHBoxLayout()
        row.addWidget(self.folder, 1)
        row.addWidget(self.browse)
        words = plain_label(about or "A report of the recorded session: one page and its tables.", "muted", self)
        words.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(10)
        column.addWidget(words)
        column.addWidget(plain_label("Folder", "section", self))
        column.addLayout(row)
        column.addWidget(self.open_when_finished)
        column.addWidget(self.problem)
        column.addStretch(1)
        column.addWidget(plain_label("It runs as a job; closing this dialog does not stop it.", "muted", self))
        column.addWidget(buttons)
        self.resize(560, 250)
        self.folder.textChanged.connect(lambda _text: self._judge())
        self.browse.clicked.connect(self._browse)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        self._judge()

    def _judge(self) -> None:
        problem = folder_problem(self.folder.text())
        folder = Path(self.folder.text().strip()).expanduser()
        note = "A report that is there is replaced." if not problem and (folder / "report.html").exists() else ""
        self.problem.setText(problem or note)
        self.export_button.setEnabled(not problem)
        set_plain_tip(self.export_button, problem)

    def _browse(self) -> None:
        found = QFileDialog.getExistingDirectory(self, "Folder for the report", self.folder.text())
        if found:
            self.folder.setText(found)

    def _accept(self) -> None:
        if self.export_button.isEnabled():
            self.accept()
            folder = str(Path(self.folder.text().strip()).expanduser())
            self.exportRequested.emit(folder, self.open_when_finished.isChecked())
