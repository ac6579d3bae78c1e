from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from app.commands.context import CommandContext, Handlers
from app.commands.forms import Given, choice, form_of, not_there
from app.presenters.filters import help_rows
from app.sessions.run_until import RunUntil, why_no_condition
from broker_core.broker.occurrences import FIELDS
from broker_core.clock import ns_from_s
from broker_core.engine.runner import Engine
from broker_core.filters import parse
from widgets.dialogs.form import Values
from widgets.hint_bar import Notice
from widgets.i18n import mark, tr

HERE, SAME_SEED, NEW_SEED = "here", "same seed", "new seed"
BEGINNINGS = {
    HERE: mark("From here"),
    SAME_SEED: mark("From the beginning, with the same seed"),
    NEW_SEED: mark("From the beginning, with a new seed"),
}
EXAMPLES = mark('kind = dead_lettered and cause contains timeout; lag > 100 and group = "billing"; time >= 00:31')


class SessionHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind, controller = context.registry.bind, context.controller
        anew, past_is_slow = (
            partial(controller.restart, new_seed=True),
            tr("The past can be played no faster than fast (F6)."),
        )
        for command, begin in (("restart", controller.restart), ("restart_new_seed", anew)):
            bind(command, partial(context.leaving.then, partial(context.attempt, begin)), context.why_not_simulated)
        bind("pause", self._pause, lambda: "" if controller.travel.looking_back else controller.why_not())
        driven = partial(controller.why_not, Engine)
        for command, do in (("step", controller.time.step), ("run", controller.time.run)):
            bind(command, do, driven)
        bind("fast", partial(controller.time.run, fast=True), driven)
        bind("express", controller.time.express, lambda: driven() if controller.live else past_is_slow)
        bind("continue", lambda: context.attempt(controller.branching.go_on), controller.branching.why_not_continued)
        controller.overran.connect(self._offer_the_end)
        stop = partial(context.leaving.then, controller.stop)
        bind("stop", stop, lambda: tr("The session has already ended.") if controller.time.stopped else "")
        bind("open_scenario", self._open_scenario)
        bind("open_session_folder", self._open_folder, context.why_not_recorded)
        bind("quit", context.window.close)
        context.window.toolbar.speedChosen.connect(self._choose_speed)
        self._last_until = ""
        context.registry.bind("run_until", self._ask_until, context.why_not_simulated)

    def _pause(self) -> None:
        if self._controller.time.moving:
            self._controller.time.pause()
        else:
            self._controller.time.run()

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
        self._controller.time.speed = speed
        if self._controller.time.moving:
            self._controller.time.run(speed)

    def _open_scenario(self) -> None:
        found, _ = QFileDialog.getOpenFileName(
            self._context.window, tr("Open scenario"), "", tr("Scenarios (*.yaml *.yml)")
        )
        if found:
            self._context.open_scenario(Path(found))

    def _open_folder(self) -> None:
        if self._controller.source.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._controller.source.folder)))

    def _ask_until(self) -> None:
        why_not_here = self._controller.why_not()
        known = {name: tr(words) for name, words in BEGINNINGS.items() if name != HERE or not why_not_here}
        given: Given = {
            "condition": {"value": self._last_until, "fields": help_rows(FIELDS)},
            "beginning": choice(known),
        }
        form = form_of("run_until", given, examples=tr(EXAMPLES))
        dialog = form.dialog(
            self._context.window, lambda values: self._why_not_until(values["condition"]), lambda _values: why_not_here
        )
        dialog.chosen.connect(self._run_from)
        dialog.open()

    def _why_not_until(self, text: str) -> str:
        source = self._controller.source
        why = why_no_condition(text)
        if why or source.outside_clients:  # what other programs bring may come yet
            return why
        return not_there(self._controller.snapshot, parse(text, FIELDS), source.scenario)

    def _run_from(self, values: Values) -> None:
        text = values["condition"]

        def anew() -> None:
            if self._context.attempt(lambda: self._controller.restart(new_seed=values["beginning"] == NEW_SEED)):
                self.run_until(text)

        if values["beginning"] == HERE:
            self.run_until(text)
        else:
            self._context.leaving.then(anew)

    def run_until(self, text: str) -> None:
        self._last_until = text
        condition = parse(text, FIELDS)
        source = self._controller.simulated
        if source is None:
            return
        task = RunUntil(source.session.simulation, condition, ns_from_s(source.scenario.until_s))
        self._controller.why_unmet = task.why_unmet
        self._controller.time.run_background(task.go_on, task.summary)
        message = tr("Running until {words}; Space stops it.", words=text)
        absent = not_there(self._controller.snapshot, condition, source.scenario)  # it may come yet
        self._context.show_message(" ".join(filter(None, (message, absent))))
