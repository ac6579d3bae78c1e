"""The registry of commands: one entry for each, whatever it is reached by.

Menus, the toolbar, context menus, shortcuts and the Ctrl+P palette are all made from it. A command without a handler is
known but shown nowhere, so a menu holds only what works. A function `why_...` gives the sentence that says why
something is not possible, and "" if it is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QTreeView,
    QWidget,
)

import resources
from app.presenters.panels import PANELS
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
        self._reasons: dict[str, Reason] = {}
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

    def bind(self, command_id: str, handler: Handler, reason: Reason = str) -> None:
        """Give a command its handler. `reason` returns "" if it can run, else the sentence that says why not.

        KeyError for an unknown id.
        """
        self._handlers[self._commands[command_id].id] = handler
        self._reasons[command_id] = reason
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
        return self._reasons[command_id]()

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
        return event.key() not in _EDITING and any(
            action.isEnabled() and action.shortcut() == pressed for action in self.actions.values()
        )

    def _say_why_not(self, event: QKeyEvent) -> None:
        pressed = QKeySequence(event.keyCombination())
        for action in self.actions.values():
            if not action.isEnabled() and action.isVisible() and action.shortcut() == pressed and action.data():
                self.refused.emit(str(action.data()))


_MODIFIERS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
_EDITING = {Qt.Key.Key_A, Qt.Key.Key_C, Qt.Key.Key_V, Qt.Key.Key_X, Qt.Key.Key_Y, Qt.Key.Key_Z}
_TEXT_FIELDS = (QLineEdit, QAbstractSpinBox, QTextEdit, QPlainTextEdit)


def belongs_to_focus(event: QKeyEvent) -> bool:
    """True for a key press that the focused widget must have before any shortcut."""
    focus = QApplication.focusWidget()
    if focus is None or event.modifiers() & _MODIFIERS or Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35:
        return False
    if isinstance(focus, _TEXT_FIELDS):
        return not (isinstance(focus, QLineEdit | QTextEdit | QPlainTextEdit) and focus.isReadOnly())
    if isinstance(focus, QComboBox) and focus.isEditable():
        return True
    if event.key() in _ALONG:
        return _moves_within(focus, event.key())
    return event.key() == Qt.Key.Key_Space and isinstance(focus, QAbstractButton | QComboBox)


_ENDS = {Qt.Key.Key_Home, Qt.Key.Key_End}
_ALONG = {Qt.Key.Key_Left, Qt.Key.Key_Right, *_ENDS}


def _moves_within(focus: QWidget, key: int) -> bool:
    if isinstance(focus, QTreeView | QAbstractSlider | QTabBar | QComboBox):
        return True
    return isinstance(focus, QAbstractItemView) and key in _ENDS


# A line, a command, or a menu within a menu: its title and what it holds.
Entry = QAction | None | tuple[str, list[QAction | None]]

# As `resources/menus.toml` declares them.
_BAR: dict[str, Any] = tomllib.loads(resources.path("menus.toml").read_text(encoding="utf-8"))
#: The menus of the bar in order, each with the menus within it.
BAR: dict[str, tuple[str, ...]] = {title: tuple(held) if isinstance(held, dict) else () for title, held in _BAR.items()}


def _commands(title: str, part: dict[str, dict[str, Any]]) -> Iterator[Command]:
    for name, given in part.items():
        if name == "panels":
            for panel in PANELS:
                yield Command(f"show_{panel.name}", panel.title, panel.hint, panel.icon, panel.shortcut, title)
        else:
            yield Command(name, category=title, **given)


_MENUS = {name: held for title, held in _BAR.items() for name, held in (held if BAR[title] else {title: held}).items()}
_PARTS = {title: [list(_commands(title, part)) for part in parts] for title, parts in _MENUS.items()}
#: Ids of commands between lines, by the title of their menu.
PARTS = {title: [[command.id for command in part] for part in parts] for title, parts in _PARTS.items()}
COMMANDS = tuple(command for parts in _PARTS.values() for part in parts for command in part)
_DECLARED = {command.id for command in COMMANDS}


def menu_bar(registry: ActionRegistry) -> list[tuple[str, list[Entry]]]:
    """(title, entries) of each menu; only commands with a handler, and only menus that hold any."""
    bound = {command.id: command.category for command in registry.commands()}

    def entries(title: str) -> list[QAction | None]:
        found: list[QAction | None] = []
        made = [command for command, category in bound.items() if category == title and command not in _DECLARED]
        for part in (*PARTS.get(title, []), made):
            actions = [registry.action(command) for command in part if command in bound]
            found += [None, *actions] if found and actions else actions
        return found

    bar: list[tuple[str, list[Entry]]] = []
    for title, titles in BAR.items():
        within = [(tr(name), held) for name in titles if (held := entries(name))]
        if found := [*entries(title), *within]:
            bar.append((tr(title), found))
    return bar
