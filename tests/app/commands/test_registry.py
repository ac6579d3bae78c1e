"""The registry: disabled commands say why, and keys belong to the text field that has them."""

from functools import partial

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QLineEdit, QMainWindow, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.commands.menus import COMMANDS
from app.commands.registry import ActionRegistry


def test_what_has_become_impossible_since_the_last_frame_is_refused(qapp):
    registry, why = ActionRegistry(COMMANDS), [""]
    ran: list[int] = []
    told: list[str] = []
    registry.bind("step", lambda: ran.append(1), lambda: why[0])
    registry.refused.connect(told.append)
    why[0] = "The session has ended."
    assert registry.action("step").isEnabled(), "nobody has looked since"
    registry.action("step").trigger()
    assert (ran, told) == ([], ["The session has ended."])
    assert not registry.action("step").isEnabled()


def test_an_unknown_command_is_an_error(qapp):
    with pytest.raises(KeyError):
        ActionRegistry(COMMANDS).bind("fly", lambda: None)


def test_a_disabled_command_says_why_and_does_not_run(qapp):
    registry, ran, why = ActionRegistry(COMMANDS), [], ["The session has ended."]
    registry.bind("step", lambda: ran.append(1), lambda: why[0])
    assert not registry.action("step").isEnabled()
    assert "The session has ended." in registry.action("step").toolTip()
    assert registry.entries()[0].reason == "The session has ended."
    assert not registry.trigger("step")
    why[0] = ""
    assert registry.trigger("step")
    assert ran == [1]
    assert "The session has ended." not in registry.action("step").toolTip()


def test_triggered_is_told_after_the_handler_ran(qapp, qtbot):
    registry, ran = ActionRegistry(COMMANDS), []
    registry.bind("run", lambda: ran.append("handler"))
    registry.triggered.connect(ran.append)
    registry.trigger("run")
    assert ran == ["handler", "run"]


class Frame(QMainWindow):
    """A window with a field, a text, a button and a plain area, and a registry that writes down what ran."""

    def __init__(self):
        super().__init__()
        self.body, self.field, self.text, self.button = QWidget(), QLineEdit(), QPlainTextEdit(), QPushButton("Press")
        self.body.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        column = QVBoxLayout(self.body)
        for widget in (self.field, self.text, self.button):
            column.addWidget(widget)
        self.setCentralWidget(self.body)
        self.ran: list[str] = []
        self.registry = ActionRegistry(COMMANDS, parent=self)
        for name in ("pause", "run", "step", "palette", "export_report"):
            self.registry.bind(name, partial(self.ran.append, name))
        self.registry.install(self)


@pytest.fixture
def window(qtbot):
    frame = Frame()
    qtbot.addWidget(frame)
    frame.show()
    frame.activateWindow()
    qtbot.waitUntil(frame.isActiveWindow)
    return frame


def test_shortcuts_run_commands(window, qtbot):
    window.body.setFocus()
    for key in (Qt.Key.Key_Space, Qt.Key.Key_F5, Qt.Key.Key_F4):
        qtbot.keyClick(window.body, key)
    qtbot.keyClick(window.body, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    assert window.ran == ["pause", "run", "step", "palette"]


def test_the_key_of_a_disabled_command_says_why(window, qtbot):
    told: list[str] = []
    window.registry.refused.connect(told.append)
    window.body.setFocus()
    window.registry.bind("step", lambda: window.ran.append("step"), lambda: "The session has ended.")
    for key in (Qt.Key.Key_F4, Qt.Key.Key_F5, Qt.Key.Key_F9):
        qtbot.keyClick(window.body, key)
    assert (told, window.ran) == (["The session has ended."], ["run"])


def test_a_key_in_another_window_is_none_of_ours(window, qtbot):
    told: list[str] = []
    window.registry.refused.connect(told.append)
    window.registry.bind("step", lambda: window.ran.append("step"), lambda: "The session has ended.")
    other = Frame()
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(other.isActiveWindow)
    other.body.setFocus()
    qtbot.keyClick(other.body, Qt.Key.Key_F4)
    assert (told, window.ran, other.ran) == ([], [], ["step"])


@pytest.mark.parametrize("where", ["field", "text"])
def test_keys_that_type_are_those_of_the_text_field_that_has_the_focus_and_function_keys_are_not(window, qtbot, where):
    field = getattr(window, where)
    field.setFocus()
    for key in (Qt.Key.Key_Space, Qt.Key.Key_F5, Qt.Key.Key_Left, Qt.Key.Key_F4, Qt.Key.Key_End):
        qtbot.keyClick(field, key)
    assert window.ran == ["run", "step"]
    assert (field.text() if where == "field" else field.toPlainText()) == " "


@pytest.mark.parametrize("where", ["field", "text"])
def test_modified_keys_work_while_a_text_field_has_focus(window, qtbot, where):
    field = getattr(window, where)
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert window.ran == ["export_report"]


class Emacs(QLineEdit):
    """As Qt's own on X11, where Ctrl+E goes to the end of the line."""

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)


def test_a_text_field_keeps_the_keys_of_editing_and_no_others(window, qtbot):
    field = Emacs(window.body)
    field.show()
    field.setFocus()
    window.registry.bind("undo", partial(window.ran.append, "undo"))
    for key in (Qt.Key.Key_E, Qt.Key.Key_Z, Qt.Key.Key_P):
        qtbot.keyClick(field, key, Qt.KeyboardModifier.ControlModifier)
    assert window.ran == ["export_report", "palette"]


def test_a_text_that_can_only_be_read_keeps_no_keys(window, qtbot):
    window.text.setReadOnly(True)
    window.text.setFocus()
    qtbot.keyClick(window.text, Qt.Key.Key_F5)
    assert window.ran == ["run"]


def test_space_presses_the_button_that_has_the_focus(window, qtbot):
    window.button.clicked.connect(lambda: window.ran.append("button"))
    window.button.setFocus()
    qtbot.keyClick(window.button, Qt.Key.Key_Space)
    qtbot.keyClick(window.button, Qt.Key.Key_F5)
    assert window.ran == ["button", "run"]
