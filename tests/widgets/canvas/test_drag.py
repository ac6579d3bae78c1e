"""A consumer is dragged with real mouse events."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.widgets.canvas.conftest import Hand, Heard
from tests.widgets.canvas.sample_views import consumer, first_view, some_ghost, wide_view
from widgets.canvas.box_item import Highlight
from widgets.canvas.canvas import Canvas
from widgets.canvas.drag import SHOWN_ROWS, GhostPanel
from widgets.canvas.topic_item import TopicItem
from widgets.canvas.view import NEW_GROUP, CanvasView, Ghost, GhostMove, Party
from widgets.cards import Move


def test_from_the_bench_into_a_group(hand: Hand, heard: Heard) -> None:
    hand.drag("consumer:indexer-4", "group:indexers")
    assert heard.only("ghost_requested") == [("ghost_requested", "indexer-4", "indexers")]
    assert heard.only("dropped") == [("dropped", "indexer-4", "indexers")]
    assert heard.only("selected") == []


def test_out_of_a_group_to_the_bench(hand: Hand, heard: Heard) -> None:
    hand.drag("consumer:indexer-2", hand.header("bench"))
    assert heard.only("dropped") == [("dropped", "indexer-2", "")]
    assert ("ghost_requested", "indexer-2", "") in heard.reported


def test_into_another_group(hand: Hand, heard: Heard) -> None:
    hand.drag("consumer:indexer-1", hand.header("group:auditors"))
    assert heard.only("dropped") == [("dropped", "indexer-1", "auditors")]


def test_to_empty_ground_wants_a_new_group(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    hand.lift("consumer:indexer-3")
    hand.move(hand.empty_ground())
    assert canvas.drag._spot.isVisible()
    hand.release(hand.empty_ground())
    assert heard.only("dropped") == [("dropped", "indexer-3", NEW_GROUP)]
    assert heard.only("ghost_requested")[-1] == ("ghost_requested", "indexer-3", NEW_GROUP)
    assert not canvas.drag._spot.isVisible()


def test_dropped_where_it_was_does_nothing(hand: Hand, heard: Heard) -> None:
    hand.drag("consumer:indexer-1", hand.header("group:indexers"))
    hand.drag("consumer:indexer-4", hand.header("bench"))
    assert heard.reported == []


def test_a_topic_a_queue_or_a_producer_takes_no_consumer(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    for place in ("topic:commits", "queue:builds", "producer:commit-feed", "workers:builds"):
        hand.lift("consumer:indexer-4")
        hand.move(hand.header(place))
        assert canvas.drag.target is None
        assert canvas.viewport().cursor().shape() is Qt.CursorShape.ForbiddenCursor
        hand.release(hand.header(place))
    assert heard.only("dropped") == []
    assert heard.only("ghost_requested") == []


def test_a_press_without_a_move_is_a_click(hand: Hand, heard: Heard) -> None:
    hand.press("consumer:indexer-1")
    hand.move(hand.point("consumer:indexer-1") + QPoint(3, 2))
    hand.release("consumer:indexer-1")
    assert heard.reported == [("selected", "consumer:indexer-1")]


def test_workers_and_producers_cannot_be_dragged(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    for place in ("worker:builder-1", "producer:commit-feed"):
        hand.lift(place)
        assert not canvas.drag.is_carrying
        hand.release(hand.header("group:indexers"))
    assert heard.only("dropped") == []


def test_the_card_is_carried_and_targets_light_up(hand: Hand, canvas: Canvas) -> None:
    boxes = canvas._stage.boxes
    hand.lift("consumer:indexer-4")
    hand.move("group:auditors")
    assert canvas.drag._proxy is not None
    assert boxes["consumer:indexer-4"].opacity() < 0.5
    assert boxes["group:auditors"].highlight is Highlight.TARGET
    assert boxes["group:indexers"].highlight is boxes["bench"].highlight is Highlight.CANDIDATE
    assert boxes["topic:commits"].highlight is Highlight.NONE
    hand.release("group:auditors")
    assert boxes["consumer:indexer-4"].opacity() == 1
    assert {box.highlight for box in boxes.values()} == {Highlight.NONE}


def test_the_ghost_shows_what_the_owner_answers(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    canvas.drag.ghost_requested.connect(lambda consumer, target: canvas.set_ghost(some_ghost()))
    hand.lift("consumer:indexer-4")
    hand.move("group:indexers")
    panel = canvas.drag.panel
    assert panel.isVisible() and panel.ghost == some_ghost()
    assert canvas.viewport().rect().contains(panel.geometry())
    topic = canvas._stage.boxes["topic:commits"]
    assert isinstance(topic, TopicItem)
    assert topic.ghosts[3, "indexers"].after.name == "indexer-4"
    for step in range(5):
        hand.move(hand.point("group:indexers") + QPoint(step, 1))
    assert len(heard.only("ghost_requested")) == 1
    hand.release("group:indexers")
    assert not panel.isVisible() and topic.ghosts == {}


TWO_GROUPS = Ghost(
    "indexer-1 to auditors",
    tuple(
        GhostMove("commits", number, "indexers", Party("indexer-1", 0, "A"), Party("indexer-2", 1, "B"))
        for number in range(9)
    )
    + tuple(
        GhostMove("commits", number, "auditors", Party("auditor-1", 4, "E"), Party("indexer-1", 0, "A"))
        for number in range(3)
    ),
    3,
)


def test_the_preview_says_of_which_group_each_partition_is(canvas: Canvas) -> None:
    panel = GhostPanel(canvas.viewport())
    panel.show_ghost(TWO_GROUPS, QPoint(10, 10))
    rows = panel.rows()
    assert [row for row in rows if isinstance(row, str)] == ["In indexers", "and 5 more", "In auditors"]
    assert len(rows) <= SHOWN_ROWS
    at = rows.index("In auditors")
    assert {row.old.name for row in rows[at + 1 :] if isinstance(row, Move)} == {"auditor-1"}


@pytest.mark.parametrize("size", [(1240, 800), (700, 460), (330, 170)])
def test_the_preview_is_whole_and_leaves_the_targets_to_be_seen(
    hand: Hand, canvas: Canvas, qtbot: QtBot, size: tuple[int, int]
) -> None:
    canvas.resize(*size)
    canvas.fit()
    QApplication.processEvents()
    canvas.drag.ghost_requested.connect(lambda consumer, target: canvas.set_ghost(TWO_GROUPS))
    panel = canvas.drag.panel
    hand.lift("consumer:indexer-1")
    for target in ("group:auditors", "group:indexers", "bench"):
        hand.move(hand.header(target))
        assert panel.isVisible() and canvas.viewport().rect().contains(panel.geometry())
        if size[0] > 1000:
            covered = [where for where in canvas._stage.targets_in_view() if where.intersects(panel.geometry())]
            assert covered == []
    hand.release(hand.empty_ground())


def test_a_ghost_may_be_words_and_may_come_too_late(hand: Hand, canvas: Canvas) -> None:
    hand.lift("consumer:indexer-4")
    hand.move("group:indexers")
    canvas.set_ghost("Takes 2 partitions\nfrom indexer-1 and indexer-2")
    assert canvas.drag.panel.ghost == Ghost("Takes 2 partitions", note="from indexer-1 and indexer-2")
    canvas.set_ghost(["One line"])
    assert canvas.drag.panel.ghost == Ghost("One line")
    hand.release("group:indexers")
    canvas.set_ghost(some_ghost())
    assert not canvas.drag.panel.isVisible()


def test_escape_cancels(hand: Hand, heard: Heard, qtbot: QtBot, canvas: Canvas) -> None:
    hand.lift("consumer:indexer-4")
    hand.move("group:indexers")
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert not canvas.drag.is_carrying
    hand.release("group:indexers")
    assert heard.only("dropped") == []
    assert heard.only("selected") == []


def test_the_right_button_cancels_and_opens_no_menu(hand: Hand, heard: Heard, qtbot: QtBot, canvas: Canvas) -> None:
    hand.lift("consumer:indexer-4")
    hand.move("group:indexers")
    qtbot.mousePress(canvas.viewport(), Qt.MouseButton.RightButton, pos=hand.point("group:indexers"))
    assert not canvas.drag.is_carrying
    hand.release("group:indexers")
    assert heard.only("dropped") == []
    assert heard.only("contextMenuRequested") == []


def test_leaving_the_window_and_returning_goes_on(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    hand.lift("consumer:indexer-4")
    hand.move(QPoint(-50, 2000))
    assert canvas.drag.is_carrying and canvas.drag.target is None
    hand.move("group:indexers")
    hand.release("group:indexers")
    assert heard.only("dropped") == [("dropped", "indexer-4", "indexers")]


def test_released_outside_the_window_puts_it_back(hand: Hand, heard: Heard) -> None:
    hand.drag("consumer:indexer-4", QPoint(-50, 40))
    assert heard.only("dropped") == []


def test_a_hidden_canvas_lets_go(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    hand.lift("consumer:indexer-4")
    canvas.hide()
    assert not canvas.drag.is_pressed
    assert heard.only("dropped") == []


def test_a_consumer_that_crashes_in_the_air_cancels_politely(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    hand.lift("consumer:indexer-4")
    hand.move("group:indexers")
    canvas.set_view(replace(first_view(), bench=()))
    assert not canvas.drag.is_carrying
    hand.move("group:auditors")
    hand.release("group:auditors")
    assert heard.only("dropped") == []


def test_all_may_vanish_in_mid_drag(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    hand.lift("consumer:indexer-4")
    canvas.set_view(CanvasView())
    hand.move(QPoint(200, 200))
    hand.release(QPoint(200, 200))
    assert heard.only("dropped") == []


def test_new_views_in_mid_drag_keep_the_card_in_the_air(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    hand.lift("consumer:indexer-4")
    hand.move("group:indexers")
    for shift in range(1, 30):
        canvas.set_view(first_view(shift))
        hand.move(hand.point("group:indexers") + QPoint(shift % 3, 0))
    assert canvas.drag.is_carrying
    assert canvas._stage.boxes["consumer:indexer-4"].opacity() < 0.5
    hand.release("group:indexers")
    assert heard.only("dropped") == [("dropped", "indexer-4", "indexers")]


def test_a_card_that_was_moved_meanwhile_is_at_home_there(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    hand.lift("consumer:indexer-4")
    view = first_view()
    indexers = replace(view.groups[0], members=(*view.groups[0].members, consumer("indexer-4", 3)))
    canvas.set_view(replace(view, groups=(indexers, *view.groups[1:]), bench=()))
    hand.move("group:indexers")
    hand.release("group:indexers")
    assert heard.only("dropped") == []


def test_a_crowded_canvas_can_be_dragged_on_too(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    canvas.set_view(wide_view())
    canvas.fit()
    hand.drag("consumer:indexers-7", hand.header("group:statistics"))
    assert heard.only("dropped") == [("dropped", "indexers-7", "statistics")]
