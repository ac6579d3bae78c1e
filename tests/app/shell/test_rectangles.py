"""No part of any panel or dialog lies over another or is cut: on small windows, with large words, in German, beside
the navigator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
from PySide6.QtCore import QEvent, QRect
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QInputDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QWidget,
)

from app.environment.language import install_language
from app.environment.paths import find_scenario
from app.shell.workbench import Workbench
from tests.app.dialogs import choose
from tests.app.one_window import end
from tests.long_form import form, some
from widgets.controls import LinkButton
from widgets.dialogs.form import FormDialog, SettingsDialog
from widgets.panels.dead_letters import DeadLettersPanel

PARTS = (QLabel, QAbstractButton, QLineEdit, QComboBox, QAbstractItemView, QPlainTextEdit)
LEAST_ROWS = 20  # pixels
#: language, size of the window, factor of the type, whether the navigator is open
WINDOWS = [
    *((language, (1280, 800), factor, False) for language in ("en", "de") for factor in (1.0, 1.15, 1.5)),
    ("en", (1280, 800), 1.0, True),
    *(("en", (1024, 700), factor, navigator) for factor in (1.0, 1.15, 1.5) for navigator in (False, True)),
    *(("de", size, 1.75, False) for size in ((1280, 800), (1024, 700))),
    ("de", (1024, 700), 1.5, False),
]
GERMAN, BESIDE_NAVIGATOR = ("de", (1024, 700), 1.5, False), ("en", (1024, 700), 1.0, True)


@pytest.fixture(scope="module")
def workbench(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[Workbench]:
    language, size, factor, navigator = request.param
    install_language(qapp, language)
    made = Workbench(qapp, theme="light", record=False)
    made.settings.hints = False
    made.controller.open(find_scenario("first-session"))
    made.window.resize(*size)
    made.window.show()
    made.appearance.choose_scale(factor)
    made.window.open_left(navigator)
    made.controller.time.run_until(25_000_000_000)
    yield made
    made.appearance.choose_scale(1.0)
    end(made)
    install_language(qapp, "en")


def parts(root: QWidget) -> Iterator[QWidget]:
    """What is seen of `root`, without what is inside of a part."""
    for one in root.findChildren(QWidget):
        above = one.parentWidget()
        while above is not None and above is not root and not isinstance(above, PARTS):
            above = above.parentWidget()
        if above is root and isinstance(one, PARTS) and one.isVisible() and not one.visibleRegion().isEmpty():
            yield one


def seen(one: QWidget) -> QRect:
    shown = one.visibleRegion().boundingRect()
    return QRect(one.mapTo(one.window(), shown.topLeft()), shown.size())


def called(one: QWidget) -> str:
    text = one.text() if isinstance(one, QLabel | QAbstractButton) else one.accessibleName()
    return f"{type(one).__name__} {text!r}"


def faults(root: QWidget) -> Iterator[str]:
    found = list(parts(root))
    for one, other in combinations(found, 2):
        common = seen(one) & seen(other)
        if common.width() > 2 and common.height() > 2:
            yield f"{called(one)} lies over {called(other)}"
    for one in found:
        if isinstance(one, QLabel) and one.text() and not one.wordWrap() and not one.toolTip():
            needed = max(one.fontMetrics().horizontalAdvance(line) for line in one.text().splitlines() or [""])
            if needed > one.contentsRect().width() + 1 and "<" not in one.text():
                yield f"{called(one)} is cut"
        elif isinstance(one, LinkButton) and one.whole in one.toolTip():
            continue  # what is cut of it is in its tool tip
        elif isinstance(one, QPushButton | QCheckBox) and one.minimumSizeHint().width() > one.width() + 1:
            yield f"{called(one)} is cut"
        elif isinstance(one, QAbstractItemView) and one.viewport().height() < LEAST_ROWS:
            yield f"{called(one)} has no room for a row"


@pytest.mark.parametrize("workbench", some(WINDOWS, {str(GERMAN), str(BESIDE_NAVIGATOR)}), indirect=True)
def test_nothing_lies_over_another_and_nothing_is_cut(workbench: Workbench) -> None:
    told = []
    for panel in workbench.window.parts.panels:
        workbench.window.show_tab(panel.info.name)
        for _ in range(4):
            workbench.draw()
            QApplication.processEvents()
        told += [f"{panel.info.name}: {fault}" for fault in faults(panel)]
    assert told == []


# What commands are asked about, each about the first that allows it; they open a dialog, except these.
SELECTED = ("", "consumer:indexer-1", "topic:commits", "group:indexers", "queue:builds", "worker:builder-1")
OTHERS = {"next_lesson", "lesson_over"}
LEAST_DIALOGS = 60


def opened(workbench: Workbench) -> Iterator[QDialog]:
    """Each dialog that a command opens, one after the other."""
    registry, panel = workbench.registry, workbench.window.tab(DeadLettersPanel)
    workbench.window.show_tab(panel.info.name)
    workbench.draw()
    panel.table.selectRow(0)
    for command in registry.commands():
        if command.id in OTHERS or not (command.title.endswith("...") or command.category == "Help"):
            continue
        for selected in SELECTED:
            workbench.views.select(selected)
            if not registry.reason(command.id):
                registry.trigger(command.id)
                break
        QApplication.processEvents()
        for widget in QApplication.topLevelWidgets():
            if isinstance(widget, QDialog) and widget.isVisible():
                yield widget
                widget.close()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def misfits(dialog: QDialog, window: QWidget) -> Iterator[str]:
    """What is wrong with a dialog: one of this size belongs over the window."""
    if dialog.width() > window.width() or dialog.height() > window.height():
        yield f"is {dialog.width()}x{dialog.height()}, larger than the window"
    if isinstance(dialog, FormDialog) and any(
        area.horizontalScrollBar().maximum() for area in dialog.findChildren(QScrollArea)
    ):
        yield "scrolls to the side"
    yield from faults(dialog)


@pytest.mark.parametrize("workbench", some(WINDOWS, {str(GERMAN)}), indirect=True)
def test_dialogs_are_whole(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    for ask in ("getSaveFileName", "getOpenFileName", "getExistingDirectory"):
        monkeypatch.setattr(QFileDialog, ask, lambda *_args: ("", ""))
    monkeypatch.setattr(QInputDialog, "getItem", lambda *_args: ("", False))
    told, count = [], 0
    for dialog in opened(workbench):
        count += 1
        told += [f"{dialog.windowTitle()}: {fault}" for fault in misfits(dialog, workbench.window)]
    assert told == []
    assert count >= LEAST_DIALOGS


@pytest.mark.parametrize("workbench", [BESIDE_NAVIGATOR], indirect=True, ids=str)
def test_the_settings_stay_whole_while_they_change_the_size_of_text(workbench: Workbench) -> None:
    workbench.registry.trigger("settings")
    dialog = next(each for each in workbench.window.findChildren(SettingsDialog) if each.isVisible())
    for factor in form((1.75, 1.0), (1.5, 1.75, 1.0, 1.15)):
        choose(dialog, "scale", factor)
        QApplication.processEvents()
        assert list(misfits(dialog, workbench.window)) == [], factor
    dialog.close()
