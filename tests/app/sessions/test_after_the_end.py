"""After the end nobody works any more, nothing moves, and what is said is so: live, in the recording, in a branch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication

from broker_core.clock import NS_PER_S
from tests.app.conftest import Hand


def draw(hand: Hand) -> None:
    hand.qtbot.waitUntil(lambda: not hand.workbench.controller.travel.busy, timeout=10_000)
    for _ in range(4):
        QApplication.processEvents()
        hand.workbench.draw()


def states(hand: Hand) -> set[str]:
    """The state words of everybody on the canvas and in the navigator."""
    view, workbench = hand.canvas.view, hand.workbench
    cards = [card.state for card in view.producers]
    cards += [card.state for group in view.groups for card in group.members]
    cards += [card.state for queue in view.queues for card in queue.workers]
    sections = workbench.views.navigator_model.update(workbench.controller.snapshot)
    return {
        *cards,
        *(row.state for section in sections if section.key in {"producers", "consumers"} for row in section.rows),
    }


@pytest.mark.parametrize("record", [True, False])
def test_after_the_end_everybody_has_stopped_and_nothing_moves(
    open_workbench: Callable[..., Hand], record: bool
) -> None:
    hand = open_workbench(record=record)
    hand.canvas.set_reduced_motion(False)
    hand.pass_time(12)
    assert states(hand) & {"running", "processing", "waiting"}
    assert any(item.has_dots for item in hand.canvas._stage.links.values())
    hand.workbench.controller.time.run()

    def moves() -> bool:
        draw(hand)
        return hand.canvas._ticker.isActive()

    hand.qtbot.waitUntil(moves)
    hand.workbench.controller.time.pause()
    hand.show()
    assert not hand.canvas._ticker.isActive(), "time stands still, and so does all else"
    hand.workbench.controller.stop()
    draw(hand)
    assert states(hand) <= {"stopped", "idle"}
    sections = hand.workbench.views.navigator_model.update(hand.workbench.controller.snapshot)
    rates = {row.figure for section in sections for row in section.rows if row.state == "stopped"}
    assert rates == {""}, "nobody who has stopped has a rate"
    hand.workbench.views.select("producer:forge")
    draw(hand)
    facts = hand.workbench.window.parts.inspector.facts
    assert facts is not None and "Rate" not in [row[0] for row in facts.sections[0][1]]
    hand.workbench.views.select("")
    assert not hand.canvas.view.running and not hand.canvas._ticker.isActive()
    assert not any(item.has_dots for item in hand.canvas._stage.links.values())
    end_ns = hand.workbench.controller.source.end_ns
    hand.workbench.controller.travel.to(6 * NS_PER_S)
    draw(hand)
    assert states(hand) & {"running", "processing", "waiting"}, "they worked then"
    hand.workbench.registry.trigger("follow_live")
    draw(hand)
    assert hand.workbench.window.status.last_action.whole == "This is how the session ended."
    assert states(hand) <= {"stopped", "idle"} and hand.workbench.controller.snapshot.time_ns == end_ns
    folder = hand.workbench.controller.source.folder
    if folder is not None:
        hand.workbench.controller.open_session(folder, end_ns)
        draw(hand)
        assert states(hand) <= {"stopped", "idle"}


def test_what_is_said_of_a_branch_stays_true_when_it_runs(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench(record=True)
    hand.pass_time(10)
    controller = hand.workbench.controller
    controller.travel.to(5 * NS_PER_S)
    draw(hand)
    controller.branching.branch()

    def there() -> bool:
        controller.time.grant(0.01)
        return controller.time.background_tasks == 0

    hand.qtbot.waitUntil(there, timeout=20_000)
    controller.time.run()
    draw(hand)
    said = hand.workbench.window.status.last_action.whole
    assert controller.time.moving and said.startswith("This is a branch: live from 00:05.000")
    assert "Run it" not in said
    controller.time.pause()
