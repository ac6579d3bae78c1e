from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialogButtonBox, QFormLayout, QLineEdit, QWidget

from widgets.boxes import hbox, vbox
from widgets.controls import named, plain_label, set_why_not
from widgets.dialogs.dialog import MARGINS, Dialog
from widgets.i18n import tr
from widgets.long_text import HeldNote, LongText
from widgets.theme import mono_font


class EditDeadLetterDialog(Dialog):
    """`editRequested(MessageText, redrive)`: keep the edit, and redrive at once if `redrive` is true."""

    editRequested = Signal(object, bool)

    def __init__(self, cause: str, origin: str, parent: QWidget | None = None) -> None:
        super().__init__(tr("Edit a dead letter"), parent, modal=True)
        self.form = MessageForm(self)
        self.problem = plain_label("", "problem", self, wrap=True)
        about = plain_label(
            tr("It failed with: {cause}. A redrive appends it to {origin} as edited here.", cause=cause, origin=origin),
            "muted",
            self,
            wrap=True,
        )
        buttons = QDialogButtonBox(self)
        self.redrive = buttons.addButton(tr("Redrive now"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.keep = buttons.addButton(tr("Save the edit"), QDialogButtonBox.ButtonRole.ApplyRole)
        buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        self.redrive.setDefault(True)
        vbox(about, (self.form, 1), self.problem, buttons, on=self, margins=MARGINS, spacing=10)
        self.redrive.clicked.connect(lambda: self._done(redrive=True))
        self.keep.clicked.connect(lambda: self._done(redrive=False))
        buttons.rejected.connect(self.reject)
        self.form.changed.connect(self._judge)
        self.resize(600, 420)

    def _judge(self) -> None:
        problem = self.form.problem()
        self.problem.setText(problem)
        for button in (self.redrive, self.keep):
            set_why_not(button, problem)

    def _done(self, *, redrive: bool) -> None:
        if not self.form.problem():
            self.accept()
            self.editRequested.emit(self.form.message(), redrive)


class MessageText(NamedTuple):
    """A message as texts in one encoding, "utf-8" or "base64"; None if there is no key or no value."""

    value: str | None
    key: str | None
    headers: tuple[tuple[str, str], ...]
    encoding: str


class MessageForm(QWidget):
    """`changed` whenever a field is; `problem()` says in a sentence what is wrong, "" if nothing is."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.encoding = named(QComboBox(self), tr("All written as"))
        self.encoding.addItem(tr("Text (UTF-8)"), "utf-8")
        self.encoding.addItem(tr("Base64"), "base64")
        self.key = named(QLineEdit(self), tr("Key"))
        self.key.setFont(mono_font())
        self.no_key = QCheckBox(tr("No key"), self)
        self.value = LongText(tr("Value"), self)
        self.value.setTabChangesFocus(True)
        self.no_value = QCheckBox(tr("No value (a tombstone)"), self)
        self.headers = LongText(tr("Headers"), self)
        self.headers.setPlaceholderText("trace-id: 7")
        self.headers.setTabChangesFocus(True)
        self.headers.setFixedHeight(64)
        keys = hbox((self.key, 1), self.no_key)
        values, headers = (vbox(field, HeldNote(field, self)) for field in (self.value, self.headers))
        written = hbox(self.encoding, self.no_value, 1)
        self.rows = QFormLayout(self)
        self.rows.setContentsMargins(0, 0, 0, 0)
        names = (tr("Key"), tr("Value"), tr("All written as"), tr("Headers"))
        for name, row in zip(names, (keys, values, written, headers), strict=True):
            self.rows.addRow(plain_label(name, "", self), row)
        self.no_key.toggled.connect(self.key.setDisabled)
        self.no_value.toggled.connect(self.value.setDisabled)
        for signal in (self.key.textChanged, self.value.textChanged, self.headers.textChanged):
            signal.connect(self.changed)
        for toggled in (self.no_key.toggled, self.no_value.toggled, self.encoding.currentIndexChanged):
            toggled.connect(lambda _now: self.changed.emit())

    def set_message(
        self, value: bytes | None, key: bytes | None, headers: tuple[tuple[str, bytes | None], ...]
    ) -> None:
        """Fill in a message; where a part of it is no text, all of it is shown as base64."""
        parts = [part for part in (value, key, *(data for _, data in headers)) if part is not None]
        as_text = all(_is_plain(part) for part in parts) and not any(b"\n" in (data or b"") for _, data in headers)

        def shown(part: bytes | None) -> str:
            return "" if part is None else part.decode() if as_text else base64.b64encode(part).decode()

        self.encoding.setCurrentIndex(0 if as_text else 1)
        self.no_key.setChecked(key is None)
        self.key.setText(shown(key))
        self.no_value.setChecked(value is None)
        self.value.setPlainText(shown(value))
        self.headers.setPlainText("\n".join(f"{name}: {shown(data)}" for name, data in headers))

    def message(self) -> MessageText:
        return MessageText(
            None if self.no_value.isChecked() else self.value.toPlainText(),
            None if self.no_key.isChecked() else self.key.text(),
            tuple(self._headers()),
            str(self.encoding.currentData()),
        )

    def _headers(self) -> list[tuple[str, str]]:
        lines = [line for line in self.headers.toPlainText().splitlines() if line.strip()]
        pairs = [line.partition(":") for line in lines]
        return [(name.strip(), text.removeprefix(" ")) for name, _, text in pairs]

    def problem(self) -> str:
        for number, line in enumerate(self.headers.toPlainText().splitlines(), 1):
            if line.strip() and not line.partition(":")[0].strip():
                return tr("Header {number} has no name; write it as name: value.", number=number)
            if line.strip() and ":" not in line:
                return tr("Header {number} has no colon; write it as name: value.", number=number)
        told = self.message()
        if told.encoding == "base64":
            for name, text in ((tr("The key"), told.key), (tr("The value"), told.value), *told.headers):
                if text is not None and not _is_base64(text):
                    return tr("{name} is not base64.", name=name)
        return ""


def _is_plain(data: bytes) -> bool:
    """Whether an entry field shows these bytes and gives back the same."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return "\r" not in text and "\x00" not in text and "\u2028" not in text and "\u2029" not in text


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
