"""The dead letters panel alone, with real mouse and key events."""

from itertools import chain

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QHelpEvent
from PySide6.QtWidgets import QLabel, QStyleOptionViewItem, QToolTip

from tests.widgets.panels.table_of import table_of
from widgets.panels.dead_letters import MORE, DeadLettersPanel
from widgets.roles import ColumnLook, Role

TITLES = ("Died (session)", "Cause", "Key", "Payload", "Origin", "Attempts", "Age", "Redrives")
MARKUP = "<img src=x onerror=alert(1)><b>bold</b> &amp; text"


def row(number):
    return ("builds", number), ("00:01.000", "lease expired", f"k{number}", MARKUP, "builds/0 at 1", "3", "2 s", "0")


SECTIONS = (
    ("Attempts (1)", [("1.", f"{MARKUP}\nbuilder-1, 00:01.000, 850 ms")], [MARKUP]),
    ("Facts", [("Key", MARKUP), ("Origin", "builds")]),
    ("Headers", [("trace", MARKUP)]),
)


def action(name, parent):
    made = QAction(name, parent)
    made.setObjectName(name)
    return made


@pytest.fixture
def panel(qtbot):
    model = table_of(TITLES, [row(number) for number in range(8)])
    for at, spare in enumerate((4, 0, 2, 0, 3, 1, 0, 0)):
        model.setHeaderData(at, Qt.Orientation.Horizontal, ColumnLook("text", 86, 1, spare), Role.LOOK)
    made = DeadLettersPanel(model, table_of(TITLES, []))
    qtbot.addWidget(made)
    names = ("redrive_selected", "redrive_all", *chain(*MORE))
    made.put_commands({name: action(name, made) for name in names})
    made.resize(1200, 320)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def click(qtbot, panel, place, modifier=Qt.KeyboardModifier.NoModifier):
    where = panel.table.visualRect(panel.model.index(place, 1)).center()
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, modifier, where)


def test_selected_rows_are_redriven_by_a_click(panel, qtbot):
    click(qtbot, panel, 1)
    click(qtbot, panel, 3, Qt.KeyboardModifier.ControlModifier)
    assert panel.buttons["redrive_selected"].text() == "Redrive selected (2)"
    with qtbot.waitSignal(panel.findChild(QAction, "redrive_selected").triggered):
        qtbot.mouseClick(panel.buttons["redrive_selected"], Qt.MouseButton.LeftButton)
    assert panel.selected_keys() == [("builds", 1), ("builds", 3)]


def test_a_range_is_selected_with_shift_and_everything_from_the_keyboard(panel, qtbot):
    click(qtbot, panel, 2)
    click(qtbot, panel, 5, Qt.KeyboardModifier.ShiftModifier)
    assert panel.selected_count() == 4
    qtbot.keyClick(panel.table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert panel.selected_count() == 8
    assert len(panel.selected_keys()) == 8


def test_all_are_redriven_by_a_click(panel, qtbot):
    with qtbot.waitSignal(panel.findChild(QAction, "redrive_all").triggered):
        qtbot.mouseClick(panel.buttons["redrive_all"], Qt.MouseButton.LeftButton)
    assert panel.shown_keys() == [("builds", number) for number in range(8)]


def test_no_dead_letters_say_what_would_be_here(panel):
    panel.model.removeRows(0, 8)
    assert panel.stack.currentIndex() == 0
    assert "after its last attempt" in panel.empty_state.text()


def test_the_filter_is_told_after_typing_and_escape_clears_it(panel, qtbot):
    panel.focus_filter()
    with qtbot.waitSignal(panel.filterChanged) as told:
        qtbot.keyClicks(panel.filter_field, "lease 3")
    assert told.args == ["lease 3"]
    with qtbot.waitSignal(panel.filterChanged) as told:
        qtbot.keyClick(panel.filter_field, Qt.Key.Key_Escape)
    assert told.args == [""]


def test_enter_tells_the_filter_at_once(panel, qtbot):
    panel.focus_filter()
    qtbot.keyClicks(panel.filter_field, "x")
    with qtbot.waitSignal(panel.filterChanged, timeout=50):
        qtbot.keyClick(panel.filter_field, Qt.Key.Key_Return)


def test_a_filter_that_matches_none_can_be_cleared_by_a_click(panel, qtbot):
    panel.filterChanged.connect(lambda text: panel.model.removeRows(0, panel.model.rowCount()) if text else None)
    panel.filter_field.setText("nothing like it")
    qtbot.waitUntil(lambda: panel.stack.currentIndex() == 0)
    assert "Nothing matches the filter" in panel.empty_state.text()
    with qtbot.waitSignal(panel.filterChanged) as told:
        qtbot.mouseClick(panel.empty_state.offer, Qt.MouseButton.LeftButton)
    assert told.args == [""]


def test_the_current_row_is_told_and_its_details_are_shown(panel, qtbot):
    panel.currentChanged.connect(lambda _key: panel.details.set_message(SECTIONS, MARKUP.encode(), MARKUP))
    click(qtbot, panel, 4)
    assert panel.details.title.isVisible() and panel.details.title.text() == MARKUP, "why it died is seen at once"
    qtbot.mouseClick(panel.details.payload.buttons[0], Qt.MouseButton.LeftButton)
    assert panel.details.payload.text.toPlainText() == MARKUP
    with qtbot.waitSignal(panel.currentChanged) as told:
        qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    assert told.args == [("builds", 5)]


@pytest.mark.promise("25")
def test_markup_is_shown_as_it_is_everywhere(panel):
    panel.set_causes([(MARKUP, 3)])
    panel.details.set_message(SECTIONS, MARKUP.encode(), MARKUP)
    panel.details.payload.show_view(0)
    labels = [label for label in panel.findChildren(QLabel) if label.text()]
    shown = [label.text() for label in labels]
    assert sum(MARKUP in text for text in shown) >= 4
    assert [label.text() for label in labels if label.textFormat() != Qt.TextFormat.PlainText] == []
    assert panel.details.payload.text.toPlainText() == MARKUP
    assert panel.causes.item(1).text() == MARKUP


def test_a_tool_tip_escapes_what_it_shows(panel, monkeypatch):
    told = []
    monkeypatch.setattr(QToolTip, "showText", lambda _where, text, *_rest: told.append(text))
    index = panel.model.index(0, 3)
    option = QStyleOptionViewItem()
    option.rect = panel.table.visualRect(index)
    event = QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(1, 1), QPoint(1, 1))
    panel.table.itemDelegateForColumn(3).helpEvent(event, panel.table, option, index)
    assert "&lt;img" in told[0]
    assert "<img" not in told[0]


