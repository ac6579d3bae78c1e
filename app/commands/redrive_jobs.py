"""Redrives under way: many dead letters go in parts, as a job, so that the window draws between them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping

from PySide6.QtCore import QObject

from app.commands.context import CommandContext
from app.sessions.work import Cancelled, Work
from broker_core.simulation.actions.dead_letters import Redrive, StopRedrive
from widgets.i18n import tr

WATCH_S = 0.05
# What is redriven in one step of the engine: more of them would hold up the window.
AT_ONCE = 500


class Redrives(QObject):
    def __init__(self, context: CommandContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._waiting: deque[Redrive] = deque()
        self._paced: dict[str, None] = {}  # queues whose redrive was given a rate, in order
        context.controller.acted.connect(lambda *_args: self._next())
        context.controller.refused.connect(lambda *_args: self._next())

    def forget(self) -> None:
        self._waiting.clear()
        self._paced.clear()

    def add(self, letters: Mapping[str, tuple[int, ...]], rate_per_s: float | None = None) -> None:
        """Redrive these dead letters, given by queue as their offsets."""
        if why := self._context.why_ended():
            self._context.show_message(why)
            return
        for queue, offsets in letters.items():
            if rate_per_s is not None:
                self._context.perform(Redrive(queue=queue, offsets=list(offsets), rate_per_s=rate_per_s))
                self._paced[queue] = None
                continue
            self._waiting += [
                Redrive(queue=queue, offsets=list(offsets[first : first + AT_ONCE]))
                for first in range(0, len(offsets), AT_ONCE)
            ]
        if len(self._waiting) > 1:
            self._as_job()
        self._next()

    def stop(self) -> None:
        if why := self._context.why_ended():
            self._context.show_message(why)
            return
        if not self._waiting and not self._paced:
            self._context.show_message(tr("No redrive is under way."))
        self._waiting.clear()
        for queue in self._paced:
            self._context.perform(StopRedrive(queue=queue))
        self._paced.clear()

    def _next(self) -> None:
        if self._waiting and not self._context.why_ended():
            self._context.perform(self._waiting.popleft())
        else:
            self._waiting.clear()

    def _as_job(self) -> None:
        """Progress, and a way to stop after the part under way."""
        waiting, parts = self._waiting, len(self._waiting)
        total = sum(len(part.offsets or ()) for part in waiting)

        def watch(work: Work) -> int:
            try:
                while waiting:
                    left = len(waiting)
                    done = tr("{done} of {total} parts", done=f"{parts - left:,}", total=f"{parts:,}")
                    work.report(max(0.0, 1 - left / parts), done)
                    time.sleep(WATCH_S)
            except Cancelled:
                waiting.clear()
                raise
            return total

        def over(count: int) -> str:
            return tr(
                "The redrive of {count} has finished; the view Redriven lists the result of each.", count=f"{count:,}"
            )

        self._context.jobs.work(tr("Redrive of {count} dead letters", count=f"{total:,}"), watch, over)
