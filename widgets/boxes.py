from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, Qt
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


class Gap(int):
    """So many pixels between two parts."""


Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget | QLayout, int, Qt.AlignmentFlag]
Margins = tuple[int, int, int, int]
Box = TypeVar("Box", bound=QBoxLayout)


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


def put_in_columns(grid: QGridLayout, widgets: Sequence[QWidget], across: int) -> None:
    """`widgets` row by row in so many columns of one width; those that were there may stand elsewhere."""
    for place, widget in enumerate(widgets):
        grid.addWidget(widget, place // across, place % across)
    for column in range(max(across, grid.columnCount())):
        grid.setColumnStretch(column, int(column < across))


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
