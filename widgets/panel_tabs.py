"""The panels below the canvas: their tabs in groups, the panel in front, and how much of the height they take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QHBoxLayout,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from widgets.facts import plain_label, set_plain_tip
from widgets.fold_button import FoldButton
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.panels.cell_painter import ROW_HEIGHT, tabular_font
from widgets.panels.panel import Panel
from widgets.theme import current_theme, px, qcolour, ui_font

# The panel opens at a height that shows so many rows of a table, with its title and its header.
ROWS_AT_FIRST = 10
TITLE_AND_HEADER = 78
PAD, GAP, ICON, DIGIT = 4, 8, 16, 8
_NO_LIMIT = 16_777_215  # Qt's QWIDGETSIZE_MAX
_CENTRE_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class PanelTab(QAbstractButton):
    """The tab of a panel: its title, or its icon alone, and a count that has its room before there is one."""

    def __init__(self, panel: Panel, parent: QWidget) -> None:
        super().__init__(parent)
        self.info = panel.info
        self.count = 0
        self._title = panel.title
        self._short = False
        self._is_open = True
        self.setText(panel.title)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._describe()

    def set_count(self, count: int) -> None:
        """A count behind the title; 0 for none."""
        if count != self.count:
            self.count = count
            self._describe()
            self.update()

    def set_short(self, short: bool) -> None:
        """The icon alone, or the title."""
        if short != self._short:
            self._short = short
            self.updateGeometry()
            self.update()

    def set_open(self, on: bool) -> None:
        """Whether a panel is shown at all: where none is, no tab is in front."""
        self._is_open = on
        self.update()

    def _describe(self) -> None:
        said = f"{self._title}, {self.count:,}" if self.count else self._title
        self.setAccessibleName(said)
        key = f" ({self.info.shortcut})" if self.info.shortcut else ""
        set_plain_tip(self, "\n".join(line for line in (said + key, tr(self.info.hint)) if line))

    def width_as(self, short: bool) -> int:
        """How wide it is with the icon alone, or with the title."""
        words = px(ICON) if short else QFontMetrics(ui_font(13, QFont.Weight.DemiBold)).horizontalAdvance(self._title)
        return words + 2 * px(PAD) + px(DIGIT) * self.info.counted

    def sizeHint(self) -> QSize:
        """The same whether it is in front or not, with and without a count."""
        return QSize(self.width_as(self._short), px(26))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Title or icon, count, and a line under the panel in front."""
        theme, front = current_theme(), self.isChecked() and self._is_open
        ink = theme.text if front or self.underMouse() else theme.muted
        pixmap = icon_pixmap(self.info.icon, ink, px(ICON), self.devicePixelRatioF()) if self._short else None
        painter = QPainter(self)
        whole, left = QRectF(self.rect()), px(PAD)
        if self.underMouse():
            painter.fillRect(whole, qcolour(theme.hover))
        painter.setPen(qcolour(ink))
        if pixmap is not None:
            painter.drawPixmap(QPointF(left, (self.height() - px(ICON)) / 2), pixmap)
            left += px(ICON)
        else:
            painter.setFont(ui_font(13, QFont.Weight.DemiBold if front else QFont.Weight.Normal))
            painter.drawText(whole.adjusted(left, 0, 0, 0), _CENTRE_LEFT, self._title)
            left += painter.fontMetrics().horizontalAdvance(self._title)
        if self.count:
            painter.setFont(tabular_font(12))
            painter.setPen(qcolour(theme.muted))
            painter.drawText(whole.adjusted(left + px(4), 0, 0, 0), _CENTRE_LEFT, brief(self.count))
        if front:
            painter.fillRect(QRectF(0, self.height() - 2, self.width(), 2), qcolour(theme.accent))
        if self.hasFocus():
            painter.setPen(qcolour(theme.focus))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right go to the tab beside it."""
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            tabs = self.group().buttons()
            step = 1 if event.key() == Qt.Key.Key_Right else -1
            beside = tabs[(tabs.index(self) + step) % len(tabs)]
            beside.click()
            beside.setFocus(Qt.FocusReason.TabFocusReason)
            return
        super().keyPressEvent(event)


def brief(count: int) -> str:
    """A count in at most four characters."""
    if count < 1_000:
        return str(count)
    return f"{count // 1_000}k" if count < 1_000_000 else "1M+"


class PanelTabs(QWidget):
    """The panels, one of them in front; folded, only the tabs are left.

    `currentChanged(name)` when another panel is in front. `openWanted(on)` and `maximiseWanted(on)` when its buttons
    ask for it, `openWanted(True)` when a tab is pressed while it is folded.
    """

    currentChanged = Signal(str)
    openWanted = Signal(bool)
    maximiseWanted = Signal(bool)

    def __init__(self, panels: Sequence[Panel], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._panels = {panel.info.name: panel for panel in panels}
        self._tabs = {name: PanelTab(panel, self) for name, panel in self._panels.items()}
        self._open, self._maximised = True, False
        self._group = QButtonGroup(self)
        self.stack = QStackedWidget(self)
        self.fold_button = FoldButton("chevron-down", "", self)
        self.fold_button.clicked.connect(lambda: self.openWanted.emit(not self._open))
        self.maximise_button = FoldButton("maximise", "", self)
        self.maximise_button.clicked.connect(lambda: self.maximiseWanted.emit(not self._maximised))
        self._head = QWidget(self)
        self._head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._fill_head()
        for name, panel in self._panels.items():
            self.stack.addWidget(panel)
            self._tabs[name].clicked.connect(lambda _on, name=name: self._press(name))
        self.stack.currentChanged.connect(lambda _place: self.currentChanged.emit(self.current))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head)
        column.addWidget(self.stack, 1)
        self.show_panel(next(iter(self._panels)))
        self._show_signs()

    def _fill_head(self) -> None:
        row = QHBoxLayout(self._head)
        row.setContentsMargins(px(4), 2, px(4), 0)
        row.setSpacing(px(GAP))
        for title, panels in groupby(self._panels.values(), key=lambda panel: panel.info.group):
            column, tabs = QVBoxLayout(), QHBoxLayout()
            column.setSpacing(0)
            tabs.setSpacing(0)
            caption = plain_label(tr(title), "caption", self._head)
            caption.setContentsMargins(px(PAD), 0, 0, 0)
            for panel in panels:
                tab = self._tabs[panel.info.name]
                self._group.addButton(tab)
                tabs.addWidget(tab)
            column.addWidget(caption)
            column.addLayout(tabs)
            row.addLayout(column)
        row.addStretch(1)
        for button in (self.maximise_button, self.fold_button):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        row.setSpacing(px(GAP))

    # -- the panel in front

    @property
    def current(self) -> str:
        """The name of the panel in front."""
        front = self.stack.currentWidget()
        return next((name for name, panel in self._panels.items() if panel is front), "")

    @property
    def names(self) -> tuple[str, ...]:
        """All panels, from left to right."""
        return tuple(self._panels)

    def tab(self, name: str) -> PanelTab:
        """The tab of a panel; KeyError if unknown."""
        return self._tabs[name]

    def show_panel(self, name: str) -> None:
        """Bring a panel to the front; KeyError if unknown."""
        self._tabs[name].setChecked(True)
        self.stack.setCurrentWidget(self._panels[name])
        self._shorten()

    def _press(self, name: str) -> None:
        self.show_panel(name)
        if not self._open:
            self.openWanted.emit(True)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """On the empty part of the row of tabs: all of the height, and back."""
        if self._head.geometry().contains(event.position().toPoint()):
            self.maximiseWanted.emit(not self._maximised)

    # -- its height

    @property
    def is_open(self) -> bool:
        """Whether a panel is shown, not the tabs alone."""
        return self._open

    def set_open(self, on: bool) -> None:
        """Show the panel in front, or the tabs alone."""
        self._open = on
        for tab in self._tabs.values():
            tab.set_open(on)
        self.stack.setVisible(on)
        self.setMinimumHeight(self.head_height + (px(120) if on else 0))
        self.setMaximumHeight(_NO_LIMIT if on else self.head_height)
        self._show_signs()

    def set_maximised(self, on: bool) -> None:
        """Tell which way the button goes."""
        self._maximised = on
        self._show_signs()

    @property
    def head_height(self) -> int:
        """Of the tabs alone, in pixels."""
        return self._head.sizeHint().height()

    @property
    def height_at_first(self) -> int:
        """So high that ten rows of a table are seen, in pixels."""
        return self.head_height + px(TITLE_AND_HEADER) + ROWS_AT_FIRST * px(ROW_HEIGHT)

    def _show_signs(self) -> None:
        if self._open:
            self.fold_button.set_sign("chevron-down", tr("Fold the panels"))
        else:
            self.fold_button.set_sign("chevron-up", tr("Show the panels"))
        if self._maximised:
            self.maximise_button.set_sign("restore", tr("As high as before"))
        else:
            self.maximise_button.set_sign("maximise", tr("All of the height"))

    # -- narrow windows

    def _shorten(self) -> None:
        """Icons stand for titles where there is no room: in one group after the other, from the right, but in that of
        the front last; then for all but the front.
        """
        front = self._panels[self.current].info if self.current else None
        tabs = list(self._tabs.values())
        groups = list(dict.fromkeys(tab.info.group for tab in tabs))
        room = self.width() - (len(groups) + 2) * px(GAP) - 2 * self.fold_button.sizeHint().width() - px(8)
        others = [group for group in reversed(groups) if front is None or group != front.group]
        ways = [{tab for tab in tabs if tab.info.group in others[:count]} for count in range(len(others) + 1)]
        ways.append({tab for tab in tabs if tab.info is not front})
        fits = (way for way in ways if sum(tab.width_as(tab in way) for tab in tabs) <= room)
        short = next(fits, ways[-1])
        for tab in tabs:
            tab.set_short(tab in short)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width, other titles."""
        super().resizeEvent(event)
        self._shorten()

    def changeEvent(self, event: QEvent) -> None:
        """Another size of type."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "stack"):
            self._shorten()
            self.set_open(self._open)
