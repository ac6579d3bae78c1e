from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QWidget

from widgets.boxes import vbox
from widgets.controls import LinkButton, named, plain_label, polish_again, set_plain_tip, set_why_not
from widgets.dialogs.dialog import MARGINS, Dialog
from widgets.dialogs.field_widgets import ADAPTERS, Field
from widgets.i18n import tr
from widgets.theme import px

Values = dict[str, Any]
WIDTH = 520


def _nothing(_values: Values) -> str:
    return ""


class FormDialog(Dialog):
    """`chosen(values)` when the button is pressed: a value for each field that is shown, by its name."""

    chosen = Signal(object)

    def __init__(
        self,
        title: str,
        about: str,
        fields: Sequence[Field],
        button: str,
        *,
        why_not: Callable[[Values], str] = _nothing,
        tell: Callable[[Values], str] = _nothing,
        parent: QWidget | None = None,
    ) -> None:
        """`why_not(values)` says what is wrong, "" for nothing; `tell(values)` what would happen."""
        super().__init__(title, parent, modal=True, once=True)
        self.fields = tuple(fields)
        self._why_not, self._tell = why_not, tell
        self._touched = False
        self.widgets: dict[str, QWidget] = {}
        self.about = plain_label(about, "muted", self, fill=True)
        self.about.setVisible(bool(about))
        self.note = plain_label("", "muted", self, fill=True)
        self.problem = plain_label("", "problem", self, fill=True)
        self.problem.setMinimumHeight(self.problem.fontMetrics().lineSpacing() + 2)
        self.make_buttons(button)
        self.rows = QFormLayout(horizontalSpacing=14, verticalSpacing=8)
        self.rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for field in self.fields:
            self._add(field)
        self.column = vbox(on=self, margins=MARGINS, spacing=10)
        self._compose()
        self.column.addStrut(px(WIDTH))
        self._judge()
        if self.fields:
            self.widgets[self.fields[0].name].setFocus()

    def fit(self) -> None:
        layout = self.layout()
        if layout is not None and layout.totalMinimumSize().width() > self.largest().width():
            self.rows.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        super().fit()

    def _compose(self) -> None:
        self.column.addWidget(self.about)
        self.column.addLayout(self.rows)
        for widget in (self.note, self.problem, self.buttons):
            self.column.addWidget(widget)

    def _add(self, field: Field) -> None:
        widget = named(ADAPTERS[field.kind].make(field, self, self._touch, self._judge), field.label)
        widget.setAccessibleDescription(field.hint)
        if field.hint:
            set_plain_tip(widget, field.hint)
        self.widgets[field.name] = widget
        label = plain_label("" if field.kind == "check" else field.label, "", self)
        label.setBuddy(widget)
        self.rows.addRow(label, widget)

    def _touch(self) -> None:
        self._touched = True

    def warn(self) -> None:
        """Marks a destructive action: Enter alone does not trigger it."""
        self.accept_button.setProperty("role", "danger")
        self.accept_button.setAutoDefault(False)
        self.accept_button.setDefault(False)
        self.cancel_button.setDefault(True)
        for button in (self.accept_button, self.cancel_button):
            polish_again(button)
        if not self.fields:
            self.cancel_button.setFocus()

    def values(self) -> Values:
        """The value of each field that is shown; None if a number stands at "no limit" or the like."""
        return {field.name: self._value(field) for field in self.fields if self._is_shown(field)}

    def _value(self, field: Field) -> Any:
        return ADAPTERS[field.kind].value(self.widgets[field.name], field)

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Fill in other values, as when they have come from the broker; fields that are not named stay."""
        for field in self.fields:
            if field.name in values:
                ADAPTERS[field.kind].set_value(self.widgets[field.name], field, values[field.name])

    def _is_shown(self, field: Field) -> bool:
        if field.shown_for is None:
            return True
        chooser = self.widgets[field.shown_for[0]]
        assert isinstance(chooser, QComboBox)
        return chooser.currentData() in field.shown_for[1]

    def _judge(self) -> None:
        if len(self.widgets) < len(self.fields):
            return  # not all fields are made yet
        for field in self.fields:
            if field.shown_for is not None:
                self.rows.setRowVisible(self.widgets[field.name], self._is_shown(field))
        values = self.values()
        why = self._why_not(values)
        told = "" if why else self._tell(values)
        self.note.setText(told)
        self.note.setVisible(bool(told))
        # A field that was not typed into yet is not wrong yet.
        untouched = not self._touched and any(
            field.kind in {"text", "filter", "known"} and not values.get(field.name) for field in self.fields
        )
        self.problem.setText("" if untouched else why)
        set_why_not(self.accept_button, why)
        if self.isVisible():
            self.fit()

    def _accept(self) -> None:
        values = self.values()
        if not self._why_not(values):
            self.accept()
            self.chosen.emit(values)


class SettingsDialog(FormDialog):
    """`changed(name, value)` as soon as a field has another value; `placeWanted(path)` to open a folder."""

    changed = Signal(str, object)
    placeWanted = Signal(str)

    def __init__(
        self,
        fields: Sequence[Field],
        tell: Callable[[Values], str],
        places: Sequence[tuple[str, str]],
        parent: QWidget | None = None,
    ) -> None:
        """`tell(values)` is as for a form; `places` are (what, path)."""
        self._known: Values = {}
        super().__init__(tr("Settings"), "", fields, "", tell=tell, parent=parent)
        self.setModal(False)
        for what, path in places:
            self.rows.addRow(what, place := LinkButton(self))
            place.set_link(path, path)
            place.followed.connect(self.placeWanted)
        self._known = self.values()

    def make_buttons(self, accept: str, reject: str = "") -> None:
        super().make_buttons(accept, reject or tr("Close"))
        self.buttons.removeButton(self.accept_button)
        self.cancel_button.setDefault(True)

    def _judge(self) -> None:
        super()._judge()
        for name, value in self.values().items() if self._known else ():
            if self._known[name] != value:
                self._known[name] = value
                self.changed.emit(name, value)
