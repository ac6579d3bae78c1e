"""All dead letters of a queue, beyond those of a snapshot: read a page at a time, kept up to date."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.sessions.queries import Answers, Asked
from broker_core.operations.browse import DeadLetterPage, ListDeadOffsets, ReadDeadLetters
from broker_core.snapshots import DeadLetterView, QueueView, Snapshot

PAGE = 400
PAGES_UNDER_WAY = 8
PREVIEW_BYTES = 1_000
SYNC_S = 1.0
TELL_S = 1.0


class _QueueSync:
    def __init__(self) -> None:
        self.signature: tuple[int, ...] = ()
        self.live: tuple[int, ...] = ()
        self.known: dict[int, DeadLetterView] = {}
        self.missing: list[int] = []
        self.asking = False
        self.under_way = 0
        self.synced_s = 0.0
        self.rows: tuple[DeadLetterView, ...] = ()

    def make_rows(self) -> None:
        known = self.known
        self.rows = tuple([known[offset] for offset in self.live if offset in known])


class DeadLetterSync(QObject):
    """`changed` when more letters are here. Nothing is asked for bins that a snapshot holds whole."""

    changed = Signal()

    def __init__(self, asked: Asked, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._answers = Answers(asked, self)
        self._bins: dict[str, _QueueSync] = {}
        self._sizes: dict[tuple[str, int], int] = {}
        self._told_s = 0.0

    def restart(self) -> None:
        self._answers.drop()
        self._bins.clear()
        self._sizes.clear()

    def size_of(self, letter: DeadLetterView) -> int:
        return self._sizes.get((letter.queue, letter.offset), len(letter.value or b""))

    def rows(self, queue: QueueView) -> Sequence[DeadLetterView]:
        """The letters of a queue that are here, the oldest first."""
        if queue.dead <= len(queue.dead_letters):
            return queue.dead_letters
        kept = self._bins.get(queue.name)
        return queue.dead_letters if kept is None or len(kept.rows) < len(queue.dead_letters) else kept.rows

    def update(self, snapshot: Snapshot) -> None:
        for queue in snapshot.queues:
            if queue.dead <= len(queue.dead_letters):
                self._bins.pop(queue.name, None)
                continue
            kept = self._bins.setdefault(queue.name, _QueueSync())
            signature = (queue.dead, queue.dead_lettered, queue.redriven)
            due = time.perf_counter() - kept.synced_s >= SYNC_S
            if signature != kept.signature and due and not kept.asking:
                kept.asking = True
                self._ask_offsets(queue.name, kept, signature)

    def _ask_offsets(self, queue: str, kept: _QueueSync, signature: tuple[int, ...]) -> None:
        def answered(offsets: list[int]) -> None:
            kept.asking = False
            kept.signature, kept.synced_s = signature, time.perf_counter()
            kept.live = tuple(offsets)
            there = set(offsets)
            for offset in [offset for offset in kept.known if offset not in there]:
                del kept.known[offset]
            # The newest are wanted first: they are taken from the end.
            kept.missing = [offset for offset in offsets if offset not in kept.known]
            kept.make_rows()
            self.changed.emit()
            self._fetch(queue, kept)

        def failed(_sentence: str) -> None:
            kept.asking = False
            kept.synced_s = time.perf_counter()

        self._answers.ask(ListDeadOffsets(queue=queue), answered, failed)

    def _fetch(self, queue: str, kept: _QueueSync) -> None:
        while kept.missing and kept.under_way < PAGES_UNDER_WAY:
            wanted = kept.missing[: -PAGE - 1 : -1]
            del kept.missing[-PAGE:]
            kept.under_way += 1
            self._ask_page(queue, kept, wanted)

    def _ask_page(self, queue: str, kept: _QueueSync, wanted: list[int]) -> None:
        def answered(page: DeadLetterPage) -> None:
            kept.under_way -= 1
            kept.known.update({letter.offset: letter for letter in page.letters})
            self._sizes.update({(queue, offset): size for offset, size in page.sizes.items()})
            kept.missing += wanted[page.looked :][::-1]
            self._report(kept)
            self._fetch(queue, kept)

        def failed(_sentence: str) -> None:
            kept.under_way -= 1

        request = ReadDeadLetters(queue=queue, offsets=wanted, most_bytes=PREVIEW_BYTES)
        self._answers.ask(request, answered, failed)

    def _report(self, kept: _QueueSync) -> None:
        now_s = time.perf_counter()
        done = not kept.missing and not kept.under_way
        if done or now_s - self._told_s >= TELL_S:
            self._told_s = now_s
            kept.make_rows()
            self.changed.emit()
