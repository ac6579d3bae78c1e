"""Question 5 of twenty: who holds this message now, and until when? The panel In flight, a click on the message."""

from PySide6.QtCore import Qt

from app.presenters.in_flight import InFlightPanel, InFlightPresenter
from widgets.formats import session_time


def test_a_click_on_a_message_in_flight_says_who_holds_it_and_until_when(hand):
    window = hand.workbench.window
    window.show_tab("in_flight")
    hand.show()
    panel, model = window.tab(InFlightPanel), hand.workbench.views.presenter(InFlightPresenter).model
    lease = model.row_at(0)
    assert panel.model.index(0, 4).data() == lease.holder
    at = panel.table.visualRect(panel.model.index(0, 3)).center()
    hand.qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    inspector = window.parts.inspector

    def told():
        hand.show()
        now = dict(inspector.facts.sections).get("Now", (("", ""),))[0]
        until = session_time(lease.deadline_ns)
        assert now[:2] == (lease.queue, f"held by {lease.holder} until {until}, attempt {lease.attempt}")
        assert inspector.facts.state == "In flight"

    hand.qtbot.waitUntil(told)
