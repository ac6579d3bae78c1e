from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QWidget

from widgets.boxes import vbox
from widgets.dialogs.dialog import Dialog
from widgets.dialogs.form import WIDTH
from widgets.facts import mark_wrong, named, plain_label, set_why_not
from widgets.filter_field import FilterField, FilterHelp, FilterPopup
from widgets.i18n import mark, tr
from widgets.theme import px

HERE, SAME_SEED, NEW_SEED = "here", "same seed", "new seed"
_BEGINNINGS = (
    (HERE, mark("From here")),
    (SAME_SEED, mark("From the beginning, with the same seed")),
    (NEW_SEED, mark("From the beginning, with a new seed")),
)
EXAMPLES = mark('kind = dead_lettered and cause contains timeout; lag > 100 and group = "billing"; time >= 00:31')


class RunUntilDialog(Dialog):
    """`chosen(condition, beginning)`; `beginning` is one of HERE, SAME_SEED, NEW_SEED."""

    chosen = Signal(str, str)

    def __init__(
        self,
        why_not: Callable[[str], str],
        fields: Sequence[FilterHelp],
        *,
        text: str = "",
        why_not_here: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """`why_not(text)` says what is wrong with a condition; `why_not_here` why it cannot go on from here."""
        super().__init__(tr("Run until"), parent, once=True)
        self._why_not = why_not
        self._fields = fields
        about = tr(
            "Runs as fast as possible and stops right after the first matching event. Conditions are written like "
            "filters, for events and the state around them: {examples}.",
            examples=tr(EXAMPLES),
        )
        self.field = named(FilterField(tr("Condition"), self), tr("Condition"))
        self.field.setText(text)
        self.field.selectAll()
        self.problem = plain_label("", "error", self, fill=True)
        self._popup = FilterPopup(self)
        self._popup.picked.connect(self._take)
        self._popup.name.hide()
        self._popup.keep.hide()
        self.field.helpWanted.connect(lambda: self._popup.show_below(self.field, "", self._fields, ()))
        column = vbox(plain_label(about, "muted", self, fill=True), self.field, self.problem, on=self)
        column.addStrut(px(WIDTH))
        self.beginnings = QButtonGroup(self)
        for place, (name, words) in enumerate(_BEGINNINGS):
            button = QRadioButton(tr(words), self)
            button.setObjectName(name)
            self.beginnings.addButton(button, place)
            column.addWidget(button)
        set_why_not(self.beginnings.button(0), why_not_here)
        self.beginnings.button(1 if why_not_here else 0).setChecked(True)
        self.make_buttons(tr("Run"))
        column.addWidget(self.buttons)
        self.field.textChanged.connect(lambda _text: self._judge())
        self._judge()

    def _take(self, text: str) -> None:
        before = self.field.text().strip()
        self.field.setText(f"{before} and {text}" if before else text)
        self.field.setFocus()

    def _judge(self) -> None:
        why = self._why_not(self.field.text())
        shown = why if self.field.text().strip() else ""
        self.problem.setText(shown)
        self.problem.setVisible(bool(shown))
        mark_wrong(self.field, shown)
        self.accept_button.setEnabled(not why)

    def _accept(self) -> None:
        beginning = self.beginnings.checkedButton()
        if beginning is not None and not self._why_not(self.field.text()):
            self.chosen.emit(self.field.text().strip(), beginning.objectName())
            self.accept()
