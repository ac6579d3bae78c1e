"""What the canvas says in words, and how focus and selection differ."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from tests.widgets.canvas.conftest import Hand, Heard
from tests.widgets.canvas.sample_views import first_view, wide_view
from widgets.canvas.box_item import Look
from widgets.canvas.canvas import Canvas
from widgets.canvas.card_item import WORKERS_STAY
from widgets.canvas.drag import GHOST_WIDTH, GhostPanel
from widgets.canvas.layout import LANE_H, TOPIC_HEADER_H
from widgets.canvas.queue_item import QueueItem
from widgets.canvas.topic_item import TopicItem
from widgets.canvas.view import Ghost, lane_id

WORKER = "worker:" + first_view().queues[0].workers[0].name


def test_a_hint_is_broken_into_lines_and_nothing_of_it_is_lost(hand: Hand, canvas: Canvas) -> None:
    hand.lift("consumer:indexer-4")
    hand.move(hand.header("topic:commits"))
    panel = canvas.drag.panel
    assert panel.title.text() == "Not here: drop on a group, the bench or empty ground"
    assert panel.width() <= GHOST_WIDTH and panel.title.heightForWidth(panel.title.width()) <= panel.title.height()


def test_a_longer_title_makes_the_panel_higher(canvas: Canvas) -> None:
    panel = GhostPanel(canvas.viewport())
    panel.show_ghost(Ghost("Short"), QPoint(10, 10))
    low = panel.height()
    panel.show_ghost(Ghost("Move a-consumer-with-a-long-name into a-group-with-a-long-name-too"), QPoint(10, 10))
    assert panel.height() > low


def test_a_worker_that_is_pulled_says_why_it_stays(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    hand.press(WORKER)
    hand.move(hand.point(WORKER) + QPoint(2, 0))
    assert not canvas.drag.panel.isVisible()
    hand.move(hand.header("group:indexers"))
    assert canvas.drag.panel.isVisible()
    assert canvas.drag.panel.title.text() == WORKERS_STAY
    assert canvas.viewport().cursor().shape() is Qt.CursorShape.ForbiddenCursor
    hand.release(hand.header("group:indexers"))
    assert not canvas.drag.panel.isVisible()
    assert heard.reported == []
    assert WORKERS_STAY in canvas.tool_tip_at(hand.point(WORKER))
    assert WORKERS_STAY not in canvas.tool_tip_at(hand.point("consumer:indexer-1"))


def test_focus_and_selection_look_different(hand: Hand, canvas: Canvas, qtbot: QtBot) -> None:
    focus, selection = canvas._focus_frame, canvas._selection_frame
    assert focus.line is Qt.PenStyle.DashLine and selection.line is Qt.PenStyle.SolidLine
    assert focus.gap > selection.gap
    assert "dashed ring" in canvas.accessibleDescription() and "solid frame" in canvas.accessibleDescription()


def test_a_click_on_a_lane_frames_its_row(hand: Hand, heard: Heard, canvas: Canvas) -> None:
    topic = canvas._stage.layout.rects["topic:commits"]
    at = canvas.mapFromScene(topic.centre_x, topic.y + TOPIC_HEADER_H + 3 * LANE_H + 13)
    hand.press(at)
    hand.release(at)
    assert heard.only("selected") == [("selected", lane_id("commits", 3))]
    frame = canvas._selection_frame
    assert frame.isVisible()
    assert frame.y() == pytest.approx(topic.y + TOPIC_HEADER_H + 3 * LANE_H, abs=2)
    assert frame.rect().height() < LANE_H + 4


def test_a_lane_of_a_heat_map_is_framed_with_its_topic(canvas: Canvas) -> None:
    canvas.set_view(wide_view())
    assert canvas._stage.rect_of(lane_id("commits", 3)) == canvas._stage.layout.rects["topic:commits"]


def test_the_header_of_lanes_explains_them(canvas: Canvas) -> None:
    item = canvas._stage.boxes["topic:commits"]
    assert isinstance(item, TopicItem)
    legend = item.tool_tip(100, 40)
    for word in ("Filled: committed", "Orange: lag", "Letter: the owner"):
        assert word in legend
    for at, group in enumerate(item.facts.lanes[0].groups):
        centre = item._group_title(at).center()
        assert item.tool_tip(centre.x(), centre.y()).startswith(f"Group {group.group}\n")
    assert item.tool_tip(100, 10).startswith("Topic commits")


def test_a_subscription_says_what_it_reads() -> None:
    queue = first_view().queues[0]
    reads = QueueItem(queue.id, replace(queue, reads="orders"), Look()).tool_tip(200, 10)
    assert "reads orders" in reads
    assert "reads" not in QueueItem(queue.id, queue, Look()).tool_tip(200, 10)
