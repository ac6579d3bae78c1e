"""All leases and dead letters of a busy queue, beyond those that a snapshot holds."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from operator import attrgetter

from app.sessions.browsing.reader import Kept, Reader, T
from app.sessions.queries import HasSource
from broker_core.operations.browse import DeadLetterPage, LeasesPage, ListDeadOffsets, ListLeases, ReadDeadLetters
from broker_core.snapshots import DeadLetterView, LeaseView, QueueView, Snapshot

LETTERS_AT_ONCE = 400
PAGES_UNDER_WAY = 8
PREVIEW_BYTES = 1_000
TELL_S = 1.0


class _Beyond(Reader[T]):
    """Reads what a snapshot leaves out of queues; nothing is read if the snapshot has the whole queue.

    `listed` is what a snapshot holds of a queue, and how many there are; `state` differs once it has other ones.
    """

    listed: Callable[[QueueView], tuple[Sequence[T], int]]
    state: Callable[[QueueView], object]

    def rows(self, queue: QueueView) -> Sequence[T]:
        """The rows of the snapshot if it has all of them, or more than were read; otherwise those that were read."""
        listed, count = self.listed(queue)
        kept = self._kept.get(queue.name)
        return listed if count <= len(listed) or kept is None or len(kept.rows) < len(listed) else kept.rows

    def update(self, snapshot: Snapshot) -> None:
        for queue in snapshot.queues:
            listed, count = self.listed(queue)
            if count <= len(listed):
                self._kept.pop(queue.name, None)
            elif (kept := self._begin(queue.name, self.state(queue))) is not None:
                self._read(queue, kept)

    @abstractmethod
    def _read(self, queue: QueueView, kept: Kept[T]) -> None: ...


class LeaseSweep(_Beyond[LeaseView]):
    """Reads all leases again and again."""

    every_s = 2.0
    listed = attrgetter("leases", "in_flight")
    state = attrgetter("leases")  # `Kept.state` is never set, so they are always read again

    def _read(self, queue: QueueView, kept: Kept[LeaseView]) -> None:
        found: list[LeaseView] = []

        def answered(page: LeasesPage) -> None:
            found.extend(page.leases)
            if page.level >= 0:
                self._ask(kept, ListLeases(queue=queue.name, level=page.level, offset=page.offset), answered)
            else:
                self._show(kept, found)

        self._ask(kept, ListLeases(queue=queue.name, level=0, offset=0), answered)


class DeadLetterSync(_Beyond[DeadLetterView]):
    """Reads the letters that are new, the newest first, whenever a queue has other ones."""

    listed = attrgetter("dead_letters", "dead")
    state = attrgetter("dead", "dead_lettered", "redriven")

    def __init__(self, asked: HasSource) -> None:
        super().__init__(asked)
        self._told_s = 0.0

    def size_of(self, letter: DeadLetterView) -> int:
        sizes = self._kept[letter.queue].sizes if letter.queue in self._kept else {}
        return sizes.get(letter.offset, len(letter.value or b""))

    def _read(self, queue: QueueView, kept: Kept[DeadLetterView]) -> None:
        def answered(offsets: list[int]) -> None:
            kept.state, kept.failed, kept.offsets, there = self.state(queue), "", offsets, set(offsets)
            kept.known = {offset: letter for offset, letter in kept.known.items() if offset in there}
            kept.sizes = {offset: size for offset, size in kept.sizes.items() if offset in there}
            # The newest are wanted first: they are taken from the end.
            kept.missing = [offset for offset in offsets if offset not in kept.known]
            self._tell(kept)
            self._fetch(queue.name, kept)

        self._ask(kept, ListDeadOffsets(queue=queue.name), answered)

    def _fetch(self, queue: str, kept: Kept[DeadLetterView]) -> None:
        while kept.missing and kept.under_way < PAGES_UNDER_WAY:
            wanted = kept.missing[: -LETTERS_AT_ONCE - 1 : -1]
            del kept.missing[-LETTERS_AT_ONCE:]
            kept.under_way += 1
            self._ask_page(queue, kept, wanted)

    def _ask_page(self, queue: str, kept: Kept[DeadLetterView], wanted: list[int]) -> None:
        def answered(page: DeadLetterPage) -> None:
            kept.under_way -= 1
            kept.known.update({letter.offset: letter for letter in page.letters})
            kept.sizes.update(page.sizes)
            kept.missing += wanted[page.looked :][::-1]
            self._fetch(queue, kept)
            if not kept.under_way or time.perf_counter() - self._told_s >= TELL_S:
                self._told_s = time.perf_counter()
                self._tell(kept)

        def failed(why: str) -> None:
            kept.under_way -= 1
            kept.failed = why
            if not kept.under_way:
                self._tell(kept)

        request = ReadDeadLetters(queue=queue, offsets=wanted, most_bytes=PREVIEW_BYTES)
        self._answers.ask(request, answered, failed)

    def _tell(self, kept: Kept[DeadLetterView]) -> None:
        self._show(kept, [kept.known[offset] for offset in kept.offsets if offset in kept.known], kept.failed)
