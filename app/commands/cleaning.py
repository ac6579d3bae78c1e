"""Whenever a session begins, recordings that nobody needs are removed."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.commands.context import CommandContext
from app.commands.registry import Command
from app.sessions.cleaning import Cleaned, Limits, clean
from app.sessions.library import Library
from resources.units import byte_size
from widgets.i18n import tr

MIB = 1 << 20


class CleaningHandlers(QObject):
    """`cleaned(Cleaned)` after each look, also where nothing was removed."""

    COMMANDS: tuple[Command, ...] = ()

    cleaned = Signal(object)

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context.window)
        self._context = context
        self._parent = Library(context.controller.sessions).parent
        self.cleaned.connect(self._say)
        context.controller.opened.connect(self._look)

    def _look(self) -> None:
        """Only where a recording has begun: nobody else's folder is looked at."""
        controller, settings = self._context.controller, self._context.settings
        if controller.folder is None or controller.stored is not None:
            return
        spared = {Path(name).resolve() for name in (str(controller.folder), *settings.recent_sessions)}
        limits = Limits(settings.recordings_most, settings.recordings_mib * MIB)
        worker = ThreadPoolExecutor(1, thread_name_prefix="cleaning")
        worker.submit(clean, self._parent, limits, spared).add_done_callback(self._tell)
        worker.shutdown(wait=False)

    def _tell(self, done: Future[Cleaned]) -> None:
        with suppress(RuntimeError):  # the window is gone
            self.cleaned.emit(done.result())

    def _say(self, done: Cleaned) -> None:
        if not done.recordings:
            return
        size = byte_size(done.size_bytes)
        told = (
            tr("Removed a recording ({size}) that nobody named, bookmarked or opened.", size=size)
            if done.recordings == 1
            else tr(
                "Removed {count:,} recordings ({size}) that nobody named, bookmarked or opened.",
                count=done.recordings,
                size=size,
            )
        )
        self._context.show_message(told)
