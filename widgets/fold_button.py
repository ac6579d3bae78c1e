from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QToolButton, QWidget

from widgets.icons import icon
from widgets.theme import current_theme, follow_theme, px


class FoldButton(QToolButton):
    """A chevron or another small sign at the end of a title; it takes the focus by Tab alone."""

    def __init__(self, sign: str, tip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sign = sign
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.set_sign(sign, tip)
        follow_theme(self._restyle)

    def set_sign(self, sign: str, tip: str) -> None:
        self._sign = sign
        self.setToolTip(tip)
        self.setAccessibleName(tip)
        self._restyle()

    def _restyle(self) -> None:
        self.setIcon(icon(self._sign, current_theme(), "muted"))
        self.setIconSize(QSize(px(16), px(16)))
