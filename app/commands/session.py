"""Time and files: run, pause, step, stop, start again, open."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from app.commands.context import Desk
from app.commands.registry import Command
from widgets.i18n import tr


class SessionHandlers(QObject):
    """The commands of the menus Session and File."""

    COMMANDS = (
        Command("restart", "Start again", "Session", "Ctrl+R", "restart", "The same scenario with the same seed."),
        Command("restart_new_seed", "Start again with a new seed", "Session", "Ctrl+Alt+N", "", "Another run of it."),
        Command("pause", "Pause", "Session", "Space", "pause", "Stops the session clock.", checkable=True),
        Command("step", "Step", "Session", "F4", "step", "Runs to the next event, then pauses."),
        Command("run", "Run", "Session", "F5", "play", "Runs at the chosen speed.", checkable=True),
        Command("fast", "Fast", "Session", "F6", "fast", "Ten times the chosen speed.", checkable=True),
        Command("express", "Express", "Session", "F7", "express", "As fast as it goes.", checkable=True),
        Command("stop", "Stop", "Session", "F8", "stop", "Ends the session and seals its recording."),
        Command("open_scenario", "Open scenario...", "File", "Ctrl+O", "folder", "Opens a scenario file."),
        Command("open_session_folder", "Show session folder", "File", "", "folder", "The folder of the recording."),
        Command("quit", "Quit", "File", "Ctrl+Q", "", "Seals the recording and closes the window."),
    )

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk, self._player = desk, desk.player
        bind, player = desk.registry.bind, desk.player
        bind("restart", self._restart)
        bind("restart_new_seed", lambda: self._desk.attempt(partial(player.restart, new_seed=True)))
        bind("pause", self._pause, self._why_still)
        bind("step", player.step, self._why_still)
        bind("run", player.run, self._why_still)
        bind("fast", player.run_fast, self._why_still)
        bind("express", player.express, lambda: "" if player.live else tr("The past plays at most fast (F6)."))
        bind("stop", player.stop, lambda: tr("The session has ended already.") if player.stopped else "")
        bind("open_scenario", self._open_scenario)
        bind(
            "open_session_folder",
            self._open_folder,
            lambda: "" if player.folder else tr("This session is not recorded."),
        )
        bind("quit", desk.window.close)
        desk.window.toolbar.speedChosen.connect(self._choose_speed)

    def _why_still(self) -> str:
        """Why time cannot pass: the past can be played, whether the session has ended or not."""
        return "" if self._player.travel.looking_back else self._desk.why_ended()

    def _pause(self) -> None:
        """Space both stops time and lets it go on."""
        if self._player.moving:
            self._player.pause()
        else:
            self._player.run()

    def _choose_speed(self, speed: float) -> None:
        self._player.speed = speed
        if self._player.moving:
            self._player.run(speed)

    def _restart(self) -> None:
        self._desk.attempt(self._player.restart)

    def _open_scenario(self) -> None:
        found, _ = QFileDialog.getOpenFileName(
            self._desk.window, tr("Open scenario"), "", tr("Scenarios (*.yaml *.yml)")
        )
        if found:
            self.open(Path(found))

    def open(self, path: Path) -> None:
        """Open another scenario and let it run; where it cannot be opened, the present one stays."""
        self._desk.open_scenario(path)

    def _open_folder(self) -> None:
        if self._player.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._player.folder)))
