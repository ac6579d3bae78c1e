"""Asks the past: in the last events where those suffice, else in the recording, in a thread of its own."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pyarrow.compute as pc
from PySide6.QtCore import QObject, Qt, Signal

from app.sessions.history.keys import KeyCounts, Published, partition_keys, published
from app.sessions.history.life import Life, Place, life_of, touching
from app.sessions.history.recorded import ALL, Recorded, folders_of
from app.sessions.history.redeliveries import Redelivery, redeliveries
from app.sessions.history.redrives import RedrivenMessage, redriven_messages
from app.sessions.history.ring import EventRing
from broker_core.events import Event, EventKind

T = TypeVar("T")


class History(QObject):
    """The events of the session that the window shows. Answers come in the window's thread, by calling `then`."""

    _answered = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.ring = EventRing()
        self._recorded: Recorded | None = None
        self._session = 0
        self._worker: ThreadPoolExecutor | None = None
        # Queued: an answer that is there at once must not overtake the one before it.
        self._answered.connect(self._answer, Qt.ConnectionType.QueuedConnection)

    def attach(self, ring: EventRing, folder: Path | None) -> None:
        """Another session; answers to what was asked before do not come any more."""
        self._session += 1
        self.ring = ring
        self._recorded = None if folder is None else Recorded(folder)

    def close(self) -> None:
        self._session += 1
        if self._worker is not None:
            self._worker.shutdown(cancel_futures=True)
            self._worker = None

    @property
    def recorded(self) -> bool:
        """Whether what is no longer in memory can be read from a recording."""
        return self._recorded is not None

    @property
    def first_seq(self) -> int:
        """The number of the oldest event that can be asked for."""
        return 0 if self._recorded is not None else self.ring.first_seq

    def life(self, place: Place, then: Callable[[Life], object]) -> None:
        ring, recorded = self.ring, self._recorded
        self._ask(lambda: _life(place, ring, recorded), then)

    def between(self, first_seq: int, end_seq: int, then: Callable[[list[Event]], object]) -> None:
        """The events from number `first_seq` up to `end_seq`, without that one."""
        ring, recorded = self.ring, self._recorded
        self._ask(lambda: _between(first_seq, end_seq, ring, recorded), then)

    def keys(self, topic: str, partition: int, events: int, then: Callable[[KeyCounts], object]) -> None:
        """Which keys were published to a partition in the first `events` events."""
        ring, recorded = self.ring, self._recorded
        self._ask(lambda: partition_keys(topic, partition, events, ring, *_older(ring, recorded)), then)

    def published(self, events: int, then: Callable[[Published], object]) -> None:
        """Every key and place that was published to in the first `events` events."""
        ring, recorded = self.ring, self._recorded
        self._ask(lambda: published(events, ring, *_older(ring, recorded)), then)

    def control(self, kinds: Sequence[EventKind], then: Callable[[list[Event]], object]) -> None:
        ring, recorded = self.ring, self._recorded
        self._ask(lambda: _of_kinds(kinds, ring, recorded), then)

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
        ring, recorded = self.ring, self._recorded
        self._ask(lambda: _search(first_seq, end_seq, kinds, test, ring, recorded), then)

    def redriven(self, until_ns: int, then: Callable[[list[RedrivenMessage]], object]) -> None:
        """What redrives had done to each message at `until_ns`, the newest first."""
        ring, recorded = self.ring, self._recorded
        self._ask(lambda: redriven_messages(ring, *_older(ring, recorded), until_ns), then)

    def redelivered(self, until_ns: int, then: Callable[[list[Redelivery]], object]) -> None:
        """What readers had been delivered more than once by `until_ns`, the newest first."""
        ring, recorded = self.ring, self._recorded
        self._ask(lambda: redeliveries(ring, *_older(ring, recorded), until_ns), then)

    def _ask(self, work: Callable[[], T], then: Callable[[T], object]) -> None:
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="history")
        session = self._session
        done = self._worker.submit(work)
        done.add_done_callback(lambda future: None if future.cancelled() else self._report(session, then, future))

    def _report(self, session: int, then: Callable[[Any], object], future: Any) -> None:
        if session == self._session:
            self._answered.emit((session, then, future))

    def _answer(self, answer: tuple[int, Callable[[Any], object], Any]) -> None:
        session, then, future = answer
        if session == self._session:
            then(future.result())


def _older(ring: EventRing, recorded: Recorded | None) -> tuple[Recorded | None, int]:
    """The recording if it has more than the ring, and the number of the first event that the ring has."""
    first = ring.first_seq
    return (recorded if first > 0 or ring.end_seq == 0 else None), first if ring.end_seq else 1 << 62


def _life(place: Place, ring: EventRing, recorded: Recorded | None) -> Life:
    older, first = _older(ring, recorded)

    def find(places: Sequence[Place]) -> list[Event]:
        found = touching(ring.since(0), places)
        if older is None:
            return found
        wanted = functools.reduce(operator.or_, map(_touching, places)) & (pc.field("seq") < first)
        return older.events(wanted) + found

    life = life_of(place, find)
    return life if older is not None or ring.first_seq == 0 else life._replace(whole=False)


def _touching(place: Place) -> pc.Expression:
    field = pc.field
    here = (
        (field("topic") == place.topic)
        & (field("partition") == place.partition)
        & (field("offset") <= place.offset)
        & (field("offset") + field("count") > place.offset)
    )
    arrives = (
        (field("to_topic") == place.topic)
        & (field("to_partition") == place.partition)
        & (field("to_offset") == place.offset)
    )
    return here | arrives


def _between(first_seq: int, end_seq: int, ring: EventRing, recorded: Recorded | None) -> list[Event]:
    older, first = _older(ring, recorded)
    found: list[Event] = []
    if older is not None and first_seq < first:
        seq = pc.field("seq")
        found = older.events((seq >= first_seq) & (seq < min(end_seq, first)), ALL)
    return found + ring.between(first_seq, end_seq)


def _search(
    first_seq: int,
    end_seq: int,
    kinds: Collection[EventKind] | None,
    test: Callable[[Event], bool],
    ring: EventRing,
    recorded: Recorded | None,
) -> tuple[int, list[Event]]:
    older, first = _older(ring, recorded)
    found: list[Event] = []
    if older is not None and first_seq < first:
        seq = pc.field("seq")
        wanted = (seq >= first_seq) & (seq < min(end_seq, first))
        folders: Sequence[str] = ALL
        if kinds is not None:
            wanted &= pc.field("kind").isin([kind.value for kind in kinds])
            folders = folders_of(kinds)
        found = [event for event in older.events(wanted, folders) if test(event)]
    reached = min(end_seq, max(ring.end_seq, first_seq)) if ring.end_seq else end_seq
    return reached, found + [event for event in ring.between(first_seq, reached) if test(event)]


def _of_kinds(kinds: Sequence[EventKind], ring: EventRing, recorded: Recorded | None) -> list[Event]:
    older, first = _older(ring, recorded)
    wanted = frozenset(kinds)
    found = [event for event in ring.since(0) if event.kind in wanted]
    if older is None:
        return found
    named = pc.field("kind").isin([kind.value for kind in kinds])
    return older.events(named & (pc.field("seq") < first), ALL) + found
