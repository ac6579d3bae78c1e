"""Question 4 of twenty: why is this message in the dead letters, and what happened on each attempt?"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.presenters.dead_letters import DeadLettersPresenter
from widgets.formats import session_time
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
    assert details.title.isVisible() and details.title.text() == letter.cause
    seen = [label.text() for label in details.sections.findChildren(QLabel) if label.isVisible()]
    assert seen[0] == f"Attempts ({len(letter.attempts)})"
    for number, attempt in enumerate(letter.attempts, 1):
        told = seen[seen.index(f"{number}.") + 1]
        assert told.startswith(f"{attempt.outcome}\n{attempt.holder}, {session_time(attempt.delivered_ns)}")
    # The inspector shows the same as a path, from its publishing to its death.
    inspector = window.parts.inspector

    def told_as_a_path():
        hand.show()
        steps = inspector.facts.steps
        assert [step.state for step in steps][:2] == ["Published", "Delivered"]
        assert steps[-1].state == "Dead-lettered"
        assert letter.cause in steps[-1].detail
        assert [step.state for step in steps].count("Delivered") == len(letter.attempts)

    hand.qtbot.waitUntil(told_as_a_path)
