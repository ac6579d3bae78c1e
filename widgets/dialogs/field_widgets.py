"""The fields of a form: what they are, and for each kind the widget that shows, gives and takes its value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from PySide6.QtWidgets import QAbstractSpinBox, QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox, QWidget

from widgets.filter_field import FilterField, FilterHelp, FilterPopup, both
from widgets.theme import px

Kind = Literal["text", "secret", "filter", "known", "choice", "whole", "decimal", "check"]


@dataclass(frozen=True, slots=True)
class Field:
    """One line of a form.

    A `secret` text is not shown; a `filter` may ask for `fields`; a `known` one can also be chosen among `choices`,
    which are (value, words). Where `none` has words, the least number shows them and means None. `shown_for` hides the
    field unless the choice `(field, values)` names is one of them; a hidden field has no value. `unit`: the value is
    the number shown times this, as 1000 for seconds of a value in milliseconds.
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
    """Align the text of a spin box with that of other fields; a style sheet does not reach its margin."""
    box.lineEdit().setTextMargins(px(6), 0, 0, 0)


def show_number(box: QSpinBox | QDoubleSpinBox, value: float, decimals: int = 1) -> None:
    """Show a value with all its decimals, six at most: what a field does not show is lost when the field is read."""
    if isinstance(box, QSpinBox):
        box.setValue(int(value))
    else:
        shown = max(decimals, len(f"{value:.6f}".rstrip("0").partition(".")[2]))
        box.setDecimals(max(shown, box.decimals()))  # fewer would round, and emit, the value before
        box.setValue(value)
        box.setDecimals(shown)


Slot = Callable[..., None]


def _text(field: Field, form: QWidget, typed: Slot, changed: Slot) -> QLineEdit:
    line = QLineEdit(form, placeholderText=field.hint)
    if field.kind == "secret":
        line.setEchoMode(QLineEdit.EchoMode.Password)
    return _connected(line, field, typed, changed)


def _filter(field: Field, form: QWidget, typed: Slot, changed: Slot) -> QLineEdit:
    condition, popup = FilterField(field.hint, form), FilterPopup(form)
    condition.helpWanted.connect(lambda: popup.show_below(condition, "", field.fields, None))
    popup.picked.connect(lambda text: condition.setText(both(condition.text().strip(), text)))
    return _connected(condition, field, typed, changed)


def _connected(line: QLineEdit, field: Field, typed: Slot, changed: Slot) -> QLineEdit:
    _set_text(line, field, field.value)
    line.textEdited.connect(lambda _text: typed())
    line.textChanged.connect(lambda _text: changed())
    return line


def _set_text(line: QLineEdit, _field: Field, value: Any) -> None:
    line.setText("" if value is None else str(value))


def _known(field: Field, form: QWidget, typed: Slot, changed: Slot) -> QComboBox:
    known = QComboBox(form, editable=True)
    known.addItems([value for value, _words in field.choices])
    known.setLineEdit(QLineEdit(known, placeholderText=field.hint))
    known.editTextChanged.connect(lambda _text: typed())
    known.editTextChanged.connect(lambda _text: changed())
    return known


def _choice(field: Field, form: QWidget, _typed: Slot, changed: Slot) -> QComboBox:
    choice = QComboBox(form)
    # A long entry is cut, where it would push its label away.
    choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    choice.setMinimumContentsLength(18)
    for value, words in field.choices:
        choice.addItem(words, value)
    _set_choice(choice, field, field.value)
    choice.currentIndexChanged.connect(lambda _place: changed())
    return choice


def _set_choice(choice: QComboBox, _field: Field, value: Any) -> None:
    choice.setCurrentIndex(max(0, choice.findData(value)))


def _number(field: Field, form: QWidget, _typed: Slot, changed: Slot) -> QSpinBox | QDoubleSpinBox:
    whole = field.kind == "whole"
    number = QSpinBox(form) if whole else QDoubleSpinBox(form, decimals=field.decimals)
    number.setGroupSeparatorShown(field.grouped)
    indent(number)
    kind: Any = int if whole else float
    number.setRange(kind(field.least), kind(field.most))
    number.setSuffix(field.suffix)
    number.setSpecialValueText(field.none)
    _set_number(number, field, field.value)
    number.valueChanged.connect(lambda _value: changed())
    return number


def _number_of(number: QSpinBox | QDoubleSpinBox, field: Field) -> float | None:
    """None if it stands at "no limit" or the like; the value that was set as long as its number is shown."""
    shown, value = number.property("as_set") or (None, None)
    if number.value() == shown:
        return value
    return None if field.none and number.value() <= number.minimum() else number.value() * field.unit


def _set_number(number: QSpinBox | QDoubleSpinBox, field: Field, value: Any) -> None:
    number.setProperty("as_set", None)
    if value is None:
        number.setValue(number.minimum())  # type: ignore[arg-type] # each takes its own
        return
    shown = value / field.unit
    show_number(number, max(1, shown) if field.unit > 1 and isinstance(number, QSpinBox) else shown, field.decimals)
    if field.unit > 1:
        number.setProperty("as_set", (number.value(), value))


def _check(field: Field, form: QWidget, _typed: Slot, changed: Slot) -> QCheckBox:
    check = QCheckBox(field.label, form)
    check.setChecked(bool(field.value))
    check.toggled.connect(lambda _on: changed())
    return check


class Adapter(NamedTuple):
    """How the widget of one kind of field is made, with what it calls when a user types into it and whenever its value
    has changed; how its value is read; and how another one is set.
    """

    make: Callable[[Field, QWidget, Slot, Slot], QWidget]
    value: Callable[[Any, Field], Any]
    set_value: Callable[[Any, Field, Any], None]


ADAPTERS: Final[dict[Kind, Adapter]] = {
    "text": Adapter(_text, lambda line, _field: line.text().strip(), _set_text),
    "secret": Adapter(_text, lambda line, _field: line.text(), _set_text),
    "filter": Adapter(_filter, lambda line, _field: line.text().strip(), _set_text),
    "known": Adapter(
        _known, lambda known, _field: known.currentText().strip(), lambda known, _, text: known.setEditText(text or "")
    ),
    "choice": Adapter(_choice, lambda choice, _field: choice.currentData(), _set_choice),
    "whole": Adapter(_number, _number_of, _set_number),
    "decimal": Adapter(_number, _number_of, _set_number),
    "check": Adapter(_check, lambda check, _field: check.isChecked(), lambda check, _, on: check.setChecked(bool(on))),
}
