"""Lessons are played as a person would: by drags, keys and commands in the window; and every step ticks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QRectF, Qt, QTimer

from app.commands.lesson import LessonHandlers, window_names
from app.commands.menus import COMMANDS
from app.environment.paths import find_scenario, shipped_scenarios
from app.shell.frames import PANELS_EVERY_FRAMES
from broker_core.clock import NS_PER_S
from broker_core.events import EventKind, is_users
from broker_core.simulation.actions.clients import RemoveClient
from broker_core.simulation.scenario import load_scenario
from tests.app.conftest import Hand
from tests.app.sessions.test_travel_window import arrive
from tests.widgets.reading import around
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.panels.lesson import LessonFacts


@pytest.fixture(autouse=True)
def _keyframes_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker_core.recording.keyframes.MOST_SHARE", 1e9)


def shown(hand: Hand) -> LessonFacts:
    facts = hand.workbench.window.parts.lesson.facts
    assert facts is not None
    return facts


def done(hand: Hand) -> list[int]:
    return [number for number, step in enumerate(shown(hand).steps) if step.done]


def pass_seconds(hand: Hand, seconds: int) -> None:
    """A second at a time, as keyframes come in a session that runs."""
    for _ in range(seconds):
        hand.pass_time(1)


def redrive_one(hand: Hand) -> None:
    hand.workbench.registry.trigger("show_dead_letters")
    hand.show()
    panel = hand.workbench.window.tab(DeadLettersPanel)
    panel.table.selectRow(0)
    assert hand.workbench.registry.trigger("redrive_selected")
    hand.show()


def test_the_first_session_shows_the_product(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench(record=True)
    panel = hand.workbench.window.parts.lesson
    assert panel.isVisible() and len(panel.rows) == 6 and done(hand) == []
    pass_seconds(hand, 4)
    assert done(hand) == [0]
    hand.drag("indexer-4", hand.place("group:indexers"))
    assert done(hand) == [0], "it has not joined yet"
    pass_seconds(hand, 4)
    assert done(hand) == [0, 1]
    assert panel.rows[1].seen.isVisible()
    pass_seconds(hand, 7)
    assert done(hand) == [0, 1, 2]
    redrive_one(hand)
    assert done(hand) == [0, 1, 2, 3]
    hand.workbench.family(LessonHandlers).help_with_step(4)
    ringed, timeline = around(hand.workbench.window.ring), hand.workbench.window.timeline
    assert ringed is not None and ringed.contains(timeline.mapTo(hand.workbench.window, timeline.rect().center()))
    hand.workbench.controller.travel.to(3 * NS_PER_S)
    arrive(hand)
    assert done(hand) == [0, 1, 2, 3, 4], "in the past it says what is to be done next, as in the present"
    assert shown(hand).steps[5].current
    hand.qtbot.mouseClick(panel.rows[5].point, Qt.MouseButton.LeftButton)
    toolbar, ringed = hand.workbench.window.toolbar, around(hand.workbench.window.ring)
    button = toolbar.button(hand.workbench.registry.action("follow_live"))
    assert button is not None and ringed is not None
    assert ringed.contains(button.mapTo(hand.workbench.window, button.rect().center()))
    hand.workbench.registry.trigger("follow_live")
    arrive(hand)
    assert done(hand) == [0, 1, 2, 3, 4, 5]
    assert panel.question.isVisible()
    hand.qtbot.mouseClick(panel.next, Qt.MouseButton.LeftButton)
    assert hand.workbench.controller.path == find_scenario("partitions-and-keys")


def test_a_panel_that_is_opened_by_its_tab_or_was_open_before_counts(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("partitions-and-keys")
    window = hand.workbench.window
    window.open_bottom(False)
    hand.show()
    assert done(hand) == []
    hand.qtbot.mouseClick(window.tabs.tab("messages"), Qt.MouseButton.LeftButton)
    hand.show()
    assert window.shown_tab() == "messages" and done(hand) == [1]
    hand.workbench.controller.open(find_scenario("partitions-and-keys"))
    hand.show()
    assert done(hand) == [1], "it is open still"


def test_progress_is_kept_and_can_be_forgotten(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench()
    pass_seconds(hand, 4)
    hand.workbench.controller.open(find_scenario("rate-limits"))
    hand.show()
    assert hand.workbench.window.parts.lesson.isHidden(), "it has no lesson"
    assert hand.workbench.registry.reason("next_lesson") == "This scenario has no lesson."
    hand.workbench.controller.open(find_scenario("first-session"))
    hand.show()
    assert done(hand) == [], "this run has just begun"
    assert shown(hand).steps[0].earlier
    pass_seconds(hand, 4)
    assert done(hand) == [0] and not shown(hand).steps[0].earlier
    hand.workbench.registry.trigger("restart")
    hand.workbench.controller.time.pause()
    hand.show()
    assert done(hand) == [] and shown(hand).steps[0].earlier
    hand.workbench.registry.trigger("lesson_over")
    hand.workbench.controller.time.pause()
    hand.show()
    assert done(hand) == [] and not shown(hand).steps[0].earlier


def test_a_lesson_that_was_finished_in_several_runs_asks_its_question(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("hot-key")
    panel, settings = hand.workbench.window.parts.lesson, hand.workbench.settings
    pass_seconds(hand, 12)
    assert not panel.question.isVisible()
    lesson = hand.workbench.controller.collectors.lesson.lesson
    assert lesson is not None
    settings.lessons = {"hot-key": frozenset(step.text for step in lesson.steps[1:])}
    hand.workbench.controller.open(find_scenario("hot-key"))
    hand.show()
    assert not panel.question.isVisible(), "the first one is to be done"
    pass_seconds(hand, 12)
    assert done(hand) == [0] and panel.question.isVisible()
    hand.qtbot.mouseClick(panel.show_answer, Qt.MouseButton.LeftButton)
    assert panel.answer.isVisible()
    hand.workbench.registry.trigger("restart")
    hand.workbench.controller.time.pause()
    hand.show()
    assert done(hand) == [] and panel.show_answer.isVisible() and not panel.answer.isVisible()


def test_a_recorded_session_shows_its_steps_and_adds_nothing(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench(record=True)
    controller = hand.workbench.controller
    pass_seconds(hand, 12)
    folder = controller.source.folder
    assert folder is not None
    controller.stop()
    hand.workbench.settings.lessons = {}
    controller.open_session(folder, 12 * NS_PER_S)
    hand.qtbot.waitUntil(lambda: controller.collectors.lesson.done[2] is not None, timeout=20_000)
    arrive(hand)
    assert done(hand) == [0, 2]
    assert hand.workbench.window.parts.lesson.note.text() == "As it was at 00:12.000."
    hand.workbench.registry.trigger("show_dead_letters")
    controller.travel.to(2 * NS_PER_S)
    arrive(hand)
    assert done(hand) == [0]
    assert hand.workbench.settings.lessons == {}


def test_show_me_where_draws_a_ring_around_it(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench()
    window, lessons = hand.workbench.window, hand.workbench.family(LessonHandlers)
    pass_seconds(hand, 3)
    hand.qtbot.mouseClick(window.parts.lesson.rows[1].point, Qt.MouseButton.LeftButton)
    ringed = around(window.ring)
    assert ringed is not None
    consumer = hand.canvas.viewport().mapTo(window, hand.place("consumer:indexer-4"))
    assert ringed.contains(consumer)
    hand.drag("indexer-4", hand.place("group:indexers"))
    pass_seconds(hand, 3)
    assert around(window.ring) is None, "the step is done"
    assert lessons.help_with_step(3), "the tab Dead letters"
    window.focus_canvas(True)
    assert not lessons.help_with_step(3)
    assert "hidden" in window.status.last_action.whole


def test_the_canvas_moves_to_what_a_step_is_about_when_asked_and_never_by_itself(
    open_workbench: Callable[..., Hand],
) -> None:
    hand = open_workbench("share-group")
    workbench = hand.workbench
    workbench.window.resize(1280, 800)
    workbench.registry.trigger("show_events")
    hand.show()

    def in_sight(item_id: str) -> bool:
        canvas = workbench.canvas
        where = canvas.mapFromScene(QRectF(*canvas._stage.layout.rects[item_id])).boundingRect()
        return canvas.viewport().rect().contains(where)

    workbench.canvas.centerOn(0, 0)
    assert not in_sight("worker:floor-2")
    hand.pass_time(19)
    lessons = workbench.family(LessonHandlers)
    assert done(hand) == [0, 1]
    assert not [timer for timer in lessons.findChildren(QTimer) if timer.isActive()], "nothing waits to move it"
    assert not in_sight("worker:floor-2"), "which dies at 00:20"
    assert lessons.help_with_step(2)
    assert in_sight("worker:floor-2")


@pytest.mark.parametrize("path", shipped_scenarios(), ids=lambda path: path.stem)
def test_what_a_shipped_lesson_names_is_there(path: Path) -> None:
    load_scenario(path, window_names(COMMANDS, path))


def test_the_schedule_waits_for_who_is_at_a_step_and_not_for_who_runs_fast(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("work-queue")
    controller, lessons = hand.workbench.controller, hand.workbench.family(LessonHandlers)
    hand.pass_time(16)
    assert shown(hand).steps[1].current, "open In flight"
    assert lessons.course.held_at_s == 0, "nothing runs by itself"
    controller.time.run()

    def held() -> bool:
        hand.workbench.draw()
        return lessons.course.held_at_s > 0

    hand.qtbot.waitUntil(held)
    assert 16 <= lessons.course.held_at_s < 20
    controller.time.pause()
    hand.pass_time(8)
    crashes = [event for event in controller.collectors.events.since(0) if event.cause == "crash"]
    assert crashes == [] and not done(hand)[2:], "painter-2 has not crashed at 00:20"
    hand.workbench.registry.trigger("show_in_flight")
    hand.show()
    assert lessons.course.held_at_s == 0
    hand.pass_time(1)
    assert [event.client for event in controller.collectors.events.since(0) if event.cause == "crash"] == ["painter-2"]
    last = hand.workbench.window.status.last_action.whole
    assert last == "The schedule goes on."
    acted = [event for event in controller.collectors.events.since(0) if event.kind is EventKind.USER_ACTION]
    assert len(acted) == 2 and not any(map(is_users, acted)), "the lesson did it"
    controller.open(find_scenario("work-queue"))
    hand.pass_time(16)
    hand.workbench.registry.trigger("fast")
    for _ in range(PANELS_EVERY_FRAMES):
        hand.workbench.draw()
    assert lessons.course.held_at_s == 0
    controller.time.pause()


def test_a_step_that_can_no_longer_be_done_says_so_and_offers_to_begin_again(
    open_workbench: Callable[..., Hand],
) -> None:
    hand = open_workbench()
    workbench, rows = hand.workbench, hand.workbench.window.parts.lesson.rows
    pass_seconds(hand, 4)
    assert shown(hand).steps[1].current and shown(hand).steps[1].cannot == ""
    workbench.controller.perform(RemoveClient(client="indexer-4"))
    hand.show()
    said = "This can no longer be done: indexer-4 is not there any more."
    assert rows[1].seen.text() == said and rows[1].seen.isVisible()
    assert rows[1].point.text() == "Start the lesson over"
    workbench.registry.trigger("undo")
    hand.show()
    assert shown(hand).steps[1].cannot == "" and rows[1].point.text() == "Show me where"

    workbench.controller.stop()
    for _ in range(PANELS_EVERY_FRAMES + 1):
        workbench.draw()
    cannot = [bool(step.cannot) for step in shown(hand).steps]
    assert cannot == [False, True, True, True, False, False], "what is done in the window alone still can be"
    lesson = workbench.controller.collectors.lesson.lesson
    assert lesson is not None
    kept = frozenset({lesson.steps[1].text, lesson.steps[3].text})
    workbench.family(LessonHandlers)._kept = kept
    for _ in range(PANELS_EVERY_FRAMES + 1):
        workbench.draw()
    cannot = [bool(step.cannot) for step in shown(hand).steps]
    assert cannot == [False, True, True, False, False, False], "what is ticked was done in an earlier run"
    hand.qtbot.mouseClick(rows[1].point, Qt.MouseButton.LeftButton)
    hand.show()
    assert workbench.controller.snapshot.time_ns < NS_PER_S and done(hand) == []
    assert shown(hand).steps[0].cannot == ""


def test_the_command_opens_a_lesson_that_is_a_title_alone(hand: Hand) -> None:
    window = hand.workbench.window
    lesson = window.parts.lesson
    window.right.resize(300, 230)
    window.right.bring(window.parts.rebalances, by_hand=True)
    assert lesson.is_title_alone and not lesson.is_folded
    assert hand.workbench.registry.trigger("toggle_lesson")
    assert not lesson.is_title_alone and not lesson.is_folded
