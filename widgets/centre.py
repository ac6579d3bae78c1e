"""The canvas and the panel in front, which stands below it, at most half as high as both, or beside it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QSplitter, QStackedWidget, QWidget

from widgets.cells import ROW_HEIGHT
from widgets.panels.panel import Panel
from widgets.theme import px
from widgets.window_layout import NO_LIMIT

# The panel opens at a height that shows so many rows of a table, with its title, header and scroll bar.
ROWS_AT_FIRST = 10
TITLE_AND_HEADER = 92
LEAST_CANVAS, LEAST_PANEL = (320, 160), (300, Panel.least_height)


class PanelArea(QStackedWidget):
    """The panel in front."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._show_focused)

    @property
    def least_height(self) -> int:
        panel = self.currentWidget()
        return panel.height_at_least(self.width()) if isinstance(panel, Panel) else 0

    def fold(self) -> None:
        """Shorten the title of the panel if there is little height, so that its rows fit."""
        panel, room = self.currentWidget(), self.parentWidget()
        if isinstance(panel, Panel) and room is not None:
            panel.title_row.set_short(room.height() < panel.height_at_least(self.width(), whole=True))

    def addWidget(self, panel: QWidget) -> int:
        panel.installEventFilter(self)
        return super().addWidget(panel)

    def eventFilter(self, panel: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and panel is self.currentWidget():
            self.fold()  # its title may be longer now, as by what it counts
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.fold()
        super().resizeEvent(event)

    def _show_focused(self, _before: QWidget | None, now: QWidget | None) -> None:
        panel = self.currentWidget()
        if isinstance(panel, Panel) and now is not None and now.parentWidget() is panel and now.x() >= panel.width():
            panel.title_row.unfold(True)


class _PanelFrame(QScrollArea):
    """Scrolls a panel that has less room than its minimum. Qt's own sizing would ask the labels of all panels."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fill()

    def fill(self) -> None:
        if (area := self.widget()) is not None:
            area.resize(self.viewport().size().expandedTo(area.minimumSize()))


class Centre(QSplitter):
    """Shares its room between canvas and panel."""

    def __init__(self, canvas: QWidget, area: PanelArea, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._area, self._canvas = area, canvas
        self._maximised = False
        self._wanted = {False: 0, True: 0}  # pixels of the panel below and beside the canvas; 0 is as designed
        canvas.setMinimumSize(*LEAST_CANVAS)
        self._frame = _PanelFrame(self)
        self._frame.setFrameShape(QFrame.Shape.NoFrame)
        self._frame.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # a click on a panel's button leaves it with the table
        self._frame.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._frame.setWidget(area)
        self._frame.setMinimumWidth(LEAST_PANEL[0])
        for part in (canvas, self._frame):
            self.addWidget(part)
        self.setChildrenCollapsible(False)
        self.splitterMoved.connect(lambda _at, _place: self._note())
        area.currentChanged.connect(lambda _place: self.settle())
        self._frame.hide()

    @property
    def is_beside(self) -> bool:
        return self.orientation() is Qt.Orientation.Horizontal

    def set_beside(self, on: bool) -> None:
        self.setOrientation(Qt.Orientation.Horizontal if on else Qt.Orientation.Vertical)
        self.settle()

    def set_shown(self, on: bool, *, maximised: bool = False) -> None:
        self._maximised = on and maximised
        self._canvas.setVisible(not self._maximised)
        self._frame.setVisible(on)
        self.settle()

    @property
    def share(self) -> float:
        """The panel's share of the height or width, now or once it opens; 0 is the default."""
        return self._wanted[self.is_beside] / max(1, self._length)

    def set_share(self, share: float) -> None:
        self._wanted[self.is_beside] = round(share * self._length)
        self.settle()

    @property
    def _length(self) -> int:
        return self.width() if self.is_beside else self.height()

    def _note(self) -> None:
        if not self._maximised:
            self._wanted[self.is_beside] = self._frame.width() if self.is_beside else self._frame.height()

    def settle(self) -> None:
        whole, beside = self._length - self.handleWidth(), self.is_beside
        self._frame.setMaximumHeight(NO_LIMIT if beside or self._maximised else max(px(40), whole // 2))
        self._frame.setMinimumHeight(min(px(LEAST_PANEL[1]), self._frame.maximumHeight()))
        at_first = whole // 2 if beside else px(TITLE_AND_HEADER) + ROWS_AT_FIRST * px(ROW_HEIGHT)
        wanted = self._wanted[beside] or at_first
        self.setSizes([max(1, whole - wanted), wanted])
        self._frame.fill()
        self._area.fold()
        self._area.setMinimumSize(LEAST_PANEL[0] // 2, self._area.least_height)
        self._frame.fill()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The panel stays as high as it was, while that is not more than half."""
        super().resizeEvent(event)
        self.settle()
