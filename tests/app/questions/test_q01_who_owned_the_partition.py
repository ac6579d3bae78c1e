"""Question 1 of twenty: who owned partition 3 at 00:12, and since when? A click on the timeline, or on History."""

from PySide6.QtCore import QPoint, Qt

from app.presenters.assignments import AssignmentsPresenter
from broker_core.clock import NS_PER_S
from broker_core.simulation.actions.groups import MoveConsumer
from tests.app.sessions.test_travel_window import arrive
from widgets.panels.assignments import AssignmentsPanel
from widgets.roles import Role


def click_at(hand, second):
    timeline = hand.workbench.window.timeline
    hand.qtbot.mouseClick(
        timeline, Qt.MouseButton.LeftButton, pos=QPoint(round(timeline.shape.x_of(second * NS_PER_S)), 12)
    )
    arrive(hand)


def owner_of(hand, topic, partition, group):
    table = hand.workbench.views.presenter(AssignmentsPresenter).model
    rows = [[table.index(row, at).data() for at in range(5)] for row in range(table.rowCount())]
    return next(row[3:] for row in rows if row[:3] == [topic, str(partition), group])


def test_a_click_on_the_timeline_says_who_owned_it_and_since_when(open_workbench, monkeypatch):
    monkeypatch.setattr("broker_core.recording.keyframes.MOST_SHARE", 1e9)
    hand = open_workbench(record=True)
    for second in range(1, 31):
        hand.pass_time(1)
        if second == 15:
            hand.workbench.controller.perform(MoveConsumer("indexer-2", ""))
    hand.workbench.window.show_tab("assignments")
    hand.show()
    now = owner_of(hand, "commits", 3, "indexers")
    click_at(hand, 12)
    then = owner_of(hand, "commits", 3, "indexers")
    assert then == ["indexer-2", "00:01.200"]
    assert now[0] in {"indexer-1", "indexer-3"} and now[1] > "00:15"
    # The history of the group, owner after owner, in the present again.
    hand.workbench.controller.travel.to_present()
    hand.show()
    panel = hand.workbench.window.tab(AssignmentsPanel)
    hand.qtbot.mouseClick(panel.second_button, Qt.MouseButton.LeftButton)
    panel.groups.setCurrentText("indexers")
    panel.groupChosen.emit("indexers")
    history = panel.second.model()
    (row,) = [at for at in range(6) if [history.index(at, column).data() for column in (0, 1)] == ["commits", "3"]]
    told = history.index(row, 5).data(Role.TOOLTIP).splitlines()
    assert told[0] == "indexer-2: 00:01.200 to 00:15.000"
    assert told[-1] == f"{now[0]}: since {now[1]}"
