"""The labels, buttons, links, tips and names that panels and dialogs are made of."""

from __future__ import annotations

from typing import Any, TypeVar

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from widgets.bytes_text import as_plain, contained
from widgets.icons import icon_pixmap
from widgets.theme import current_theme, px, state_style, tabular_font

W = TypeVar("W", bound=QWidget)


def named(widget: W, name: str) -> W:
    """`widget`, which a screen reader calls `name`."""
    widget.setAccessibleName(name)
    return widget


def plain_label(
    text: str = "",
    role: str = "",
    parent: QWidget | None = None,
    *,
    wrap: bool = False,
    fill: bool = False,
    selectable: bool = False,
) -> QLabel:
    """A label that shows data as it is: never as markup. `role` is one of the style sheet.

    With `fill` it wraps in the width that there is, and takes the height that its text needs at that width.
    """
    label = QLabel(parent, textFormat=Qt.TextFormat.PlainText, wordWrap=wrap or fill)
    label.setText(contained(text))
    if role:
        label.setProperty("role", role)
    if fill:
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        label.setSizePolicy(policy)
    if selectable:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


class RunningLabel(QLabel):
    """Lines whose figures run, as plain text: laid out anew only if they need other room, for that costs a frame."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._running = ""

    def text(self) -> str:
        return self._running

    def setText(self, text: str) -> None:
        self._running = text
        self.setAccessibleName(text)
        if self._room(text) != self._room(super().text()):
            super().setText(text)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        how = self.alignment() | Qt.TextFlag.TextWordWrap
        painter = QPainter(self)
        role = self.foregroundRole()
        self.style().drawItemText(
            painter, self.contentsRect(), how, self.palette(), self.isEnabled(), self._running, role
        )

    def _room(self, text: str) -> int:
        room = QRect(0, 0, self.contentsRect().width(), 1_000_000)
        return self.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, text).height() if text else 0


def push_button(
    text: str,
    parent: QWidget | None = None,
    *,
    pressed: Any = None,
    role: str = "",
    tip: str = "",
    by_tab: bool = False,
    hidden: bool = False,
) -> QPushButton:
    """A button that calls `pressed`, or emits that signal. `by_tab`: a click leaves the focus where it is."""
    button = QPushButton(text, parent)
    if pressed is not None:
        button.clicked.connect(pressed)
    if role:
        button.setProperty("role", role)
    if by_tab:
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setToolTip(tip)
    if hidden:
        button.hide()
    return button


def action_button(action: QAction, words: str, parent: QWidget) -> QPushButton:
    """A button that does `action`, with its words if none are given; its tip says why it cannot be done now."""
    button = push_button(words or action.text(), parent, pressed=lambda: action.trigger(), by_tab=True)  # noqa: PLW0108 - a click has an argument

    def follow() -> None:
        set_why_not(button, str(action.data() or ""), action.toolTip())

    action.changed.connect(follow)
    follow()
    return button


def tool_of(action: QAction, parent: QWidget) -> QToolButton:
    """A button with the icon of `action` alone, which it does."""
    button = QToolButton(parent, autoRaise=True)
    button.setDefaultAction(action)
    return button


def toggle_button(text: str, parent: QWidget | None = None, tip: str = "") -> QToolButton:
    """A button that stays pressed."""
    button = QToolButton(parent)
    button.setText(text)
    button.setCheckable(True)
    button.setProperty("role", "toggle")
    button.setToolTip(tip)
    return button


def set_property(widget: QWidget, name: str, value: object) -> bool:
    """Set a property that the style sheet asks for; False if it has this value already."""
    if widget.property(name) == value:
        return False
    widget.setProperty(name, value)
    polish_again(widget)
    return True


def polish_again(widget: QWidget) -> None:
    """A property that the style sheet asks for has changed, of `widget` or of what holds it."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def set_plain_tip(widget: QWidget, text: str) -> None:
    tip = as_plain(contained(text))
    if widget.toolTip() != tip:
        widget.setToolTip(tip)


def mark_wrong(field: QWidget, sentence: str, tip: str = "") -> None:
    """Mark `field` with the error `sentence`; where that is "", its tip is `tip`."""
    if bool(field.property("invalid")) != bool(sentence):
        set_property(field, "invalid", bool(sentence))
    field.setAccessibleDescription(sentence)
    set_plain_tip(field, sentence or tip)


def set_why_not(widget: QWidget, why_not: str, tip: str = "") -> None:
    """Enable `widget` unless there is a reason against it, which is its tool tip then; else that is `tip`."""
    widget.setEnabled(not why_not)
    set_plain_tip(widget, why_not or tip)


def show_state(state: str, icon: QLabel, word: QLabel) -> None:
    style = state_style(state)
    colour = current_theme().colour(style.token)
    icon.setPixmap(icon_pixmap(style.icon, colour, px(16), icon.devicePixelRatioF()))
    word.setText(style.word)
    word.setStyleSheet(f"color: {colour};")


class LinkButton(QPushButton):
    """A value that leads somewhere: looks like a link, works by mouse and key. `followed(target)`."""

    followed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.target = ""
        self.whole = ""
        self.setProperty("role", "link")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFont(tabular_font())
        self.clicked.connect(lambda: self.followed.emit(self.target))

    def set_link(self, text: str, target: str, hint: str = "") -> None:
        self.target = target
        if self.whole != text:
            self.whole = text
            self.setAccessibleName(text)
            self.updateGeometry()
            self._cut()
        set_plain_tip(self, hint or text)

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.whole) + 6, self.fontMetrics().height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(min(60, self.sizeHint().width()), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cut()

    def _cut(self) -> None:
        cut = self.fontMetrics().elidedText(self.whole, Qt.TextElideMode.ElideRight, max(20, self.width() - 2))
        self.setText(cut.replace("&", "&&"))
