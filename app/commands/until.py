"""Run until something happens."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.commands.context import CommandContext
from app.commands.forms import not_there
from app.commands.registry import Command
from app.filters.help import help_rows
from app.sessions.until import RunUntil
from broker_core.broker.occurrences import FIELDS
from broker_core.clock import ns_from_s
from broker_core.filters import FilterError, parse
from widgets.dialogs.run_until import HERE, NEW_SEED, RunUntilDialog
from widgets.i18n import tr


class UntilHandlers(QObject):
    COMMANDS = (
        Command("run_until", "Run until...", "Session", "Ctrl+F5", "clock", "Stops where a condition is first met."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context.window)
        self._context, self._controller = context, context.controller
        self._last = ""
        context.registry.bind(
            "run_until", self._ask, lambda: "" if context.controller.scenario else tr("No session is open.")
        )

    def _ask(self) -> None:
        dialog = RunUntilDialog(
            why_no_condition,
            help_rows(FIELDS),
            text=self._last,
            why_not_here=self._context.why_ended(),
            parent=self._context.window,
        )
        dialog.chosen.connect(self.run)
        dialog.open()

    def run(self, text: str, beginning: str = HERE) -> None:
        """Run to the first event that fits `text`, from here or from the beginning."""
        self._last = text
        condition = parse(text, FIELDS)
        if beginning != HERE and not self._context.attempt(
            lambda: self._controller.restart(new_seed=beginning == NEW_SEED)
        ):
            return
        live = self._controller.running
        if live is None:
            return
        task = RunUntil(live.simulation, condition, ns_from_s(live.simulation.scenario.until_s))
        self._controller.run_background(task.go_on, task.summary)
        message = tr("Running until {words}; Space stops it.", words=text)
        absent = not_there(self._controller.snapshot, condition)  # it may come yet
        self._context.show_message(" ".join(filter(None, (message, absent))))


def why_no_condition(text: str) -> str:
    """What is wrong with a condition, in a sentence; "" where nothing is."""
    if not text.strip():
        return tr("A condition is needed.")
    try:
        parse(text, FIELDS)
    except FilterError as error:
        return error.translated(tr)
    return ""
