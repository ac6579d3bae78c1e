from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from app.commands.context import CommandContext, Handlers
from app.commands.forms import not_there
from app.commands.registry import Command
from app.filters.parsing import help_rows
from app.sessions.event_text import event_line
from broker_core.broker.occurrences import FIELDS, BrokerState, occurrences, tester
from broker_core.clock import ns_from_s
from broker_core.engine.runner import Engine
from broker_core.events import Event
from broker_core.filters import Filter, FilterError, parse
from broker_core.simulation.simulation import Simulation
from widgets.dialogs.run_until import HERE, NEW_SEED, RunUntilDialog
from widgets.hint_bar import Notice
from widgets.i18n import tr


class RunUntil:
    """A background task for the engine: steps until an event, or the state right after it, fits `condition`.

    `found` is that event afterwards, None if the session came to `until_ns` before.
    """

    def __init__(self, simulation: Simulation, condition: Filter, until_ns: int) -> None:
        self._simulation = simulation
        self._fits = tester(condition)
        self._state = BrokerState(simulation.broker, simulation.actors)
        self._until_ns = until_ns
        self._pending: list[Event] = []
        self.found: Event | None = None

    def go_on(self, enough: Callable[[], bool]) -> bool:
        """In the engine's thread: True if it is found, or if nothing more comes."""
        simulation, loop, pending = self._simulation, self._simulation.loop, self._pending
        simulation.events.attach(pending.append)
        try:
            while not enough():
                for _ in range(8):
                    if not loop.run_next(self._until_ns):
                        loop.advance_to(self._until_ns)
                        return True
                    if pending and self._look():
                        return True
            return False
        finally:
            simulation.events.detach(pending.append)

    def _look(self) -> bool:
        for event in self._pending:
            if any(self._fits(each) for each in occurrences(event, self._state)):
                self.found = event
                break
        self._pending.clear()
        return self.found is not None

    def summary(self, done: bool) -> str:
        if self.found is not None:
            return tr("Stopped right after {found}", found=event_line(self.found))
        return tr("It never happened: the session has ended.") if done else ""


class UntilHandlers(Handlers):
    COMMANDS = (
        Command("run_until", "Run until...", "Session", "Ctrl+F5", "clock", "Stops when a condition is first met."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._last = ""
        none = tr("No session is open.")
        context.registry.bind("run_until", self._ask, lambda: "" if self._controller.scenario else none, Simulation)

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
        self._last = text
        condition = parse(text, FIELDS)
        if beginning != HERE and not self._context.attempt(
            lambda: self._controller.restart(new_seed=beginning == NEW_SEED)
        ):
            return
        source = self._controller.simulated
        if source is None:
            return
        task = RunUntil(source.session.simulation, condition, ns_from_s(source.scenario.until_s))
        self._controller.run_background(task.go_on, task.summary)
        message = tr("Running until {words}; Space stops it.", words=text)
        absent = not_there(self._controller.snapshot, condition)  # it may come yet
        self._context.show_message(" ".join(filter(None, (message, absent))))


def why_no_condition(text: str) -> str:
    if not text.strip():
        return tr("A condition is needed.")
    try:
        parse(text, FIELDS)
    except FilterError as error:
        return error.translated(tr)
    return ""


class SessionHandlers(Handlers):
    COMMANDS = (
        Command("restart", "Start again", "Session", "Ctrl+R", "restart", "The same scenario with the same seed."),
        Command("restart_new_seed", "Start again with a new seed", "Session", "Ctrl+Alt+N", "", "Another run of it."),
        Command("pause", "Pause", "Session", "Space", "pause", "Stops the session clock.", checkable=True),
        Command("step", "Step", "Session", "F4", "step", "Runs to the next event, then pauses."),
        Command("run", "Run", "Session", "F5", "play", "Runs at the chosen speed.", checkable=True),
        Command("fast", "Fast", "Session", "F6", "fast", "Ten times the chosen speed.", checkable=True),
        Command("express", "Express", "Session", "F7", "express", "As fast as possible.", checkable=True),
        Command(
            "continue",
            "Continue",
            "Session",
            "Shift+F8",
            "play",
            "Continues from where it was stopped, or past the end of its scenario.",
        ),
        Command("stop", "Stop", "Session", "F8", "stop", "Ends the session and seals its recording."),
        Command("open_scenario", "Open scenario...", "File", "Ctrl+O", "folder", "Opens a scenario file."),
        Command("open_session_folder", "Show session folder", "File", "", "folder", "The folder of the recording."),
        Command("quit", "Quit", "File", "Ctrl+Q", "", "Seals the recording and closes the window."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind, controller = context.registry.bind, context.controller
        anew, past_is_slow = (
            partial(controller.restart, new_seed=True),
            tr("The past can be played no faster than fast (F6)."),
        )
        bind("restart", lambda: context.attempt(controller.restart), does=Simulation)
        bind("restart_new_seed", lambda: context.attempt(anew), does=Simulation)
        bind("pause", self._pause, self._why_still)
        bind("step", controller.step, self._why_still, Engine)
        bind("run", controller.run, self._why_still, Engine)
        bind("fast", partial(controller.run, fast=True), self._why_still, Engine)
        bind("express", controller.express, lambda: context.why_ended() if controller.live else past_is_slow, Engine)
        bind("continue", lambda: context.attempt(controller.go_on), controller.why_not_continued, Engine)
        controller.overran.connect(self._offer_the_end)
        bind("stop", controller.stop, lambda: tr("The session has already ended.") if controller.stopped else "")
        bind("open_scenario", self._open_scenario)
        bind("open_session_folder", self._open_folder, context.why_not_recorded)
        bind("quit", context.window.close)
        context.window.toolbar.speedChosen.connect(self._choose_speed)

    def _why_still(self) -> str:
        """Why time cannot pass: the past can be played, whether the session has ended or not."""
        return "" if self._controller.travel.looking_back else self._context.why_ended()

    def _pause(self) -> None:
        if self._controller.moving:
            self._controller.pause()
        else:
            self._controller.run()

    def _offer_the_end(self) -> None:
        """Other programs take part: the end of the scenario does not end the session, a person does."""
        self._context.window.hint.show_notice(
            Notice(
                tr("The scenario has ended. The session continues because a listener is open."),
                tr("End the session"),
                self._controller.stop,
            )
        )

    def _choose_speed(self, speed: float) -> None:
        self._controller.speed = speed
        if self._controller.moving:
            self._controller.run(speed)

    def _open_scenario(self) -> None:
        found, _ = QFileDialog.getOpenFileName(
            self._context.window, tr("Open scenario"), "", tr("Scenarios (*.yaml *.yml)")
        )
        if found:
            self._context.open_scenario(Path(found))

    def _open_folder(self) -> None:
        if self._controller.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._controller.folder)))
