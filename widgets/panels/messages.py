from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QAbstractItemModel, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QLineEdit, QWidget

from widgets.controls import mark_wrong, named, push_button, set_plain_tip
from widgets.formats import time_of
from widgets.i18n import mark, tr
from widgets.panels.message_details import MessageDetails
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel
from widgets.side_by_side import side_by_side

STARTS = (
    ("newest", mark("Newest")),
    ("oldest", mark("Oldest")),
    ("offset", mark("From offset...")),
    ("time", mark("From time...")),
    ("tail", mark("Live tail")),
)


class Where(NamedTuple):
    topic: str
    partitions: tuple[int, ...]


class Start(NamedTuple):
    """Where messages are read from: newest, oldest, offset, time (`value` in ns) or tail."""

    kind: str
    value: int = 0


class MessagesPanel(TablePanel):
    """`whereChanged(Where)`, `startChanged(Start)`, `moreWanted()` when the end of a list is in sight,
    `newerWanted()` for what was published since, `shown()` when it comes to the front;
    `currentChanged(key)` is answered with `details.set_message`.
    """

    info = declared("messages")

    whereChanged = Signal(object)
    startChanged = Signal(object)
    moreWanted = Signal()
    newerWanted = Signal()
    shown = Signal()

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        self.details = MessageDetails(tr("Select a message to read it here."))
        self.sources: dict[str, int] = {}
        self._wanted: tuple[str, int | None] | None = None
        super().__init__(model, parent)
        self.tool_row = self.details.payload.tools
        self.table.setSortingEnabled(False)
        self.table.horizontalHeader().setSectionsClickable(False)
        self.topic = self._combo(tr("Topic or queue"), 14)
        self.partition = self._combo(tr("Partition"), 11)
        self.start_kind = self._combo(tr("Begin at"), 10)
        for kind, word in STARTS:
            self.start_kind.addItem(tr(word), kind)
        self.start_value = QLineEdit(self)
        self.start_value.setFixedWidth(90)
        self.start_value.hide()
        at = self.title_row.count() - 1  # before the filter
        self.newer = push_button("", self, role="link", by_tab=True)
        set_plain_tip(self.newer, tr("Published since the list was loaded; click to reload."))
        self.newer.hide()
        for offset, part in enumerate((self.newer, self.topic, self.partition, self.start_kind, self.start_value)):
            self.title_row.insertWidget(at + offset, part)
        self.topic.activated.connect(lambda _place: self._on_topic())
        self.partition.activated.connect(lambda _place: self.whereChanged.emit(self.where()))
        self.start_kind.activated.connect(lambda _place: self._on_start())
        self.start_value.returnPressed.connect(self._on_value)
        self.newer.clicked.connect(self.newerWanted)
        self.table.verticalScrollBar().valueChanged.connect(lambda _value: self._on_scroll())

    def _combo(self, name: str, characters: int) -> QComboBox:
        combo = named(QComboBox(self, minimumContentsLength=characters), name)
        combo.setToolTip(name)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return combo

    def body(self) -> QWidget:
        self.table.setMinimumWidth(260)
        return side_by_side(self, self.table, self.details, stretch=(1, 0), widths=(900, 360), collapsible=True)

    def set_sources(self, sources: Sequence[tuple[str, int]]) -> None:
        """(name, partitions) of what can be browsed; what is chosen stays chosen."""
        if list(sources) == list(self.sources.items()):
            return
        before, chosen = self.where(), self.topic.currentText()
        self.sources = dict(sources)
        self.topic.clear()
        self.topic.addItems(list(self.sources))
        self.topic.setCurrentIndex(max(0, self.topic.findText(chosen)))
        self._fill_partitions()
        if self._wanted is not None:
            self.browse(*self._wanted)
        elif self.where() != before:
            self.whereChanged.emit(self.where())

    def _fill_partitions(self) -> None:
        number = self.partition.currentData()
        self.partition.clear()
        self.partition.addItem(tr("All partitions"), None)
        for each in range(self.sources.get(self.topic.currentText(), 0)):
            self.partition.addItem(tr("Partition {number}", number=each), each)
        self.partition.setCurrentIndex(max(0, self.partition.findData(number)) if number is not None else 0)

    def _on_topic(self) -> None:
        self.partition.setCurrentIndex(0)
        self._fill_partitions()
        self.whereChanged.emit(self.where())

    def where(self) -> Where:
        topic = self.topic.currentText()
        number = self.partition.currentData()
        return Where(topic, tuple(range(self.sources.get(topic, 0))) if number is None else (number,))

    def start(self) -> Start:
        """Where to read from; newest if the field cannot be parsed."""
        kind = str(self.start_kind.currentData() or "newest")
        if kind not in {"offset", "time"}:
            return Start(kind)
        value = self._value(kind)
        return Start("newest") if value is None else Start(kind, value)

    def _value(self, kind: str) -> int | None:
        text = self.start_value.text().strip()
        if kind == "time":
            return time_of(text)
        digits = text.replace(",", "")
        return int(digits) if digits.isdecimal() and len(digits) <= 18 else None

    def _on_start(self) -> None:
        kind = str(self.start_kind.currentData())
        asks = kind in {"offset", "time"}
        self.start_value.setVisible(asks)
        self.start_value.setPlaceholderText("00:31.5" if kind == "time" else "1,000")
        self.start_value.setAccessibleName(tr("Session time") if kind == "time" else tr("Offset"))
        if asks:
            self.start_value.setFocus()
            self.start_value.selectAll()
        if not asks or self._value(kind) is not None:
            self._on_value()

    def _on_value(self) -> None:
        kind = str(self.start_kind.currentData())
        wrong = kind in {"offset", "time"} and self._value(kind) is None
        mark_wrong(self.start_value, tr("Write it like 00:31.5 or 1,000.") if wrong else "")
        if not wrong:
            self.startChanged.emit(self.start())

    def browse(self, topic: str, partition: int | None, start: Start | None = None) -> None:
        """Show a partition, or all, as if chosen by hand; later, where the sources are not known yet."""
        place = self.topic.findText(topic)
        self._wanted = (topic, partition) if place < 0 and not self.sources else None
        self.topic.setCurrentIndex(max(0, place))
        self._fill_partitions()
        self.partition.setCurrentIndex(max(0, self.partition.findData(partition)) if partition is not None else 0)
        if start is not None:
            self.start_kind.setCurrentIndex(self.start_kind.findData(start.kind))
            self.start_value.setVisible(start.kind in {"offset", "time"})
            shown = f"{start.value / 1e9:.3f} s" if start.kind == "time" else f"{start.value:,}"
            self.start_value.setText(shown)
        self.whereChanged.emit(self.where())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.shown.emit()

    def set_newer(self, count: int) -> None:
        """How many messages were published that the list does not have yet; 0 hides the offer."""
        self.newer.setText(tr("{count} newer", count=f"{count:,}"))
        self.newer.setVisible(count > 0)

    def _on_scroll(self) -> None:
        bar = self.table.verticalScrollBar()
        if bar.maximum() and bar.value() >= bar.maximum() - bar.pageStep():
            self.moreWanted.emit()

    def is_at_end(self) -> bool:
        bar = self.table.verticalScrollBar()
        return bar.value() >= bar.maximum() - 1

    def scroll_to(self, place: int) -> None:
        self.table.scrollTo(self.model.index(place, 0), QAbstractItemView.ScrollHint.PositionAtTop)

    def select_row(self, place: int) -> None:
        self.scroll_to(place)
        self.select(place)

    def set_loading(self, loading: bool) -> None:
        if loading:
            self.set_empty_words(tr("Reading..."), "")
