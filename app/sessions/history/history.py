"""Asks the past: in the last events where those suffice, else in the recording, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject

from app.sessions.history.past import EventRing, Past, Recorded
from app.sessions.queries import Replies

T = TypeVar("T")


class History(Replies):
    """The events of the session that the window shows. Answers come in the window's thread, by calling `then`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.ring = EventRing()
        self._recorded: Recorded | None = None
        self._worker: ThreadPoolExecutor | None = None

    def attach(self, ring: EventRing, folder: Path | None) -> None:
        """Another session; answers to what was asked before do not come any more."""
        self.drop()
        self.ring = ring
        self._recorded = None if folder is None else Recorded(folder)

    def close(self) -> None:
        self.drop()
        if self._worker is not None:
            self._worker.shutdown(cancel_futures=True)
            self._worker = None

    @property
    def first_seq(self) -> int:
        return 0 if self._recorded is not None else self.ring.first_seq

    def ask(self, work: Callable[[Past], T], then: Callable[[T], object]) -> None:
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="history")
        ring, recorded = self.ring, self._recorded
        self.follow(self._worker.submit(lambda: work(Past.of(ring, recorded))), then)
