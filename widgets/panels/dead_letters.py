from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QAction, QPainter
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from widgets.boxes import scrolled, vbox
from widgets.facts import SectionsView, named, plain_label, set_why_not, toggle_button
from widgets.i18n import mark, tr
from widgets.long_text import wrap_for
from widgets.panels.cell_painter import CellDelegate, Index
from widgets.panels.panel import declared, side_by_side
from widgets.panels.table_panel import RowTable, TablePanel
from widgets.roles import Role
from widgets.theme import Theme, mono_font

PAYLOAD_LINES = 7


@dataclass(frozen=True, slots=True)
class DeadLetterFacts:
    """A dead letter as texts, in pairs of label and value; `hints` are the tool tips of the attempts."""

    key: Hashable
    cause: str
    facts: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    attempts: tuple[tuple[str, str], ...]
    hints: tuple[str, ...]
    payload: str


class DeadLetterDetails(QStackedWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumWidth(220)
        self.shown: DeadLetterFacts | None = None
        inner = QWidget(self)
        self.cause = plain_label("", "heading", inner, wrap=True, selectable=True)
        self.payload = named(QPlainTextEdit(inner, readOnly=True), tr("Payload"))
        self.payload.setFont(mono_font())
        self.payload.setFixedHeight(self.payload.fontMetrics().lineSpacing() * PAYLOAD_LINES)
        self.attempts, self.sections = SectionsView(inner), SectionsView(inner)
        title = plain_label(tr("Payload"), "section", inner)
        parts = (self.cause, self.attempts, title, self.payload, self.sections, 1)
        vbox(*parts, on=inner, margins=(12, 6, 12, 12), spacing=6)
        self.addWidget(plain_label(tr("Select a dead letter to read it here."), "hint", self, wrap=True))
        self.addWidget(scrolled(inner, self))

    def set_facts(self, facts: DeadLetterFacts | None) -> None:
        if facts == self.shown:
            return
        self.shown = facts
        self.setCurrentIndex(int(facts is not None))
        if facts is None:
            return
        self.cause.setText(facts.cause)
        if self.payload.toPlainText() != facts.payload:
            wrap_for(self.payload, facts.payload)
            self.payload.setPlainText(facts.payload)
        attempts = (tr("Attempts ({count})", count=len(facts.attempts)), facts.attempts)
        self.attempts.set_sections([attempts] if facts.attempts else [], facts.hints)
        headers = [(tr("Headers"), facts.headers)] if facts.headers else []
        self.sections.set_sections([(tr("Facts"), facts.facts), *headers])


NONE_REDRIVEN = (
    mark("Nothing has been redriven yet."),
    mark("Redrive dead letters to see the result for each message here."),
)
_CAUSE = Qt.ItemDataRole.UserRole
_COUNT = Qt.ItemDataRole.UserRole + 100


class CauseDelegate(CellDelegate):
    """A cause, cut if it is too long, and its count, which is not."""

    def draw(self, painter: QPainter, rect: QRect, index: Index, theme: Theme) -> None:
        inner = rect.adjusted(8, 0, -8, 0)
        number = str(index.data(_COUNT) or "")
        width = round(self._metrics.horizontalAdvance(number))
        self.text(painter, inner, number, theme.muted, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter))
        self.text(painter, inner.adjusted(0, 0, -width - 8, 0), str(index.data() or "").replace("\n", " "), theme.text)


