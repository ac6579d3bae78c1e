"""An index of the events of a session folder, by number and time, to find a few among millions."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from broker_core.events import Event
from broker_core.recording import schema
from broker_core.recording.columns import events_of
from broker_core.recording.unsealed_stream import Written, stream_batches

_SEQ = schema.EVENT_SCHEMA.get_field_index("seq")
_TIME = schema.EVENT_SCHEMA.get_field_index("time_ns")

#: The batches of a folder that its recorder has written and not sealed.
Unsealed = Callable[[str], tuple[Written, ...]]


class RowGroup(NamedTuple):
    """One row group of a sealed segment."""

    path: Path
    number: int
    events: int
    first_seq: int
    last_seq: int
    first_ns: int
    last_ns: int

    def load(self, columns: list[str] | None = None) -> pa.Table:
        """The rows of the row group. Raises OSError, ArrowException."""
        with pq.ParquetFile(self.path) as file:
            return file.read_row_group(self.number, columns=columns)


def row_groups(path: Path) -> list[RowGroup]:
    """The row groups of a sealed segment, from its footer. Raises OSError, ArrowException."""
    footer = pq.read_metadata(path)
    found = []
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        seqs, times = group.column(_SEQ).statistics, group.column(_TIME).statistics
        found.append(RowGroup(path, number, group.num_rows, seqs.min, seqs.max, times.min, times.max))
    return found


class EventIndex:
    """Finds events of `session`, without what cannot be read; `unsealed` tells what a recorder has written last."""

    def __init__(self, session: Path, unsealed: Unsealed | None = None) -> None:
        self._session = session
        self._unsealed = unsealed
        self._groups: dict[str, list[RowGroup]] = {name: [] for name in schema.FOLDERS}
        self._indexed: set[Path] = set()
        self._loaded: dict[str, tuple[RowGroup, list[pa.RecordBatch]]] = {}

    def _batches_of(self, folder: str, group: RowGroup) -> list[pa.RecordBatch]:
        """The last row group of each folder stays decoded: the next second is usually in the same one."""
        loaded = self._loaded.get(folder)
        if loaded is None or loaded[0] != group:
            loaded = self._loaded[folder] = (group, group.load().to_batches())
        return loaded[1]

    def sealed(self, folder: str) -> list[RowGroup]:
        for path in schema.parts(self._session, folder):
            if path not in self._indexed and schema.part_problem(path) is None:
                self._groups[folder] += row_groups(path)
                self._indexed.add(path)
        return self._groups[folder]

    def events(self, first_seq: int = 0, **bounds: int | None) -> Iterator[Event]:
        """Events from number `first_seq` on, in order, within the `bounds` of `batches`."""

        def wanted(folder: str) -> Iterator[Event]:
            for batch in self.batches(folder, first_seq, **bounds):
                yield from events_of(batch)

        return heapq.merge(*(wanted(folder) for folder in schema.FOLDERS), key=lambda event: event.seq)

    def newest_first(self, folder: str, to_ns: int) -> Iterator[RowGroup | Written]:
        """The parts with events up to `to_ns`, the newest first; without the streams of an earlier process."""
        unsealed = () if self._unsealed is None else self._unsealed(folder)
        parts: list[RowGroup | Written] = [*self.sealed(folder), *unsealed]
        for part in reversed(parts):
            if part.first_ns <= to_ns:
                yield part

    def batches(
        self, folder: str, first_seq: int = 0, *, to_ns: int | None = None, to_seq: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        """One folder (messages or control) as columns: from a number on, to a time or number, included."""
        bounds = (first_seq, to_ns, to_seq)
        # Asked first: what is sealed meanwhile is found twice, and taken once.
        unsealed = () if self._unsealed is None else self._unsealed(folder)
        done_seq = -1
        for group in self.sealed(folder):
            if _overlaps(group, *bounds):
                for batch in self._batches_of(folder, group):
                    yield from _between(batch, *bounds)
            done_seq = max(done_seq, group.last_seq)
        for written in unsealed:
            if written.first_seq > done_seq and _overlaps(written, *bounds):
                try:
                    batch = written.load()
                except FileNotFoundError:
                    # Sealed a moment ago: the rest is there now.
                    rest = max(first_seq, done_seq + 1)
                    yield from self.batches(folder, rest, to_ns=to_ns, to_seq=to_seq)
                    return
                yield from _between(batch, *bounds)
                done_seq = written.last_seq
        if self._unsealed is None:
            for path in schema.unsealed(self._session, folder):
                try:
                    for batch in stream_batches(path):
                        yield from _between(batch, *bounds)
                except EOFError:
                    continue  # the reader has said so


def _overlaps(chunk: RowGroup | Written, first_seq: int, to_ns: int | None, to_seq: int | None) -> bool:
    begins = (to_ns is None or chunk.first_ns <= to_ns) and (to_seq is None or chunk.first_seq <= to_seq)
    return begins and chunk.last_seq >= first_seq


def _between(batch: pa.RecordBatch, first_seq: int, to_ns: int | None, to_seq: int | None) -> Iterator[pa.RecordBatch]:
    """The rows that are asked for: seqs and times only grow, so they are one slice."""
    seqs = batch.column("seq")
    start = pc.sum(pc.less(seqs, first_seq)).as_py() or 0
    ends = [batch.num_rows]
    if to_seq is not None:
        ends.append(pc.sum(pc.less_equal(seqs, to_seq)).as_py() or 0)
    if to_ns is not None:
        ends.append(pc.sum(pc.less_equal(batch.column("time_ns"), to_ns)).as_py() or 0)
    if min(ends) > start:
        yield batch.slice(start, min(ends) - start)
