"""The tabs of the panels, in groups: they stand where they are, whatever is open; what does not fit is in a menu. That
of tabs that are spared without need is a word over the tabs of their group, which takes no room from any."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QMenu, QSizePolicy, QToolButton, QWidget

from widgets.boxes import hbox, vbox
from widgets.centre import PanelArea
from widgets.controls import plain_label, set_plain_tip, set_property
from widgets.fold_button import FoldButton
from widgets.i18n import tr
from widgets.icons import icon
from widgets.panels.panel import Panel
from widgets.theme import current_theme, follow_theme, px, qcolour, tabular_font, ui_font

PAD, GAP, DIGIT = 4, 6, 8
_CENTRE_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class PanelTab(QAbstractButton):
    def __init__(self, panel: Panel, parent: QWidget) -> None:
        super().__init__(parent)
        self.info = panel.info
        self.count = 0
        self._title = panel.title
        self._is_open = True
        self.setText(panel.title)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._describe()

    def set_count(self, count: int) -> None:
        if count != self.count:
            self.count = count
            self._describe()
            self.update()

    def set_open(self, on: bool) -> None:
        self._is_open = on
        self.update()

    def _describe(self) -> None:
        said = f"{self._title}, {self.count:,}" if self.count else self._title
        self.setAccessibleName(said)
        key = f" ({self.info.shortcut})" if self.info.shortcut else ""
        set_plain_tip(self, "\n".join(line for line in (said + key, tr(self.info.hint)) if line))

    def sizeHint(self) -> QSize:
        words = QFontMetrics(ui_font(13, QFont.Weight.DemiBold)).horizontalAdvance(self._title)
        return QSize(words + 2 * px(PAD) + px(DIGIT) * self.info.counted, px(26))

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, front = current_theme(), self.isChecked() and self._is_open
        ink = theme.text if front or self.underMouse() else theme.muted
        painter = QPainter(self)
        whole, left = QRectF(self.rect()), px(PAD)
        if self.underMouse():
            painter.fillRect(whole, qcolour(theme.hover))
        painter.setPen(qcolour(ink))
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
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            tabs = [tab for tab in self.group().buttons() if tab.isVisible()]
            step = 1 if event.key() == Qt.Key.Key_Right else -1
            beside = tabs[(tabs.index(self) + step) % len(tabs)]
            beside.click()
            beside.setFocus(Qt.FocusReason.TabFocusReason)
            return
        super().keyPressEvent(event)


def _menu_button(menu: QMenu, role: str, parent: QWidget) -> QToolButton:
    button = QToolButton(parent, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup)
    button.setProperty("role", role)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setMenu(menu)
    return button


def brief(count: int) -> str:
    """A count in at most four characters."""
    if count < 1_000:
        return str(count)
    return f"{count // 1_000}k" if count < 1_000_000 else "1M+"


class PanelTabs(QWidget):
    """The tabs of `panels`, by name, over the timeline; `area` shows the one in front, wherever the window puts it.

    `currentChanged(name)` when another panel is in front. `openWanted(on)`, `maximiseWanted(on)` and `besideWanted(on)`
    when its buttons ask for it, `openWanted(True)` when a tab is pressed while no panel is shown.
    """

    currentChanged = Signal(str)
    openWanted = Signal(bool)
    maximiseWanted = Signal(bool)
    besideWanted = Signal(bool)

    def __init__(self, panels: Sequence[Panel], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.panels = {panel.info.name: panel for panel in panels}
        self._tabs = {name: PanelTab(panel, self) for name, panel in self.panels.items()}
        self.is_open, self._maximised, self._beside = True, False, False
        self._group = QButtonGroup(self)
        self.area = PanelArea(self)
        self.fold_button, self.maximise_button, self.beside_button = (FoldButton("close", "", self) for _ in range(3))
        self.fold_button.clicked.connect(lambda: self.openWanted.emit(not self.is_open))
        self.maximise_button.clicked.connect(lambda: self.maximiseWanted.emit(not self._maximised))
        self.beside_button.clicked.connect(lambda: self.besideWanted.emit(not self._beside))
        menu = QMenu(self)
        menu.aboutToShow.connect(self._fill_more)
        self.more, self.spared = _menu_button(menu, "muted", self), _menu_button(menu, "caption", self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._columns: list[tuple[QWidget, list[PanelTab]]] = []  # of each group, its caption and its tabs
        self._fill()
        for name, panel in self.panels.items():
            self.area.addWidget(panel)
            self._tabs[name].clicked.connect(lambda _on, name=name: self._press(name))
        self.area.currentChanged.connect(lambda _place: self.currentChanged.emit(self.current))
        self.show_panel(next(iter(self.panels)))
        self._show_signs()
        follow_theme(self._follow_type)

    def _fill(self) -> None:
        row = hbox(on=self, margins=(px(4), 2, px(4), 0), spacing=px(GAP))
        for title, panels in groupby(self.panels.values(), key=lambda panel: panel.info.group):
            caption = plain_label(tr(title), "caption", self)
            caption.setContentsMargins(px(PAD), 0, 0, 0)
            members = [self._tabs[panel.info.name] for panel in panels]
            for tab in members:
                self._group.addButton(tab)
            beside = (1, self.spared) if any(tab.info.spare for tab in members) else (1,)
            row.addLayout(vbox(hbox(caption, *beside, spacing=0), hbox(*members, 1, spacing=0), spacing=0))
            self._columns.append((caption, members))
        row.addWidget(self.more, 0, Qt.AlignmentFlag.AlignBottom)
        row.addStretch(1)
        buttons = (self.beside_button, self.maximise_button, self.fold_button)
        self._buttons = hbox(*((button, 0, Qt.AlignmentFlag.AlignVCenter) for button in buttons), spacing=0)
        row.addLayout(self._buttons)

    @property
    def current(self) -> str:
        front = self.area.currentWidget()
        return next((name for name, panel in self.panels.items() if panel is front), "")

    def tab(self, name: str) -> PanelTab:
        return self._tabs[name]

    def place(self, name: str) -> QWidget:
        """Where a panel is picked: its tab, or the menu that lists it if its tab is hidden. KeyError if unknown."""
        others = self.more if self.spared.isHidden() else self.spared
        return others if self._tabs[name].isHidden() else self._tabs[name]

    def show_panel(self, name: str) -> None:
        self._tabs[name].setChecked(True)
        self.area.setCurrentWidget(self.panels[name])
        self._hide_what_does_not_fit()

    def _press(self, name: str) -> None:
        self.show_panel(name)
        if not self.is_open:
            self.openWanted.emit(True)

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:
        """On the empty part of the row: all of the height, and back."""
        self.maximiseWanted.emit(not self._maximised)

    def set_open(self, on: bool) -> None:
        self.is_open = on
        for tab in self._tabs.values():
            tab.set_open(on)
        self._hide_what_does_not_fit()
        self._show_signs()

    def set_maximised(self, on: bool) -> None:
        self._maximised = on
        self._show_signs()

    def set_beside(self, on: bool) -> None:
        self._beside = on
        self._show_signs()

    def _show_signs(self) -> None:
        fold = ("chevron-down", tr("Fold the panels")) if self.is_open else ("chevron-up", tr("Show the panels"))
        full = ("restore", tr("Restore the height")) if self._maximised else ("maximise", tr("Full height"))
        below, beside = ("panel-below", tr("Panel below the canvas")), ("panel-beside", tr("Panel beside the canvas"))
        self.fold_button.set_sign(*fold)
        self.maximise_button.set_sign(*full)
        self.beside_button.set_sign(*(below if self._beside else beside))
        self._name_more()

    def set_count(self, name: str, number: int) -> None:
        tab = self._tabs[name]
        had = bool(tab.count)
        tab.set_count(number)
        if tab.info.spare and had != bool(number):
            self._hide_what_does_not_fit()

    def _hide_what_does_not_fit(self) -> None:
        """Hide tabs from the right, even the one in front, so that no tab ever moves; the menu lists hidden ones."""
        tabs = list(self._tabs.values())
        room, fitting = self.width() - self._buttons.sizeHint().width() - 2 * px(GAP), 0
        ends = self._ends(tabs)
        if ends and ends[-1] > room:
            front = self.current if self.is_open else ""
            tabs = [tab for tab in tabs if tab.count or not tab.info.spare or tab.info.name == front]
            ends = self._ends(tabs)
        if ends and ends[-1] > room:
            self.more.setFixedWidth(max(tab.sizeHint().width() for tab in tabs) + px(24))
            fitting = sum(end <= room - self.more.width() - px(GAP) for end in ends)
        else:
            fitting = len(tabs)
        for tab in self._tabs.values():
            tab.setVisible(tab in tabs[:fitting])
        for caption, members in self._columns:
            caption.setVisible(not members[0].isHidden())
        self.more.setVisible(fitting < len(tabs))
        self.spared.setVisible(fitting == len(tabs) < len(self._tabs))
        self.spared.setText(tr("{count} more", count=len(self._tabs) - len(tabs)))
        self._name_more()

    def _ends(self, tabs: Sequence[PanelTab]) -> list[int]:
        left, ends = 0, []
        for caption, members in self._columns:
            widths = [tab.sizeHint().width() for tab in members if tab in tabs]
            least = caption.sizeHint().width()
            ends += [left + max(sum(widths[: at + 1]), least) for at in range(len(widths))]
            left += max(sum(widths), least) + px(GAP)
        return ends

    def _name_more(self) -> None:
        hidden = self.is_open and bool(self.current) and self._tabs[self.current].isHidden()
        self.more.setText((self.panels[self.current].title if hidden else tr("More panels")).replace("&", "&&"))
        set_property(self.more, "front", hidden)

    def _fill_more(self) -> None:
        menu = self.more.menu()
        menu.clear()
        hidden = [(name, tab) for name, tab in self._tabs.items() if tab.isHidden()]
        for _title, group in groupby(hidden, key=lambda item: item[1].info.group):
            menu.addSeparator()
            for name, tab in group:
                action = menu.addAction(icon(tab.info.icon, current_theme()), tab.accessibleName())
                action.triggered.connect(lambda _on, name=name: self._press(name))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._hide_what_does_not_fit()

    def _follow_type(self) -> None:
        for tab in self._tabs.values():
            tab.updateGeometry()
        QTimer.singleShot(0, self, self._hide_what_does_not_fit)  # when captions and buttons know their new sizes
