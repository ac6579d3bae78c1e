from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QSettings, Qt, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from app.commands.context import CommandContext
from app.commands.families import COMMANDS, FAMILIES
from app.commands.jobs import Job, Jobs
from app.commands.recordings import RecordingHandlers
from app.commands.registry import ActionRegistry
from app.commands.scenarios import scenario_commands
from app.environment.language import install_language
from app.environment.paths import APP_NAME
from app.environment.settings import Settings
from app.presenters.appearance import SYSTEM, Appearance, apply_first_theme
from app.presenters.views import Views
from app.sessions.history.history import History
from app.sessions.observed import ObservedSource
from app.sessions.session_controller import SessionController
from app.shell.badge import shown_badge
from app.shell.frames import Frames
from app.shell.menu_bar import menu_bar
from app.shell.opening import paint_first
from broker_core.clock import ns_from_s
from broker_core.engine.runner import Engine, Mode
from broker_core.simulation.actions.dead_letters import Redrive
from widgets.bytes_text import contained
from widgets.canvas.canvas import Canvas
from widgets.i18n import tr
from widgets.main_window import MainWindow
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.theme import current_theme, styled_at_end

# The canvas and the clock follow every frame, tables and charts every third: faster is not readable. Where the state
# changes in some frames only, as with a broker elsewhere, they follow in one in which it has not.
PANELS_EVERY_FRAMES = 3
# In express mode nobody can follow each frame: every second is left to the engine.
EXPRESS_EVERY_FRAMES = 2
JOB_END_TIMEOUT_S = 15.0
FIRST_SIZE = (1600, 1000)
FIRST_PAINT_MS = 500

T = TypeVar("T")


