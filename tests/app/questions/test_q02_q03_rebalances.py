"""Questions 2 and 3 of twenty: why did the group rebalance at 00:31? What moved, what stayed, how long a pause?"""

from PySide6.QtCore import QPoint, Qt

from broker_core.clock import NS_PER_S
from broker_core.simulation.actions.groups import MoveConsumer
from tests.app.sessions.test_travel_window import arrive


def test_a_click_on_the_band_shows_the_card_that_tells_cause_moves_and_pause(open_workbench, monkeypatch):
    monkeypatch.setattr("broker_core.recording.keyframes.MOST_SHARE", 1e9)
    hand = open_workbench(record=True)
    for second in range(1, 41):
        hand.pass_time(1)
        if second == 31:
            hand.workbench.controller.perform(MoveConsumer("indexer-4", "indexers"))
    window = hand.workbench.window
    (facts,) = [card.facts for card in window.parts.rebalances.cards if card.facts.started == "00:31.000"]
    assert facts.cause == "indexer-4 joined" and facts.group == "indexers"
    assert [move.new.name for move in facts.moved] == ["indexer-4"] and len(facts.kept) == 5
    assert facts.no_reader.startswith("no reader ") and not facts.running
    key = facts.key
    window.parts.rebalances.chosen.emit(key)
    inspected = dict(row[:2] for _title, rows in window.parts.inspector.facts.sections for row in rows)
    assert inspected["Reading"] == facts.no_reader
    # On the timeline the same stands at its time; a click goes there, and the card is the newest.
    tip = window.timeline.tip_at(window.timeline.shape.x_of(31 * NS_PER_S) + 1)
    assert "indexers rebalanced" in tip and "indexer-4 joined" in tip
    where = QPoint(round(window.timeline.shape.x_of(31 * NS_PER_S)), 12)
    hand.qtbot.mouseClick(window.timeline, Qt.MouseButton.LeftButton, pos=where)
    arrive(hand)
    assert hand.workbench.controller.snapshot.time_ns == 31 * NS_PER_S
    newest = window.parts.rebalances.cards[0].facts
    assert (newest.cause, newest.running) == ("indexer-4 joined", True)
