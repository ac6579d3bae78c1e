from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from msgspec import Struct
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QWidget

from app.commands.forms import Form, Given, form_of
from app.commands.jobs import Jobs
from app.commands.registry import ActionRegistry
from app.environment.settings import Settings
from app.presenters.appearance import Appearance
from app.presenters.views import Views
from app.sessions.event_text import error_text
from app.sessions.history.past import History
from app.sessions.queries import Answers
from app.sessions.session_controller import SessionController
from broker_core.errors import ArrivalError, BrokerError, ScenarioError
from broker_core.operations.request import Request
from broker_core.simulation.actions import UserAction
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import ConnectionView, Snapshot
from widgets.canvas.canvas import Canvas
from widgets.dialogs.form import Field, FormDialog, Values
from widgets.dialogs.review import Review, ReviewDialog
from widgets.facts import set_why_not
from widgets.formats import sentence
from widgets.i18n import tr
from widgets.main_window import MainWindow

T = TypeVar("T")

STEPS_KEPT = 200


@dataclass(slots=True, eq=False)
class UndoStep:
    """Something that was done. `why_not` says why it can be neither undone nor redone now; "" if it can."""

    title: str
    undo: Callable[[], object]
    redo: Callable[[], object]
    why_not: Callable[[], str] = str


class UndoStack(QObject):
    """`changed` whenever another step is on top. What was undone is forgotten when something new is done."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._done: list[UndoStep] = []
        self._undone: list[UndoStep] = []
        self.final = ""

    def push(
        self, title: str, undo: Callable[[], object], redo: Callable[[], object], why_not: Callable[[], str] = str
    ) -> UndoStep:
        """`title` was done, and is undone and done again by these; "moved indexer-1 to auditors" is a title."""
        step = UndoStep(title, undo, redo, why_not)
        self._done = [*self._done[1 - STEPS_KEPT :], step]
        self._undone.clear()
        self.final = ""
        self.changed.emit()
        return step

    def note_final(self, why: str) -> None:
        """Something irreversible was done, for the reason `why`; earlier steps can still be undone."""
        self.final = why
        self._undone.clear()
        self.changed.emit()

    def pass_final(self) -> None:
        self.final = ""
        self.changed.emit()

    @property
    def last(self) -> UndoStep | None:
        return self._done[-1] if self._done else None

    @property
    def next(self) -> UndoStep | None:
        return self._undone[-1] if self._undone else None

    def why_no_undo(self) -> str:
        return self.last.why_not() if self.last is not None else self.final or tr("Nothing has been done yet.")

    def why_no_redo(self) -> str:
        return self.next.why_not() if self.next is not None else tr("Nothing has been undone.")

    def undo(self) -> None:
        if not self.why_no_undo():
            step = self._done.pop()
            self._undone.append(step)
            self.final = ""
            step.undo()
            self.changed.emit()

    def redo(self) -> None:
        if not self.why_no_redo():
            step = self._undone.pop()
            self._done.append(step)
            step.redo()
            self.changed.emit()

    def put_back(self, step: UndoStep) -> None:
        """Undoing or redoing `step` failed: it returns to its place."""
        if self.next is step:
            self._done.append(self._undone.pop())
        elif self.last is step:
            self._undone.append(self._done.pop())
        self.changed.emit()

    def drop(self, step: UndoStep) -> None:
        self._done = [each for each in self._done if each is not step]
        self._undone = [each for each in self._undone if each is not step]
        self.changed.emit()

    def clear(self) -> None:
        self._done, self._undone, self.final = [], [], ""
        self.changed.emit()


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

    @cached_property
    def leaving(self) -> Leaving:
        return Leaving(self.window)

    def show_message(self, sentence: str) -> None:
        self.window.status.show_message(sentence)

    def why_not_simulated(self) -> str:
        """Why what is shown cannot be run anew, or on; "" if it can."""
        return (
            self.controller.source.why_not(Simulation) if self.controller.source.scenario else tr("No session is open.")
        )

    def why_not_recorded(self) -> str:
        return "" if self.controller.source.folder else tr("This session is not recorded.")

    def attempt(self, call: Callable[[], object]) -> bool:
        """Whether `call` succeeded; if not, its error is shown and nothing has changed."""
        try:
            call()
        except (ScenarioError, ArrivalError, BrokerError, OSError) as error:
            self.controller.failed.emit(error_text(error))
            return False
        return True

    def ask_target(self, title: str, proposed: Path, kinds: str = "") -> Path | None:
        found, _ = QFileDialog.getSaveFileName(self.window, title, str(proposed), kinds)
        return Path(found) if found else None

    def open_scenario(self, path: Path) -> None:
        def show() -> None:
            if self.attempt(lambda: self.controller.open(path)):
                self.controller.time.run()

        self.leaving.then(show)

    def selected_group(self) -> str:
        consumer = self.selected("consumer")
        actors = self.controller.snapshot.actors if consumer else ()
        return self.selected("group") or next((each.target for each in actors if each.name == consumer), "")

    def selected(self, *kinds: str) -> str:
        """The name of what is selected, if it is of one of these kinds."""
        found, _, name = self.views.selected.partition(":")
        return name if found in kinds else ""

    def selected_topic(self) -> str:
        return self.selected("topic") or self.selected("lane").rpartition("/")[0]


def lacking(needs: Callable[[], object], otherwise: str) -> Callable[[], str]:
    """Says `otherwise` while there is nothing that is needed."""
    return lambda: "" if needs() else otherwise


class Handlers(QObject):
    """A family of commands. `MENU` has those that stand in the context menus of kinds of things, "" for empty ground;
    None is a line.
    """

    MENU: ClassVar[tuple[tuple[tuple[str, ...], tuple[str | None, ...]], ...]] = ()

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context.window)
        self._context, self._controller = context, context.controller
        context.menu_parts.append(self._add_to_menu)

    def bind_with(self, command: str, do: Callable[[], object], needs: Callable[[], object], otherwise: str) -> None:
        """Bind a command that changes nothing in the session; `otherwise` says what it `needs`."""
        self._context.registry.bind(command, do, lacking(needs, otherwise))

    def bind_action(
        self,
        command: str,
        does: type[Any] | None,
        ask: Callable[[], object],
        needs: Callable[[], object] = lambda: True,
        otherwise: str = "",
        *,
        why_not: Callable[[], str] = str,
    ) -> None:
        """Bind a command that does an action of the kind `does`, None for one of several; without what it `needs` the
        sentence `otherwise` says why it cannot, as does `why_not`.
        """

        def reason() -> str:
            return self._controller.why_not(does) or ("" if needs() else otherwise) or why_not()

        self._context.registry.bind(command, ask, reason)

    @cached_property
    def _answers(self) -> Answers:
        return Answers(self._controller, self)

    @property
    def _snapshot(self) -> Snapshot:
        return self._controller.snapshot

    def form(
        self,
        name: str,
        make: Callable[[Values], UserAction],
        fields: Given = MappingProxyType({}),
        /,
        *,
        of: Sequence[type[Struct]] = (),
        more: Iterable[Field] = (),
        why_not: Callable[[Values], str] = lambda _values: "",
        tell: Callable[[Values], str] = lambda _values: "",
        known: Callable[[Values], Request[T]] | None = None,
        values: Callable[[T], Values] = lambda _found: {},
        by: str = "",
        **words: object,
    ) -> FormDialog:
        """Ask for what `make` needs by the form `name`, as `form_of`, and do what it gives.

        What `make` or `why_not` refuses with ValueError or a BrokerError is said in the form, as what `why_not` says.
        The answer to `known` gives `values` to begin with, and anew when the field `by` changes; `more` fields come
        after those of the form.
        """

        def judge(values: Values) -> str:
            try:
                if why := why_not(values):
                    return why
                make(values)
            except (ValueError, BrokerError) as error:
                return sentence(error_text(error))
            return ""

        form = form_of(name, fields, of, **words)
        dialog = form._replace(fields=(*form.fields, *more)).dialog(self._context.window, judge, tell)
        dialog.chosen.connect(lambda values: self._controller.perform(make(values)))
        dialog.open()
        if known is not None:

            def ask() -> None:
                self._answers.drop()
                self._answers.ask(known(dialog.values()), lambda found: dialog.set_values(values(found)))

            if by:
                dialog.widgets[by].currentTextChanged.connect(lambda _text: ask())  # type: ignore[attr-defined]
            dialog.finished.connect(lambda _result: self._answers.drop())
            ask()
        return dialog

    def add_entry(self, menu: QMenu, words: str, do: Callable[[], object], why_not: str = "", tip: str = "") -> None:
        """An entry of a context menu that is no command, because it concerns only the thing clicked."""
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


def open_review(
    context: CommandContext,
    form: Form,
    request: Callable[[Values], Request[T]],
    shown: Callable[[Values, T], Review],
    do: Callable[[Values, T], object],
    does: type[UserAction],
    why_not: Callable[[Values], str] = lambda _values: "",
) -> None:
    """Show the answer to `request` before `do` is done with it, an action of the kind `does`."""
    dialog = ReviewDialog(*form[:3], why_not=why_not, parent=context.window)
    answers = Answers(context.controller, dialog)
    found: list[T] = []

    def fail(why: str) -> None:
        dialog.problem.setText(sentence(why))

    def show(values: Values, answer: T) -> None:
        found[:] = [answer]
        dialog.set_review(shown(values, answer))
        if dialog.reviewing:
            set_why_not(dialog.accept_button, context.controller.why_not(does))

    def ask(values: Values) -> None:
        try:
            answers.ask(request(values), partial(show, values), fail)
        except BrokerError as error:
            fail(error_text(error))

    dialog.reviewWanted.connect(ask)
    dialog.chosen.connect(lambda values: do(values, found[0]))
    dialog.open()


NAMED_MOST = 4


class Leaving:
    """Asks before the shown session ends, if programs are connected to it. `connected` returns their connections; a
    remote broker continues without the window, so it has none.
    """

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self.connected: Callable[[], Iterable[ConnectionView]] = tuple

    def then(self, do: Callable[[], object], otherwise: Callable[[], object] = lambda: None) -> None:
        """Do it: at once if nobody is connected, else when the user has agreed; `otherwise` when not."""
        if question := self.question():
            ask(self._window, question, tr("Keep the session"), tr("End it"), do).rejected.connect(otherwise)
        else:
            do()

    def question(self) -> str:
        """Which programs would lose their broker; "" if none would."""
        names = list(dict.fromkeys(view.client or view.peer for view in self.connected() if view.ended_ns is None))
        if not names:
            return ""
        named, more = ", ".join(names[:NAMED_MOST]), len(names) - NAMED_MOST
        return (
            tr("{names} and {count} more are connected to the broker of this session. End it?", names=named, count=more)
            if more > 0
            else tr("Connected to the broker of this session: {names}. End it?", names=named)
        )


def ask(window: QWidget, text: str, stay: str, leave: str, then: Callable[[], object]) -> QMessageBox:
    """Ask in plain `text`; `then()` is called for the button `leave`, Escape and Enter are `stay`."""
    box = QMessageBox(QMessageBox.Icon.Question, "Brokerscope", "", QMessageBox.StandardButton.NoButton, window)
    box.setObjectName("leave_question")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(text)
    stay_button = box.addButton(stay, QMessageBox.ButtonRole.RejectRole)
    box.addButton(leave, QMessageBox.ButtonRole.AcceptRole)
    box.setDefaultButton(stay_button)
    box.setEscapeButton(stay_button)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.accepted.connect(then)
    box.open()
    return box
