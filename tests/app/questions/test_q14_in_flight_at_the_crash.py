"""Question 14 of twenty: which messages were in flight when it crashed? A click on the fault, a click on In flight."""

from PySide6.QtCore import QPoint, Qt

from app.presenters.in_flight import InFlightPanel
from broker_core.clock import NS_PER_S
from broker_core.simulation.actions.faults import Crash
from broker_core.snapshots import LeaseView
from tests.app.sessions.test_travel_window import arrive


def test_a_click_on_the_fault_shows_what_was_in_flight(open_workbench, monkeypatch):
    monkeypatch.setattr("broker_core.recording.keyframes.MOST_SHARE", 1e9)
    hand = open_workbench(record=True)
    held: tuple[LeaseView, ...] = ()
    crashed, crashed_s = "", 0
    for second in range(1, 41):
        hand.pass_time(1)
        leases = next(queue for queue in hand.workbench.controller.snapshot.queues if queue.name == "builds").leases
        if second >= 17 and leases and not held:
            held, crashed, crashed_s = leases, leases[0].holder, second
            hand.workbench.controller.perform(Crash(crashed, 5))
    window = hand.workbench.window
    timeline = window.timeline
    place = QPoint(
        round(timeline.shape.x_of(crashed_s * NS_PER_S)) + 2,
        timeline.shape.lane_tops["faults"] + timeline.shape.lane_height // 2,
    )
    assert crashed in timeline.tip_at(place.x())
    hand.qtbot.mouseClick(timeline, Qt.MouseButton.LeftButton, pos=place)
    arrive(hand)
    assert hand.workbench.controller.snapshot.time_ns == crashed_s * NS_PER_S
    panel = window.tab(InFlightPanel)
    hand.qtbot.mouseClick(window.tabs.tab("in_flight"), Qt.MouseButton.LeftButton)
    hand.show()
    model = panel.model
    headers = [model.headerData(at, Qt.Orientation.Horizontal) for at in range(model.columnCount())]
    shown = [
        [model.index(row, headers.index(name)).data() for name in ("Queue", "Holder")]
        for row in range(model.rowCount())
    ]
    holders = [holder for queue, holder in shown if queue == "builds"]
    assert sorted(holders) == sorted(lease.holder for lease in held) and crashed in holders
