from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QFont, QFontMetrics, QIcon, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from widgets.bytes_text import contained
from widgets.controls import named, plain_label, polish_again, set_plain_tip, set_property
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.theme import current_theme, follow_theme, px, tabular_font

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0)
# What the style sheet leaves free at both sides of the name, and some.
SCENARIO_PADDING = 16
LEAST_SCENARIO = 110
WORDS_FROM_WIDTH = 1150
_PAST = ("branch", "follow_live")
_SESSION = ("restart", "pause", "step", "run", "fast", "express", "stop")
_END = ("export_report", "palette", "focus", "theme")
# If there is no room these go into a menu, in this order; clock and badge never do.
_SPARED = ("theme", "focus", "export_report", "run_until", "express", "step", "restart", "fast", "palette", "stop")


class ScenarioButton(QToolButton):
    """The name of the scenario, cut with an ellipsis if there is no room; the whole is in its tool tip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "title")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.whole = ""

    def set_whole(self, text: str) -> None:
        text = contained(text)
        if text != self.whole:
            self.whole = text
            set_plain_tip(self, tr("{name}\nClick to choose another scenario.", name=text))
            self.setAccessibleName(tr("Scenario: {name}", name=text))
            self._cut()

    def _cut(self) -> None:
        room = self.contentsRect().width() - px(SCENARIO_PADDING)
        cut = self.fontMetrics().elidedText(self.whole, Qt.TextElideMode.ElideRight, room)
        self.setText(cut.replace("&", "&&"))

    def minimumSizeHint(self) -> QSize:
        return QSize(40, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:
        width = QFontMetrics(self.font()).horizontalAdvance(self.whole) + px(SCENARIO_PADDING) + 4
        return QSize(width, super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cut()


class SpeedBox(QComboBox):
    """Speeds. It takes the focus by Tab alone, and the wheel only while it has it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class Toolbar(QToolBar):
    """Built from the actions of the registry. `speedChosen(factor)` when the user picks one."""

    speedChosen = Signal(float)

    def __init__(self, actions: Mapping[str, QAction], parent: QWidget | None = None) -> None:
        super().__init__(tr("Toolbar"), parent)
        self.setObjectName("toolbar")
        self.setMovable(False)
        self.setFloatable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.scenario = ScenarioButton(self)
        self.scenario.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.record = QToolButton(self, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.record.setProperty("role", "muted")
        self.record.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._recording: bool | None = None
        self.speed = named(SpeedBox(self), tr("Speed"))
        self.speed.setToolTip(tr("Session seconds per second of wall time, in Run (F5)."))
        for factor in SPEEDS:
            self.speed.addItem(f"{factor:g}×", factor)
        self.speed.setCurrentIndex(SPEEDS.index(1.0))
        self.speed.activated.connect(lambda place: self.speedChosen.emit(float(self.speed.itemData(place))))
        self.clock = named(plain_label("00:00.000", "", self), tr("Session clock"))
        self.clock.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.more = QToolButton(self, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.more.setText("»")
        self.more.setAccessibleName(tr("More commands"))
        self.more.setToolTip(tr("Buttons that do not fit in the toolbar"))
        self.more.setMenu(QMenu(self.more))
        self._spared: dict[str, QAction] = {}  # the places of what may go into the menu
        self.badge = plain_label(tr("LIVE"), "badge", self)
        self.badge.setProperty("mode", "live")
        self._commands = actions
        self._fill(actions)
        self.set_recording(False)
        follow_theme(self._follow_theme)

    def _fill(self, actions: Mapping[str, QAction]) -> None:
        self.addWidget(self.scenario)
        self.addWidget(self.record)
        for button, name in ((self.scenario, "pick_scenario"), (self.record, "record")):
            if name in actions:
                button.clicked.connect(actions[name].trigger)
        self.addSeparator()
        for name in (*_SESSION, "", "run_until"):
            if not name:
                self.addWidget(self.speed)
            elif name in actions:
                self._spared[name] = self._button(actions[name])
        self._of_the_past = [self._button(actions[name]) for name in _PAST if name in actions]
        for placed in self._of_the_past:
            placed.setVisible(False)
        spring = QWidget(self)
        spring.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(spring)
        self.addWidget(self.clock)
        gap = QWidget(self)
        gap.setFixedWidth(8)
        self.addWidget(gap)
        self._locks = {name: self._button(actions[name]) for name in ("unlock", "lock") if name in actions}
        for placed in self._locks.values():
            placed.setVisible(False)
        self.addWidget(self.badge)
        self.addSeparator()
        for name in _END:
            if name in actions:
                self._spared[name] = self._button(actions[name])
        self._more_place = self.addWidget(self.more)

    def button(self, action: QAction) -> QToolButton | None:
        """The button of an action, also of one that is shown in the past alone; the menu's where it is in there."""
        if action in self.more.menu().actions():
            return self.more
        return next((button for button in self.findChildren(QToolButton) if button.defaultAction() is action), None)

    def set_scenario(self, name: str) -> None:
        self.scenario.set_whole(name)
        self.scenario.updateGeometry()
        self._squeeze()

    def set_recording(self, on: bool) -> None:
        if on != self._recording:
            self._recording = on
            self._restyle()
            self._squeeze()

    def _restyle(self) -> None:
        theme, on = current_theme(), bool(self._recording)
        colour = theme.failure if on else theme.disabled
        self.record.setIcon(QIcon(icon_pixmap("record", colour, 16, self.devicePixelRatioF())))
        words = tr("Recording") if on else tr("Not recording")
        self.record.setText(words)
        self.record.setAccessibleName(words)
        tip = tr("Every event goes to the session folder.") if on else tr("This session is not recorded.")
        self.record.setToolTip(
            words + "\n" + tip + "\n" + tr("Click to choose whether new sessions are recorded (Ctrl+G).")
        )

    def _follow_theme(self) -> None:
        self._restyle()
        self.setIconSize(QSize(px(18), px(18)))
        self.speed.setFixedWidth(px(72))
        self.clock.setFont(tabular_font(22, QFont.Weight.DemiBold))
        sheet = f"font-size: {px(22)}px;"
        if self.clock.styleSheet() != sheet:
            self.clock.setStyleSheet(sheet)
        self._fit_clock(self.clock.text())
        self._squeeze()

    def _fit_clock(self, text: str) -> None:
        """Fixed, so that a clock that goes on does not lay the bar out anew."""
        digits = QFontMetrics(tabular_font(22, QFont.Weight.DemiBold))
        self.clock.setFixedSize(digits.horizontalAdvance(max(text, "00:00.000", key=len)) + px(10), digits.height())

    def set_clock(self, text: str, wall: str = "") -> None:
        if len(self.clock.text()) != len(text):
            self._fit_clock(text)
        if self.clock.text() != text:
            self.clock.setText(text)
        set_plain_tip(self.clock, tr("Session time\nWall time {wall}", wall=wall) if wall else tr("Session time"))

    def set_badge(self, mode: str, text: str, tip: str = "", lock: str = "") -> None:
        """Sets the badge: mode live, attached, replay, branch, warning or failure, its words, and their meaning.

        `lock` is the command beside it, "unlock" or "lock", whose icon shows what holds now; "" for neither.
        """
        set_plain_tip(self.badge, tip)
        for name, placed in self._locks.items():
            if placed.isVisible() is not (name == lock):
                placed.setVisible(name == lock)
                self._squeeze()
        if self.badge.text() != text:
            self.badge.setText(text)
            self._squeeze()
        set_property(self.badge, "mode", mode)

    def set_tint(self, mode: str) -> None:
        """live, attached, replay or branch: outside live the bar has another ground."""
        if set_property(self, "mode", mode):
            polish_again(self.badge)
            for action in self._of_the_past:
                action.setVisible(mode == "replay")
            self._squeeze()

    def _button(self, action: QAction) -> QAction:
        """A button in a place of its own, that can be hidden while the action stays where else it is."""
        button = QToolButton(self)
        button.setDefaultAction(action)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        place = self.addWidget(button)
        # Whenever it is shown or hidden, the place hands its own state to the button.
        place.setEnabled(action.isEnabled())
        action.enabledChanged.connect(place.setEnabled)
        return place

    def _squeeze(self) -> None:
        layout = self.layout()
        assert layout is not None
        margins, each = layout.contentsMargins(), max(0, layout.spacing())

        def width(placed: QAction) -> int:
            widget = self.widgetForAction(placed)
            if widget is self.scenario:
                return min(widget.sizeHint().width(), px(LEAST_SCENARIO)) + each
            return min(max(widget.sizeHint().width(), widget.minimumWidth()), widget.maximumWidth()) + each

        lines = [place for place in self.actions() if place.isSeparator()]
        spared = {*self._spared.values(), *lines, self._more_place}
        always = [place for place in self.actions() if place.isVisible() and place not in spared]
        room = self.width() - margins.left() - margins.right()
        room -= sum(width(place) for place in always)
        kept = {name: width(place) for name, place in self._spared.items()}
        lines_width, menu_width, gone = sum(width(place) for place in lines), width(self._more_place), list[str]()
        for name in (name for name in _SPARED if name in kept):
            if sum(kept.values()) + (menu_width if gone else lines_width) <= room:
                break
            gone.append(name)
            del kept[name]
        for name, place in self._spared.items():
            place.setVisible(name not in gone)
        for place in lines:
            place.setVisible(not gone)
        self._more_place.setVisible(bool(gone))
        left = room - sum(kept.values()) - (menu_width if gone else lines_width)
        self.scenario.setMaximumWidth(max(0, left) + min(self.scenario.sizeHint().width(), px(LEAST_SCENARIO)))
        hidden = [self._commands[name] for name in self._spared if name in gone]
        if hidden != self.more.menu().actions():
            self.more.menu().clear()
            self.more.menu().addActions(hidden)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The name of the scenario needs the room more than the word beside the record sign does."""
        super().resizeEvent(event)
        styles = Qt.ToolButtonStyle
        narrow = self.width() < px(WORDS_FROM_WIDTH)
        self.record.setToolButtonStyle(styles.ToolButtonIconOnly if narrow else styles.ToolButtonTextBesideIcon)
        self._squeeze()
