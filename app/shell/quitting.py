"""Closing the window while work is going on: a person is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from app.commands.jobs import Job
from widgets.i18n import tr


def ask_to_quit(window: QWidget, running: Sequence[Job], quit_now: Callable[[], object]) -> None:
    """Ask whether `running` may be given up; `quit_now()` is called where it may."""
    names = ", ".join(job.facts.title for job in running)
    box = QMessageBox(QMessageBox.Icon.Question, "Brokerscope", "", QMessageBox.StandardButton.NoButton, window)
    box.setObjectName("quit_question")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(tr("{jobs} is not finished. Quit and give it up?", jobs=names))
    stay = box.addButton(tr("Let it finish"), QMessageBox.ButtonRole.RejectRole)
    box.addButton(tr("Quit"), QMessageBox.ButtonRole.AcceptRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.accepted.connect(quit_now)
    box.open()
