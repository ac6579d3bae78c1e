"""Question 12 of twenty: was anything lost? Two clicks: the menu, and the question in it."""

import pytest
from PySide6.QtCore import Qt

from tests.app.sessions.open_dialog import open_dialog
from widgets.dialogs.facts_table import FactsTableDialog


@pytest.mark.parametrize("record", [True, False])
def test_the_question_in_the_menu_is_answered_with_an_account(open_workbench, record):
    hand = open_workbench(record=record)
    hand.pass_time(20)
    workbench = hand.workbench
    bar = workbench.window.menuBar()
    menu = next(action.menu() for action in bar.actions() if action.text().replace("&", "") == "Session")
    (question,) = [action for action in menu.actions() if action.text() == "Was anything lost?"]
    question.trigger()
    dialog = open_dialog(workbench.window, FactsTableDialog)
    hand.qtbot.waitUntil(lambda: "Nothing was lost" in dialog.sentence.text(), timeout=20_000)
    rows = {row[:2]: row for row in dialog.texts()}
    totals = workbench.controller.snapshot.totals
    assert rows["builds", "builds"][2] == f"{totals.published - sum(_of_topics(workbench)):,}"
    assert {row[-1] for row in rows.values()} == {"0"} and ("commits", "indexers") in rows
    note = dialog.note.text()
    assert "No message was lost." in note and "Only messages that were delivered were committed." in note
    assert "Not yet acknowledged or dead-lettered: " in note and ": no" not in note
    hand.qtbot.mouseClick(dialog.buttons.buttons()[0], Qt.MouseButton.LeftButton)


def _of_topics(workbench):
    return [topic.published for topic in workbench.controller.snapshot.topics]
