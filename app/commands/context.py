from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, TypeVar

from msgspec import Struct
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMenu

from app.commands.forms import Given, form_of
from app.commands.leaving import Leaving
from app.commands.registry import ActionRegistry, Reason
from app.commands.undo_stack import UndoStack
from app.environment.appearance import Appearance
from app.environment.settings import Settings
from app.presenters.views import Views
from app.reports.jobs import Jobs
from app.sessions.core_sentences import error_text
from app.sessions.history.past import History
from app.sessions.queries import Answers
from app.sessions.session_controller import SessionController
from broker_core.errors import ArrivalError, BrokerError, ScenarioError
from broker_core.operations.request import Request
from broker_core.simulation.actions import UserAction
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import Snapshot
from widgets.canvas.canvas import Canvas
from widgets.dialogs.field_widgets import Field
from widgets.dialogs.form import FormDialog, Values
from widgets.formats import sentence
from widgets.i18n import tr
from widgets.main_window import MainWindow

T = TypeVar("T")


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
    # Add the commands for (kind, name) of a thing on the canvas, such as ("consumer", "indexer-1"), to its menu.
    menu_parts: list[Callable[[str, str, QMenu], object]] = field(default_factory=list)

    @cached_property
    def leaving(self) -> Leaving:
        return Leaving(self.window)

    def show_message(self, text: str) -> None:
        self.window.status.show_message(text)

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


def lacking(needs: Callable[[], object], otherwise: str) -> Reason:
    """Says `otherwise` while there is nothing that is needed."""
    return lambda: "" if needs() else otherwise


class Named(Protocol):
    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=Named)


def named_or_only(things: Sequence[N], name: str) -> N | None:
    """The one called `name`; if it is "", the only one there is."""
    found = [thing for thing in things if name in {"", thing.name}]
    return found[0] if len(found) == 1 else None


class Handlers(QObject):
    """A family of commands. `MENU` has kinds of things, "" for empty ground, and what stands in their context menus;
    blanks are between them, and | is a line.
    """

    MENU: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context.window)
        self._context, self._controller = context, context.controller
        context.menu_parts.append(self._add_to_menu)

    def _why_impossible(self, does: type[Any] | None = None) -> Reason:
        """Why an action of the kind `does`, or None of any, is not possible now."""
        return partial(self._controller.why_not, does)

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
        **words: object,
    ) -> FormDialog:
        """Ask for what `make` needs by the form `name`, as `form_of`, and do what it gives.

        What `make` or `why_not` refuses with ValueError or a BrokerError is said in the form, as what `why_not` says;
        `more` fields come after those of the form.
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
        return dialog

    def begin_with(
        self, dialog: FormDialog, known: Callable[[Values], Request[T]], values: Callable[[T], Values], by: str = ""
    ) -> None:
        """The answer to `known` gives `values` for a form to begin with, and anew when its field `by` changes."""

        def ask() -> None:
            self._answers.drop()
            self._answers.ask(known(dialog.values()), lambda found: dialog.set_values(values(found)))

        if by:
            dialog.widgets[by].currentTextChanged.connect(lambda _text: ask())  # type: ignore[attr-defined]
        dialog.finished.connect(lambda _result: self._answers.drop())
        ask()

    def add_entry(self, menu: QMenu, words: str, do: Callable[[], object], why_not: str = "", tip: str = "") -> None:
        """An entry of a context menu that is no command, because it concerns only the thing clicked."""
        entry = menu.addAction(words)
        entry.setEnabled(not why_not)
        entry.setToolTip(why_not or tip)
        entry.triggered.connect(lambda _checked: do())

    def _add_to_menu(self, kind: str, name: str, menu: QMenu) -> None:
        here = (commands for kinds, commands in self.MENU if (kind if name else "") in kinds.split(" "))
        for command in " ".join(here).split():
            if command == "|":
                menu.addSeparator()
            else:
                menu.addAction(self._context.registry.action(command))
