"""Every shipped lesson is played from its first step to its last, and each step ticks when it is done, not before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from PySide6.QtCore import Qt

from app.environment.paths import FIRST_SCENARIO, find_scenario
from broker_core.simulation.scenario import load_scenario
from tests.app.commands.test_lessons import done, pass_seconds, redrive_one, shown
from tests.app.conftest import Hand
from tests.app.dialogs import accept, fill, run
from tests.long_form import some
from tests.widgets.reading import around
from widgets.panels.dead_letters import DeadLettersPanel

Act = Callable[[Hand], object]


def after(seconds: int) -> Act:
    return lambda hand: pass_seconds(hand, seconds)


def open_and_select_a_row(hand: Hand) -> None:
    """The step that says both is not done by the first."""
    before = done(hand)
    command("show_dead_letters")(hand)
    assert done(hand) == before
    panel = hand.workbench.window.tab(DeadLettersPanel)
    cause = panel.table.visualRect(panel.model.index(0, 1))
    hand.qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=cause.center())
    hand.show()


def open_events_while_alerts_last(hand: Hand) -> None:
    assert hand.workbench.window.tabs.tab("events").count > 0
    command("show_events")(hand)


def command(name: str, selected: str = "") -> Act:
    def act(hand: Hand) -> None:
        if selected:
            hand.workbench.views.select(selected)
        assert hand.workbench.registry.trigger(name), hand.workbench.registry.reason(name)
        hand.workbench.controller.time.pause()
        hand.show()

    return act


def click(item_id: str) -> Act:
    def act(hand: Hand) -> None:
        where = hand.canvas.place_of(item_id)
        assert where is not None
        hand.qtbot.mouseClick(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=where.center())
        hand.show()

    return act


def drag(consumer: str, to: str, seconds: int = 0) -> Act:
    def act(hand: Hand) -> None:
        hand.drag(consumer, hand.place(to))
        pass_seconds(hand, seconds)

    return act


def form(name: str, selected: str, **values: object) -> Act:
    def act(hand: Hand) -> None:
        dialog = run(hand, name, selected)
        hand.show()  # what holds now is filled in
        fill(hand, dialog, **values)
        accept(hand, dialog)

    return act


@pytest.fixture(autouse=True)
def _keyframes_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker_core.recording.keyframes.MOST_SHARE", 1e9)


# What is done for each step of a lesson, in the order of its steps.
PLAYED: dict[str, Sequence[Act]] = {
    "partitions-and-keys": (after(3), command("show_messages"), drag("packer-2", "bench", 4), click("lane:orders/0")),
    "hot-key": (after(12), click("lane:views/4"), drag("spare-1", "group:counters", 4), after(24)),
    "lag-and-catch-up": (
        after(7),
        after(14),
        command("fast"),
        after(40),
        drag("spare-1", "group:clerks", 4),
        command("show_charts"),
    ),
    "alerts": (
        after(3),
        after(5),
        after(51),
        open_events_while_alerts_last,
        lambda hand: (drag("spare-1", "group:packers", 4)(hand), drag("packer-1", "bench", 9)(hand)),
        form("set_alert", "group:packers"),
    ),
    "range-versus-sticky": (
        after(3),
        drag("ranger-1", "bench", 3),
        drag("sticker-1", "bench", 3),
        drag("helper-1", "bench", 3),
        command("what_if", "group:ranged"),
    ),
    "static-members": (after(21), after(5), after(10), drag("regular-2", "bench")),
    "at-most-or-at-least-once": (
        after(3),
        after(18),
        after(8),
        form("crash", "consumer:poster-1", for_s=2),
        command("audit"),
    ),
    "work-queue": (
        after(4),
        command("show_in_flight"),
        after(20),
        lambda hand: (form("crash", "worker:painter-1", for_s=60)(hand), after(12)(hand)),
    ),
    "poison-message": (after(1), after(5), open_and_select_a_row, redrive_one),
    "backpressure-policies": (
        after(4),
        after(4),
        command("show_backpressure"),
        form("set_flow", "queue:refuse", max_messages=200),
    ),
    "transactions": (
        after(1),
        after(4),
        after(4),
        after(23),
        click("lane:payments/0"),
        after(15),
        form("crash", "producer:shop", for_s=20),
    ),
    "share-group": (after(2), after(5), after(18), after(9), command("duplicate_client", "worker:floor-1")),
    "group-protocols": (after(3), after(19), after(3), after(22), drag("old-3", "bench"), drag("new-3", "bench")),
}


@pytest.mark.parametrize("name", some(PLAYED, {"transactions", "group-protocols", "poison-message"}))
def test_every_step_ticks_when_it_is_done(open_workbench: Callable[..., Hand], name: str) -> None:
    hand = open_workbench(name)
    hand.pass_time(0.1)  # the first members have come
    steps = shown(hand).steps
    assert len(steps) == len(PLAYED[name])
    for number, act in enumerate(PLAYED[name]):
        assert done(hand) == list(range(number)), f"before step {number}"
        row = hand.workbench.window.parts.lesson.rows[number]
        if row.point.isVisible():
            row.point.click()
            assert around(hand.workbench.window.ring) is not None, "there is something to point at"
        act(hand)
        assert number in done(hand), steps[number].text
    assert shown(hand).complete


def test_the_lessons_follow_one_another() -> None:
    order = [FIRST_SCENARIO]
    while (lesson := load_scenario(find_scenario(order[-1]))[0].lesson) is not None and lesson.next:
        assert lesson.question is not None
        assert lesson.next not in order
        order.append(lesson.next)
    assert order == [FIRST_SCENARIO, *PLAYED]
