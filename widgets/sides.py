"""The sides of the window: docks that fold to strips; on the right the lesson, if there is one, above the others."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QBoxLayout, QFrame, QSizePolicy, QSplitter, QWidget

from widgets.boxes import hbox
from widgets.cards import RebalancesPanel
from widgets.fold_button import FoldButton
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.panels.inspector import InspectorPanel
from widgets.panels.lesson import LessonPanel
from widgets.panels.panel import Panel
from widgets.theme import current_theme, follow_theme, px, qcolour, scale, ui_font
from widgets.window_layout import NO_LIMIT, TwoShares

# The lesson takes what it needs of the height, but leaves this part to what is below it, if it has as many pixels.
LEFT_TO_THE_REST = 0.42
LEAST_FOR_THE_LESSON = 180
# Below these heights, in pixels at the designed size of type, only one of inspector and rebalances is open beside the
# lesson, and the lesson alone.
LEAST_FOR_BOTH, LEAST_FOR_LESSON_AND_ONE = 280, 340


class RightSide(QWidget):
    """Gives the lesson the height that its steps need now, and the two panels below it all else.

    Rebalances have their title alone until there is one. If there is too little for both below the lesson, one keeps
    the room and the other its title: the one that was asked for last, by `bring` or by a click on its title. Only such
    a click takes the lesson's room. It places them itself: a layout would keep for the lesson the height that all of
    its wrapped texts ask for.
    """

    arranged = Signal()
    """Who has the room may have changed, or what the lesson says."""

    def __init__(
        self, lesson: LessonPanel, inspector: InspectorPanel, rebalances: RebalancesPanel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._lesson, self._inspector, self._rebalances = lesson, inspector, rebalances
        self._asked: Panel | None = None
        self._by_hand = False
        self._steps_done = 0
        self._line = QFrame(self)
        self._line.setProperty("role", "line")
        lesson.setParent(self)
        self._below = QSplitter(Qt.Orientation.Vertical, self, childrenCollapsible=False)
        self._below.splitterMoved.connect(lambda _at, _place: self._note_shares())
        #: What inspector and rebalances take of the height below the lesson, where both are open.
        self.shares: TwoShares = (0.6, 0.4)
        self._openers: dict[Panel, FoldButton] = {}
        for panel in (inspector, rebalances):
            self._below.addWidget(panel)
            opener = self._openers[panel] = FoldButton("chevron-down", tr("Show: {title}", title=panel.title), panel)
            opener.clicked.connect(lambda _on, panel=panel: self.bring(panel, by_hand=True))
            opener.hide()
            panel.title_row.addWidget(opener)
        for each in (lesson, inspector, rebalances):
            each.titlePressed.connect(lambda each=each: self._press(each))
        lesson.heightChanged.connect(self._follow_lesson)
        lesson.foldWanted.connect(self._fold_lesson)
        rebalances.filled.connect(self._fit)
        lesson.hide()

    def show_lesson(self, shown: bool) -> None:
        if shown == self._lesson.isHidden():
            self._lesson.setVisible(shown)
            self._fit()

    @property
    def has_lesson(self) -> bool:
        return not self._lesson.isHidden()

    def bring(self, panel: Panel | None, *, by_hand: bool = False) -> None:
        """Give a panel the room if there is too little for all, also the lesson's where `by_hand`; None for none."""
        if (panel, by_hand) != (self._asked, self._by_hand):
            self._asked, self._by_hand = panel, by_hand
            self._fit()

    def set_shares(self, shares: TwoShares) -> None:
        self.shares = shares
        self._fit(shared_anew=True)

    def _note_shares(self) -> None:
        if not any(panel.is_title_alone for panel in self._openers):
            above, below = self._below.sizes()
            share = round(above / max(1, above + below), 4)
            self.shares = (share, 1 - share)

    def _press(self, panel: Panel) -> None:
        if panel.is_title_alone and panel is self._lesson:
            self._open_lesson()
        elif panel.is_title_alone:
            self.bring(panel, by_hand=True)

    def _follow_lesson(self) -> None:
        facts = self._lesson.facts
        done = 0 if facts is None else facts.done
        if done > self._steps_done and self._lesson.is_title_alone and not self._lesson.is_folded:
            self._asked, self._by_hand = self._lesson, False
        self._steps_done = done
        self._fit()

    def _fold_lesson(self, on: bool) -> None:
        if self._lesson.is_title_alone:
            self._open_lesson()
        else:
            self._lesson.set_folded(on)

    def _open_lesson(self) -> None:
        self._lesson.set_folded(False)
        self.bring(self._lesson)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 160)

    def sizeHint(self) -> QSize:
        return self._below.sizeHint().expandedTo(self.minimumSizeHint())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _open_ones(self, left_below: int) -> set[Panel]:
        """The panels that `_fit` opens if the lesson leaves `left_below` pixels; it folds the others.

        Where inspector and rebalances do not both fit, the one that the user asked for last is open.
        """
        lesson, inspector, rebalances = self._lesson, self._inspector, self._rebalances
        has_lesson = self.has_lesson and not lesson.is_folded
        if has_lesson and self.height() < px(LEAST_FOR_LESSON_AND_ONE):
            return {self._asked if self._by_hand and self._asked is not None else lesson}
        empty = not rebalances.cards and self._asked is not rebalances
        if left_below >= px(LEAST_FOR_BOTH):
            return {lesson, inspector} if empty else {lesson, inspector, rebalances}
        told = rebalances if has_lesson and rebalances.cards else inspector  # a lesson says what the scenario is
        return {lesson, self._asked if self._asked in self._openers else told}

    def _fit(self, *, shared_anew: bool = False) -> None:
        width, height, lesson = self.width(), self.height(), self._lesson
        wanted = 0
        if not lesson.isHidden():
            most = max(px(LEAST_FOR_THE_LESSON), round(height * (1 - LEFT_TO_THE_REST)))
            wanted = min(lesson.wanted_height(width), most)
        open_ones = self._open_ones(height - wanted)
        was_shared = not any(panel.is_title_alone for panel in self._openers)
        # First what is shown: it decides how high a title is.
        lesson.set_title_alone(lesson.is_folded or lesson not in open_ones)
        for panel, opener in self._openers.items():
            panel.set_title_alone(panel not in open_ones)
            opener.setVisible(panel not in open_ones)
        titles = [panel.title_height for panel in self._openers if panel not in open_ones]
        taken = 0
        if not lesson.isHidden():
            taken = lesson.title_height if lesson.is_title_alone else wanted
            if len(titles) == len(self._openers) and not lesson.is_title_alone:
                taken = height - sum(titles) - self._below.handleWidth() - 1
            lesson.setGeometry(0, 0, width, taken)
            self._line.setGeometry(0, taken, width, 1)
            taken += 1
        self._line.setVisible(taken > 0)
        for panel in self._openers:
            panel.setMinimumHeight(panel.title_height)
            panel.setMaximumHeight(panel.title_height if panel.is_title_alone else NO_LIMIT)
        self._below.handle(1).setEnabled(not titles)
        self._below.refresh()  # or it keeps the limits of before
        self._below.setGeometry(0, taken, width, height - taken)
        if titles:
            room = height - taken - sum(titles) - self._below.handleWidth()
            self._below.setSizes([panel.title_height if panel.is_title_alone else room for panel in self._openers])
        elif shared_anew or not was_shared:
            self._below.setSizes([round(1000 * share) for share in self.shares])
        self.arranged.emit()


