"""A topic is dragged onto a group with real mouse events."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.widgets.canvas.conftest import Hand
from widgets.canvas.box_item import Highlight
from widgets.canvas.canvas import Canvas


@pytest.fixture
def dropped(canvas: Canvas) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    canvas.topic_drag.dropped.connect(lambda topic, group: found.append((topic, group)))
    return found


def other_group(canvas: Canvas, topic: str) -> str:
    """A group that does not read it."""
    read = {link.target for link in canvas.view.links if link.source == f"topic:{topic}"}
    return next(group.name for group in canvas.view.groups if f"group:{group.name}" not in read)


def test_a_topic_is_dropped_on_a_group_that_does_not_read_it(
    hand: Hand, canvas: Canvas, dropped: list[tuple[str, str]]
) -> None:
    topic = canvas.view.topics[-1].name
    group = other_group(canvas, topic)
    hand.lift(f"topic:{topic}")
    hand.move(hand.header(f"group:{group}"))
    panel = canvas.topic_drag.panel
    assert panel.ghost.title == f"Subscribe {group} to {topic}"
    assert not any(where.intersects(panel.geometry()) for where in canvas._stage.targets_in_view())
    assert canvas._stage.boxes[f"group:{group}"].highlight is Highlight.TARGET
    hand.release(hand.header(f"group:{group}"))
    assert dropped == [(topic, group)]
    assert not panel.isVisible()


def test_a_group_that_reads_it_already_takes_no_drop_and_says_so(
    hand: Hand, canvas: Canvas, dropped: list[tuple[str, str]]
) -> None:
    link = next(link for link in canvas.view.links if link.source.startswith("topic:") and "group:" in link.target)
    topic, group = link.source.removeprefix("topic:"), link.target.removeprefix("group:")
    hand.lift(f"topic:{topic}")
    hand.move(hand.header(f"group:{group}"))
    assert canvas.topic_drag.panel.ghost.title == f"{group} already reads {topic}"
    assert canvas.viewport().cursor().shape() is Qt.CursorShape.ForbiddenCursor
    hand.release(hand.header(f"group:{group}"))
    assert dropped == []


def test_escape_lets_the_topic_go(hand: Hand, canvas: Canvas, dropped: list[tuple[str, str]], qtbot: QtBot) -> None:
    topic = canvas.view.topics[-1].name
    group = other_group(canvas, topic)
    hand.lift(f"topic:{topic}")
    hand.move(hand.header(f"group:{group}"))
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    hand.release(hand.header(f"group:{group}"))
    assert dropped == []
    assert not canvas.topic_drag.is_carrying


def test_a_click_on_a_topic_selects_it_and_drops_nothing(
    hand: Hand, canvas: Canvas, dropped: list[tuple[str, str]], qtbot: QtBot
) -> None:
    selected: list[str] = []
    canvas.selected.connect(selected.append)
    topic = canvas.view.topics[-1].name
    qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=hand.header(f"topic:{topic}"))
    assert selected == [f"topic:{topic}"]
    assert dropped == []
