"""Asks the past: in the last events where those suffice, else in the recording, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject

from app.sessions.history.keys import KeyCounts, Published, partition_keys, published
from app.sessions.history.life import Life, Place, life
from app.sessions.history.past import Past
from app.sessions.history.recorded import Recorded
from app.sessions.history.redeliveries import Redelivery, redeliveries
from app.sessions.history.redrives import RedrivenMessage, redriven_messages
from app.sessions.history.ring import EventRing
from app.sessions.queries import Replies
from broker_core.events import Event, EventKind

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
        """The number of the oldest event that can be asked for."""
        return 0 if self._recorded is not None else self.ring.first_seq

    def life(self, place: Place, then: Callable[[Life], object]) -> None:
        self._ask(lambda past: life(place, past), then)

    def between(self, first_seq: int, end_seq: int, then: Callable[[list[Event]], object]) -> None:
        """The events from number `first_seq` up to `end_seq`, without that one."""
        self._ask(lambda past: past.between(first_seq, end_seq), then)

    def keys(self, topic: str, partition: int, events: int, then: Callable[[KeyCounts], object]) -> None:
        """Which keys were published to a partition in the first `events` events."""
        self._ask(lambda past: partition_keys(topic, partition, events, past), then)

    def published(self, events: int, then: Callable[[Published], object]) -> None:
        """Every key and place that was published to in the first `events` events."""
        self._ask(lambda past: published(events, past), then)

    def search(
        self,
        first_seq: int,
        end_seq: int,
        kinds: Collection[EventKind] | None,
        test: Callable[[Event], bool],
        then: Callable[[tuple[int, list[Event]]], object],
    ) -> None:
        """The events from `first_seq` up to `end_seq` that pass `test`, and the number that was reached.

        If only some `kinds` are wanted, others are not even read.
        """
        self._ask(lambda past: past.search(first_seq, end_seq, kinds, test), then)

    def redriven(self, until_ns: int, then: Callable[[list[RedrivenMessage]], object]) -> None:
        """What redrives had done to each message at `until_ns`, the newest first."""
        self._ask(lambda past: redriven_messages(past, until_ns), then)

    def redelivered(self, until_ns: int, then: Callable[[list[Redelivery]], object]) -> None:
        """What readers had been delivered more than once by `until_ns`, the newest first."""
        self._ask(lambda past: redeliveries(past, until_ns), then)

    def _ask(self, work: Callable[[Past], T], then: Callable[[T], object]) -> None:
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="history")
        ring, recorded = self.ring, self._recorded
        self.follow(self._worker.submit(lambda: work(Past.of(ring, recorded))), then)
