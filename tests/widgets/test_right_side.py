"""Lesson, inspector and rebalances: who gives way where there is little height, and what brings each back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from widgets import cards
from widgets.canvas.view import Party
from widgets.cards import Move, RebalanceFacts, RebalancesPanel
from widgets.panels.inspector import InspectorFacts, InspectorPanel
from widgets.panels.lesson import LessonFacts, LessonPanel, StepFacts
from widgets.panels.panel import Panel
from widgets.sides import LEAST_FOR_BOTH, LEAST_FOR_LESSON_AND_ONE, LEAST_FOR_THE_LESSON, RightSide
from widgets.theme import tabular_font

STEPS = tuple(StepFacts(f"Step {number}, which is to be done.") for number in range(20))
LESSON = LessonFacts("First", STEPS)
CARD = RebalanceFacts(
    ("indexers", 1), "indexers", "indexer-4 joined", "Stable", "0 → 1", "00:01", "", "no reader 1 s", "", False, (), ()
)

MOVE = Move("commits/0", Party("indexer-1", 0, "A"), Party("indexer-2", 1, "B"))
FIRST = replace(MOVE, old=Party())


@pytest.mark.parametrize(
    ("moved", "kept", "running", "said"),
    [
        ((FIRST, FIRST), (), False, "2 assigned, without an owner before"),
        ((FIRST, MOVE), (), False, "2 moved · 0 kept"),
        ((FIRST,), (MOVE,), False, "1 moved · 1 kept"),
        ((), (), False, "0 moved · 0 kept"),
        ((MOVE,), (), True, "1 revoked"),
    ],
)
def test_a_card_says_how_many_partitions_changed_hands(
    moved: tuple[Move, ...], kept: tuple[Move, ...], running: bool, said: str
) -> None:
    assert replace(CARD, moved=moved, kept=kept, running=running).figures == said


class Side:
    """A right side of 300 pixels in width, with all three in it."""

    def __init__(self, qtbot: QtBot) -> None:
        self.lesson, self.inspector, self.rebalances = LessonPanel(), InspectorPanel(), RebalancesPanel()
        self.lesson.set_facts(LESSON)
        self.inspector.set_facts(InspectorFacts("Group", "indexers"))
        self.rebalances.set_rebalances((CARD,))
        self.whole = RightSide(self.lesson, self.inspector, self.rebalances)
        qtbot.addWidget(self.whole)
        self.whole.show()

    def resize(self, height: int) -> None:
        self.whole.resize(300, height)
        QApplication.processEvents()

    def open_ones(self) -> set[Panel]:
        """Those that show more than their title; none of the others does, and nothing is left over."""
        QApplication.processEvents()
        panels = [panel for panel in (self.lesson, self.inspector, self.rebalances) if not panel.isHidden()]
        for panel in panels:
            assert (panel.height() <= panel.title_height) == panel.is_title_alone, panel
        around = sum(panel.height() for panel in panels)
        assert self.whole.height() - 8 <= around <= self.whole.height(), [panel.height() for panel in panels]
        return {panel for panel in panels if not panel.is_title_alone}


@pytest.fixture
def side(qtbot: QtBot, qapp: QApplication) -> Side:
    return Side(qtbot)


def test_with_room_for_all_all_are_open_as_they_share_it(side: Side) -> None:
    side.resize(900)
    side.whole.set_shares((0.25, 0.75))
    assert side.open_ones() == {side.inspector, side.rebalances}
    assert side.rebalances.height() > 2.5 * side.inspector.height()
    side.rebalances.set_rebalances(())
    assert side.open_ones() == {side.inspector}, "there is nothing to show"
    side.whole.bring(side.rebalances)
    assert side.open_ones() == {side.inspector, side.rebalances}
    side.whole.bring(None)
    side.rebalances.set_rebalances((CARD,))
    side.whole.show_lesson(True)
    side.resize(1_000)
    assert side.open_ones() == {side.lesson, side.inspector, side.rebalances}
    assert side.rebalances.height() > 2.5 * side.inspector.height()
    assert side.lesson.height() == min(580, side.lesson.wanted_height(300))


def test_in_little_height_one_of_two_is_open_beside_the_lesson(side: Side) -> None:
    side.whole.show_lesson(True)
    side.resize(LEAST_FOR_LESSON_AND_ONE + 80)
    assert side.open_ones() == {side.lesson, side.rebalances}, "the lesson says what the scenario is"
    assert side.lesson.height() == round(0.58 * (LEAST_FOR_LESSON_AND_ONE + 80))
    side.whole.bring(side.inspector)
    assert side.open_ones() == {side.lesson, side.inspector}
    side.whole.bring(None)
    side.rebalances.set_rebalances(())
    assert side.open_ones() == {side.lesson, side.inspector}
    side.rebalances.set_rebalances((CARD,))
    assert side.open_ones() == {side.lesson, side.rebalances}, "a first card is to be seen"


def test_without_a_lesson_the_inspector_is_open_until_another_is_asked_for(side: Side, qtbot: QtBot) -> None:
    side.resize(LEAST_FOR_BOTH - 20)
    assert side.open_ones() == {side.inspector}
    qtbot.mouseClick(side.rebalances, Qt.MouseButton.LeftButton, pos=QPoint(30, 10))
    assert side.open_ones() == {side.rebalances}
    qtbot.mouseClick(side.whole._openers[side.inspector], Qt.MouseButton.LeftButton)
    assert side.open_ones() == {side.inspector}
    side.whole.set_shares((0.7, 0.3))
    side.resize(900)
    assert side.open_ones() == {side.inspector, side.rebalances} and side.whole.shares == (0.7, 0.3)


def test_in_the_least_height_one_of_three_is_open_and_a_step_that_is_done_is_to_be_read(
    side: Side, qtbot: QtBot
) -> None:
    side.whole.show_lesson(True)
    side.resize(230)
    assert side.open_ones() == {side.lesson}
    side.whole.bring(side.inspector)
    assert side.open_ones() == {side.lesson}, "what is selected never folds the lesson"
    qtbot.mouseClick(side.inspector, Qt.MouseButton.LeftButton, pos=QPoint(30, 10))
    assert side.open_ones() == {side.inspector}
    side.lesson.set_facts(replace(LESSON, steps=(replace(STEPS[0], done=True), *STEPS[1:])))
    assert side.open_ones() == {side.lesson}
    side.whole.bring(side.rebalances, by_hand=True)
    assert side.open_ones() == {side.rebalances}
    qtbot.mouseClick(side.lesson.fold, Qt.MouseButton.LeftButton)
    assert side.open_ones() == {side.lesson} and not side.lesson.is_folded, "its arrow brings it back, too"


def test_who_listens_is_told_once_and_last_what_the_arrow_of_the_lesson_did(side: Side, qtbot: QtBot) -> None:
    told: list[bool] = []
    side.lesson.folded.connect(told.append)
    side.whole.show_lesson(True)
    side.resize(230)
    side.whole.bring(side.rebalances, by_hand=True)
    qtbot.mouseClick(side.lesson.fold, Qt.MouseButton.LeftButton)
    assert side.open_ones() == {side.lesson} and told == [], "it had a title alone for lack of room, and was not folded"
    side.resize(900)
    for is_folded in (True, False):
        qtbot.mouseClick(side.lesson.fold, Qt.MouseButton.LeftButton)
        assert (side.lesson in side.open_ones()) is not is_folded
    assert told == [True, False]
    side.lesson.begin()
    assert told == [True, False] and not side.lesson.is_folded


def test_the_lesson_keeps_its_pixels_whatever_is_selected(side: Side) -> None:
    side.whole.show_lesson(True)
    for height in (LEAST_FOR_LESSON_AND_ONE, 463, 563):
        side.resize(height)
        for panel in (None, side.inspector, side.rebalances):
            side.whole.bring(panel)
            assert side.open_ones() >= {side.lesson} and side.lesson.height() >= LEAST_FOR_THE_LESSON


def test_a_lesson_that_was_folded_by_hand_leaves_its_room(side: Side) -> None:
    side.whole.show_lesson(True)
    side.resize(900)
    side.lesson.set_folded(True)
    QApplication.processEvents()
    assert side.lesson.height() == side.lesson.title_height < 60
    title, button = side.lesson.title_row.geometry(), side.lesson.fold.geometry()
    assert side.lesson.rect().contains(title) and title.contains(button), "its header is whole, with its buttons"
    assert side.rebalances.mapTo(side.whole, side.rebalances.rect().bottomLeft()).y() == side.whole.rect().bottom()


def test_names_of_owners_are_whole_in_a_card_of_the_usual_width(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[float, str]] = []
    monkeypatch.setattr(cards, "_elided", lambda _painter, where, text, _colour: drawn.append((where.width(), text)))
    rows = cards.MoveTable()
    qtbot.addWidget(rows)
    rows.set_moves((Move("commits/5", Party("indexer-3", 2, "C"), Party("indexer-4", 3, "D")),))
    rows.resize(246, 22)
    rows.grab()
    metrics = QFontMetricsF(tabular_font(12))
    assert [text for _width, text in drawn] == ["commits/5", "indexer-3", "indexer-4"]
    assert all(metrics.horizontalAdvance(text) <= width for width, text in drawn)