class DeadLettersPanel(TablePanel):
    """Columns: died, cause, key, payload, origin, attempts, age, redrives; and, on demand, what redrives have done.

    `redriveRequested(keys)` with the keys of rows; `causeChosen(cause)`, None for all; `currentChanged(key)` is
    answered with `set_details`. `programs_count(keys)` is how many of them, or else of all rows, only the program that
    wrote them can send back.
    `viewChanged(redriven)` when the other view is shown; `redrivenChosen(key)` on a row of it.
    """

    info = declared("dead_letters")
    multiple = True

    redriveRequested = Signal(list)
    causeChosen = Signal(object)
    viewChanged = Signal(bool)
    redrivenChosen = Signal(object)

    def __init__(self, model: QAbstractItemModel, redriven: QAbstractItemModel, parent: QWidget | None = None) -> None:
        self.details = DeadLetterDetails()
        self.causes = QListWidget()
        self._views = QStackedWidget()
        self.redriven = RowTable(redriven)
        self.redriven_button = toggle_button(tr("Redriven"), tip=tr("What the redrive did to each message"))
        self.more = QToolButton()
        self._menu = QMenu(self.more, toolTipsVisible=True)
        self.programs_count: Callable[[Sequence[Hashable] | None], int] = lambda _keys: 0
        self._forbidden = self._why_selected = self._why_all = self._why_current = ""
        self._why_programs = ""
        self._own = ("", "")
        self.redrive_selected_button = QPushButton(tr("Redrive selected"))
        self.redrive_all_button = QPushButton(tr("Redrive all"))
        self.more.setText(tr("More"))
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(self._menu)
        super().__init__(model, parent)
        self._add_view_switch()
        for button in (self.redrive_selected_button, self.redrive_all_button, self.more):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.title_row.addWidget(button)
        self.redrive_selected_button.setProperty("role", "primary")
        self.redrive_selected_button.clicked.connect(self.redrive_selected)
        self.redrive_all_button.clicked.connect(self.redrive_all)
        self.offerTaken.connect(lambda: self.show_redriven(False))
        self.causes.currentItemChanged.connect(lambda _item, _old: self.causeChosen.emit(self.chosen_cause))
        self.selectionChanged.connect(lambda _count: self._show_actions())
        self.currentChanged.connect(lambda _key: self._show_actions())
        self.set_causes([])
        self._show_actions()

    def body(self) -> QWidget:
        self.causes.setAccessibleName(tr("Causes"))
        self.causes.setMinimumWidth(110)
        self.causes.setItemDelegate(CauseDelegate(self.causes))
        self.causes.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.causes.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.setMinimumWidth(260)
        parts, widths = (self.causes, self.table, self.details), (160, 900, 300)
        self._views.addWidget(side_by_side(self, *parts, stretch=(0, 1, 0), widths=widths, collapsible=True))
        self.redriven.setAccessibleName(tr("Redriven"))
        self._views.addWidget(self.redriven)
        return self._views

    def _add_view_switch(self) -> None:
        self.redriven_button.toggled.connect(self._on_view)
        self.title_row.insertWidget(self.title_row.count() - 1, self.redriven_button)
        self.redriven.selectionModel().currentRowChanged.connect(
            lambda index, _old: self.redrivenChosen.emit(index.data(Role.KEY) if index.isValid() else None)
        )
        rows = self.redriven.model()
        for signal in (rows.rowsInserted, rows.rowsRemoved, rows.modelReset):
            signal.connect(self._on_rows)

    def set_more(self, parts: Sequence[Sequence[QAction]]) -> None:
        """What the menu More offers, with a line between two parts."""
        for actions in parts:
            self._menu.addSeparator()
            self._menu.addActions(actions)

    @property
    def shows_redriven(self) -> bool:
        return self.redriven_button.isChecked()

    def show_redriven(self, on: bool) -> None:
        self.redriven_button.setChecked(on)

    def _on_view(self, redriven: bool) -> None:
        self._views.setCurrentIndex(1 if redriven else 0)
        self.clear_filter()
        self._on_rows()
        self.viewChanged.emit(redriven)

    def set_totals(self, dead_lettered: int, redriven: int) -> None:
        if self.shows_redriven:
            return
        if not dead_lettered:
            self.set_empty_words()
        else:
            first = tr("No dead letters left.")
            if redriven == 1:
                first = tr("No dead letters left: 1 was redriven.")
            elif redriven:
                first = tr("No dead letters left: {count:,} were redriven.", count=redriven)
            self.set_empty_words(first, tr(self.info.how))

    def set_causes(self, causes: list[tuple[str, int]]) -> None:
        """The causes with their counts, the most frequent first; the chosen one stays chosen."""
        chosen = self.chosen_cause
        total = sum(number for _cause, number in causes)
        wanted: list[tuple[str | None, int]] = [(None, total), *causes]
        self.causes.blockSignals(True)
        while self.causes.count() > len(wanted):
            self.causes.takeItem(self.causes.count() - 1)
        while self.causes.count() < len(wanted):
            self.causes.addItem(QListWidgetItem())
        current = 0
        for place, (cause, number) in enumerate(wanted):
            item = self.causes.item(place)
            item.setText(tr("All causes") if cause is None else cause)
            item.setData(_CAUSE, cause)
            item.setData(_COUNT, f"{number:,}")
            if cause is not None and cause == chosen:
                current = place
        self.causes.setCurrentRow(current)
        self.causes.blockSignals(False)
        if chosen is not None and current == 0:
            self.causeChosen.emit(None)

    @property
    def chosen_cause(self) -> str | None:
        item = self.causes.currentItem()
        cause: str | None = item.data(_CAUSE) if item is not None else None
        return cause

    def forbid_redrive(self, reason: str) -> None:
        """Disable both redrives for a reason of the session (it has ended, it is a replay); "" allows them."""
        if reason != self._forbidden:
            self._forbidden = reason
            self._show_actions()

    def forbid_programs(self, reason: str) -> None:
        """Why those that programs have put into topics cannot be redriven; "" if they can."""
        if reason != self._why_programs:
            self._why_programs = reason
            self._show_actions()

    def why_not_own(self, *, selected: bool) -> str:
        """Why none of the broker's own dead letters can be edited or purged."""
        return self._own[selected]

    def why_not_selected(self) -> str:
        return self._why_selected

    def why_not_all(self) -> str:
        return self._why_all

    def why_not_current(self) -> str:
        return self._why_current

    def _on_rows(self, *_what: object) -> None:
        if self.shows_redriven:
            rows = self.redriven.model().rowCount()
            self.set_count(f"{rows:,}")
            self.set_empty_words(tr(NONE_REDRIVEN[0]), tr(NONE_REDRIVEN[1]), tr("Show the dead letters"))
            self.show_body(rows > 0)
        else:
            super()._on_rows(*_what)
        self._show_actions()

    def _on_cells(self, first: QModelIndex, last: QModelIndex) -> None:
        super()._on_cells(first, last)
        self._show_actions()

    def _show_actions(self) -> None:
        chosen, shown = self.selected_count(), 0 if self.shows_redriven else self.shown_count()
        of_programs = tr("The dead letters that a program has put into a topic stay there.")
        none = (
            tr("The filter matches nothing.")
            if self.filter_text and self.problem.isHidden()
            else tr("There are no dead letters.")
        )
        unselected = tr("Select dead letters first: click one, or Ctrl+A for all.")
        self._why_all = self._forbidden or ("" if shown else none)
        self._why_selected = self._why_all or ("" if chosen else unselected)
        self._own = self._why_all, self._why_selected
        if shown and (programs := self.programs_count(None)):
            own = self._forbidden or ("" if shown > programs else of_programs)
            programs_chosen = self.programs_count(self.selected_keys()) if chosen else 0
            self._own = own, own or ("" if chosen > programs_chosen else of_programs if chosen else unselected)
            if shown == programs:
                self._why_all = self._why_all or self._why_programs
            if chosen == programs_chosen:
                self._why_selected = self._why_selected or self._why_programs
        one, every = self.redrive_selected_button, self.redrive_all_button
        one.setText(tr("Redrive selected ({chosen:,})", chosen=chosen))
        some = 0 < shown < (self._total or 0)  # others wait, or do not fit the filter
        words = tr("Redrive listed ({shown:,})", shown=shown) if some else tr("Redrive all ({shown:,})", shown=shown)
        every.setText(words)
        set_why_not(one, self._why_selected, tr("Back to their origin (Ctrl+D)."))
        set_why_not(every, self._why_all, tr("All listed dead letters, back to their origin (Ctrl+Shift+D)."))
        key = self.current_key()
        current = (
            tr("Choose a dead letter first.") if key is None else of_programs if self.programs_count([key]) else ""
        )
        self._why_current = self._own[False] or current

    def redrive_selected(self) -> None:
        if not self._why_selected:
            self.redriveRequested.emit(self.selected_keys())

    def redrive_all(self) -> None:
        if not self._why_all:
            self.redriveRequested.emit(self.shown_keys())
