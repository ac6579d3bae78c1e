from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMenu

from app.commands.jobs import Jobs
from app.commands.registry import ActionRegistry, Command
from app.commands.undo_stack import UndoStack
from app.environment.settings import Settings
from app.presenters.appearance import Appearance
from app.presenters.views import Views
from app.sessions.history.history import History
from app.sessions.queries import Answers
from app.sessions.session_controller import SessionController
from broker_core.engine.runner import Mode
from broker_core.errors import ArrivalError, BrokerError, ScenarioError
from broker_core.operations.request import Request
from broker_core.simulation.actions import UserAction
from broker_core.snapshots import Snapshot
from widgets.canvas.canvas import Canvas
from widgets.dialogs.form import Field, FormDialog, Values
from widgets.formats import sentence
from widgets.i18n import mark, tr
from widgets.main_window import MainWindow

T = TypeVar("T")

ENDED = mark("The session has ended. Continue it (Shift+F8) or start it again (Ctrl+R) to change it.")

PAST = mark("This is the past: follow live (Alt+Right), or branch here, to change anything.")

# Adds the commands for (kind, name) of a thing on the canvas, such as ("consumer", "indexer-1"), to its menu.
MenuPart = Callable[[str, str, QMenu], object]


@dataclass(frozen=True)
class CommandContext:
    """The parts of one workbench. `menu_parts` are asked in order whenever a context menu of the canvas opens."""

    registry: ActionRegistry
    window: MainWindow
    canvas: Canvas
    views: Views
    controller: SessionController
    jobs: Jobs
    settings: Settings
    appearance: Appearance
    history: History
    undo: UndoStack = field(default_factory=UndoStack)
    menu_parts: list[MenuPart] = field(default_factory=list)

    def show_message(self, sentence: str) -> None:
        self.window.status.show_message(sentence)

    def why_ended(self) -> str:
        if self.controller.scenario is None:
            return tr("No session is open.")
        if not self.controller.live:
            return tr(PAST)
        over = self.controller.stopped or self.controller.status.mode in {Mode.FINISHED, Mode.FAILED}
        return tr(ENDED) if over else ""

    def why_not_recorded(self) -> str:
        return "" if self.controller.folder else tr("This session is not recorded.")

    def why_not(self, there: object, otherwise: str) -> str:
        """Why nothing can be changed now; `otherwise` if that to be changed is not `there`; else ""."""
        return self.why_ended() or ("" if there else otherwise)

    def perform(self, action: UserAction) -> None:
        if why := self.why_ended() or self.controller.why_not(type(action)):
            self.show_message(why)
        else:
            self.controller.perform(action)

    def attempt(self, call: Callable[[], object]) -> bool:
        """Whether `call` succeeded; otherwise its error is shown and nothing has changed."""
        try:
            call()
        except (ScenarioError, ArrivalError, BrokerError, OSError) as error:
            self.controller.failed.emit(str(error))
            return False
        return True

    def ask_target(self, title: str, proposed: Path, kinds: str = "") -> Path | None:
        found, _ = QFileDialog.getSaveFileName(self.window, title, str(proposed), kinds)
        return Path(found) if found else None

    def open_scenario(self, path: Path) -> None:
        if self.attempt(lambda: self.controller.open(path)):
            self.controller.run()

    def selected_group(self) -> str:
        consumer = self.selected("consumer")
        actors = self.controller.snapshot.actors if consumer else ()
        return self.selected("group") or next((each.target for each in actors if each.name == consumer), "")

    def selected(self, kind: str) -> str:
        found, _, name = self.views.selected.partition(":")
        return name if found == kind else ""


class Handlers(QObject):
    """A family of commands. `MENU` has those that stand in the context menus of kinds of things, "" for empty ground;
    None is a line.
    """

    COMMANDS: ClassVar[tuple[Command, ...]] = ()
    MENU: ClassVar[tuple[tuple[tuple[str, ...], tuple[str | None, ...]], ...]] = ()

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context.window)
        self._context, self._controller = context, context.controller
        context.menu_parts.append(self._add_to_menu)

    def bind_with(self, command: str, do: Callable[[], object], needs: Callable[[], object], otherwise: str) -> None:
        """Bind a command that changes nothing in the session; `otherwise` says what it `needs`."""
        self._context.registry.bind(command, do, lambda: "" if needs() else otherwise)

    def bind_action(
        self,
        command: str,
        does: type[Any],
        ask: Callable[[], object],
        needs: Callable[[], object] = lambda: True,
        otherwise: str = "",
    ) -> None:
        """Bind a command that does an action of the kind `does`; without what it `needs` the sentence `otherwise` says
        why it cannot.
        """
        self._context.registry.bind(command, ask, lambda: self._context.why_not(needs(), otherwise), does)

    @cached_property
    def _answers(self) -> Answers:
        return Answers(self._controller, self)

    @property
    def _snapshot(self) -> Snapshot:
        return self._controller.snapshot

    def form(
        self,
        title: str,
        about: str,
        fields: Sequence[Field],
        button: str,
        make: Callable[[Values], UserAction],
        *,
        why_not: Callable[[Values], str] = lambda _values: "",
        tell: Callable[[Values], str] = lambda _values: "",
        danger: bool = False,
        known: Request[T] | None = None,
        values: Callable[[T], Values] = lambda _found: {},
    ) -> FormDialog | None:
        """Ask for what `make` needs, and do what it gives; None if nothing can be changed now.

        What `make` or `why_not` refuses with ValueError or a BrokerError is said in the form, as what `why_not` says.
        The answer to `known` gives `values` to begin with.
        """
        context = self._context
        if why := context.why_ended():
            context.show_message(why)
            return None

        def judge(values: Values) -> str:
            try:
                if why := why_not(values):
                    return why
                make(values)
            except (ValueError, BrokerError) as error:
                return sentence(str(error))
            return ""

        dialog = FormDialog(title, about, fields, button, why_not=judge, tell=tell, parent=context.window)
        if danger:
            dialog.warn()
        dialog.chosen.connect(lambda values: context.perform(make(values)))
        dialog.open()
        if known is not None:
            self._answers.drop()
            self._answers.ask(known, lambda found: dialog.set_values(values(found)))
        return dialog

    def add_entry(self, menu: QMenu, words: str, do: Callable[[], object], why_not: str = "", tip: str = "") -> None:
        """An entry of a menu that is no command: it is about the thing that the menu is of."""
        entry = menu.addAction(words)
        entry.setEnabled(not why_not)
        entry.setToolTip(why_not or tip)
        entry.triggered.connect(lambda _checked: do())

    def _add_to_menu(self, kind: str, name: str, menu: QMenu) -> None:
        for command in (each for kinds, commands in self.MENU if (kind if name else "") in kinds for each in commands):
            if command is None:
                menu.addSeparator()
            else:
                menu.addAction(self._context.registry.action(command))
