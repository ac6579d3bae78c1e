"""The panel Events: everything in order, kinds by choice, filters, follow, and the way to a moment."""

import pytest
from PySide6.QtCore import Qt

from broker_core.events import MESSAGE_KINDS, EventKind
from widgets.panels.events import EventsPanel


@pytest.fixture
def panel(hand):
    hand.workbench.registry.trigger("show_events")
    hand.show()
    made = hand.workbench.window.tab(EventsPanel)
    assert made.model.rowCount() > 100
    return made


def numbers(panel):
    return [int(panel.model.index(row, 0).data().replace(",", "")) for row in range(panel.model.rowCount())]


def events(hand):
    return list(hand.workbench.controller.collectors.events.since(0))


def test_everything_stands_there_in_order_and_the_newest_is_followed(panel, hand):
    assert panel.model.rowCount() == hand.workbench.controller.snapshot.events
    assert panel.follows()
    hand.pass_time(3)
    hand.wait_until(lambda: panel.model.rowCount() == hand.workbench.controller.snapshot.events)
    bar = panel.table.verticalScrollBar()
    assert bar.value() == bar.maximum()


def test_who_has_chosen_a_row_is_not_carried_away(panel, hand):
    panel.table.scrollToTop()
    at = panel.table.visualRect(panel.model.index(2, 2)).center()
    hand.qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert not panel.follows()
    hand.pass_time(2)
    assert panel.table.verticalScrollBar().value() == 0
    hand.qtbot.mouseClick(panel.follow, Qt.MouseButton.LeftButton)
    bar = panel.table.verticalScrollBar()
    assert bar.value() == bar.maximum()


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ("messages", lambda event: event.kind in MESSAGE_KINDS),
        ("control", lambda event: event.kind not in MESSAGE_KINDS),
        ("rebalances", lambda event: event.kind.value.startswith(("rebalance", "partitions_", "member", "group"))),
    ],
)
def test_a_choice_shows_its_kinds(panel, hand, choice, wanted):
    panel.choose(choice)
    truth = [event.seq for event in events(hand) if wanted(event) and event.kind is not EventKind.PARTITIONS_ADDED]
    assert truth
    hand.wait_until(lambda: numbers(panel) == truth)


def test_a_filter_and_a_choice_work_together_and_new_events_come_in(panel, hand):
    panel.choose("failures")
    panel.set_filter_text("client = builder-1 and time > 00:02")

    def truth():
        return [
            event.seq
            for event in events(hand)
            if event.client == "builder-1" and event.time_ns > 2_000_000_000 and event.kind is EventKind.NACKED
        ]

    hand.pass_time(20)
    assert truth()
    hand.wait_until(lambda: set(truth()) <= set(numbers(panel)))
    kinds = {panel.model.index(row, 2).data() for row in range(panel.model.rowCount())}
    assert kinds <= {"Nacked", "Lease expired", "Dead-lettered"}
    panel.set_filter_text("kinds = nacked")
    assert "did you mean kind" in panel.problem.text()


def test_a_double_click_goes_to_the_moment_of_the_event(panel, hand):
    panel.choose("rebalances")
    hand.wait_until(lambda: panel.model.rowCount() > 2)
    panel.table.scrollToTop()
    at = panel.table.visualRect(panel.model.index(1, 2)).center()
    view = panel.table.viewport()
    hand.qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=at)
    event = events(hand)[numbers(panel)[1]]
    hand.qtbot.mouseDClick(view, Qt.MouseButton.LeftButton, pos=at)
    travel = hand.workbench.controller.travel
    assert travel.looking_back
    assert travel.target_ns == event.time_ns
