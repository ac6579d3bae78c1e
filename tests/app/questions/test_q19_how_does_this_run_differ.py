"""Question 19 of twenty: how does this run differ from the last? Two clicks: the menu, and the command in it."""

from broker_core.simulation.actions.groups import MoveConsumer
from tests.app.sessions.open_dialog import open_dialog
from widgets.dialogs.facts_table import FactsTableDialog


def test_the_command_in_the_menu_shows_a_table_of_differences(open_workbench):
    hand = open_workbench(record=True)
    hand.pass_time(12)
    hand.workbench.registry.trigger("compare_last")
    assert "no other recorded run" in hand.workbench.window.status.last_action.whole
    hand.workbench.controller.restart()
    hand.pass_time(6)
    hand.workbench.controller.perform(MoveConsumer("indexer-4", "indexers"))
    hand.pass_time(6)
    bar = hand.workbench.window.menuBar()
    menu = next(action.menu() for action in bar.actions() if action.text().replace("&", "") == "Session")
    (question,) = [action for action in menu.actions() if action.text() == "Compare with the last run"]
    question.trigger()
    dialog = open_dialog(hand.workbench.window, FactsTableDialog)
    hand.qtbot.waitUntil(lambda: "figures differ" in dialog.sentence.text(), timeout=20_000)
    rows = {texts[:2]: texts[2:] for texts in dialog.texts()}
    cause = "moved indexer-4 to indexers at 00:06"
    assert rows["Rebalances", "indexers"] == ("2", "1", "+1 (+100%)", "worse", cause)
    assert rows["Published", "commits"][0] == rows["Published", "commits"][1]
    assert rows["Partitions that changed owner", "indexers"][2].startswith("+")
    # Only what differs is shown, until one asks for the rest.
    shown = {texts[:2] for row, texts in enumerate(dialog.texts()) if not dialog.table.isRowHidden(row)}
    assert ("Rebalances", "indexers") in shown and ("Published", "commits") not in shown
    dialog.unfold.click()
    assert not any(dialog.table.isRowHidden(row) for row in range(dialog.table.rowCount()))
