from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QElapsedTimer, QEventLoop, QObject, QSettings, Qt, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from app.commands.context import CommandContext
from app.commands.families import FAMILIES
from app.commands.leaving import ask
from app.commands.menus import COMMANDS, menu_bar
from app.commands.recordings import RecordingHandlers
from app.commands.registry import ActionRegistry
from app.commands.scenarios import scenario_commands
from app.environment.appearance import SYSTEM, Appearance, apply_named_theme
from app.environment.language import install_language
from app.environment.paths import APP_NAME
from app.environment.settings import Settings
from app.presenters.views import Views
from app.reports.jobs import Jobs
from app.sessions.history.past import History
from app.sessions.observed import ObservedSource
from app.sessions.session_controller import SessionController
from app.sessions.stored import StoredSession
from app.shell.badge import shown_badge
from app.shell.frames import Frames, Pace
from broker_core.clock import ns_from_s
from broker_core.engine.runner import Mode
from widgets.bytes_text import contained
from widgets.canvas.canvas import Canvas
from widgets.i18n import tr
from widgets.main_window import MainWindow
from widgets.theme import current_theme, styled_at_end

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
        apply_named_theme(app, theme, self.settings.scale)
        scenarios = scenario_commands()
        commands = (*COMMANDS, *(command for command, _ in scenarios.values()))
        with styled_at_end(app):
            self.registry = ActionRegistry(commands, parent=self)
            self.controller = SessionController(record=record and self.settings.record, sessions=sessions, parent=self)
            self.jobs = Jobs(self)
            self.jobs.keep_spark(self.settings.keep_spark)
            self.history = History(self)
            self.views = Views(self.controller, self.history, self, lambda: self.settings.dead_letter_topics)
            self.canvas = Canvas(current_theme())
            self.window = MainWindow(self.views.make_parts(self.canvas), self.registry.actions, (), settings)
            self.canvas.whole_room = self.window.centre.size
            self.canvas.notice_height = self.window.top.y
            self.views.attach(self.window)
        self.appearance = Appearance(app, self.settings, self.registry.set_icons, self.window, self.canvas, theme=theme)
        self.context = CommandContext(
            registry=self.registry,
            window=self.window,
            canvas=self.canvas,
            views=self.views,
            controller=self.controller,
            jobs=self.jobs,
            settings=self.settings,
            appearance=self.appearance,
            history=self.history,
        )
        self._families: dict[type, QObject] = {family: family(self.context) for family in FAMILIES}
        for command, path in scenarios.values():
            self.registry.bind(command.id, partial(self.context.open_scenario, path))
        self.registry.install(self.window)
        self.window.set_menus(menu_bar(self.registry))
        self.frames = Frames(self.draw, self.controller.time.grant, lambda: self.controller.time.moving, self)
        self._pace = Pace()
        self._connect()

    def _connect(self) -> None:
        self.controller.opened.connect(self._opened)
        self.controller.ending.connect(self._note_cost)
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

    # -- one session after another

    def _opened(self) -> None:
        scenario = self.controller.source.scenario
        assert scenario is not None
        self.history.attach(self.controller.collectors.events, self.controller.source.folder)
        self.views.restart()
        self.views.times.wall_start = self.controller.source.started_at
        self.views.select("")
        self.canvas.start_over()
        self.canvas.setFocus()
        title = tr(scenario.title)
        self.window.toolbar.set_scenario(title)
        self.window.setWindowTitle(f"{contained(title)} - Brokerscope")
        self.window.status.show_message(tr("Opened {title}.", title=title))
        self._measure_recording()
        self.registry.refresh()  # not some frames later: nothing that is impossible here looks possible
        self.frames.forget()
        self.draw()

    def draw(self) -> bool:
        controller, snapshot, mode = self.controller, self.controller.snapshot, self.controller.source.status.mode
        moving = controller.time.moving
        canvas, panels, commands = self._pace.next(
            moving=moving, express=moving and mode is Mode.EXPRESS, still=snapshot is self.views.snapshot
        )
        if canvas or panels:
            self.views.running = moving
            self.views.timeline_model.set_bounds(
                controller.source.end_ns,
                looking_back=not controller.live,
                branch_ns=controller.branching.at_ns,
                scenario_end_ns=controller.time.passed_end_ns,
            )
            self.views.refresh(snapshot, drawing=canvas, panels=panels)
        if panels:
            self.views.status_model.frames = self.frames.figures()
            self._show_mode(mode)
            controller.check()
        if commands:
            self.registry.refresh()
        return canvas or panels

    def _show_mode(self, mode: Mode) -> None:
        controller, registry = self.controller, self.registry
        moving = controller.time.moving
        past = controller.travel.looking_back
        running = mode is Mode.RUNNING or past
        registry.set_checked("pause", not moving and (past or (not controller.time.stopped and mode is Mode.PAUSED)))
        registry.set_checked("run", moving and running and not controller.time.fast)
        registry.set_checked("fast", moving and running and controller.time.fast)
        registry.set_checked("express", moving and mode is Mode.EXPRESS and not past)
        toolbar = self.window.toolbar
        toolbar.set_recording(controller.source.folder is not None and not controller.time.stopped)
        badge = shown_badge(controller)
        toolbar.set_badge(*badge)
        standing = controller.source.standing
        self.views.status_model.origin = (
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

    def _measure_recording(self) -> None:
        controller = self.controller
        if controller.source.folder is None:
            self.views.status_model.recording_bytes = None
        elif not controller.time.stopped:
            # Later the folder may hold a report as well, which is no recording.
            recorder = controller.recorder
            self.views.status_model.recording_bytes = 0 if recorder is None else recorder.recorded_bytes

    def _note_cost(self) -> None:
        """Add what the window has cost to the recording of the session."""
        if (simulated := self.controller.simulated) is not None:
            simulated.session.cost.add(**self.frames.session_figures())

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
        if self._quitting:
            return True
        if running := self.jobs.running:
            names = ", ".join(job.facts.title for job in running)
            text = tr("{jobs} is not finished. Quit and cancel it?", jobs=names)
            ask(self.window, text, tr("Let it finish"), tr("Quit"), self.quit)
        elif question := self.context.leaving.question():
            ask(self.window, question, tr("Keep the session"), tr("Quit"), self.quit)
        else:
            return True
        return False

    def quit(self) -> None:
        self._quitting = True
        self.window.close()

    def close(self) -> None:
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
    stored: StoredSession | None = None
    workbench = Workbench(app, theme=theme, settings=settings)
    call_on_end_signals(workbench.quit)
    if observed is not None:
        workbench.controller.observe(observed)
    elif path is not None:
        workbench.controller.open(path, seed)
    elif session is not None:
        # Errors of the folder itself are raised before any window opens.
        stored = workbench.controller.open_session(session, ns_from_s(at_s))
    if not settings.contains("window/geometry"):
        # The first time: as large as the screen allows, up to FIRST_SIZE.
        room = app.primaryScreen().availableGeometry()
        workbench.window.resize(min(FIRST_SIZE[0], room.width() - 20), min(FIRST_SIZE[1], room.height() - 40))
    workbench.window.show()
    paint_first(workbench.window)
    shown()
    workbench.frames.start()
    if path is not None:
        workbench.controller.time.run()
    recordings = workbench.family(RecordingHandlers)
    recordings.offer_left_open()
    if stored is not None:
        recordings.tell(stored)
    code: int = app.exec() if workbench.window.isVisible() else 0  # a signal closed it before there was a loop to end
    workbench.close()
    # All is kept, and other threads have ended by then: taking every widget apart would only hold up the end.
    atexit.register(os._exit, code)
    return code


def paint_first(window: QWidget) -> None:
    """Paint a window that was just shown, before anything that takes time: until then it is black on some screens."""
    waited = QElapsedTimer()
    waited.start()
    while not (window.windowHandle().isExposed() or waited.hasExpired(FIRST_PAINT_MS)):
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents, FIRST_PAINT_MS)
    QApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)


def call_on_end_signals(end: Callable[[], object]) -> None:
    """Let SIGINT and SIGTERM call `end()` from the event loop.

    Python calls their handler in the middle of anything, and what runs there may hold a lock that `end` needs.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: QTimer.singleShot(0, end))