def test_a_cause_is_chosen_by_a_click_and_counts_follow(panel, qtbot):
    panel.set_causes([("lease expired", 5), ("no build", 3)])
    where = panel.causes.visualItemRect(panel.causes.item(2)).center()
    with qtbot.waitSignal(panel.causeChosen) as told:
        qtbot.mouseClick(panel.causes.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert told.args == ["no build"]
    panel.set_causes([("no build", 9), ("lease expired", 5)])
    assert panel.chosen_cause == "no build"
    with qtbot.waitSignal(panel.causeChosen) as told:
        panel.set_causes([("lease expired", 5)])
    assert told.args == [None]


def test_the_context_menu_is_asked_for_with_the_row_below_the_mouse(panel, qtbot):
    where = panel.table.visualRect(panel.model.index(2, 1)).center()
    with qtbot.waitSignal(panel.contextMenuRequested) as told:
        panel.table.customContextMenuRequested.emit(where)
    assert told.args[0] == ("builds", 2)


def test_enter_opens_the_current_row(panel, qtbot):
    click(qtbot, panel, 6)
    with qtbot.waitSignal(panel.opened) as told:
        qtbot.keyClick(panel.table, Qt.Key.Key_Return)
    assert told.args == [("builds", 6)]


def test_columns_that_can_be_spared_go_when_there_is_no_room(panel, qtbot):
    panel.resize(1400, 320)
    shown = [place for place in range(8) if not panel.table.isColumnHidden(place)]
    assert shown == list(range(8))
    panel.resize(860, 320)
    qtbot.waitUntil(lambda: panel.table.isColumnHidden(0))
    assert not panel.table.isColumnHidden(1)
    assert not panel.table.isColumnHidden(3)
    widths = sum(panel.table.columnWidth(place) for place in range(8) if not panel.table.isColumnHidden(place))
    assert widths <= panel.table.viewport().width()


def test_where_nothing_was_redriven_a_click_shows_the_dead_letters_again(panel, qtbot):
    panel.second_button.setChecked(True)
    assert panel.empty_state.isVisible() and not panel.table.isVisible()
    qtbot.mouseClick(panel.empty_state.offer, Qt.MouseButton.LeftButton)
    assert panel.table.isVisible() and not panel.second_button.isChecked()
    assert not panel.empty_state.offer.isVisible()


def test_the_button_says_whether_it_redrives_all_or_those_that_are_listed(panel):
    panel.set_total(8)
    assert panel.buttons["redrive_all"].text() == "Redrive all (8)"
    panel.set_total(11)  # three have died since the list stands still, or do not fit the filter
    assert panel.buttons["redrive_all"].text() == "Redrive listed (8)"
    panel.second_button.setChecked(True)
    assert panel.buttons["redrive_all"].text() == "Redrive all (0)"