class Workbench(QObject):
    def __init__(
        self,
        app: QApplication,
        *,
        theme: str = "system",
        record: bool = True,
        sessions: Path | None = None,
        settings: QSettings | None = None,
    ) -> None:
        """`theme` is light, dark or system; `sessions` is where recordings go, the user's folder if it is None."""
        super().__init__()
        self._quitting = False
        self.settings = Settings(settings)
        if theme == SYSTEM:
            theme = self.settings.theme
        apply_first_theme(app, theme, self.settings.scale)
        scenarios = scenario_commands()
        commands = (*COMMANDS, *(command for command, _ in scenarios.values()))
        with styled_at_end(app):
            self.registry = ActionRegistry(commands, parent=self)
            self.controller = SessionController(record=record and self.settings.record, sessions=sessions, parent=self)
            self.jobs = Jobs(self)
            self.jobs.keep_spark(self.settings.keep_spark)
            self.history = History(self)
            self.views = Views(self.controller, self.history, self)
            self.canvas = Canvas(current_theme())
            self.window = MainWindow(self.views.make_parts(self.canvas), self.registry.actions, (), settings)
            self.canvas.whole_room = self.window.centre.size
            self.views.attach(self.window)
        self.appearance = Appearance(app, self.settings, self.registry.set_icons, self.window, self.canvas, theme=theme)
        self.context = CommandContext(
            self.registry,
            self.window,
            self.canvas,
            self.views,
            self.controller,
            self.jobs,
            self.settings,
            self.appearance,
            self.history,
        )
        self.registry.why_never = self._why_never
        self._families: dict[type, QObject] = {family: family(self.context) for family in FAMILIES}
        for command, path in scenarios.values():
            self.registry.bind(command.id, partial(self.context.open_scenario, path))
        self.registry.install(self.window)
        self.window.set_menus(menu_bar(self.registry))
        self.frames = Frames(self.draw, self.controller.grant, lambda: self.controller.moving, self)
        self._frame_number = self._since_panels = 0
        self._was_still = False
        self._connect()

    def _connect(self) -> None:
        self.controller.opened.connect(self._opened)
        self.controller.ending.connect(lambda: self.controller.note_cost(self.frames.session_figures()))
        self.controller.reported.connect(self.window.status.show_message)
        self.controller.failed.connect(self._failed)
        self.registry.refused.connect(self.window.status.show_message)
        self.window.closing.connect(self.close)
        self.window.may_close = self._may_close
        # The size of the recording is asked of the disk, so seldom.
        size_timer = QTimer(self)
        size_timer.timeout.connect(self._measure_recording)
        size_timer.start(1_000)

    def family(self, kind: type[T]) -> T:
        found = self._families[kind]
        assert isinstance(found, kind)
        return found

    def _why_never(self, does: type[Any]) -> str:
        # The past has a time of its own, which is driven from here.
        driven = does is Engine and self.controller.travel.looking_back
        return "" if driven else self.controller.why_not(does)

    # -- one session after another

    def _opened(self) -> None:
        scenario = self.controller.scenario
        assert scenario is not None
        self.history.attach(self.controller.events, self.controller.folder)
        self.views.restart()
        self.views.times.wall_start = self.controller.source.started_at
        self.views.select("")
        self.canvas.start_over()
        self.canvas.setFocus()
        self.window.toolbar.set_scenario(scenario.title)
        self.window.setWindowTitle(f"{contained(scenario.title)} - Brokerscope")
        self.window.status.show_message(tr("Opened {title}.", title=scenario.title))
        self._measure_recording()
        self.registry.refresh()  # not some frames later: nothing that is impossible here looks possible
        self.frames.forget()
        self.draw()

    def draw(self) -> bool:
        """One frame: what has changed since the last one; False if this one is left out."""
        controller = self.controller
        status = controller.status
        self._frame_number += 1
        snapshot = controller.snapshot
        still = snapshot is self.views.snapshot
        self._since_panels += 1
        express = controller.moving and status.mode is Mode.EXPRESS
        drawing = not express or self._frame_number % EXPRESS_EVERY_FRAMES == 0
        due = self._since_panels >= PANELS_EVERY_FRAMES * (EXPRESS_EVERY_FRAMES if express else 1)
        # In express mode panels are drawn where the canvas is not: a frame with both takes twice as long.
        panels = not controller.moving or (due and (not drawing if express else still or not self._was_still))
        if not (drawing or panels):
            return False
        self._was_still = still
        self.views.running = controller.moving
        self.views.timeline.set_bounds(
            controller.end_ns,
            looking_back=not controller.live,
            branch_ns=controller.branched_at_ns,
            scenario_end_ns=controller.passed_end_ns,
        )
        self.views.refresh(snapshot, drawing=drawing, panels=panels)
        if panels:
            self._since_panels = 0
            self.views.status.frames = self.frames.figures()
            self._show_mode(status.mode)
            controller.check()
        # In express mode in the frame after the panels, which are the most costly.
        if panels if not express else self._since_panels == 1:
            self.registry.refresh()
        return True

    def _show_mode(self, mode: Mode) -> None:
        controller, registry = self.controller, self.registry
        moving = controller.moving
        past = controller.travel.looking_back
        running = mode is Mode.RUNNING or past
        registry.set_checked("pause", not moving and (past or (not controller.stopped and mode is Mode.PAUSED)))
        registry.set_checked("run", moving and running and not controller.fast)
        registry.set_checked("fast", moving and running and controller.fast)
        registry.set_checked("express", moving and mode is Mode.EXPRESS and not past)
        toolbar = self.window.toolbar
        toolbar.set_recording(controller.folder is not None and not controller.stopped)
        badge = shown_badge(controller)
        toolbar.set_badge(badge.look, badge.word, badge.tip)
        standing = controller.source.standing
        self.views.status.origin = (
            standing.brief
            if standing is not None
            else ""
            if controller.source.seed is None
            else tr("Seed {seed}", seed=controller.source.seed)
        )
        if past:
            standing = None
        tint = badge.look if badge.look in {"replay", "branch"} else "live" if standing is None else "attached"
        toolbar.set_tint(tint)
        self.window.tint.set_mode(tint, stale=standing is not None and standing.stale)
        self.window.tab(DeadLettersPanel).forbid_redrive(self.context.why_ended() or self.controller.why_not(Redrive))

    def _measure_recording(self) -> None:
        controller = self.controller
        if controller.folder is None:
            self.views.status.recording_bytes = None
        elif not controller.stopped:
            # Later the folder may hold a report as well, which is no recording.
            self.views.status.recording_bytes = controller.recorded_bytes()

    # -- messages

    def _failed(self, sentence: str) -> None:
        self.window.status.show_message(sentence)
        box = QMessageBox(QMessageBox.Icon.Warning, "Brokerscope", "", QMessageBox.StandardButton.Ok, self.window)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(contained(sentence))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    # -- the end

    def _may_close(self) -> bool:
        running = self.jobs.running
        if self._quitting or not running:
            return True
        ask_to_quit(self.window, running, self.quit)
        return False

    def quit(self) -> None:
        self._quitting = True
        self.window.close()

    def close(self) -> None:
        """Stop jobs, seal the recording, stop drawing."""
        self.frames.stop()
        for job in self.jobs.running:
            job.finish(JOB_END_TIMEOUT_S)
        self.jobs.close()
        self.history.close()
        self.controller.close()


