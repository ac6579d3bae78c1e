"""The twenty questions by keyboard alone, each in at most two acts: a shortcut, or Ctrl+P, some words and Enter.

What each view answers is held by the tests of the questions; here is that the keys lead to it, live and in the past.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog

from broker_core.clock import NS_PER_S
from broker_core.simulation.actions.faults import Crash
from broker_core.simulation.actions.groups import MoveConsumer
from tests.app.conftest import Hand
from tests.app.sessions.test_travel_window import arrive
from widgets.palette import CommandPalette

Key, Mod = Qt.Key, Qt.KeyboardModifier


class Keyboard:
    """Acts on a window by keys alone, and counts them."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.acts = 0
        self.leased_s = 0  # the last second at which a worker held something

    def press(self, key: Qt.Key, mods: Qt.KeyboardModifier = Mod.ControlModifier) -> None:
        """One shortcut."""
        self.acts += 1
        window = self.hand.workbench.window
        window.activateWindow()
        self.hand.qtbot.waitUntil(window.isActiveWindow, timeout=5_000)
        self.hand.qtbot.keyClick(window.focusWidget() or window, key, mods)
        self.hand.show()

    def find(self, words: str, title: str) -> None:
        """Ctrl+P, some words, Enter as soon as `title` is the first that is found."""
        self.press(Key.Key_P)
        palette = self.hand.workbench.window.findChild(CommandPalette)
        assert palette is not None
        self.hand.qtbot.keyClicks(palette.field, words)

        def found() -> bool:
            shown = palette.shown()
            return bool(shown) and shown[0].title.startswith(title)

        self.hand.qtbot.waitUntil(found, timeout=10_000)
        self.hand.qtbot.keyClick(palette.field, Key.Key_Return)
        self.hand.show()

    # -- what is seen then

    def facts(self) -> str:
        """All that the inspector says."""
        facts = self.hand.workbench.window.parts.inspector.facts
        if facts is None:
            return ""
        rows = [" ".join(map(str, row[:2])) for _, section in facts.sections for row in section]
        steps = [f"{step.state} {step.detail}" for step in facts.steps]
        return "\n".join([facts.name, facts.state, *(title for title, _ in facts.sections), *rows, *steps])

    def sees(self, *words: str) -> None:
        """The inspector comes to say all of it."""

        def told() -> bool:
            self.hand.show()
            return all(word in self.facts() for word in words)

        self.hand.qtbot.waitUntil(told, timeout=10_000)

    def is_in_front(self, tab: str) -> bool:
        """Whether that panel is seen."""
        window = self.hand.workbench.window
        return window.shown_tab() == tab and window.panel(tab).isVisible()


def who_owned(keyboard: Keyboard) -> None:
    keyboard.find("commits/3", "commits/3")
    keyboard.sees("Owner indexer-2")
    assert keyboard.is_in_front("offsets")


def why_a_rebalance(keyboard: Keyboard) -> None:
    keyboard.find("rebalance of indexers at 00:12", "Rebalance of indexers at 00:12")
    keyboard.sees("indexer-4 joined")


def what_moved(keyboard: Keyboard) -> None:
    keyboard.find("rebalance of indexers at 00:12", "Rebalance of indexers at 00:12")
    keyboard.sees("Moved 1", "Kept 5", "Reading no reader", "commits/5 indexer-3")


def why_a_dead_letter(keyboard: Keyboard) -> None:
    hand = keyboard.hand
    letter = next(queue for queue in hand.workbench.controller.snapshot.queues if queue.dead).dead_letters[0]
    keyboard.find(f"builds/{letter.origin_partition}/{letter.origin_offset}", "builds/")
    keyboard.sees("Dead-lettered", letter.cause, "Nacked" if "tests failed" in letter.cause else "")


def who_holds_it(keyboard: Keyboard) -> None:
    hand = keyboard.hand
    lease = next(queue for queue in hand.workbench.controller.snapshot.queues if queue.leases).leases[0]
    keyboard.find(f"builds/{lease.partition}/{lease.offset}", "builds/")
    keyboard.sees(f"to {lease.holder}")


def panel(key: Qt.Key, tab: str, mods: Qt.KeyboardModifier = Mod.ControlModifier) -> Callable[[Keyboard], None]:
    def act(keyboard: Keyboard) -> None:
        keyboard.press(key, mods)
        assert keyboard.is_in_front(tab)

    return act


def found_panel(words: str, title: str, tab: str) -> Callable[[Keyboard], None]:
    def act(keyboard: Keyboard) -> None:
        keyboard.find(words, title)
        assert keyboard.is_in_front(tab)

    return act


def which_key_is_hot(keyboard: Keyboard) -> None:
    keyboard.find("commits/2", "commits/2")
    keyboard.sees("Hot keys", "%")


def what_blocks(keyboard: Keyboard) -> None:
    keyboard.find("notifier", "notifier")
    keyboard.sees("Publishes to mails", "Blocked")