STRIP_WIDTH = 26


class _Strip(QAbstractButton):
    def __init__(self, title: str, sign: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._title, self._sign = title, sign
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(title)
        self.setToolTip(tr("Show: {title}", title=title))

    def sizeHint(self) -> QSize:
        return QSize(px(STRIP_WIDTH), 80)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        pixmap = icon_pixmap(self._sign, theme.muted, px(16), self.devicePixelRatioF())
        painter = QPainter(self)
        painter.fillRect(self.rect(), qcolour(theme.hover if self.underMouse() else theme.window))
        painter.drawPixmap(QPointF((self.width() - px(16)) / 2, px(8)), pixmap)
        painter.setPen(qcolour(theme.text))
        painter.setFont(ui_font(12, ui_font().weight().DemiBold))
        painter.translate(0, self.height())
        painter.rotate(-90)
        words = QRectF(px(8), 0, self.height() - px(8) - px(32), self.width())
        painter.drawText(words, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), self._title)
        painter.resetTransform()
        if self.hasFocus():
            painter.setPen(qcolour(theme.focus))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()


class SideDock(QWidget):
    """Holds `body`; `title_row` is where the body has its title, and gets the button that folds.

    `foldWanted(open)` when the strip or that button was pressed: whoever holds the dock gives it its room.
    """

    foldWanted = Signal(bool)

    def __init__(self, title: str, body: QWidget, title_row: QBoxLayout, *, left: bool, width: int) -> None:
        """`width` is how wide it opens at first, in pixels at the designed size of type."""
        super().__init__()
        inward, outward = ("chevron-left", "chevron-right") if left else ("chevron-right", "chevron-left")
        self.body = body
        self._width = float(width)  # at the designed size of type
        self.is_open = True
        self.strip = _Strip(title, outward, self)
        self.strip.clicked.connect(lambda: self.foldWanted.emit(True))
        self.strip.hide()
        self.button = FoldButton(inward, tr("Fold: {title}", title=title), self)
        self.button.clicked.connect(lambda: self.foldWanted.emit(False))
        title_row.addWidget(self.button)
        hbox(self.strip, (body, 1), on=self, margins=(0, 0, 0, 0), spacing=0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        follow_theme(self._limit)

    @property
    def open_width(self) -> int:
        """How wide it is in pixels, or will be once it opens."""
        # Larger type needs more, but leaves the canvas two thirds.
        wide = min(self._width * scale(), max(self._width, self.window().width() / 3))
        return max(round(wide), self.body.minimumWidth())

    @property
    def room(self) -> int:
        return self.open_width if self.is_open else px(STRIP_WIDTH)

    def set_open_width(self, width: int) -> None:
        self._width = width / scale()

    def note_width(self) -> None:
        """Open as wide as it is now the next time, too."""
        if self.is_open:
            self._width = self.width() / scale()

    def set_open(self, on: bool) -> None:
        self.is_open = on
        self.strip.setVisible(not on)
        self.body.setVisible(on)
        self._limit()

    def _limit(self) -> None:
        self.setMinimumWidth(self.body.minimumWidth() if self.is_open else px(STRIP_WIDTH))
        self.setMaximumWidth(NO_LIMIT if self.is_open else px(STRIP_WIDTH))
