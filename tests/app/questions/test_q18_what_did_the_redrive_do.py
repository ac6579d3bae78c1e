"""Question 18 of twenty: what did the redrive do to each message? The panel Dead letters, the button Redriven."""

from PySide6.QtCore import Qt

from app.presenters.dead_letters import DeadLettersPresenter
from broker_core.clock import NS_PER_S
from broker_core.events import EventKind
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.theme import state_style


def test_two_clicks_show_what_became_of_each_redriven_message(hand):
    hand.pass_time(20)
    window, controller = hand.workbench.window, hand.workbench.controller
    window.show_tab("dead_letters")
    hand.show()
    panel = window.tab(DeadLettersPanel)
    there = panel.model.rowCount()
    assert there >= 2
    hand.qtbot.mouseClick(panel.buttons["redrive_all"], Qt.MouseButton.LeftButton)
    hand.pass_time(15)
    hand.qtbot.mouseClick(panel.second_button, Qt.MouseButton.LeftButton)
    moves = [event for event in controller.collectors.events.since(0) if event.kind is EventKind.REDRIVEN]
    assert len(moves) == there
    last = {}
    for event in controller.collectors.events.since(moves[0].seq):
        for move in moves:
            here = (event.topic, event.partition) == (move.to_topic, move.to_partition)
            if not here or event.offset is None or event.kind is EventKind.PUBLISHED:
                continue
            if event.offset <= move.to_offset < event.offset + event.count:
                last[move.seq] = event

    model = hand.workbench.views.presenter(DeadLettersPresenter).redriven

    def told():
        hand.show()
        assert panel.second.isVisible()
        assert model.rowCount() == there
        for row in model.rows:
            assert row.fate == last.get(row.redriven.seq)

    hand.qtbot.waitUntil(told)
    # A click on one shows its whole life, across both places.
    at = panel.second.visualRect(model.index(0, 3)).center()
    hand.qtbot.mouseClick(panel.second.viewport(), Qt.MouseButton.LeftButton, pos=at)
    inspector = window.parts.inspector

    def lives_on():
        hand.show()
        states = [step.state for step in inspector.facts.steps]
        assert "Dead-lettered" in states
        assert "Redriven" in states
        assert states.index("Dead-lettered") < states.index("Redriven")

    hand.qtbot.waitUntil(lives_on)
    assert any("From here on it is" in step.heading for step in inspector.facts.steps)


def test_the_past_knows_nothing_of_what_came_after(open_workbench):
    hand = open_workbench(record=True)
    for _second in range(40):
        hand.pass_time(1)
    controller, panel = hand.workbench.controller, hand.workbench.window.tab(DeadLettersPanel)
    hand.workbench.window.show_tab("dead_letters")
    hand.show()
    hand.qtbot.mouseClick(panel.buttons["redrive_all"], Qt.MouseButton.LeftButton)
    hand.show()
    redriven_ns = controller.snapshot.time_ns
    for _second in range(15):
        hand.pass_time(1)
    hand.qtbot.mouseClick(panel.second_button, Qt.MouseButton.LeftButton)
    model = hand.workbench.views.presenter(DeadLettersPresenter).redriven

    def shows(wanted):
        def look():
            hand.workbench.draw()
            assert wanted(model.rows)

        hand.qtbot.waitUntil(look, timeout=10_000)

    shows(lambda rows: rows and all(row.fate is not None for row in rows))
    controller.travel.to(redriven_ns)
    shows(lambda rows: rows and all(row.fate is None or row.fate.time_ns == redriven_ns for row in rows))
    controller.travel.to(redriven_ns - NS_PER_S // 10)
    shows(lambda rows: not rows)


def test_the_filter_asks_the_table_that_is_shown(hand):
    window = hand.workbench.window
    window.show_tab("dead_letters")
    panel = window.tab(DeadLettersPanel)
    panel.second_button.setChecked(True)
    hand.show()
    panel.set_filter_text("fate = acknowledged")
    assert not panel.problem.isVisible()
    panel.set_filter_text("attempts > 2")
    assert panel.problem.isVisible()
    panel.second_button.setChecked(False)
    assert panel.filter_text == ""
    panel.set_filter_text("attempts > 2")
    assert not panel.problem.isVisible()


def test_an_undone_redrive_says_so_and_nobody_purged_anything(hand):
    hand.pass_time(20)
    controller, registry = hand.workbench.controller, hand.workbench.registry
    registry.trigger("show_dead_letters")
    hand.show()
    assert registry.trigger("redrive_all")
    hand.show()
    registry.trigger("undo")
    hand.show()
    back = next(
        event
        for event in controller.collectors.events.since(0)
        if event.kind is EventKind.PURGED and event.cause == "withdrawn"
    )
    hand.workbench.views.select(f"message:{back.topic}/{back.partition}/{back.offset}")
    inspector = hand.workbench.window.parts.inspector

    def told():
        hand.show()
        words = [step.state for step in inspector.facts.steps]
        assert "Withdrawn" in words and "Purged" not in words
        assert inspector.facts.state == "Dead-lettered"

    hand.qtbot.waitUntil(told)
    assert state_style("Withdrawn").icon == "undo"
