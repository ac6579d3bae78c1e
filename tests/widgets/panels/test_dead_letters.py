"""The dead letters panel alone, with real mouse and key events."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QLabel, QStyleOptionViewItem, QToolTip

from tests.widgets.panels.table_of import table_of
from widgets.panels.dead_letters import DeadLetterFacts, DeadLettersPanel
from widgets.roles import ColumnLook, Role

TITLES = ("Died (session)", "Cause", "Key", "Payload", "Origin", "Attempts", "Age", "Redrives")
MARKUP = "<img src=x onerror=alert(1)><b>bold</b> &amp; text"


def row(number):
    return ("builds", number), ("00:01.000", "lease expired", f"k{number}", MARKUP, "builds/0 at 1", "3", "2 s", "0")


def letter(number):
    return DeadLetterFacts(
        ("builds", number),
        MARKUP,
        (("Key", MARKUP), ("Origin", "builds")),
        (("trace", MARKUP),),
        (("1.", f"{MARKUP}\nbuilder-1, 00:01.000, 850 ms"),),
        (MARKUP,),
        MARKUP,
    )


@pytest.fixture
def panel(qtbot):
    model = table_of(TITLES, [row(number) for number in range(8)])
    for at, spare in enumerate((4, 0, 2, 0, 3, 1, 0, 0)):
        model.setHeaderData(at, Qt.Orientation.Horizontal, ColumnLook("text", 86, 1, spare), Role.LOOK)
    made = DeadLettersPanel(model, table_of(TITLES, []))
    qtbot.addWidget(made)
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
    assert panel.redrive_selected_button.text() == "Redrive selected (2)"
    with qtbot.waitSignal(panel.redriveRequested) as told:
        qtbot.mouseClick(panel.redrive_selected_button, Qt.MouseButton.LeftButton)
    assert told.args == [[("builds", 1), ("builds", 3)]]


def test_a_range_is_selected_with_shift_and_everything_from_the_keyboard(panel, qtbot):
    click(qtbot, panel, 2)
    click(qtbot, panel, 5, Qt.KeyboardModifier.ShiftModifier)
    assert panel.selected_count() == 4
    qtbot.keyClick(panel.table, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert panel.selected_count() == 8
    assert len(panel.selected_keys()) == 8


def test_all_are_redriven_by_a_click(panel, qtbot):
    with qtbot.waitSignal(panel.redriveRequested) as told:
        qtbot.mouseClick(panel.redrive_all_button, Qt.MouseButton.LeftButton)
    assert told.args == [[("builds", number) for number in range(8)]]


def test_what_cannot_be_done_says_why(panel, qtbot):
    heard: list[object] = []
    panel.redriveRequested.connect(heard.append)
    assert not panel.redrive_selected_button.isEnabled()
    assert "Select dead letters first" in panel.redrive_selected_button.toolTip()
    assert panel.why_not_all() == ""
    panel.forbid_redrive("The session has ended.")
    click(qtbot, panel, 1)
    for button in (panel.redrive_selected_button, panel.redrive_all_button):
        assert button.toolTip() == "The session has ended."
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    panel.redrive_selected()
    panel.redrive_all()
    assert heard == []
    panel.forbid_redrive("")
    assert panel.redrive_selected_button.isEnabled()


def test_no_dead_letters_say_what_would_be_here_and_forbid_the_rest(panel):
    panel.model.removeRows(0, 8)
    assert panel.stack.currentIndex() == 0
    assert "after its last attempt" in panel.empty_state.text()
    assert panel.why_not_all() == "There are no dead letters."


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
    assert panel.why_not_all() == "The filter matches nothing."
    with qtbot.waitSignal(panel.filterChanged) as told:
        qtbot.mouseClick(panel.empty_state.button, Qt.MouseButton.LeftButton)
    assert told.args == [""]


def test_the_current_row_is_told_and_its_details_are_shown(panel, qtbot):
    panel.currentChanged.connect(lambda key: panel.details.set_facts(letter(key[1]) if key else None))
    click(qtbot, panel, 4)
    assert panel.details.payload.toPlainText() == MARKUP
    with qtbot.waitSignal(panel.currentChanged) as told:
        qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    assert told.args == [("builds", 5)]


@pytest.mark.promise("25")
def test_markup_is_shown_as_it_is_everywhere(panel):
    panel.set_causes([(MARKUP, 3)])
    panel.details.set_facts(letter(1))
    labels = [label for label in panel.findChildren(QLabel) if label.text()]
    shown = [label.text() for label in labels]
    assert sum(MARKUP in text for text in shown) >= 4
    assert [label.text() for label in labels if label.textFormat() != Qt.TextFormat.PlainText] == []
    assert panel.details.payload.toPlainText() == MARKUP
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
    panel.show_redriven(True)
    assert panel.empty_state.isVisible() and not panel.table.isVisible()
    qtbot.mouseClick(panel.empty_state.offer, Qt.MouseButton.LeftButton)
    assert panel.table.isVisible() and not panel.redriven_button.isChecked()
    assert not panel.empty_state.offer.isVisible()


def test_what_programs_wrote_is_redriven_and_not_edited(panel, qtbot):
    of_programs = {("builds", 0), ("builds", 1)}
    keys = [row(number)[0] for number in range(8)]
    panel.programs_count = lambda asked: len(of_programs.intersection(keys if asked is None else asked))
    click(qtbot, panel, 0)
    assert panel.redrive_all_button.text() == "Redrive all (8)" and panel.redrive_all_button.isEnabled()
    assert panel.redrive_selected_button.isEnabled() and panel.why_not_current()
    assert panel.why_not_own(selected=True) == "The dead letters that a program has put into a topic stay there."
    click(qtbot, panel, 2, Qt.KeyboardModifier.ControlModifier)
    assert panel.redrive_selected_button.text() == "Redrive selected (2)" and not panel.why_not_current()


def test_the_button_says_whether_it_redrives_all_or_those_that_are_listed(panel):
    panel.set_total(8)
    assert panel.redrive_all_button.text() == "Redrive all (8)"
    panel.set_total(11)  # three have died since the list stands still, or do not fit the filter
    assert panel.redrive_all_button.text() == "Redrive listed (8)"
    panel.show_redriven(True)
    assert panel.redrive_all_button.text() == "Redrive all (0)"
