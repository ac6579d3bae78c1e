"""Question 13 of twenty: what was published between two rebalances? A click on the card, a click on the link."""

from PySide6.QtCore import QPoint, Qt

from broker_core.events import EventKind
from broker_core.simulation.actions.groups import MoveConsumer
from tests.widgets.reading import link
from widgets.panels.events import EventsPanel


def test_two_clicks_show_what_was_published_between_two_rebalances(hand):
    hand.workbench.controller.perform(MoveConsumer("indexer-4", "indexers"))
    hand.pass_time(8)
    hand.workbench.controller.perform(MoveConsumer("indexer-4", ""))
    hand.pass_time(8)
    window = hand.workbench.window
    of_group = sorted(
        (one for one in hand.workbench.controller.snapshot.rebalances if one.group == "indexers"),
        key=lambda one: one.started_ns,
    )
    before, last = of_group[-2:]
    card = next(one for one in window.parts.rebalances.cards if one.facts.key == ("indexers", last.started_ns))
    hand.qtbot.mouseClick(card, Qt.MouseButton.LeftButton, pos=QPoint(60, 8))
    inspector = window.parts.inspector
    button = link(inspector, f"published:{before.started_ns}-{last.started_ns}")
    hand.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    panel = window.tab(EventsPanel)
    truth = [
        event.seq
        for event in hand.workbench.controller.collectors.events.since(0)
        if event.kind is EventKind.PUBLISHED and before.started_ns <= event.time_ns < last.started_ns
    ]
    assert len(truth) > 20

    def told():
        hand.show()
        model = panel.model
        assert window.shown_tab() == "events"
        assert [int(model.index(row, 0).data().replace(",", "")) for row in range(model.rowCount())] == truth

    hand.qtbot.waitUntil(told)
