"""The command palette, from the keyboard."""

import pytest
from PySide6.QtCore import Qt

from widgets.palette import LISTED, CommandPalette, PaletteEntry, matching

ENTRIES = [
    PaletteEntry("run", "Run", "Session", "F5"),
    PaletteEntry("stop", "Stop", "Session", "F8", "The session has ended."),
    PaletteEntry("redrive_all", "Redrive all", "Dead letters"),
    PaletteEntry("theme", "Light or dark", "View", "Ctrl+T"),
]


@pytest.fixture
def palette(qtbot):
    made = CommandPalette()
    qtbot.addWidget(made)
    made.show_entries(ENTRIES)
    return made


def test_all_commands_are_listed_at_first_in_their_order(palette):
    assert [entry.id for entry in palette.shown()] == ["run", "stop", "redrive_all", "theme"]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("r", ["run", "redrive_all", "theme", "stop"]),
        ("dead letters", ["redrive_all"]),
        ("DARK light", ["theme"]),
        ("session", ["run", "stop"]),
        ("nothing like it", []),
    ],
)
def test_words_are_found_in_title_and_category_and_what_can_run_comes_first(text, ids):
    assert {entry.id for entry in matching(ENTRIES, text)} >= set(ids[:1])
    if text != "r":
        assert [entry.id for entry in matching(ENTRIES, text)] == ids


THINGS = [
    PaletteEntry("consumer:at-most-1", "at-most-1", "Consumer, at-most", is_thing=True),
    PaletteEntry("topic:orders", "orders", "Topic", is_thing=True),
    PaletteEntry("hot", "Hot key", "Scenarios", more="At most one consumer reads it."),
    PaletteEntry("most", "At most once, at least once", "Scenarios"),
    PaletteEntry("reorder", "Reorder tabs", "View"),
]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("at most", ["most", "consumer:at-most-1", "hot"]),
        ("at-most", ["consumer:at-most-1"]),
        ("order", ["topic:orders", "reorder"]),
        ("topic", ["topic:orders"]),
        ("one reads", ["hot"]),
        ("", ["hot", "most", "reorder"]),
    ],
)
def test_names_come_before_what_is_told_of_them_and_things_are_found_too(text, ids):
    assert [entry.id for entry in matching(THINGS, text)] == ids


def test_a_name_is_looked_for_among_many_and_the_list_stays_short(palette, qtbot):
    palette.show_entries([PaletteEntry(f"topic:t{n}", f"t{n}", "Topic", is_thing=True) for n in range(10_000)])
    assert palette.shown() == []
    qtbot.keyClicks(palette.field, "t9")
    assert len(palette.shown()) == LISTED
    qtbot.keyClicks(palette.field, "876")
    assert [entry.title for entry in palette.shown()] == ["t9876"]
    assert palette.reason.text() == "Enter shows it on the canvas, Escape closes."


def test_a_title_that_begins_with_the_text_comes_first():
    assert next(entry.id for entry in matching(ENTRIES, "re")) == "redrive_all"


def test_typing_and_enter_run_a_command(palette, qtbot):
    qtbot.keyClicks(palette.field, "dark")
    with qtbot.waitSignal(palette.chosen) as told:
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert told.args == ["theme"]
    assert not palette.isVisible()


def test_arrows_choose(palette, qtbot):
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up):
        qtbot.keyClick(palette.field, key)
    with qtbot.waitSignal(palette.chosen) as told:
        qtbot.keyClick(palette.field, Qt.Key.Key_Enter)
    assert told.args == ["redrive_all"]


def test_a_click_runs_a_command(palette, qtbot):
    where = palette.list.visualItemRect(palette.list.item(0)).center()
    with qtbot.waitSignal(palette.chosen) as told:
        qtbot.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert told.args == ["run"]


def test_a_disabled_command_says_why_and_does_not_run(palette, qtbot):
    heard: list[str] = []
    palette.chosen.connect(heard.append)
    qtbot.keyClicks(palette.field, "stop")
    assert palette.reason.text() == "Not available: The session has ended."
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert heard == []
    assert palette.isVisible()


def test_no_match_is_said(palette, qtbot):
    qtbot.keyClicks(palette.field, "zzz")
    assert palette.reason.text() == "No command and nothing in the session has this name."
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()


def test_escape_closes(palette, qtbot):
    qtbot.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible()


def test_what_comes_later_is_chosen_where_it_is_the_first_unless_the_arrows_have_chosen(qtbot):
    palette = CommandPalette()
    qtbot.addWidget(palette)
    more: list[PaletteEntry] = []
    palette.show_entries([PaletteEntry("b", "orders b", "x"), PaletteEntry("c", "orders c", "x")], lambda _text: more)
    qtbot.keyClicks(palette.field, "orders")
    more.append(PaletteEntry("a", "orders", "x"))
    palette.search_again()
    ran: list[str] = []
    palette.chosen.connect(ran.append)
    assert [each.id for each in palette.shown()] == ["a", "b", "c"] and palette.list.currentRow() == 0
    qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    more.append(PaletteEntry("a2", "Orders", "x"))
    palette.search_again()
    assert [each.id for each in palette.shown()] == ["a", "a2", "b", "c"]
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert ran == ["b"]
