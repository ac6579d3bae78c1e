"""Question 10 of twenty: what did I change, and when? One click, or its key."""

from PySide6.QtCore import Qt

from broker_core.simulation.actions.groups import MoveConsumer
from widgets.panels.events import EventsPanel


def test_one_click_shows_what_i_changed_and_when(hand):
    hand.workbench.controller.perform(MoveConsumer("indexer-4", "indexers"))
    hand.pass_time(5)
    hand.workbench.controller.perform(MoveConsumer("indexer-1", ""))
    hand.pass_time(2)
    window = hand.workbench.window
    window.show_tab("events")
    hand.show()
    panel = window.tab(EventsPanel)
    assert panel.model.rowCount() > 10
    hand.qtbot.mouseClick(panel.mine, Qt.MouseButton.LeftButton)

    def told():
        hand.show()
        rows = [[panel.model.index(row, at).data() for at in (1, 2, 8)] for row in range(panel.model.rowCount())]
        assert rows == [
            ["00:10.000", "My action", "moved indexer-4 to indexers"],
            ["00:15.000", "My action", "moved indexer-1 to the bench"],
        ]

    hand.qtbot.waitUntil(told)
    hand.qtbot.mouseClick(panel.mine, Qt.MouseButton.LeftButton)
    hand.show()
    assert panel.model.rowCount() > 10
    assert hand.workbench.registry.trigger("my_actions")
    hand.qtbot.waitUntil(told)
