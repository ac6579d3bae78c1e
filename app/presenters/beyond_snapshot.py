"""All leases and dead letters of a busy queue, beyond those that a snapshot holds: read a page at a time."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from app.sessions.queries import Answers, HasSource
from broker_core.operations.browse import DeadLetterPage, LeasesPage, ListDeadOffsets, ListLeases, ReadDeadLetters
from broker_core.snapshots import DeadLetterView, LeaseView, QueueView, Snapshot

LETTERS_AT_ONCE = 400
PAGES_UNDER_WAY = 8
PREVIEW_BYTES = 1_000
TELL_S = 1.0

T = TypeVar("T", LeaseView, DeadLetterView)


class _Read(Generic[T]):
    """What has been read of a queue: `rows` are shown; `asking` while the next reading begins or goes on."""

    def __init__(self) -> None:
        self.rows: tuple[T, ...] = ()
        self.known: dict[int, T] = {}
        self.offsets: Sequence[int] = ()
        self.missing: list[int] = []
        self.counts: tuple[int, ...] = ()
        self.asking = False
        self.under_way = 0
        self.read_s = float("-inf")

    def end(self) -> None:
        self.asking, self.read_s = False, time.perf_counter()


class _Beyond(QObject, Generic[T]):
    """`changed` when more is here. Nothing is asked for queues that a snapshot holds whole, nor within `every_s`."""

    changed = Signal()
    every_s: float

    def __init__(self, asked: HasSource, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._answers = Answers(asked, self)
        self._kept: dict[str, _Read[T]] = {}

    def restart(self) -> None:
        self._answers.drop()
        self._kept.clear()

    def rows(self, queue: QueueView) -> Sequence[T]:
        """As the snapshot has them if it has all, or more than were read; else those that were."""
        listed, count = self.listed(queue)
        kept = self._kept.get(queue.name)
        return listed if count <= len(listed) or kept is None or len(kept.rows) < len(listed) else kept.rows

    def update(self, snapshot: Snapshot) -> None:
        for queue in snapshot.queues:
            listed, count = self.listed(queue)
            if count <= len(listed):
                self._kept.pop(queue.name, None)
                continue
            kept = self._kept.setdefault(queue.name, _Read())
            if not kept.asking and time.perf_counter() - kept.read_s >= self.every_s:
                self._read(queue, kept)

    @abstractmethod
    def listed(self, queue: QueueView) -> tuple[Sequence[T], int]:
        """What a snapshot holds of a queue, and how many there are."""

    @abstractmethod
    def _read(self, queue: QueueView, kept: _Read[T]) -> None: ...


class LeaseSweep(_Beyond[LeaseView]):
    """Reads all leases again and again."""

    every_s = 2.0

    def listed(self, queue: QueueView) -> tuple[Sequence[LeaseView], int]:
        return queue.leases, queue.in_flight

    def _read(self, queue: QueueView, kept: _Read[LeaseView]) -> None:
        kept.asking = True
        found: list[LeaseView] = []

        def ask(level: int, offset: int) -> None:
            self._answers.ask(
                ListLeases(queue=queue.name, level=level, offset=offset), answered, lambda _why: kept.end()
            )

        def answered(page: LeasesPage) -> None:
            found.extend(page.leases)
            if page.level >= 0:
                ask(page.level, page.offset)
                return
            kept.end()
            kept.rows = tuple(found)
            self.changed.emit()

        ask(0, 0)


class DeadLetterSync(_Beyond[DeadLetterView]):
    """Reads the letters that are new, the newest first, whenever a queue has other ones."""

    every_s = 1.0

    def __init__(self, asked: HasSource, parent: QObject | None = None) -> None:
        super().__init__(asked, parent)
        self._sizes: dict[tuple[str, int], int] = {}
        self._told_s = 0.0

    def restart(self) -> None:
        super().restart()
        self._sizes.clear()

    def listed(self, queue: QueueView) -> tuple[Sequence[DeadLetterView], int]:
        return queue.dead_letters, queue.dead

    def size_of(self, letter: DeadLetterView) -> int:
        return self._sizes.get((letter.queue, letter.offset), len(letter.value or b""))

    def _read(self, queue: QueueView, kept: _Read[DeadLetterView]) -> None:
        counts = (queue.dead, queue.dead_lettered, queue.redriven)
        if counts == kept.counts:
            return

        def answered(offsets: list[int]) -> None:
            kept.end()
            kept.counts, kept.offsets, there = counts, offsets, set(offsets)
            kept.known = {offset: letter for offset, letter in kept.known.items() if offset in there}
            # The newest are wanted first: they are taken from the end.
            kept.missing = [offset for offset in offsets if offset not in kept.known]
            self._tell(kept)
            self._fetch(queue.name, kept)

        kept.asking = True
        self._answers.ask(ListDeadOffsets(queue=queue.name), answered, lambda _why: kept.end())

    def _fetch(self, queue: str, kept: _Read[DeadLetterView]) -> None:
        while kept.missing and kept.under_way < PAGES_UNDER_WAY:
            wanted = kept.missing[: -LETTERS_AT_ONCE - 1 : -1]
            del kept.missing[-LETTERS_AT_ONCE:]
            kept.under_way += 1
            self._ask_page(queue, kept, wanted)

    def _ask_page(self, queue: str, kept: _Read[DeadLetterView], wanted: list[int]) -> None:
        def answered(page: DeadLetterPage) -> None:
            kept.under_way -= 1
            kept.known.update({letter.offset: letter for letter in page.letters})
            self._sizes.update({(queue, offset): size for offset, size in page.sizes.items()})
            kept.missing += wanted[page.looked :][::-1]
            if not (kept.missing or kept.under_way) or time.perf_counter() - self._told_s >= TELL_S:
                self._told_s = time.perf_counter()
                self._tell(kept)
            self._fetch(queue, kept)

        def failed(_sentence: str) -> None:
            kept.under_way -= 1

        request = ReadDeadLetters(queue=queue, offsets=wanted, most_bytes=PREVIEW_BYTES)
        self._answers.ask(request, answered, failed)

    def _tell(self, kept: _Read[DeadLetterView]) -> None:
        kept.rows = tuple([kept.known[offset] for offset in kept.offsets if offset in kept.known])
        self.changed.emit()
