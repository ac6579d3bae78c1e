from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit

from widgets.i18n import tr
from widgets.theme import px
from widgets.timeline import Timeline

WIDTH = 190


class BookmarkField(QLineEdit):
    """Opens over the timeline. Enter, or going elsewhere, keeps what is written; Escape what was there before.

    `named(time_ns, before, name)` where another name was written; "" takes the bookmark away.
    """

    named = Signal(object, str, str)

    def __init__(self, timeline: Timeline) -> None:
        super().__init__(timeline)
        self._timeline = timeline
        self._time_ns = 0
        self._before = ""
        self.setAccessibleName(tr("Name of the bookmark"))
        self.setToolTip(tr("Enter keeps the name; an empty one removes the bookmark."))
        self.hide()

    def edit(self, time_ns: int, name: str) -> None:
        """Open at a moment with the name selected; nothing opens where the timeline is not seen."""
        if not self._timeline.isVisible():
            return
        self.keep()
        self._time_ns, self._before = time_ns, name
        self.setText(name)
        self.selectAll()
        self.resize(px(WIDTH), self.sizeHint().height())
        left = round(self._timeline.shape.x_of(time_ns)) - self.width() // 2
        room = self._timeline.width() - self.width() - px(4)
        self.move(max(0, min(left, room)), max(0, self._timeline.height() - self.height()))
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def keep(self) -> None:
        if not self.isHidden():
            self.hide()
            name = " ".join(self.text().split())
            if name != self._before:
                self.named.emit(self._time_ns, self._before, name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.setText(self._before)
        if event.key() in {Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.keep()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.keep()
