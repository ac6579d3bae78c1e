from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, TypeVar

import pyarrow.compute as pc
from PySide6.QtCore import QObject

from app.sessions.history.event_ring import EventRing
from app.sessions.history.recorded import Recorded
from app.sessions.queries import Replies
from broker_core.events import Event, EventKind
from broker_core.recording import schema

_NEVER = 1 << 62  # more than any `seq`


class Past(NamedTuple):
    """The last events of a session, and the recording; None if there is none, or the ring has all.

    Events from number `ring_from` on are the ring's, those before it the recording's.
    """

    ring: EventRing
    recorded: Recorded | None = None
    ring_from: int = 0

    @classmethod
    def of(cls, ring: EventRing, recorded: Recorded | None) -> Past:
        ring = ring.frozen()  # what it drops while the recording is read is in neither
        first, is_empty = ring.first_seq, ring.end_seq == 0
        return cls(ring, recorded if first > 0 or is_empty else None, _NEVER if is_empty else first)

    @property
    def whole(self) -> bool:
        return self.recorded is not None or self.ring.first_seq == 0

    def kept(self, until_ns: int) -> list[Event]:
        return list(takewhile(lambda event: event.time_ns <= until_ns, self.ring.since(0)))

    def before(self, until_ns: int) -> pc.Expression:
        """Which events of the recording are older than the ring's, up to a moment."""
        return (pc.field("seq") < self.ring_from) & (pc.field("time_ns") <= until_ns)

    def between(self, first_seq: int, end_seq: int) -> list[Event]:
        """The events from `first_seq` up to `end_seq`, without that one."""
        return self._recorded_between(first_seq, end_seq, None) + self.ring.between(first_seq, end_seq)

    def search(
        self, first_seq: int, end_seq: int, kinds: Collection[EventKind] | None, test: Callable[[Event], bool]
    ) -> tuple[int, list[Event]]:
        """The events from `first_seq` up to `end_seq` that pass `test`, and the number that was reached.

        `kinds` are those that can pass: of the recording, others are not even read.
        """
        ring = self.ring
        reached = min(end_seq, max(ring.end_seq, first_seq)) if ring.end_seq else end_seq
        events = self._recorded_between(first_seq, reached, kinds) + ring.between(first_seq, reached)
        return reached, [event for event in events if test(event)]

    def _recorded_between(self, first_seq: int, end_seq: int, kinds: Collection[EventKind] | None) -> list[Event]:
        if self.recorded is None or first_seq >= self.ring_from:
            return []
        seq = pc.field("seq")
        wanted = (seq >= first_seq) & (seq < min(end_seq, self.ring_from))
        if kinds is None:
            return self.recorded.events(wanted, schema.FOLDERS)
        names = {kind.value for kind in kinds}
        folders = [folder for folder in schema.FOLDERS if schema.KINDS[folder] & names]
        return self.recorded.events(wanted & pc.field("kind").isin(list(names)), folders)


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
