from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from widgets.theme import px


class Gap(int):
    """A gap of that many pixels between two parts."""


Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget | QLayout, int, Qt.AlignmentFlag]
Margins = tuple[int, int, int, int]
Box = TypeVar("Box", bound=QBoxLayout)
W = TypeVar("W", bound=QWidget)
F = TypeVar("F")


def hbox(
    *parts: Part, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """`parts` from left to right, as the layout of `on`: widgets and layouts, each by itself or with its stretch and
    alignment. A number is a stretch between them. Margins and spacing are in pixels, the style's own for None.
    """
    return _filled(QHBoxLayout() if on is None else QHBoxLayout(on), parts, margins, spacing)


def vbox(
    *parts: Part, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """`parts` from top to bottom, as in `hbox`."""
    return _filled(QVBoxLayout() if on is None else QVBoxLayout(on), parts, margins, spacing)


class _ScrolledArea(QScrollArea):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Words that wrap anew need another height, which Qt asks for only when the area changes its own size."""
        if event.type() == QEvent.Type.LayoutRequest and watched is self.widget():
            QApplication.sendEvent(self, QEvent(QEvent.Type.LayoutRequest))
        return super().eventFilter(watched, event)


def scrolled(inner: QWidget, parent: QWidget | None = None) -> QScrollArea:
    """`inner` in an area that is as wide and scrolls downwards only, without a frame."""
    area = _ScrolledArea(parent, widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inner)
    return area


class Columns(QWidget):
    """Widgets row by row in as many columns of one width as there is room for, each `least` wide at least, in pixels of
    the design. With `even` the rows have as many each as can be.
    """

    def __init__(
        self, least: int, parent: QWidget | None = None, *, margins: Margins, spacing: int, even: bool = False
    ) -> None:
        super().__init__(parent)
        self._least, self._even = least, even
        self.widgets: tuple[QWidget, ...] = ()
        self.across = 0
        self.grid = QGridLayout(self)
        self.grid.setContentsMargins(*margins)
        self.grid.setSpacing(spacing)

    def put(self, widgets: Sequence[QWidget]) -> None:
        for gone in self.widgets:
            self.grid.removeWidget(gone)
        self.widgets, self.across = tuple(widgets), 0
        self._lay_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        margins, count = self.grid.contentsMargins(), len(self.widgets)
        across = max(1, (self.width() - margins.left() - margins.right()) // px(self._least))
        if self._even and count:
            rows = -(-count // across)
            across = -(-count // rows)
        if across != self.across:
            self.across = across
            self.place()

    def place(self) -> None:
        for place, widget in enumerate(self.widgets):
            self.grid.addWidget(widget, place // self.across, place % self.across)
        for column in range(max(self.across, self.grid.columnCount())):
            self.grid.setColumnStretch(column, int(column < self.across))


def one_each(facts: Sequence[F], widgets: list[W], add: Callable[[int], W]) -> Iterable[tuple[W, F]]:
    """`widgets` with the facts that each shows. `add(place)` makes those that are missing, those that are left over go;
    the others are kept, so that no click on one is lost.
    """
    while len(widgets) < len(facts):
        widgets.append(add(len(widgets)))
    while len(widgets) > len(facts):
        gone = widgets.pop()
        gone.hide()
        gone.deleteLater()
    return zip(widgets, facts, strict=True)


def _filled(box: Box, parts: tuple[Part, ...], margins: Margins | None, spacing: int | None) -> Box:
    if margins is not None:
        box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        if isinstance(part, Gap):
            box.addSpacing(part)
        elif isinstance(part, int):
            box.addStretch(part)
        else:
            item, *more = part if isinstance(part, tuple) else (part,)
            if isinstance(item, QWidget):
                box.addWidget(item, *more)  # type: ignore[arg-type]
            else:
                box.addLayout(item, *more[:1])
    return box
