"""Undo and redo by key and button, one stack for all; and what says why it cannot be."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from app.commands.undo_stack import UndoStack, UndoStep
from broker_core.simulation.actions.dead_letters import PurgeDeadLetters, Redrive
from broker_core.simulation.actions.groups import MoveConsumer
from broker_core.simulation.actions.topics import AddPartitions
from tests.app.conftest import Hand

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def do(hand: Hand, action: object) -> None:
    hand.workbench.controller.perform(action)  # type: ignore[arg-type]
    hand.show()


def said(hand: Hand) -> str:
    return hand.workbench.window.status.last_action.whole


def test_a_move_is_undone_by_key_and_done_again(hand: Hand) -> None:
    do(hand, MoveConsumer("indexer-4", "auditors"))
    hand.pass_time(5)
    assert "indexer-4" in hand.members("auditors")
    window = hand.workbench.window
    assert hand.workbench.registry.action("undo").text() == "Undo: moved indexer-4 to auditors"
    hand.qtbot.keyClick(window, Qt.Key.Key_Z, CTRL)
    hand.show()
    assert said(hand) == "Moved indexer-4 to the bench."
    hand.pass_time(5)
    assert "indexer-4" not in hand.members("auditors")
    assert hand.workbench.registry.reason("undo") == "Nothing has been done yet."
    hand.qtbot.keyClick(window, Qt.Key.Key_Z, CTRL | SHIFT)
    hand.show()
    hand.pass_time(5)
    assert "indexer-4" in hand.members("auditors")


def test_the_button_beside_the_last_action_undoes_it(hand: Hand) -> None:
    hand.pass_time(50)
    queue = hand.workbench.controller.snapshot.queues[0]
    do(hand, PurgeDeadLetters(queue=queue.name))
    assert hand.workbench.controller.snapshot.queues[0].dead == 0
    button = hand.workbench.window.status.undo_button
    assert button.isVisible()
    hand.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    hand.show()
    assert hand.workbench.controller.snapshot.queues[0].dead == queue.dead
    assert not button.isVisible()


def test_after_the_end_the_button_says_why_nothing_is_undone(hand: Hand) -> None:
    do(hand, MoveConsumer("indexer-4", "auditors"))
    button = hand.workbench.window.status.undo_button
    assert button.isVisible() and button.isEnabled()
    hand.workbench.controller.stop()
    hand.workbench.draw()
    assert button.isVisible() and not button.isEnabled()
    assert button.toolTip().startswith("Not available: The session has ended. Continue it (Shift+F8)")


def test_beside_the_words_of_something_else_the_button_names_its_action(hand: Hand) -> None:
    status = hand.workbench.window.status
    do(hand, MoveConsumer("indexer-4", "auditors"))
    assert status.undo_button.text() == "Undo"
    status.show_message("Live again.")
    assert status.undo_button.text() == "Undo: moved indexer-4 to auditors"
    do(hand, MoveConsumer("indexer-4", "mailers"))
    assert status.undo_button.text() == "Undo"


def test_undo_and_redo_are_recorded_actions(hand: Hand) -> None:
    recorded: list[str] = []
    simulation = hand.simulated.session.simulation
    simulation.on_action(lambda _time_ns, plain: recorded.append(str(plain["action"])))
    hand.pass_time(50)
    letters = hand.workbench.controller.snapshot.queues[0].dead_letters
    do(hand, Redrive(queue="builds", offsets=[letters[0].offset]))
    hand.workbench.registry.trigger("undo")
    hand.show()
    hand.workbench.registry.trigger("redo")
    hand.show()
    assert recorded == ["redrive", "undo_redrive", "redrive"]


def test_what_cannot_be_undone_says_why_and_offers_no_button(hand: Hand) -> None:
    do(hand, MoveConsumer("indexer-4", "auditors"))
    do(hand, AddPartitions(topic="mails", total=3))
    assert not hand.workbench.window.status.undo_button.isVisible()
    assert hand.workbench.context.undo.final.startswith("The number of partitions cannot be reduced")
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert said(hand).startswith("The number of partitions cannot be reduced")
    assert said(hand).endswith("Once more undoes: moved indexer-4 to auditors")
    assert "indexer-4" in hand.members("auditors"), "nobody has asked for that yet"
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert said(hand) == "Moved indexer-4 to the bench."


def test_what_is_too_late_to_undo_says_so_and_leaves_the_stack(hand: Hand) -> None:
    hand.pass_time(50)
    do(hand, PurgeDeadLetters(queue="builds"))
    hand.workbench.controller.time.run_until(hand.workbench.controller.snapshot.time_ns + 240 * 10**9)
    stack = hand.workbench.context.undo
    hand.workbench.registry.trigger("undo")
    hand.show()
    box = hand.workbench.window.findChild(QMessageBox)
    if box is not None:
        assert "too long ago" in box.text()
        assert stack.next is None
    assert stack.last is None


def test_what_is_not_possible_now_stays_on_the_stack_and_says_why(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    do(hand, MoveConsumer("indexer-4", "auditors"))
    source, registry = hand.workbench.controller.source, hand.workbench.registry
    with monkeypatch.context() as locked:
        locked.setattr(source, "why_not", lambda kind: "It is locked." if kind is MoveConsumer else "")
        assert registry.reason("undo") == "It is locked."
        hand.workbench.context.undo.undo()
        hand.show()
    assert registry.reason("undo") == ""
    registry.trigger("undo")
    hand.show()
    assert said(hand) == "Moved indexer-4 to the bench."
    registry.trigger("redo")
    hand.show()
    hand.pass_time(5)
    assert "indexer-4" in hand.members("auditors")


def test_another_session_has_nothing_to_undo(hand: Hand) -> None:
    do(hand, MoveConsumer("indexer-4", "auditors"))
    hand.workbench.registry.trigger("restart")
    hand.workbench.controller.time.pause()
    hand.show()
    assert hand.workbench.context.undo.last is None


def filled(names: str) -> tuple[UndoStack, list[UndoStep]]:
    stack = UndoStack()
    return stack, [stack.push(name, str, str) for name in names]


def titles(stack: UndoStack) -> tuple[str, str]:
    """What is undone next, step by step, and then what is redone."""
    undone = redone = ""
    while stack.next is not None:
        redone += stack.next.title
        stack.redo()
    for _ in redone:
        stack.undo()
    while stack.last is not None:
        undone += stack.last.title
        stack.undo()
    return undone, redone


@pytest.mark.parametrize("refused", [(0, 1), (1, 0)])
def test_steps_whose_undoing_fails_return_to_their_places(refused: tuple[int, ...]) -> None:
    stack, steps = filled("ab")
    stack.undo()
    stack.undo()
    for index in refused:
        stack.put_back(steps[index])
    assert titles(stack) == ("ba", "")


@pytest.mark.parametrize("refused", [(0, 1), (1, 0)])
def test_steps_whose_redoing_fails_return_to_their_places(refused: tuple[int, ...]) -> None:
    stack, steps = filled("ab")
    for move in (stack.undo, stack.undo, stack.redo, stack.redo):
        move()
    for index in refused:
        stack.put_back(steps[index])
    assert titles(stack) == ("", "ab")


def test_a_step_whose_undoing_fails_returns_behind_what_was_done_since() -> None:
    stack, (step,) = filled("a")
    stack.undo()
    stack.push("c", str, str)
    stack.put_back(step)
    assert titles(stack) == ("ca", "")


@pytest.mark.parametrize("final", [False, True])
def test_a_step_whose_redoing_fails_after_something_new_was_done_is_forgotten(final: bool) -> None:
    stack, (step,) = filled("a")
    stack.undo()
    stack.redo()
    if final:
        stack.note_final("It is gone.")
    else:
        stack.push("b", str, str)
    stack.put_back(step)
    assert titles(stack) == ("" if final else "b", "")


def test_the_stack_keeps_order_and_forgets_what_was_undone_when_something_new_is_done() -> None:
    stack = UndoStack()
    told: list[str] = []
    for name in "ab":
        stack.push(name, partial(told.append, f"-{name}"), partial(told.append, f"+{name}"))
    stack.undo()
    stack.undo()
    stack.undo()
    stack.redo()
    assert told == ["-b", "-a", "+a"]
    stack.push("c", lambda: told.append("-c"), lambda: told.append("+c"))
    stack.redo()
    assert stack.why_no_redo() == "Nothing has been undone."
    stack.undo()
    stack.undo()
    assert told == ["-b", "-a", "+a", "-c", "-a"]
