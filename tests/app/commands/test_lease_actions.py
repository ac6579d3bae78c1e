"""Messages in flight, ended by hand in the place of their holders."""

import pytest
from PySide6.QtCore import Qt

from app.presenters.in_flight import InFlightPanel
from broker_core.events import EventKind


@pytest.fixture
def panel(hand):
    hand.workbench.window.show_tab("in_flight")
    hand.show()
    made = hand.workbench.window.tab(InFlightPanel)
    assert made.model.rowCount() >= 3
    return made


def happened(hand, key):
    queue, partition, offset = key
    return [
        event
        for event in hand.workbench.controller.collectors.events.since(0)
        if (event.topic, event.partition, event.offset) == (queue, partition, offset)
        and event.kind is not EventKind.PUBLISHED
    ]


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        ("ack", EventKind.ACKNOWLEDGED),
        ("nack", EventKind.NACKED),
        ("dead", EventKind.DEAD_LETTERED),
        ("extend", EventKind.LEASE_EXTENDED),
        ("release", EventKind.RELEASED),
    ],
)
def test_a_lease_is_ended_by_a_click(panel, hand, act, kind):
    assert not panel.buttons[f"{act}_lease"].isEnabled()
    panel.select(0)
    hand.show()
    key = panel.current_key()
    hand.qtbot.mouseClick(panel.buttons[f"{act}_lease"], Qt.MouseButton.LeftButton)
    hand.show()
    assert happened(hand, key)[-1].kind is kind or kind in {event.kind for event in happened(hand, key)[-2:]}
    assert any(event.kind is EventKind.USER_ACTION for event in hand.workbench.controller.collectors.events.since(0))


def test_several_are_acknowledged_at_once(panel, hand):
    panel.table.selectAll()
    keys = [key for key in panel.selected_keys() if isinstance(key[1], int)]
    assert len(keys) > 1
    assert hand.workbench.registry.trigger("ack_lease")
    hand.show()
    for key in keys:
        assert happened(hand, key)[-1].kind is EventKind.ACKNOWLEDGED


def test_nothing_can_be_done_once_the_session_has_ended(panel, hand):
    panel.select(0)
    hand.workbench.controller.stop()
    hand.workbench.draw()
    assert "ended" in hand.workbench.registry.reason("ack_lease")
    assert not panel.buttons["ack_lease"].isEnabled()
    assert panel.buttons["ack_lease"].toolTip()
