from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from PySide6.QtCore import QObject

from app.sessions.queries import Replies
from broker_core.events import MESSAGE_KINDS, Event, EventKind
from broker_core.recording import schema
from broker_core.recording.columns import events_of
from broker_core.recording.unsealed_stream import stream_batches

CHUNK = 4_096
MAX_EVENTS = 200_000


class EventRing:
    """A sink of the event stream: called by the engine's thread, read by any other, and bounded.

    Events are found by `seq`, which has no gaps. What is dropped is dropped a chunk at a time, the oldest first.
    """

    def __init__(self, max_events: int = MAX_EVENTS) -> None:
        self._most = max(2, -(-max_events // CHUNK) + 1)
        # Replaced as a whole, or appended to: a reader holds a consistent one.
        self._kept: tuple[int, tuple[list[Event], ...]] = (0, ())

    def __call__(self, event: Event) -> None:
        first, chunks = self._kept
        if not chunks:
            first = event.seq
        if not chunks or len(chunks[-1]) >= CHUNK:
            if len(chunks) >= self._most:
                chunks, first = chunks[1:], first + CHUNK
            self._kept = (first, (*chunks, [event]))
        else:
            chunks[-1].append(event)

    @property
    def newest(self) -> Event | None:
        _first, chunks = self._kept
        return chunks[-1][-1] if chunks else None

    @property
    def first_seq(self) -> int:
        """The number of the oldest event that is kept; `end_seq` if none is."""
        return self._kept[0]

    @property
    def end_seq(self) -> int:
        first, chunks = self._kept
        return first + (len(chunks) - 1) * CHUNK + len(chunks[-1]) if chunks else first

    def between(self, first_seq: int, end_seq: int) -> list[Event]:
        """The retained events from `first_seq` up to, but not including, `end_seq`."""
        start, chunks = self._kept
        low, high = max(0, first_seq - start), end_seq - start
        found: list[Event] = []
        for number in range(low // CHUNK, min(len(chunks), -(-high // CHUNK))):
            chunk = chunks[number]
            found += chunk[max(0, low - number * CHUNK) : max(0, high - number * CHUNK)]
        return found

    def since(self, seq: int) -> Iterator[Event]:
        """Every event that is kept from `seq` on, in order, as they stand now."""
        start, chunks = self._kept
        for number in range(max(0, seq - start) // CHUNK, len(chunks)):
            yield from chunks[number][max(0, seq - start - number * CHUNK) :]


MESSAGES = (schema.MESSAGES,)
ALL = schema.FOLDERS


def folders_of(kinds: Collection[EventKind]) -> tuple[str, ...]:
    messages, control = any(kind in MESSAGE_KINDS for kind in kinds), any(kind not in MESSAGE_KINDS for kind in kinds)
    return (schema.MESSAGES,) * messages + (schema.CONTROL,) * control


class Recorded:
    """The recording in `folder`, as far as it has been written: while it runs, the last half second may be missing. Too
    slow for the window's thread.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._good: set[Path] = set()

    def table(
        self, wanted: pc.Expression, columns: Sequence[str] | None = None, folders: Sequence[str] = MESSAGES
    ) -> pa.Table:
        """The rows that fit, in no order; `columns` None for all. What is damaged is left out."""
        names = list(columns or schema.EVENT_SCHEMA.names)
        return pa.concat_tables([self._rows(folder, wanted, names) for folder in folders])

    def events(self, wanted: pc.Expression, folders: Sequence[str] = MESSAGES) -> list[Event]:
        table = self.table(wanted, None, folders).sort_by("seq")
        return [event for batch in table.to_batches() for event in events_of(batch)]

    def _rows(self, folder: str, wanted: pc.Expression, names: list[str]) -> pa.Table:
        empty = pa.schema([schema.EVENT_SCHEMA.field(name) for name in names]).empty_table()
        # A stream that is sealed while it is read is there twice for a moment: its part is passed over then.
        parts, read = [empty], set()
        for path in schema.unsealed(self.folder, folder):
            read.add(schema.part_number(path))
            parts += _streamed(path, wanted, names)
        paths = [
            path
            for path in schema.parts(self.folder, folder)
            if schema.part_number(path) not in read and self._is_good(path)
        ]
        if paths:
            import pyarrow.dataset as ds  # of use to nothing else, and no start should wait for it

            rows = ds.dataset(paths, schema=schema.EVENT_SCHEMA, format="parquet")
            parts.append(rows.to_table(columns=names, filter=wanted, use_threads=False))
        return pa.concat_tables([part.replace_schema_metadata() for part in parts])

    def _is_good(self, path: Path) -> bool:
        if path not in self._good and schema.part_problem(path) is None:
            self._good.add(path)
        return path in self._good


def _streamed(path: Path, wanted: pc.Expression, names: list[str]) -> list[pa.Table]:
    found = []
    try:
        for batch in stream_batches(path):
            rows = pa.Table.from_batches([batch]).filter(wanted)
            if rows.num_rows:
                found.append(rows.select(names))
    except (EOFError, OSError):
        return found  # torn by a crash, or being written
    return found


class Past(NamedTuple):
    """The last events of a session, and the recording that has those before number `first`; None if there is none, or
    the ring has all.
    """

    ring: EventRing
    recorded: Recorded | None = None
    first: int = 0

    @classmethod
    def of(cls, ring: EventRing, recorded: Recorded | None) -> Past:
        first = ring.first_seq
        has_more = first > 0 or ring.end_seq == 0
        return cls(ring, recorded if has_more else None, first if ring.end_seq else 1 << 62)

    @property
    def whole(self) -> bool:
        return self.recorded is not None or self.ring.first_seq == 0

    def kept(self, until_ns: int) -> list[Event]:
        return list(takewhile(lambda event: event.time_ns <= until_ns, self.ring.since(0)))

    def before(self, until_ns: int) -> pc.Expression:
        """Which events of the recording are older than the ring's, up to a moment."""
        return (pc.field("seq") < self.first) & (pc.field("time_ns") <= until_ns)

    def between(self, first_seq: int, end_seq: int, kinds: Collection[EventKind] | None = None) -> list[Event]:
        """The events from `first_seq` up to `end_seq`, without that one; of the recording's, those of some `kinds`."""
        found: list[Event] = []
        if self.recorded is not None and first_seq < self.first:
            seq = pc.field("seq")
            wanted = (seq >= first_seq) & (seq < min(end_seq, self.first))
            folders: Sequence[str] = ALL
            if kinds is not None:
                wanted &= pc.field("kind").isin([kind.value for kind in kinds])
                folders = folders_of(kinds)
            found = self.recorded.events(wanted, folders)
        return found + self.ring.between(first_seq, end_seq)

    def search(
        self, first_seq: int, end_seq: int, kinds: Collection[EventKind] | None, test: Callable[[Event], bool]
    ) -> tuple[int, list[Event]]:
        """The events from `first_seq` up to `end_seq` that pass `test`, and the number that was reached.

        If only some `kinds` are wanted, others are not even read.
        """
        ring = self.ring
        reached = min(end_seq, max(ring.end_seq, first_seq)) if ring.end_seq else end_seq
        return reached, [event for event in self.between(first_seq, reached, kinds) if test(event)]


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
