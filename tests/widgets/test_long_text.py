"""Long texts are pasted, shown and given back whole without being laid out whole."""

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from widgets.code_field import MOST_CHARS
from widgets.dialogs.message_form import MessageForm
from widgets.dialogs.scenario_editor import ScenarioEditor
from widgets.long_text import SHOWN_CHARS, WRAPPED_LINE_CHARS, LongText
from widgets.panels.payload import PayloadView

NO_WRAP = QPlainTextEdit.LineWrapMode.NoWrap
HUGE = "abcdefghij" * 200_000


@pytest.fixture
def form(qtbot):
    form = MessageForm()
    qtbot.addWidget(form)
    form.resize(600, 400)
    form.show()
    return form


def paste(field, text):
    data = QMimeData()
    data.setText(text)
    QGuiApplication.clipboard().setMimeData(data)
    field.paste()


def test_a_huge_paste_is_held_whole_and_its_beginning_shown(form, qtbot):
    form.value.setPlainText("<>")
    form.value.moveCursor(form.value.textCursor().MoveOperation.Right)
    paste(form.value, HUGE)
    assert form.message().value == f"<{HUGE}>"
    assert form.value.document().characterCount() <= SHOWN_CHARS + 1
    qtbot.keyClicks(form.value, "x")
    assert form.message().value == f"<{HUGE}>", "it cannot be edited"
    empty = next(button for button in form.findChildren(QPushButton) if button.isVisible())
    qtbot.mouseClick(empty, Qt.MouseButton.LeftButton)
    assert form.message().value == ""
    assert not empty.isVisible()
    qtbot.keyClicks(form.value, "x")
    assert form.message().value == "x"


def test_a_long_line_is_not_wrapped_and_a_shorter_one_is_again(qtbot):
    field = LongText("Value")
    qtbot.addWidget(field)
    paste(field, "a" * (WRAPPED_LINE_CHARS + 1))
    assert field.lineWrapMode() is NO_WRAP
    assert (field.held_chars, field.isReadOnly()) == (0, False)
    field.selectAll()
    paste(field, "short \N{GRINNING FACE}")
    assert field.lineWrapMode() is not NO_WRAP
    paste(field, "!")
    assert field.toPlainText() == "short \N{GRINNING FACE}!"


def test_a_field_that_is_cleared_holds_nothing(qtbot):
    field = LongText("Value")
    qtbot.addWidget(field)
    paste(field, HUGE)
    assert field.isReadOnly()
    field.clear()
    assert (field.toPlainText(), field.held_chars, field.isReadOnly()) == ("", 0, False)


def test_a_letter_that_is_held_is_edited_nowhere_and_kept_whole(form):
    form.set_message(HUGE.encode(), b"key", (("name", b"7"),))
    assert form.value.held_chars == len(HUGE)
    assert form.message().value == HUGE
    form.set_message(b"small", b"key", ())
    assert (form.value.toPlainText(), form.value.isReadOnly()) == ("small", False)


def test_a_payload_of_one_long_line_is_not_wrapped(qtbot):
    view = PayloadView()
    qtbot.addWidget(view)
    view.set_data(HUGE.encode())
    assert view.text.lineWrapMode() is NO_WRAP
    view.set_data(b"small")
    assert view.text.lineWrapMode() is not NO_WRAP


def test_no_scenario_is_pasted_that_is_too_long_to_be_judged(qtbot):
    editor = ScenarioEditor("a.yaml", "title: A", lambda _text: (0, ""))
    qtbot.addWidget(editor)
    paste(editor.field, "#" * MOST_CHARS)
    assert editor.text() == "title: A"
    assert f"{MOST_CHARS:,}" in editor.verdict.text()
    paste(editor.field, "# fine\n")
    assert editor.text() == "# fine\ntitle: A"
    editor.set_saved("a.yaml")
