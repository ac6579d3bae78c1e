from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialogButtonBox, QStackedWidget, QWidget

from widgets.boxes import vbox
from widgets.controls import plain_label
from widgets.dialogs.dialog import TextTable
from widgets.dialogs.field_widgets import Field
from widgets.dialogs.form import FormDialog, Values
from widgets.i18n import tr
from widgets.theme import px

ROWS_MAX = 2_000


@dataclass(frozen=True, slots=True)
class Review:
    """A preview: `columns` and `rows` of texts, and a summary sentence. `problem` forbids the action."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    summary: str
    problem: str = ""


class ReviewDialog(FormDialog):
    """`reviewWanted(values)` on Review, to be answered with `set_review`; then `chosen(values)` on Apply."""

    reviewWanted = Signal(object)

    def __init__(
        self,
        title: str,
        about: str,
        fields: Sequence[Field],
        *,
        why_not: Callable[[Values], str] = lambda _values: "",
        parent: QWidget | None = None,
    ) -> None:
        # FormDialog calls `_compose`, which needs these.
        self.review_table = TextTable(0, 0, tr("What will change"))
        self.summary = plain_label("", "heading", fill=True)
        self.pages = QStackedWidget()
        super().__init__(title, about, fields, tr("Review"), why_not=why_not, parent=parent)

    def _compose(self) -> None:
        first = QWidget(self)
        vbox(self.about, self.rows, 1, on=first, margins=(0, 0, 0, 0))
        second = QWidget(self)
        vbox(self.summary, (self.review_table, 1), on=second, margins=(0, 0, 0, 0))
        for page in (first, second):
            self.pages.addWidget(page)
        self.back_button = self.buttons.addButton(tr("Back"), QDialogButtonBox.ButtonRole.ActionRole)
        self.back_button.clicked.connect(self.go_back)
        self.back_button.hide()
        self.column.addWidget(self.pages, 1)
        for widget in (self.problem, self.buttons):
            self.column.addWidget(widget)
        self.resize(620, 420)

    @property
    def reviewing(self) -> bool:
        return self.pages.currentIndex() == 1

    def _accept(self) -> None:
        if self.reviewing:
            super()._accept()
        elif self.accept_button.isEnabled():
            self.reviewWanted.emit(self.values())

    def set_review(self, review: Review) -> None:
        if review.problem:
            self.problem.setText(review.problem)
            return
        table = self.review_table
        table.setColumnCount(len(review.columns))
        table.setHorizontalHeaderLabels(list(review.columns))
        rows = review.rows[:ROWS_MAX]
        table.setRowCount(len(rows))
        for place, row in enumerate(rows):
            for column, text in enumerate(row):
                item = table.put(place, column, text)
                if 0 < column < len(row) - 1:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        table.resizeColumnsToContents()
        for column in range(len(review.columns)):
            # The frame around the current cell takes room, too.
            table.setColumnWidth(column, table.columnWidth(column) + px(24))
        table.horizontalHeader().setStretchLastSection(True)
        self.summary.setText(review.summary)
        self.problem.setText("")
        self.pages.setCurrentIndex(1)
        self.accept_button.setText(tr("Apply"))
        self.back_button.show()
        table.setFocus()

    def go_back(self) -> None:
        self.pages.setCurrentIndex(0)
        self.accept_button.setText(tr("Review"))
        self.back_button.hide()
        self.widgets[self.fields[0].name].setFocus()
