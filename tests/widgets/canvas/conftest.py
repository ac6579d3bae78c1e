"""A canvas that is shown, without motion, and a hand to work it with."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from tests.widgets.canvas.sample_views import first_view
from widgets.canvas.canvas import Canvas
from widgets.theme import LIGHT


@pytest.fixture
def canvas(qtbot: QtBot) -> Canvas:
    """The first view, wholly visible."""
    result = Canvas(LIGHT)
    qtbot.addWidget(result)
    result.set_reduced_motion(True)
    result.resize(1300, 800)
    result.show()
    qtbot.waitExposed(result)
    result.set_view(first_view(), LIGHT)
    return result


class Hand:
    """Real mouse events on the viewport. Places are ids, or points of the viewport."""

    def __init__(self, qtbot: QtBot, canvas: Canvas) -> None:
        self.qtbot, self.canvas = qtbot, canvas

    def point(self, place: str | QPoint) -> QPoint:
        if isinstance(place, QPoint):
            return place
        where = self.canvas._stage.layout.rects[place]
        return self.canvas.mapFromScene(where.centre_x, where.centre_y)

    def header(self, place: str) -> QPoint:
        """A point in a box that no card covers."""
        where = self.canvas._stage.layout.rects[place]
        return self.canvas.mapFromScene(where.centre_x, where.y + 12)

    def press(self, place: str | QPoint) -> None:
        self.qtbot.mousePress(self.canvas.viewport(), Qt.MouseButton.LeftButton, pos=self.point(place))

    def move(self, place: str | QPoint) -> None:
        self.qtbot.mouseMove(self.canvas.viewport(), pos=self.point(place))

    def release(self, place: str | QPoint) -> None:
        self.qtbot.mouseRelease(self.canvas.viewport(), Qt.MouseButton.LeftButton, pos=self.point(place))

    def lift(self, place: str) -> None:
        """Press, and move far enough to carry."""
        self.press(place)
        self.move(self.point(place) + QPoint(5, 4))

    def drag(self, source: str, target: str | QPoint) -> None:
        self.lift(source)
        self.move(target)
        self.release(target)

    def empty_ground(self) -> QPoint:
        """A point of the viewport far from everything."""
        rects = self.canvas._stage.layout.rects.values()
        bottom = max(rect.bottom for rect in rects)
        right = max(rect.right for rect in rects)
        at = self.canvas.mapFromScene(right - 40, bottom - 20)
        assert self.canvas.viewport().rect().contains(at)
        return at


@pytest.fixture
def hand(qtbot: QtBot, canvas: Canvas) -> Hand:
    return Hand(qtbot, canvas)


class Heard:
    """Everything that the canvas has said, in order."""

    def __init__(self, canvas: Canvas) -> None:
        self.reported: list[tuple[object, ...]] = []
        for name in "selected", "moveRequested", "contextMenuRequested":
            getattr(canvas, name).connect(self._listener(name))
        for name in "ghost_requested", "dropped":
            getattr(canvas.drag, name).connect(self._listener(name))

    def _listener(self, name: str) -> Callable[..., None]:
        def listen(*arguments: object) -> None:
            self.reported.append((name, *arguments))

        return listen

    def only(self, *names: str) -> list[tuple[object, ...]]:
        return [word for word in self.reported if word[0] in names]


@pytest.fixture
def heard(canvas: Canvas) -> Heard:
    return Heard(canvas)