def dialog_of(keyboard: Keyboard, name: str) -> None:
    window = keyboard.hand.workbench.window
    keyboard.hand.qtbot.waitUntil(
        lambda: any(type(one).__name__ == name and one.isVisible() for one in window.findChildren(QDialog)),
        timeout=10_000,
    )


def was_anything_lost(keyboard: Keyboard) -> None:
    keyboard.press(Key.Key_L, Mod.ControlModifier | Mod.ShiftModifier)
    dialog_of(keyboard, "FactsTableDialog")


def between_two_rebalances(keyboard: Keyboard) -> None:
    keyboard.find("published between the rebalances of indexers", "Published between the rebalances of indexers")
    assert keyboard.is_in_front("events")


def in_flight_at_the_crash(keyboard: Keyboard) -> None:
    keyboard.find("builder-1: crash", "builder-1")
    arrive(keyboard.hand)
    assert keyboard.hand.workbench.controller.snapshot.time_ns == 16 * NS_PER_S
    keyboard.press(Key.Key_3)
    assert keyboard.is_in_front("in_flight")


def what_round_robin_would_do(keyboard: Keyboard) -> None:
    keyboard.find("indexers", "indexers")
    keyboard.press(Key.Key_A, Mod.ControlModifier | Mod.AltModifier)
    dialog_of(keyboard, "AssignorsDialog")


def how_it_differs(keyboard: Keyboard) -> None:
    keyboard.press(Key.Key_C, Mod.ControlModifier | Mod.AltModifier)
    assert "no other recorded run" in keyboard.hand.workbench.window.status.last_action.whole


QUESTIONS: dict[int, Callable[[Keyboard], None]] = {
    1: who_owned,
    2: why_a_rebalance,
    3: what_moved,
    4: why_a_dead_letter,
    5: who_holds_it,
    6: found_panel("charts", "Charts", "charts"),
    7: which_key_is_hot,
    8: panel(Key.Key_2, "offsets"),
    9: what_blocks,
    10: panel(Key.Key_M, "events", Mod.ControlModifier | Mod.ShiftModifier),
    11: found_panel("delivered twice", "Delivered twice", "redeliveries"),
    12: was_anything_lost,
    13: between_two_rebalances,
    14: in_flight_at_the_crash,
    15: what_round_robin_would_do,
    16: found_panel("schemas", "Schemas", "schemas"),
    17: found_panel("charts", "Charts", "charts"),
    18: panel(Key.Key_R, "dead_letters", Mod.ControlModifier | Mod.ShiftModifier),
    19: how_it_differs,
    20: found_panel("log on disk", "Log on disk", "log_on_disk"),
}


@pytest.fixture
def keyboard(open_workbench: Callable[..., Hand], monkeypatch: pytest.MonkeyPatch) -> Iterator[Keyboard]:
    """First session at 00:24: a consumer came at 00:12, a worker crashed at 00:16."""
    monkeypatch.setattr("broker_core.recording.keyframes.MOST_SHARE", 1e9)
    hand = open_workbench(record=True)
    keyboard = Keyboard(hand)
    for second in range(22):
        if second == 12:
            hand.workbench.controller.perform(MoveConsumer("indexer-4", "indexers"))
        if second == 16:
            hand.workbench.controller.perform(Crash("builder-1", 2))
        hand.pass_time(1)
        if any(queue.leases for queue in hand.workbench.controller.snapshot.queues):
            keyboard.leased_s = second + 1
    # So that the present is not that moment.
    hand.pass_time(2)
    yield keyboard


def answer(keyboard: Keyboard, number: int) -> None:
    keyboard.acts = 0
    QUESTIONS[number](keyboard)
    assert keyboard.acts <= 2
    for dialog in keyboard.hand.workbench.window.findChildren(QDialog):
        if dialog.isVisible():
            keyboard.hand.qtbot.keyClick(dialog, Key.Key_Escape)
    QApplication.processEvents()


def test_every_question_is_answered_live(keyboard: Keyboard) -> None:
    assert set(QUESTIONS) == set(range(1, 21))
    travels = {14}
    for number in QUESTIONS:
        answer(keyboard, number)
        if number in travels:
            keyboard.press(Key.Key_Right, Mod.AltModifier)
            assert keyboard.hand.workbench.controller.live


@pytest.mark.long
def test_every_question_is_answered_in_the_past(keyboard: Keyboard) -> None:
    # A crash is a moment of its own, and the log on disk has no past.
    at = f"00:{keyboard.leased_s:02d}"
    assert keyboard.leased_s > 16
    keyboard.find(at, at)
    arrive(keyboard.hand)
    for number in sorted(QUESTIONS.keys() - {14, 20}):
        answer(keyboard, number)
        assert keyboard.hand.workbench.controller.snapshot.time_ns == keyboard.leased_s * NS_PER_S, number