def open_window(
    *,
    path: Path | None = None,
    seed: int | None = None,
    theme: str = "system",
    session: Path | None = None,
    at_s: float = 0.0,
    attach: Callable[[], ObservedSource] | None = None,
    shown: Callable[[], object] = lambda: None,
) -> int:
    """Open the workbench on the scenario at `path`, running; the exit code when it is closed. Raises ScenarioError,
    BrokerError.

    With `session`, on that recorded session at `at_s` seconds, standing still; with `attach`, on the broker elsewhere
    that it gives. `shown()` is called once the window is painted.
    """
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("Brokerscope")
    app.setOrganizationName(APP_NAME)
    app.setDesktopFileName(APP_NAME)
    settings = QSettings(APP_NAME, "workbench")
    install_language(app, Settings(settings).language)
    observed = None if attach is None else attach()  # before any window opens
    workbench = Workbench(app, theme=theme, settings=settings)
    call_on_end_signals(workbench.quit)
    if observed is not None:
        workbench.controller.observe(observed)
    elif path is not None:
        workbench.controller.open(path, seed)
    elif session is not None:
        # Errors of the folder itself are raised before any window opens.
        workbench.controller.open_session(session, ns_from_s(at_s))
    if not settings.contains("window/geometry"):
        # The first time: as large as the screen allows, up to FIRST_SIZE.
        room = app.primaryScreen().availableGeometry()
        workbench.window.resize(min(FIRST_SIZE[0], room.width() - 20), min(FIRST_SIZE[1], room.height() - 40))
    workbench.window.show()
    paint_first(workbench.window, FIRST_PAINT_MS)
    shown()
    workbench.frames.start()
    if path is not None:
        workbench.controller.run()
    workbench.family(RecordingHandlers).offer_left_open()
    code: int = app.exec() if workbench.window.isVisible() else 0  # a signal closed it before there was a loop to end
    workbench.close()
    # All is kept, and other threads have ended by then: taking every widget apart would only hold up the end.
    atexit.register(os._exit, code)
    return code


def call_on_end_signals(end: Callable[[], object]) -> None:
    """Let SIGINT and SIGTERM call `end()` from the event loop.

    Python calls their handler in the middle of anything, and what runs there may hold a lock that `end` needs.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: QTimer.singleShot(0, end))


def ask_to_quit(window: QWidget, running: Sequence[Job], quit_now: Callable[[], object]) -> None:
    """Ask whether `running` may be given up; `quit_now()` is called where it may."""
    names = ", ".join(job.facts.title for job in running)
    box = QMessageBox(QMessageBox.Icon.Question, "Brokerscope", "", QMessageBox.StandardButton.NoButton, window)
    box.setObjectName("quit_question")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(tr("{jobs} is not finished. Quit and cancel it?", jobs=names))
    stay = box.addButton(tr("Let it finish"), QMessageBox.ButtonRole.RejectRole)
    box.addButton(tr("Quit"), QMessageBox.ButtonRole.AcceptRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.accepted.connect(quit_now)
    box.open()
