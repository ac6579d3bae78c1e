"""One window for all tests of the program, put back between them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QDialog,
    QHeaderView,
    QLineEdit,
    QToolButton,
    QWidget,
)
from shiboken6 import isValid

from app.shell.workbench import Workbench
from widgets.dialogs.scenario_editor import ScenarioEditor
from widgets.theme import scale
from widgets.window_layout import WindowLayout

SIZE = (1600, 1000)


def end(*opened: Workbench) -> None:
    """Nothing of these windows is left: nobody runs an event loop here that would delete them."""
    for workbench in opened:
        workbench.quit()
        workbench.window.deleteLater()
        workbench.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


class OneWindow:
    """Whoever takes it opens a scenario, which forgets the session before."""

    def __init__(self, app: QApplication, sessions: Path) -> None:
        self._app = app
        self._sessions = sessions
        self._workbench: Workbench | None = None
        self._inputs: list[tuple[QObject, Any, Any]] = []
        self._dialogs: list[QDialog] = []

    def take(self) -> Workbench:
        """The window as a new one is."""
        if self._workbench is None:
            self._workbench = Workbench(self._app, theme="light", sessions=self._sessions)
            self._inputs = list(_inputs(self._workbench.window))
            self._dialogs = self._workbench.window.findChildren(QDialog)
        return self._workbench

    def give_back(self, workbench: Workbench) -> bool:
        """Whether it is the one; nothing of its session, and of what was done to it, is left then."""
        if workbench is not self._workbench:
            return False
        workbench.window.setUpdatesEnabled(True)
        QApplication.processEvents()
        workbench.frames.stop()
        workbench.controller.close()
        workbench.controller.time.speed = 1.0
        rmtree(self._sessions, ignore_errors=True)
        window = workbench.window
        kept = window.findChildren(ScenarioEditor) or workbench.settings.saved_filters or workbench.jobs.facts()
        if kept or workbench.appearance.theme != "light" or scale() != 1:
            self.end()
            return True
        for dialog in window.findChildren(QDialog):
            dialog.close()
            if dialog not in self._dialogs:
                dialog.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        for widget, kept, put_back in self._inputs:
            if isValid(widget):
                put_back(kept)
        workbench.settings._here.clear()
        if workbench.canvas.arranging.on:
            workbench.registry.trigger("arrange")
        if popup := QApplication.activePopupWidget():
            popup.close()
        window.set_layout(WindowLayout())
        workbench.canvas.fit()
        return True

    def end(self) -> None:
        """The window is gone."""
        if self._workbench is not None:
            end(self._workbench)
        self._workbench = None


def _inputs(window: QWidget) -> Iterator[tuple[QObject, Any, Any]]:
    """Each thing that a person may change, what it holds, and what gives it that again."""
    for edit in window.findChildren(QLineEdit):
        yield edit, edit.text(), edit.setText
    for combo in window.findChildren(QComboBox):
        yield combo, max(combo.currentIndex(), 0), combo.setCurrentIndex  # what fills one later chooses the first
    for button in window.findChildren(QAbstractButton):
        if button.isCheckable() and not (isinstance(button, QToolButton) and button.defaultAction()):
            yield button, button.isChecked(), button.setChecked
    for header in window.findChildren(QHeaderView):
        yield header, header.saveState(), header.restoreState
