"""The registry of commands: one entry for each, whatever it is reached by.

Menus, the toolbar, context menus, shortcuts and the Ctrl+P palette are all made from it. A command without a handler is
known but shown nowhere, so a menu holds only what works. A function `why_...` gives the sentence that says why
something is not possible, and "" if it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QWidget

from app.commands.focus_keys import EDITING, belongs_to_focus
from widgets.i18n import tr
from widgets.palette import PaletteEntry

Handler = Callable[[], object]
Reason = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Command:
    """The name, key and help of a command.

    `shortcut` is in Qt's portable form, "" for none; `icon` is a name from `widgets.icons`; `hint` is one sentence.
    `category` is the title of its menu. What is `late` is found in the palette after all others whose names fit.
    """

    id: str
    title: str
    hint: str = ""
    icon: str = ""
    shortcut: str = ""
    category: str = ""
    checkable: bool = False
    late: bool = False


class ActionRegistry(QObject):
    """The commands as QActions, one each, with a handler and a reason where one is disabled.

    `triggered(id)` comes after the handler of a command has run, `refused(why)` when the key of a disabled one is
    pressed; `changed` when handlers or reasons change.
    """

    triggered = Signal(str)
    refused = Signal(str)
    changed = Signal()

    def __init__(self, commands: Iterable[Command], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands = {command.id: command for command in commands}
        self._handlers: dict[str, Handler] = {}
        self._reasons: dict[str, tuple[Reason, ...]] = {}
        self.actions: dict[str, QAction] = {command.id: self._make(command) for command in self._commands.values()}
        self._window: QWidget | None = None

    def _make(self, command: Command) -> QAction:
        action = QAction(tr(command.title), self, checkable=command.checkable)
        action.setObjectName(command.id)
        action.setWhatsThis(tr(command.hint))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        if command.shortcut:
            action.setShortcut(QKeySequence(command.shortcut))
        action.setEnabled(False)
        action.setVisible(False)
        action.triggered.connect(lambda _checked=False, name=command.id: self._run(name))
        self._describe(command, action, "")
        return action

    def bind(self, command_id: str, handler: Handler, *reasons: Reason) -> None:
        """Give a command its handler. The first of `reasons` that returns a sentence says why it cannot run.

        KeyError for an unknown id.
        """
        self._handlers[self._commands[command_id].id] = handler
        self._reasons[command_id] = reasons
        self.actions[command_id].setVisible(True)
        self.refresh(command_id)
        self.changed.emit()

    def refresh(self, *command_ids: str) -> None:
        """Ask the reasons again, of all commands if none is named. Cheap: nothing is touched that stays the same."""
        for command_id in command_ids or tuple(self._handlers):
            why = self.reason(command_id)
            action = self.actions[command_id]
            if action.isEnabled() != (not why) or action.data() != why:
                action.setData(why)
                action.setEnabled(not why)
                self._describe(self._commands[command_id], action, why)

    def _describe(self, command: Command, action: QAction, why: str) -> None:
        key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        title, hint = tr(command.title).rstrip("."), tr(command.hint)
        lines = [f"{title} ({key})" if key else title, tr("Not available: {reason}", reason=why) if why else hint]
        action.setToolTip("\n".join(line for line in lines if line))

    def action(self, command_id: str) -> QAction:
        return self.actions[command_id]

    def commands(self) -> tuple[Command, ...]:
        return tuple(command for command in self._commands.values() if command.id in self._handlers)

    def reason(self, command_id: str) -> str:
        if command_id not in self._handlers:
            return tr("This command is not available.")
        return next(filter(None, (why_not() for why_not in self._reasons[command_id])), "")

    def set_checked(self, command_id: str, checked: bool) -> None:
        action = self.actions[command_id]
        if action.isChecked() != checked:
            action.setChecked(checked)

    def set_icons(self, icon_for: Callable[[str], QIcon]) -> None:
        for command in self._commands.values():
            if command.icon:
                self.actions[command.id].setIcon(icon_for(command.icon))

    def trigger(self, command_id: str) -> bool:
        """Run a command as its menu entry would; False if it is disabled."""
        self.refresh(command_id)
        possible = self.actions[command_id].isEnabled()
        self.actions[command_id].trigger()
        return possible

    def _run(self, command_id: str) -> None:
        # Things change faster than actions are disabled: a key may be pressed twice between two frames.
        if why := self.reason(command_id):
            self.refresh(command_id)
            self.refused.emit(why)
            return
        self._handlers[command_id]()
        self.triggered.emit(command_id)

    def entries(self) -> list[PaletteEntry]:
        self.refresh()
        return [
            PaletteEntry(
                id=command.id,
                title=tr(command.title),
                category=tr(command.category),
                shortcut=self.actions[command.id].shortcut().toString(QKeySequence.SequenceFormat.NativeText),
                reason=str(self.actions[command.id].data() or ""),
                icon=self.actions[command.id].icon(),
                more=tr(command.hint),
                late=command.late,
            )
            for command in self.commands()
            if command.id != "palette"
        ]

    def install(self, window: QWidget) -> None:
        """Make the shortcuts work in `window`, and keep what types for the text field that has the focus."""
        self._window = window
        window.addActions(list(self.actions.values()))
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._watch)
            self._watch(None, app.focusWidget())

    def _watch(self, _old: QWidget | None, focused: QWidget | None) -> None:
        """Filter the events of what has the focus: those of the whole program are thousands a second."""
        if focused is not None and self._is_ours(focused):
            focused.installEventFilter(self)

    def _is_ours(self, widget: QWidget) -> bool:
        """Whether it is in our window or in a dialog of it; another window has a registry of its own."""
        while (above := widget.parentWidget()) is not None and widget is not self._window:
            widget = above
        return widget is self._window

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys that type are those of the text field that has the focus; Space presses the button that has it."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if belongs_to_focus(event):
                event.accept()
                return True
            if self._is_command_here(event):
                event.ignore()  # a text field would move its cursor by it
                return True
            self._say_why_not(event)
        return super().eventFilter(watched, event)

    def _is_command_here(self, event: QKeyEvent) -> bool:
        """Whether Ctrl with a letter is a command of ours, and none of those that every text field has."""
        pressed = QKeySequence(event.keyCombination())
        if event.modifiers() != Qt.KeyboardModifier.ControlModifier or not Qt.Key.Key_A <= event.key() <= Qt.Key.Key_Z:
            return False
        return event.key() not in EDITING and any(
            action.isEnabled() and action.shortcut() == pressed for action in self.actions.values()
        )

    def _say_why_not(self, event: QKeyEvent) -> None:
        pressed = QKeySequence(event.keyCombination())
        for action in self.actions.values():
            if not action.isEnabled() and action.isVisible() and action.shortcut() == pressed and action.data():
                self.refused.emit(str(action.data()))
