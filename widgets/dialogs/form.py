from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from widgets.boxes import vbox
from widgets.dialogs.dialog import MARGINS, Dialog
from widgets.facts import LinkButton, named, plain_label, polish_again, set_plain_tip, set_why_not
from widgets.filter_field import FilterField, FilterHelp, FilterPopup
from widgets.i18n import tr
from widgets.theme import px

Values = dict[str, Any]
Kind = Literal["text", "secret", "filter", "known", "choice", "whole", "decimal", "check"]
WIDTH = 520


@dataclass(frozen=True, slots=True)
class Field:
    """One line of a form.

    A `secret` text is not shown; a `filter` may ask for `fields`; a `known` one can also be chosen among `choices`,
    which are (value, words). Where `none` has words, the least number shows them and means None. `shown_for` hides the
    field unless the choice `(field, values)` names is one of them; a hidden field has no value. One of what a number
    shows is `unit` of what the form gives, as 1000 for seconds of a value in milliseconds.
    """

    name: str
    label: str
    kind: Kind = "text"
    value: Any = None
    choices: tuple[tuple[str, str], ...] = ()
    least: float = 0
    most: float = 1_000_000_000
    decimals: int = 1
    unit: int = 1
    suffix: str = ""
    grouped: bool = True
    none: str = ""
    hint: str = ""
    fields: tuple[FilterHelp, ...] = ()
    shown_for: tuple[str, tuple[str, ...]] | None = None


def indent(box: QAbstractSpinBox) -> None:
    """Its text begins where that of other fields begins: no style sheet reaches it."""
    box.lineEdit().setTextMargins(px(6), 0, 0, 0)


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
        self._why_not, self._report = why_not, tell
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
        widget = named(self._make(field), field.label)
        widget.setAccessibleDescription(field.hint)
        if field.hint:
            set_plain_tip(widget, field.hint)
        self.widgets[field.name] = widget
        label = plain_label("" if field.kind == "check" else field.label, "", self)
        label.setBuddy(widget)
        self.rows.addRow(label, widget)

    def _make(self, field: Field) -> QWidget:
        match field.kind:
            case "known":
                known = QComboBox(self, editable=True)
                known.addItems([value for value, _words in field.choices])
                known.setLineEdit(QLineEdit(known, placeholderText=field.hint))
                known.editTextChanged.connect(lambda _text: self._touch())
                known.editTextChanged.connect(lambda _text: self._judge())
                return known
            case "text" | "secret":
                line = QLineEdit("" if field.value is None else str(field.value), self, placeholderText=field.hint)
                if field.kind == "secret":
                    line.setEchoMode(QLineEdit.EchoMode.Password)
                line.textEdited.connect(lambda _text: self._touch())
                line.textChanged.connect(lambda _text: self._judge())
                return line
            case "filter":
                condition, popup = FilterField(field.hint, self), FilterPopup(self)
                condition.setText(str(field.value or ""))
                condition.textEdited.connect(lambda _text: self._touch())
                condition.textChanged.connect(lambda _text: self._judge())
                condition.helpWanted.connect(lambda: popup.show_below(condition, "", field.fields, None))
                popup.picked.connect(
                    lambda text: condition.setText(" and ".join(filter(None, (condition.text().strip(), text))))
                )
                return condition
            case "choice":
                choice = QComboBox(self)
                # A long entry is cut, where it would push its label away.
                choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
                choice.setMinimumContentsLength(18)
                for value, words in field.choices:
                    choice.addItem(words, value)
                choice.setCurrentIndex(max(0, choice.findData(field.value)))
                choice.currentIndexChanged.connect(lambda _place: self._judge())
                return choice
            case "whole" | "decimal":
                whole = field.kind == "whole"
                number = QSpinBox(self) if whole else QDoubleSpinBox(self, decimals=field.decimals)
                number.setGroupSeparatorShown(field.grouped)
                indent(number)
                kind: Any = int if whole else float
                number.setRange(kind(field.least), kind(field.most))
                number.setSuffix(field.suffix)
                number.setSpecialValueText(field.none)
                number.setValue(kind(field.least if field.value is None else field.value))
                number.valueChanged.connect(lambda _value: self._judge())
                return number
            case "check":
                check = QCheckBox(field.label, self)
                check.setChecked(bool(field.value))
                check.toggled.connect(lambda _on: self._judge())
                return check

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
        widget = self.widgets[field.name]
        if isinstance(widget, QLineEdit):
            return widget.text() if field.kind == "secret" else widget.text().strip()
        if isinstance(widget, QComboBox):
            return widget.currentText().strip() if widget.isEditable() else widget.currentData()
        if isinstance(widget, QSpinBox | QDoubleSpinBox):
            at_least = widget.value() <= widget.minimum()
            return None if field.none and at_least else widget.value() * field.unit
        assert isinstance(widget, QCheckBox)
        return widget.isChecked()

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Fill in other values, as when they have come from the broker; fields that are not named stay."""
        for field in self.fields:
            if field.name not in values:
                continue
            widget, value = self.widgets[field.name], values[field.name]
            if field.unit > 1 and value is not None:
                value = max(1, value // field.unit)
            if isinstance(widget, QLineEdit):
                widget.setText("" if value is None else str(value))
            elif isinstance(widget, QComboBox):
                widget.setCurrentIndex(max(0, widget.findData(value)))
            elif isinstance(widget, QSpinBox):
                widget.setValue(widget.minimum() if value is None else int(value))
            elif isinstance(widget, QDoubleSpinBox):
                widget.setValue(widget.minimum() if value is None else float(value))
            elif isinstance(widget, QCheckBox):
                widget.setChecked(bool(value))

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
        told = "" if why else self._report(values)
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
