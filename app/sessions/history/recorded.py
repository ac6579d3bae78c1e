from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from broker_core.events import Event
from broker_core.recording import schema
from broker_core.recording.columns import events_of
from broker_core.recording.unsealed_stream import stream_batches

_MESSAGES_ONLY = (schema.MESSAGES,)


class Recorded:
    """The recording in `folder`, as far as it has been written: while it runs, the last half second may be missing. Too
    slow for the window's thread.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._good: set[Path] = set()

    def table(
        self, wanted: pc.Expression, columns: Sequence[str] | None = None, folders: Sequence[str] = _MESSAGES_ONLY
    ) -> pa.Table:
        """The rows that fit, in no order; `columns` None for all. What is damaged is left out."""
        names = list(columns or schema.EVENT_SCHEMA.names)
        return pa.concat_tables([self._rows(folder, wanted, names) for folder in folders])

    def events(self, wanted: pc.Expression, folders: Sequence[str] = _MESSAGES_ONLY) -> list[Event]:
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
