from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractItemModel, Qt, Signal
from PySide6.QtWidgets import QPushButton, QSpinBox, QStackedWidget, QVBoxLayout, QWidget

from widgets.boxes import hbox, vbox
from widgets.controls import named, plain_label, set_plain_tip
from widgets.fold_button import FoldButton
from widgets.i18n import mark, tr
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel
from widgets.row_table import RowTable
from widgets.side_by_side import side_by_side
from widgets.title_row import TitleRow

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
    """One listener: its name, port, button and place, and below what went wrong."""

    def __init__(self, facts: ListenerFacts, parent: QWidget) -> None:
        super().__init__(parent)
        name = tr(NAMES[facts.kind])
        self.port = named(QSpinBox(self), tr("Port of the listener {name}", name=name))
        self.port.setRange(0, 65_535)
        self.port.setGroupSeparatorShown(False)
        self.port.setSpecialValueText(tr("any port"))
        self.port.setValue(facts.port)
        self.button = QPushButton(self)
        self.where = plain_label("", "", self, selectable=True)
        self.where.setMinimumWidth(1)  # the whole is in its tool tip
        self.problem = plain_label("", "problem", self, wrap=True)
        self.problem.hide()
        line = hbox(plain_label(name, "heading", self), self.port, self.button, self.where, 1, spacing=10)
        vbox(line, self.problem, on=self, margins=(0, 0, 14, 0), spacing=2)


class ConnectionsPanel(TablePanel):
    """`openRequested(kind, port)` and `closeRequested(kind)` by the button of a listener."""

    info = declared("connections")

    openRequested = Signal(str, int)
    closeRequested = Signal(str)

    def __init__(self, model: QAbstractItemModel, apis: QAbstractItemModel, parent: QWidget | None = None) -> None:
        """`model` has the connections, `apis` the requests of the selected one by API."""
        self.apis = named(RowTable(apis), tr("Requests of the selected connection, by API"))
        self._beside = QStackedWidget()
        self._beside.addWidget(plain_label(tr("Select a connection to see its requests by API."), "muted"))
        self._beside.addWidget(self.apis)
        self.listeners: dict[str, _Listener] = {}
        self._facts: tuple[ListenerFacts, ...] = ()
        self._forbidden = ""
        super().__init__(model, parent)
        self._row = TitleRow(FoldButton("chevron-down", "", self))
        self._row.setContentsMargins(8, 0, 8, 6)
        self._row.addStretch(1)
        column = self.layout()
        assert isinstance(column, QVBoxLayout)
        column.insertLayout(1, self._row)

    def body(self) -> QWidget:
        return side_by_side(self, self.table, self._beside, stretch=(1, 0), widths=(820, 480), collapsible=True)

    def set_selected(self, selected: bool) -> None:
        self._beside.setCurrentIndex(int(selected))

    def forbid(self, why: str) -> None:
        self.set_empty_words(tr(self.info.empty) if why else "", why)
        if why != self._forbidden:
            self._forbidden = why
            self._show()

    def set_listeners(self, listeners: Sequence[ListenerFacts]) -> None:
        if tuple(listeners) != self._facts:
            self._facts = tuple(listeners)
            self._show()

    def _show(self) -> None:
        for kind, listener in self.listeners.items():
            listener.setVisible(any(facts.kind == kind for facts in self._facts))
        for facts in self._facts:
            if facts.kind not in self.listeners:
                listener = self.listeners[facts.kind] = _Listener(facts, self)
                listener.button.clicked.connect(lambda _on=False, kind=facts.kind: self._press(kind))
                self._row.insertWidget(self._row.count() - 1, listener, 0, Qt.AlignmentFlag.AlignTop)
            listener = self.listeners[facts.kind]
            is_open = bool(facts.where)
            listener.button.setText(tr("Close") if is_open else tr("Opening") if facts.opening else tr("Open"))
            listener.button.setEnabled(not facts.opening and (is_open or not self._forbidden))
            listener.button.setToolTip(self._forbidden if not is_open else "")
            listener.port.setEnabled(not is_open and not facts.opening)
            listener.where.setText(facts.where or tr("closed"))
            set_plain_tip(listener.where, listener.where.text())
            listener.problem.setText(facts.problem)
            listener.problem.setVisible(bool(facts.problem))

    def height_at_least(self, width: int, *, whole: bool = False) -> int:
        return super().height_at_least(width, whole=whole) + self._row.heightForWidth(width)

    def _press(self, kind: str) -> None:
        facts = next(one for one in self._facts if one.kind == kind)
        if facts.where:
            self.closeRequested.emit(kind)
        else:
            self.openRequested.emit(kind, self.listeners[kind].port.value())
