from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLayoutItem

from widgets.fold_button import FoldButton
from widgets.i18n import tr


class TitleRow(QHBoxLayout):
    """One line while there is room for it, as any row; else lines from the left, each as full as it can be.

    `fold`, which is no item of the row, stands at the end of the first line where the panel is `short`: all lines, or
    the first alone.
    """

    def __init__(self, fold: FoldButton) -> None:
        super().__init__()
        self.fold = fold
        self.short = self._unfolded = False
        fold.clicked.connect(lambda: self.unfold(not self._unfolded))
        self.unfold(False)

    @property
    def folded(self) -> bool:
        return self.short and not self._unfolded

    def set_short(self, on: bool) -> None:
        if on != self.short:
            self.short = on
            self.unfold(False)

    def unfold(self, on: bool) -> None:
        self._unfolded = on
        self.fold.set_sign("chevron-up" if on else "chevron-down", tr("One line") if on else tr("All of this line"))
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def minimumHeightForWidth(self, width: int) -> int:
        return self.heightForWidth(width)

    def heightForWidth(self, width: int) -> int:
        return self.height_of(width, folded=self.folded)

    def height_of(self, width: int, *, folded: bool) -> int:
        if width >= super().minimumSize().width():
            return super().sizeHint().height()
        lines = self._lines(width)[: 1 if folded else None]
        margins = self.contentsMargins()
        heights = sum(self._height(number, line) for number, line in enumerate(lines))
        return margins.top() + margins.bottom() + heights + self.spacing() * (len(lines) - 1)

    def minimumSize(self) -> QSize:
        margins = self.contentsMargins()
        # Each item on a line of its own, the first beside the button.
        widest = max((item.minimumSize().width() + self._kept(at) for at, item in enumerate(self._shown())), default=0)
        return QSize(widest + margins.left() + margins.right(), super().minimumSize().height())

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        several = rect.width() < super().minimumSize().width()
        self.fold.setVisible(several and self.short)
        if not several:
            return
        margins = self.contentsMargins()
        y, right = rect.y() + margins.top(), rect.right() + 1 - margins.right()
        for number, line in enumerate(self._lines(rect.width())):
            if number and self.folded:
                for item in line:  # no layout may place anything above its widget
                    item.setGeometry(QRect(rect.topRight() + QPoint(1, 0), item.sizeHint()))
                continue
            x, height, end = rect.x() + margins.left(), self._height(number, line), right - self._kept(number)
            spare = end - x - sum(_width(item) for item in line) - self.spacing() * (len(line) - 1)
            for item in line:
                grows = item is line[-1] and item.expandingDirections() & Qt.Orientation.Horizontal
                wide = min(_width(item) + (spare if grows else 0), end - x)
                own = min(item.sizeHint().height(), height)
                item.setGeometry(QRect(x, y + (height - own) // 2, wide, own))
                x += wide + self.spacing()
            if not number:
                size = self.fold.sizeHint()
                self.fold.setGeometry(QRect(QPoint(right - size.width(), y + (height - size.height()) // 2), size))
            y += height + self.spacing()

    def _height(self, number: int, line: list[QLayoutItem]) -> int:
        fold = self.fold.sizeHint().height() if self.short and not number else 0
        return max(fold, *(item.sizeHint().height() for item in line))

    def _kept(self, line: int) -> int:
        """Pixels at the end of a line that are the button's."""
        return self.spacing() + self.fold.sizeHint().width() if self.short and not line else 0

    def _shown(self) -> list[QLayoutItem]:
        items = [self.itemAt(place) for place in range(self.count())]
        return [item for item in items if item is not None and not item.isEmpty()]

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        margins = self.contentsMargins()
        room, used = width - margins.left() - margins.right(), 0
        lines: list[list[QLayoutItem]] = []
        for item in self._shown():
            if lines and used + self.spacing() + _width(item) <= room - self._kept(len(lines) - 1):
                lines[-1].append(item)
                used += self.spacing() + _width(item)
            else:
                lines.append([item])
                used = _width(item)
        return lines


def _width(item: QLayoutItem) -> int:
    return min(item.sizeHint().width(), item.maximumSize().width())
