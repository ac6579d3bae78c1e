"""Where the focus goes, so that Space goes on to pause: never by a click or a change of tabs to a button."""

from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit

from app.presenters.offsets import OffsetsPanel
from tests.widgets.test_main_window import TABS, actions, parts
from widgets.main_window import MainWindow
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.panels.jobs import JobFacts, JobsPanel
from widgets.theme import LIGHT, apply_theme, styled_at_end

RUNNING = JobFacts("1", "Report", "Running", "", 0.2, "", True)
DONE = JobFacts("1", "Report", "Done", "", 1.0, "/tmp/report.html")


@pytest.fixture
def window(qtbot, qapp):
    apply_theme(qapp, LIGHT)
    with styled_at_end(qapp):
        made = MainWindow(parts(), actions())
    qtbot.addWidget(made)
    made.tab(JobsPanel).set_jobs([RUNNING])
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def is_pressed_by_space(widget):
    return isinstance(widget, QAbstractButton | QComboBox | QLineEdit)


def test_a_tab_that_is_shown_has_the_focus_where_space_presses_nothing(window):
    for name in (*TABS, *reversed(TABS)):
        window.show_tab(name)
        focus = QApplication.focusWidget()
        panel = window.panel(name)
        assert focus is getattr(panel, "table", panel)
        assert not is_pressed_by_space(focus)


def test_a_click_on_a_tab_leaves_the_focus_off_the_buttons(window, qtbot):
    for start in TABS:
        for name in TABS:
            window.show_tab(start)
            qtbot.mouseClick(window.tabs.tab(name), Qt.MouseButton.LeftButton)
            assert not is_pressed_by_space(QApplication.focusWidget())


def test_a_click_on_a_button_of_a_panel_does_not_take_the_focus(window, qtbot):
    jobs, row = window.tab(JobsPanel), window.tab(JobsPanel).rows[0]
    window.show_tab("jobs")
    asked: list[Any] = []
    jobs.cancelRequested.connect(asked.append)
    qtbot.mouseClick(row.cancel_button, Qt.MouseButton.LeftButton)
    assert asked == ["1"]
    assert not is_pressed_by_space(QApplication.focusWidget())
    jobs.set_jobs([DONE])
    jobs.openRequested.connect(asked.append)
    qtbot.mouseClick(row.open_button, Qt.MouseButton.LeftButton)
    assert asked == ["1", "1"]
    assert not is_pressed_by_space(QApplication.focusWidget())
    window.show_tab("dead_letters")
    letters = window.tab(DeadLettersPanel)
    qtbot.mouseClick(letters.buttons["redrive_all"], Qt.MouseButton.LeftButton)
    assert QApplication.focusWidget() is letters.table


def test_open_does_not_appear_under_a_pointer_that_was_on_cancel(window):
    window.show_tab("jobs")
    row = window.tab(JobsPanel).rows[0]
    cancel = row.cancel_button.geometry()
    window.tab(JobsPanel).set_jobs([DONE])
    QApplication.processEvents()
    assert row.open_button.isVisible()
    assert not row.open_button.geometry().adjusted(-20, 0, 20, 0).intersects(cancel)


def test_the_focus_is_where_it_was_after_a_speed_was_chosen(window, qtbot):
    window.show_tab("offsets")
    before, box = QApplication.focusWidget(), window.toolbar.speed
    chosen: list[Any] = []
    window.toolbar.speedChosen.connect(chosen.append)
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(box.view().isVisible)
    qtbot.keyClick(box.view(), Qt.Key.Key_Down)
    qtbot.keyClick(box.view(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not box.view().isVisible())
    assert chosen == [2.0]
    assert QApplication.focusWidget() is before


def wheel(box):
    at = QPointF(box.rect().center())
    event = QWheelEvent(
        at, box.mapToGlobal(at), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(box, event)


def test_the_wheel_changes_the_speed_only_where_the_speed_has_the_focus(window):
    box = window.toolbar.speed
    window.show_tab("offsets")
    wheel(box)
    assert box.currentData() == 1.0
    box.setFocus()
    wheel(box)
    assert box.currentData() == 2.0


def test_escape_clears_a_filter_and_then_leaves_it(window, qtbot):
    window.show_tab("offsets")
    panel = window.tab(OffsetsPanel)
    panel.focus_filter()
    qtbot.keyClicks(panel.filter_field, "zero")
    qtbot.keyClick(panel.filter_field, Qt.Key.Key_Escape)
    assert panel.filter_field.text() == ""
    assert QApplication.focusWidget() is panel.filter_field
    qtbot.keyClick(panel.filter_field, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is panel.table


def test_a_filter_of_blanks_is_no_filter(window, qtbot):
    window.show_tab("offsets")
    panel = window.tab(OffsetsPanel)
    told: list[Any] = []
    panel.filterChanged.connect(told.append)
    panel.focus_filter()
    qtbot.keyClicks(panel.filter_field, "   ")
    qtbot.keyClick(panel.filter_field, Qt.Key.Key_Return)
    assert told == []
    assert panel.filter_text == ""


def test_the_focus_of_a_table_that_goes_is_not_handed_to_a_button(window, qtbot):
    window.show_tab("offsets")
    panel = window.tab(OffsetsPanel)
    panel.filter_field.setText("zero")
    panel.filter_field.returnPressed.emit()
    panel.focus_body()
    panel.model.removeRows(0, panel.model.rowCount())
    assert panel.empty_state.offer.isVisible()
    assert QApplication.focusWidget() is panel
