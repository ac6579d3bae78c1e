"""The filter field of a panel: what is wrong is marked and said, and its popup helps, keeps and picks."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton

from tests.widgets.panels.table_of import table_of
from widgets.filter_field import FilterHelp
from widgets.panels.panel import PanelInfo
from widgets.panels.table_panel import TablePanel
from widgets.theme import LIGHT, apply_theme


class ThingsPanel(TablePanel):
    info = PanelInfo("things", "Things", "info", empty="None.", how="Wait.", filter_hint="Filter")


@pytest.fixture
def panel(qtbot, qapp):
    made = ThingsPanel(table_of(["Name"], [(1, ["a"])]))
    qtbot.addWidget(made)
    made.resize(700, 300)
    made.show()
    made.filter_field.set_help([FilterHelp("lag", "Messages behind.", "lag > 100")])
    return made


def test_a_wrong_filter_is_marked_and_said_and_a_right_one_is_not(panel):
    panel.set_filter_problem("There is no field lgg here; did you mean lag? (column 1)")
    assert panel.problem.isVisible()
    assert "column 1" in panel.problem.text()
    assert panel.problem.textFormat() == Qt.TextFormat.PlainText
    assert panel.filter_field.property("invalid") is True
    assert "column 1" in panel.filter_field.accessibleDescription()
    panel.set_filter_problem("")
    assert not panel.problem.isVisible()
    assert panel.filter_field.property("invalid") is False


def test_down_opens_the_help_and_an_example_is_taken_by_a_click(panel, qtbot):
    told: list[str] = []
    panel.filterChanged.connect(told.append)
    panel.filter_field.setFocus()
    qtbot.keyClick(panel.filter_field, Qt.Key.Key_Down)
    popup = panel.filter_field.show_help()
    assert popup.isVisible()
    button = next(one for one in popup.findChildren(QToolButton) if one.text() == "lag > 100")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert told == ["lag > 100"]
    assert panel.filter_field.text() == "lag > 100"
    assert not popup.isVisible()


@pytest.mark.parametrize("size", [1.0, 2.0])
def test_the_help_is_whole_on_the_screen_beside_its_field(panel, qapp, size: float):
    apply_theme(qapp, LIGHT, size)
    try:
        room, height = panel.screen().availableGeometry(), panel.filter_field.height()
        room.adjust(0, 0, 2, 2)  # frames of windows that Qt's offscreen screen gives to popups, too
        for top in (room.top(), *range(room.center().y() - 60, room.center().y() + 20, 10), room.bottom() - height):
            panel.move(room.left(), top - panel.filter_field.mapTo(panel, QPoint(0, 0)).y())
            popup = panel.filter_field.show_help()
            field = QRect(panel.filter_field.mapToGlobal(QPoint(0, 0)), panel.filter_field.size())
            assert room.contains(popup.geometry()) and not popup.geometry().intersects(field)
            popup.hide()
    finally:
        apply_theme(qapp, LIGHT, 1.0)


def test_escape_closes_the_help_before_it_clears_the_filter(panel, qtbot):
    panel.filter_field.setFocus()
    qtbot.keyClicks(panel.filter_field, "lag > 7")
    qtbot.keyClick(panel.filter_field, Qt.Key.Key_Down)
    popup = QApplication.activePopupWidget()
    assert popup is not None
    qtbot.keyClick(panel.filter_field, Qt.Key.Key_Escape)
    assert not popup.isVisible()
    assert panel.filter_field.text() == "lag > 7"
    qtbot.keyClick(panel.filter_field, Qt.Key.Key_Escape)
    assert panel.filter_field.text() == ""


def test_a_filter_is_kept_under_a_name_picked_and_dropped(panel, qtbot):
    kept: list[tuple[str, str]] = []
    dropped: list[str] = []
    panel.filter_field.saved.connect(lambda name, text: kept.append((name, text)))
    panel.filter_field.deleted.connect(dropped.append)
    popup = panel.filter_field.show_help()
    assert not popup.keep.isEnabled()
    popup.hide()
    panel.set_filter_text("lag > 7")
    popup = panel.filter_field.show_help()
    qtbot.keyClicks(popup.name, "behind")
    qtbot.mouseClick(popup.keep, Qt.MouseButton.LeftButton)
    assert kept == [("behind", "lag > 7")]
    panel.filter_field.set_kept([("<b>other</b>", "x & y")])
    pick = next(one for one in popup.findChildren(QPushButton) if one.text() == "<b>other</b>")
    drop = next(one for one in popup.findChildren(QToolButton) if "<b>other</b>" in one.accessibleName())
    qtbot.mouseClick(drop, Qt.MouseButton.LeftButton)
    assert dropped == ["<b>other</b>"]
    qtbot.mouseClick(pick, Qt.MouseButton.LeftButton)
    assert panel.filter_text == "x & y"
