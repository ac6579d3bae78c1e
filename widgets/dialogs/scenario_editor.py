from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QFont,
    QKeySequence,
    QShortcut,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextDocument,
)
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from widgets.boxes import hbox, vbox
from widgets.code_field import MOST_CHARS, CodeField, Complete
from widgets.controls import named, plain_label, push_button
from widgets.dialogs.dialog import Dialog
from widgets.i18n import tr
from widgets.icons import icon_pixmap
from widgets.theme import current_theme, follow_theme, qcolour

# A comment begins a line or follows a blank; what is in quotes is none. What is none of these keeps its colour.
_PARTS = re.compile(
    r"""(?P<comment>(?:^|(?<=\s))\#.*)
      | (?P<key>(?:^|(?<=[\s{,\[]))[\w.-]+(?=\s*:(?:\s|$)))
      | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')
      | (?P<number>(?<![\w.-])-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.-]))
      | (?P<word>(?<![\w.-])(?:true|false|null|~)(?![\w.-]))""",
    re.VERBOSE,
)
_TOKENS = {"comment": "muted", "key": "accent", "text": "stable", "number": "rebalancing", "word": "rebalancing"}
_FOLDS = re.compile(r"(?:^|[:\s-])[|>][+-]?\d*\s*(?:#.*)?$")
_PLAIN = -1


class YamlHighlighter(QSyntaxHighlighter):
    """Follows a document. A block of text (after `|` or `>`) is text, whatever it looks like.

    The state of a line is how far the line above the block that it is in is indented; -1 for none.
    """

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        follow_theme(self._restyle)

    def _restyle(self) -> None:
        theme = current_theme()
        for part, token in _TOKENS.items():
            looks = QTextCharFormat()
            looks.setForeground(qcolour(theme.colour(token)))
            if part == "key":
                looks.setFontWeight(QFont.Weight.DemiBold)
            self._formats[part] = looks
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        indent, block = len(text) - len(text.lstrip()), self.previousBlockState()
        if block != _PLAIN and (not text.strip() or indent > block):
            self.setFormat(0, len(text), self._formats["text"])
            self.setCurrentBlockState(block)
            return
        for found in _PARTS.finditer(text):
            part = found.lastgroup or ""
            self.setFormat(found.start(), found.end() - found.start(), self._formats[part])
        self.setCurrentBlockState(indent if _FOLDS.search(text) else _PLAIN)


JUDGE_DELAY_MS = 250

# What is wrong with a text: the line, counted from 1, and a sentence; (0, "") if nothing is.
Judge = Callable[[str], tuple[int, str]]


class ScenarioEditor(Dialog):
    """`runRequested(text)` to run what is written, `saveRequested(text)` to keep it; answer that with `set_saved`."""

    runRequested = Signal(str)
    saveRequested = Signal(str)

    def __init__(
        self, name: str, text: str, judge: Judge, complete: Complete | None = None, parent: QWidget | None = None
    ) -> None:
        """`text` is what it begins with; nothing of it is lost when it is closed as it was. `complete` says what may
        be written where."""
        super().__init__("", parent)
        self.resize(820, 680)
        self._judge = judge
        self._name = name
        self._kept = text
        self.field = named(CodeField(self), tr("Scenario as YAML"))
        self.field.setPlainText(text)
        YamlHighlighter(self.field.document())
        if complete is not None:
            self.field.set_completion(complete)
        self._sign = plain_label("", "", self)
        self.verdict = plain_label("", "", self, fill=True, selectable=True)
        self.go_button = QPushButton(tr("Go to the line"), self)
        self.go_button.clicked.connect(lambda: self.field.go_to_line(self.field.wrong_line))
        self.run_button = push_button(
            tr("Run"), self, pressed=self._run, role="primary", tip=tr("Opens it as a new session (Ctrl+Return).")
        )
        self.save_button = push_button(tr("Save as..."), self, pressed=lambda: self.saveRequested.emit(self.text()))
        close = push_button(tr("Close"), self, pressed=self.close)
        for button in (self.go_button, self.save_button, close):
            button.setAutoDefault(False)
        self._lay_out(close)
        self._delay = QTimer(self, singleShot=True, interval=JUDGE_DELAY_MS)
        self._delay.timeout.connect(self.judge)
        self.field.textChanged.connect(self._on_text)
        self.field.pasteRefused.connect(self._say_too_long)
        for keys, call in (("Ctrl+Return", self._run), ("Ctrl+S", self.save_button.click)):
            QShortcut(QKeySequence(keys), self).activated.connect(call)
        follow_theme(self.judge)
        self._show_name()
        self.field.setFocus()

    def _lay_out(self, close: QPushButton) -> None:
        judged = hbox(self._sign, (self.verdict, 1), self.go_button)
        keys = plain_label(
            tr("Ctrl+Space lists what may be written, Ctrl+Return runs it, Ctrl+S saves it."), "muted", self
        )
        row = hbox((keys, 1), self.run_button, self.save_button, close)
        vbox((self.field, 1), judged, row, on=self, margins=(16, 16, 16, 16), spacing=10)

    def text(self) -> str:
        return self.field.toPlainText()

    def changed(self) -> bool:
        return self.text() != self._kept

    def set_saved(self, name: str) -> None:
        self._name, self._kept = name, self.text()
        self._show_name()

    def _on_text(self) -> None:
        self._delay.start()
        self._show_name()

    def _say_too_long(self, chars: int) -> None:
        self.verdict.setText(
            tr(
                "Not pasted: the scenario would have {chars} characters, and at most {most} can be edited here.",
                chars=f"{chars:,}",
                most=f"{MOST_CHARS:,}",
            )
        )
        self._sign.setPixmap(icon_pixmap("warning", current_theme().failure, 16, self.devicePixelRatioF()))

    def _show_name(self) -> None:
        star = "*" if self.changed() else ""
        self.setWindowTitle(tr("{name} - scenario", name=f"{self._name}{star}"))

    def judge(self) -> bool:
        self._delay.stop()
        line, sentence = self._judge(self.text())
        theme = current_theme()
        good = not sentence
        self.field.mark_wrong(line)
        self.verdict.setText(tr("This scenario can run.") if good else sentence)
        name, colour = ("check", theme.stable) if good else ("warning", theme.failure)
        self._sign.setPixmap(icon_pixmap(name, colour, 16, self.devicePixelRatioF()))
        self.run_button.setEnabled(good)
        self.go_button.setVisible(line > 0)
        return good

    def _run(self) -> None:
        if self.judge():
            self.runRequested.emit(self.text())

    def may_close(self) -> bool:
        if not self.changed():
            return True
        box = QMessageBox(QMessageBox.Icon.Question, tr("Scenario"), "", QMessageBox.StandardButton.NoButton, self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(tr("The changes to {name} have not been saved.", name=self._name))
        discard = box.addButton(tr("Discard them"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(tr("Go on writing"), QMessageBox.ButtonRole.RejectRole))
        box.exec()
        return box.clickedButton() is discard

    def closeEvent(self, event: QCloseEvent) -> None:
        # Not by way of QDialog, which would reject, which closes.
        event.setAccepted(self.may_close())

    def reject(self) -> None:
        self.close()
