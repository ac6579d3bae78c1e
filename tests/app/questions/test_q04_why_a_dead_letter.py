"""Question 4 of twenty: why is this message in the dead letters, and what happened on each attempt?"""

from PySide6.QtCore import Qt

from app.presenters.dead_letters import DeadLettersPresenter
from widgets.panels.dead_letters import DeadLettersPanel


def test_a_click_on_a_dead_letter_tells_why_and_every_attempt(hand):
    hand.pass_time(20)
    window = hand.workbench.window
    window.show_tab("dead_letters")
    hand.show()
    panel = window.tab(DeadLettersPanel)
    letter = hand.workbench.views.presenter(DeadLettersPresenter).model.row_at(0)
    at = panel.table.visualRect(panel.model.index(0, 1)).center()
    hand.qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    hand.show()
    details = panel.details
    assert details.cause.text() == letter.cause
    shown = details.shown
    assert [attempt.outcome for attempt in shown.attempts] == [attempt.outcome for attempt in letter.attempts]
    assert [attempt.holder for attempt in shown.attempts] == [attempt.holder for attempt in letter.attempts]
    # The inspector shows the same as a path, from its publishing to its death.
    inspector = window.parts.inspector

    def told():
        hand.show()
        steps = inspector.facts.steps
        assert [step.state for step in steps][:2] == ["Published", "Delivered"]
        assert steps[-1].state == "Dead-lettered"
        assert letter.cause in steps[-1].detail
        assert [step.state for step in steps].count("Delivered") == len(letter.attempts)

    hand.qtbot.waitUntil(told)
