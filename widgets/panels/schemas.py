from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QAbstractItemModel, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QPlainTextEdit, QTabWidget, QWidget

from widgets.boxes import hbox, scrolled, vbox
from widgets.controls import named, plain_label, push_button, set_why_not
from widgets.i18n import tr
from widgets.long_text import HeldNote, LongText
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel
from widgets.row_table import RowTable
from widgets.side_by_side import side_by_side
from widgets.theme import current_theme, mono_font


@dataclass(frozen=True, slots=True)
class SchemaDetails:
    """One version as texts; `changes` are sentences."""

    subject: str
    title: str
    text: str
    changes: tuple[str, ...]


class SchemasPanel(TablePanel):
    """Versions at the left, one of them at the right.

    `checkRequested(subject, message)` asks whether the latest version of a subject accepts a message; answer with
    `set_verdict`.
    """

    info = declared("schemas")

    checkRequested = Signal(str, str)

    def __init__(
        self, versions: QAbstractItemModel, refusals: QAbstractItemModel, parent: QWidget | None = None
    ) -> None:
        self._refusal_model = refusals
        super().__init__(versions, parent)

    def body(self) -> QWidget:
        self.pages = QTabWidget(self, documentMode=True)
        self.text = self._reader(tr("Schema text"))
        self.changes = self._reader(tr("Changes"))
        self.pages.addTab(self._titled(self.text), tr("Text"))
        self.pages.addTab(self.changes, tr("Changes"))
        self.pages.addTab(self._check_page(), tr("Check a message"))
        self.refusals = named(RowTable(self._refusal_model, self), tr("Refused messages"))
        self.refusals.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.pages.addTab(self.refusals, tr("Refused"))
        self.set_details(None)
        return side_by_side(self, self.table, self.pages, stretch=(2, 3), widths=(520, 780))

    def _reader(self, name: str) -> QPlainTextEdit:
        field = named(QPlainTextEdit(self, readOnly=True), name)
        field.setFont(mono_font())
        return field

    def _titled(self, field: QPlainTextEdit) -> QWidget:
        page = QWidget(self)
        self.title_label = plain_label("", "section", page)
        vbox(self.title_label, (field, 1), on=page, margins=(8, 4, 8, 4))
        return page

    def _check_page(self) -> QWidget:
        page = QWidget(self)
        self.message = LongText(tr("Message to check"), page)
        self.message.setPlaceholderText(tr('A message as JSON, such as {"id": 1}'))
        self.message.setTabChangesFocus(True)
        self.check_button = push_button(tr("Check"), page, pressed=self._ask)
        self.verdict = plain_label("", "", page, wrap=True, selectable=True)
        self.verdict.setAlignment(Qt.AlignmentFlag.AlignTop)
        left = vbox((self.message, 1), HeldNote(self.message, page))
        right = vbox((self.check_button, 0, Qt.AlignmentFlag.AlignLeft), (scrolled(self.verdict, page), 1))
        hbox((left, 3), (right, 2), on=page, margins=(8, 4, 8, 4))
        return page

    def _ask(self) -> None:
        if self._subject:
            self.checkRequested.emit(self._subject, self.message.toPlainText())

    def set_details(self, details: SchemaDetails | None) -> None:
        subject = "" if details is None else details.subject
        if subject != getattr(self, "_subject", None):
            self.verdict.setText("")
        self._subject = subject
        set_why_not(self.check_button, "" if details else tr("Choose a version of the subject first."))
        details = details or SchemaDetails("", tr("Choose a version to read it here."), "", ())
        self.title_label.setText(details.title)
        for field, text in ((self.text, details.text), (self.changes, "\n".join(details.changes))):
            if field.toPlainText() != text:
                field.setPlainText(text)

    def set_verdict(self, accepted: bool, sentences: tuple[str, ...]) -> None:
        theme = current_theme()
        word = tr("Accepted.") if accepted else tr("Refused.")
        self.verdict.setText("\n".join((word, *sentences)))
        self.verdict.setStyleSheet(f"color: {theme.stable if accepted else theme.failure}")

    def set_refused(self, count: int) -> None:
        text = tr("Refused  {count}", count=f"{count:,}") if count else tr("Refused")
        place = self.pages.indexOf(self.refusals)
        if self.pages.tabText(place) != text:
            self.pages.setTabText(place, text)
