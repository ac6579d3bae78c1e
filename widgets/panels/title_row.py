"""The row of a panel's title, count, pickers and buttons, which goes on in a second line where it does not fit."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLayoutItem


class TitleRow(QHBoxLayout):
    """One line while there is room for it, as any row; else lines from the left, each as full as it can be."""

    def hasHeightForWidth(self) -> bool:
        return True

    def minimumHeightForWidth(self, width: int) -> int:
        """As `heightForWidth`: nothing is cut."""
        return self.heightForWidth(width)

    def heightForWidth(self, width: int) -> int:
        if width >= super().minimumSize().width():
            return super().sizeHint().height()
        lines = self._lines(width)
        margins = self.contentsMargins()
        heights = sum(max(item.sizeHint().height() for item in line) for line in lines)
        return margins.top() + margins.bottom() + heights + self.spacing() * (len(lines) - 1)

    def minimumSize(self) -> QSize:
        margins = self.contentsMargins()
        widest = max((item.minimumSize().width() for item in self._shown()), default=0)
        return QSize(widest + margins.left() + margins.right(), super().minimumSize().height())

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        if rect.width() >= super().minimumSize().width():
            return
        margins = self.contentsMargins()
        y, right = rect.y() + margins.top(), rect.right() + 1 - margins.right()
        for line in self._lines(rect.width()):
            x, height = rect.x() + margins.left(), max(item.sizeHint().height() for item in line)
            left = right - x - sum(_width(item) for item in line) - self.spacing() * (len(line) - 1)
            for item in line:
                wide = min(_width(item) + (left if item is line[-1] and self._grows(item) else 0), right - x)
                own = min(item.sizeHint().height(), height)
                item.setGeometry(QRect(x, y + (height - own) // 2, wide, own))
                x += wide + self.spacing()
            y += height + self.spacing()

    @staticmethod
    def _grows(item: QLayoutItem) -> bool:
        return bool(item.expandingDirections() & Qt.Orientation.Horizontal)

    def _shown(self) -> list[QLayoutItem]:
        items = [self.itemAt(place) for place in range(self.count())]
        return [item for item in items if item is not None and not item.isEmpty()]

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        margins = self.contentsMargins()
        room, used = width - margins.left() - margins.right(), 0
        lines: list[list[QLayoutItem]] = []
        for item in self._shown():
            if lines and used + self.spacing() + _width(item) <= room:
                lines[-1].append(item)
                used += self.spacing() + _width(item)
            else:
                lines.append([item])
                used = _width(item)
        return lines


def _width(item: QLayoutItem) -> int:
    return min(item.sizeHint().width(), item.maximumSize().width())
