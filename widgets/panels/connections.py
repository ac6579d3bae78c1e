from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractItemModel, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QSizePolicy, QSpinBox, QStackedWidget, QVBoxLayout, QWidget

from widgets.facts import named, plain_label, push_button, set_plain_tip, set_why_not
from widgets.i18n import mark, tr
from widgets.panels.panel import declared, side_by_side
from widgets.panels.table_panel import RowTable, TablePanel
from widgets.roles import Role

_COLUMNS = 5  # of a listener in the grid; the last is the gap to the next
_GAP = 24
NAMES = {"kafka": mark("Kafka"), "http": mark("HTTP")}


@dataclass(frozen=True, slots=True)
class ListenerFacts:
    """A listener: where it is open ("" while it is closed), whether it is being opened, the port that is proposed, and
    why it could not be opened the last time.
    """

    kind: str
    where: str
    opening: bool
    port: int
    problem: str = ""


class _Listener(QWidget):
    """One listener: its name, port, button and place, beside the other's or below it."""

    def __init__(self, facts: ListenerFacts, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()  # its widgets stand in the grid
        self.name = plain_label(tr(NAMES[facts.kind]), "heading", parent)
        self.port = named(QSpinBox(parent), tr("Port of the listener {name}", name=tr(NAMES[facts.kind])))
        self.port.setRange(0, 65_535)
        self.port.setGroupSeparatorShown(False)
        self.port.setSpecialValueText(tr("any port"))
        self.port.setValue(facts.port)
        self.button = QPushButton(parent)
        self.where = plain_label("", "", parent, selectable=True)
        self.where.setMinimumWidth(1)  # the whole is in its tool tip
        self.problem = plain_label("", "problem", parent, wrap=True)
        self.problem.hide()

    def put(self, grid: QGridLayout, row: int, column: int, *, narrow: bool) -> None:
        for place, widget in enumerate((self.name, self.port, self.button, self.where)):
            lower, right = divmod(place, 2) if narrow else (0, place)
            grid.addWidget(widget, row + lower, column + right)
        grid.addWidget(self.problem, row + 2, column, 1, _COLUMNS - 1)

    def width_hint(self) -> int:
        return sum(each.sizeHint().width() for each in (self.name, self.port, self.button, self.where))


class ConnectionsPanel(TablePanel):
    """`openRequested(kind, port)`, `closeRequested(kind)`, `cutRequested(key)` for the selected connection,
    `accessWanted()` for the panel of that name.
    """

    info = declared("connections")

    openRequested = Signal(str, int)
    closeRequested = Signal(str)
    cutRequested = Signal(object)
    accessWanted = Signal()

    def __init__(self, model: QAbstractItemModel, apis: QAbstractItemModel, parent: QWidget | None = None) -> None:
        """`model` has the connections, `apis` the requests of the selected one by API."""
        self.apis = named(RowTable(apis), tr("Requests of the selected connection, by API"))
        self._beside = QStackedWidget()
        self._beside.addWidget(plain_label(tr("Select a connection to see its requests by API."), "muted"))
        self._beside.addWidget(self.apis)
        self.listeners: dict[str, _Listener] = {}
        self._facts: tuple[ListenerFacts, ...] = ()
        self._forbidden = ""
        # How many listeners there are, whether they stand below each other, and each in two lines.
        self._arranged = 0, False, False
        super().__init__(model, parent)
        self._bar = bar = QWidget(self)
        self._grid = QGridLayout(bar)
        self._grid.setContentsMargins(8, 0, 8, 6)
        self._grid.setHorizontalSpacing(10)
        self._grid.setColumnMinimumWidth(_COLUMNS - 1, _GAP)
        self._grid.setColumnStretch(len(NAMES) * _COLUMNS, 1)
        # A small window takes its height from the table, not from what one clicks at.
        bar.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.cut_button = QPushButton(tr("Cut connection"), self)
        self.cut_button.clicked.connect(lambda: self.cutRequested.emit(self.current_key()))
        self.access_button = push_button(tr("Access..."), self, pressed=self.accessWanted, by_tab=True)
        for button in (self.cut_button, self.access_button):
            self.title_row.insertWidget(self.title_row.count() - 1, button)
        column = self.layout()
        assert isinstance(column, QVBoxLayout)
        column.insertWidget(1, bar)
        self.currentChanged.connect(lambda _key: self._show_cut())
        # A connection that ends keeps its row, and with it the selection.
        model.dataChanged.connect(lambda *_what: self._show_cut())
        model.layoutChanged.connect(lambda *_what: self._show_cut())
        self._show_cut()

    def body(self) -> QWidget:
        return side_by_side(self, self.table, self._beside, stretch=(1, 0), widths=(820, 480), collapsible=True)

    def set_selected(self, selected: bool) -> None:
        self._beside.setCurrentIndex(int(selected))

    def _show_cut(self) -> None:
        index = self.table.currentIndex()
        why = index.siblingAtColumn(0).data(Role.WHY_DISABLED) if index.isValid() else tr("Select a connection first.")
        set_why_not(self.cut_button, why or "")

    def forbid(self, why: str) -> None:
        if why != self._forbidden:
            self._forbidden = why
            self.set_empty_words(tr(self.info.empty), why or tr(self.info.how))
            self._show()

    def set_listeners(self, listeners: Sequence[ListenerFacts]) -> None:
        if tuple(listeners) != self._facts:
            self._facts = tuple(listeners)
            self._show()

    def _show(self) -> None:
        self._bar.setVisible(bool(self._facts))
        for facts in self._facts:
            listener = self.listeners.get(facts.kind)
            if listener is None:
                listener = self.listeners[facts.kind] = _Listener(facts, self)
                listener.button.clicked.connect(lambda _on=False, kind=facts.kind: self._press(kind))
            is_open = bool(facts.where)
            listener.button.setText(tr("Close") if is_open else tr("Opening") if facts.opening else tr("Open"))
            listener.button.setEnabled(not facts.opening and (is_open or not self._forbidden))
            listener.button.setToolTip(self._forbidden if not is_open else "")
            listener.port.setEnabled(not is_open and not facts.opening)
            listener.where.setText(facts.where or tr("closed"))
            set_plain_tip(listener.where, listener.where.text())
            listener.problem.setText(facts.problem)
            listener.problem.setVisible(bool(facts.problem))
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrangement(self, width: int) -> tuple[int, bool, bool]:
        """All listeners in one line if there is room, else a line each, or two."""
        widths = [self.listeners[facts.kind].width_hint() for facts in self._facts]
        gaps = len(widths) * _COLUMNS * self._grid.horizontalSpacing() + (len(widths) - 1) * _GAP + 16
        below = sum(widths) + gaps > width
        return len(widths), below, below and max(widths) + gaps // len(widths) > width

    def _arrange(self) -> None:
        self._bar.setMinimumHeight(self._bar_height(self.width()))
        if (wanted := self._arrangement(self.width())) != self._arranged:
            self._arranged = wanted
            _count, below, narrow = wanted
            for place, facts in enumerate(self._facts):
                where = (3 * place, 0) if below else (0, place * _COLUMNS)
                self.listeners[facts.kind].put(self._grid, *where, narrow=narrow)

    def _bar_height(self, width: int) -> int:
        """What is too low for all lines scrolls as a whole, and squeezes none."""
        if not self._facts:
            return 0
        found, (count, below, narrow) = [self.listeners[facts.kind] for facts in self._facts], self._arrangement(width)
        line = max((one.port.sizeHint().height() for one in found), default=0) + self._grid.verticalSpacing()
        problems = sum(one.problem.sizeHint().height() for one in found if not one.problem.isHidden())
        return (count if below else 1) * (1 + narrow) * line + problems + 6

    def height_at_least(self, width: int, *, whole: bool = False) -> int:
        return super().height_at_least(width, whole=whole) + self._bar_height(width)

    def _press(self, kind: str) -> None:
        facts = next(one for one in self._facts if one.kind == kind)
        if facts.where:
            self.closeRequested.emit(kind)
        else:
            self.openRequested.emit(kind, self.listeners[kind].port.value())
