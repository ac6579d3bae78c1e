"""The panel of a lesson: what it shows of its steps, and what its buttons ask for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from widgets.panels.lesson import LessonFacts, LessonPanel, StepFacts

FIRST = StepFacts("Watch the lag.", "It rises.", done=True, by="Done at 00:03")
SECOND = StepFacts("Drag a consumer.", "The group rebalanced.", current=True, can_point=True)
THIRD = StepFacts("Redrive a dead letter.", "It came back.")
FACTS = LessonFacts("T", (FIRST, SECOND, THIRD), "Why?", "Because.", "Hot key")


@pytest.fixture
def panel(qtbot: QtBot) -> LessonPanel:
    panel = LessonPanel()
    qtbot.addWidget(panel)
    panel.resize(300, 400)
    panel.show()
    panel.set_facts(FACTS)
    return panel


def test_the_current_step_alone_can_be_pointed_at(panel: LessonPanel, qtbot: QtBot) -> None:
    assert [row.point.isVisible() for row in panel.rows] == [False, True, False]
    with qtbot.waitSignal(panel.stepPressed, timeout=1_000) as asked:
        qtbot.mouseClick(panel.rows[1].point, Qt.MouseButton.LeftButton)
    assert asked.args == [1]
    assert panel.count_label.text() == "1 of 3"


def test_what_was_seen_is_told_of_the_step_done_last_and_of_others_by_a_click(panel: LessonPanel, qtbot: QtBot) -> None:
    first, second, third = panel.rows
    assert first.seen.isVisible() and not second.seen.isVisible() and not third.seen.isVisible()
    panel.set_facts(
        replace(FACTS, steps=(FIRST, replace(SECOND, done=True, current=False), replace(THIRD, current=True)))
    )
    assert not first.seen.isVisible() and second.seen.isVisible()
    qtbot.mouseClick(first.more, Qt.MouseButton.LeftButton)
    assert first.seen.isVisible()
    panel.set_facts(FACTS)
    assert not second.seen.isVisible(), "of what is not done nothing is told"


def test_the_question_comes_after_the_last_step_and_its_answer_when_asked(panel: LessonPanel, qtbot: QtBot) -> None:
    assert not panel.question.isVisible()
    done = tuple(replace(step, done=True, current=False) for step in FACTS.steps)
    panel.set_facts(replace(FACTS, steps=done))
    assert panel.question.isVisible() and not panel.answer.isVisible()
    qtbot.mouseClick(panel.show_answer, Qt.MouseButton.LeftButton)
    assert panel.answer.isVisible() and not panel.show_answer.isVisible()
    assert panel.next_title.text() == "Next lesson: Hot key"
    panel.resize(260, 500)
    assert panel.next.mapTo(panel, panel.next.rect().topRight()).x() < 260, "nothing is wider than the panel"
    assert panel.show_answer.isVisible() is False and panel.answer.width() <= 260
    with qtbot.waitSignal(panel.nextWanted, timeout=1_000):
        qtbot.mouseClick(panel.next, Qt.MouseButton.LeftButton)
    panel.set_facts(replace(FACTS, title="Another"))
    assert not panel.answer.isVisible()


def test_what_is_to_be_done_next_is_in_sight_however_low_the_panel_is(panel: LessonPanel, qtbot: QtBot) -> None:
    steps = tuple(replace(FIRST, text=f"Step {number} of a long lesson with many words") for number in range(9))
    panel.set_facts(replace(FACTS, title="Long", steps=(*steps, SECOND, *(replace(THIRD, text="Later"),) * 9)))
    current = panel.rows[9]

    def in_sight() -> bool:
        top = current.mapTo(panel, current.rect().topLeft()).y()
        return top > 0 and top + current.height() <= panel.height()

    qtbot.waitUntil(in_sight, timeout=5_000)
    panel.resize(300, 160)
    qtbot.waitUntil(in_sight, timeout=5_000)


def test_what_an_earlier_run_has_done_is_named_and_not_counted(panel: LessonPanel) -> None:
    panel.set_facts(replace(FACTS, steps=(FIRST, SECOND, replace(THIRD, ever=True))))
    names = [row.accessibleName().partition(": ")[0] for row in panel.rows]
    assert names == ["Done", "Now", "Done in an earlier run"]
    assert panel.count_label.text() == "1 of 3"
    assert not panel.question.isVisible()
    panel.set_facts(replace(FACTS, steps=(FIRST, replace(SECOND, ever=True), replace(THIRD, ever=True))))
    assert panel.question.isVisible() and panel.count_label.text() == "1 of 3"


def test_another_run_opens_and_answers_nothing(panel: LessonPanel, qtbot: QtBot) -> None:
    done = tuple(replace(step, done=True, current=False) for step in FACTS.steps)
    panel.set_facts(replace(FACTS, steps=done))
    qtbot.mouseClick(panel.rows[0].more, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(panel.show_answer, Qt.MouseButton.LeftButton)
    panel.begin()
    panel.set_facts(replace(FACTS, steps=done))
    assert panel.rows[2].seen.isVisible() and not panel.rows[0].seen.isVisible()
    assert panel.show_answer.isVisible() and not panel.answer.isVisible()


def test_question_and_answer_are_in_sight_however_low_the_panel_is(panel: LessonPanel, qtbot: QtBot) -> None:
    done = tuple(replace(step, done=True, current=False) for step in FACTS.steps)
    panel.set_facts(replace(FACTS, steps=done))
    panel.resize(300, 160)

    def in_sight() -> bool:
        top = panel.question.mapTo(panel, panel.question.rect().topLeft()).y()
        return top > 0 and top + panel.question.height() <= panel.height()

    qtbot.waitUntil(in_sight, timeout=5_000)
    qtbot.mouseClick(panel.show_answer, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.answer.isVisible() and in_sight(), timeout=5_000)


def test_the_button_for_the_answer_is_in_sight_after_the_last_lesson(panel: LessonPanel, qtbot: QtBot) -> None:
    done = tuple(replace(step, done=True, current=False) for step in FACTS.steps)
    panel.resize(300, 200)
    panel.set_facts(replace(FACTS, steps=done, next_title=""))

    def in_sight() -> bool:
        button = panel.show_answer
        bottom = button.mapTo(panel, button.rect().bottomLeft()).y()
        return button.isVisible() and 0 < bottom < panel.height()

    qtbot.waitUntil(in_sight, timeout=5_000)
    assert not panel.next.isVisible()


def test_names_are_never_markup(panel: LessonPanel) -> None:
    panel.set_facts(replace(FACTS, steps=(replace(FIRST, text="<b>x</b>"),)))
    assert panel.rows[0].text.text() == "<b>x</b>"
    assert panel.rows[0].text.textFormat() == Qt.TextFormat.PlainText
