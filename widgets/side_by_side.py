from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from widgets.theme import px

# Below this width, two parts of a panel stand one above the other.
NARROW = 640


class SideBySide(QSplitter):
    """Parts of a panel side by side; one above the other if it is narrow and high.

    If it is narrower than they are at least, Qt would lay one over another: parts that get less of the room to spare
    are hidden then, from the left.
    """

    def __init__(self, *args: Any, **properties: Any) -> None:
        super().__init__(*args, **properties)
        self._folded: set[QWidget] = set()

    def resizeEvent(self, event: QResizeEvent) -> None:
        upright = self.width() < min(px(NARROW), self.height() + 1)
        wanted = Qt.Orientation.Vertical if upright else Qt.Orientation.Horizontal
        turned = wanted is not self.orientation()
        if turned:
            self.setOrientation(wanted)
        super().resizeEvent(event)
        if turned:
            whole = self.height() if upright else self.width()
            self.setSizes([whole // self.count()] * self.count())
        self._fold(0 if upright else self.width())

    def _fold(self, room: int) -> None:
        """`room` is 0 if all parts have it."""
        parts = [part for place in range(self.count()) if (part := self.widget(place)) is not None]
        least = [max(part.minimumWidth(), part.minimumSizeHint().width()) for part in parts]
        needed, most = sum(least) + self.handleWidth() * (len(parts) - 1), max(map(_stretch, parts))
        for part, width in zip(parts, least, strict=True):
            gives_way = room > 0 and needed > room and _stretch(part) < most
            if gives_way:
                needed -= width + self.handleWidth()
            if gives_way != (part in self._folded):
                part.setVisible(not gives_way)
                (self._folded.add if gives_way else self._folded.discard)(part)


def _stretch(part: QWidget) -> int:
    return part.sizePolicy().horizontalStretch()


def side_by_side(
    parent: QWidget, *parts: QWidget, stretch: Sequence[int], widths: Sequence[int], collapsible: bool = False
) -> QSplitter:
    """Parts of a panel with borders to be moved; `stretch` is what each gets of the room beyond `widths`."""
    split = SideBySide(Qt.Orientation.Horizontal, parent, childrenCollapsible=collapsible)
    for place, part in enumerate(parts):
        split.addWidget(part)
        split.setStretchFactor(place, stretch[place])
    split.setSizes(list(widths))
    return split
