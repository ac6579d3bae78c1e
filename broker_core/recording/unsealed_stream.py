"""The unsealed end of a session: Arrow streams that survive a kill, and become Parquet when they are long enough."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from broker_core.files import private
from broker_core.recording import schema
from broker_core.recording.checksums import CRC32, batch_checksum

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")  # half the time of zstd, for what is soon sealed


class Written(NamedTuple):
    """One batch in a stream: which events it holds, and its bytes in the file."""

    path: Path
    first_seq: int
    last_seq: int
    first_ns: int
    last_ns: int
    at: int

    def load(self) -> pa.RecordBatch:
        """The rows of the batch. Raises OSError if the stream has been sealed and removed."""
        with pa.memory_map(str(self.path)) as file:
            file.seek(self.at)
            message = pa.ipc.read_message(file)
            if message.type == "schema":  # the first batch of a stream is written together with it
                message = pa.ipc.read_message(file)
            return pa.ipc.read_record_batch(message, schema.EVENT_SCHEMA)


class UnsealedStream:
    """The stream of one folder (messages or control) that is written now. Every method may raise OSError."""

    def __init__(self, session: Path, folder: str) -> None:
        self._session = session
        self._folder = folder
        self._number = 0
        self._events = 0
        self._file: pa.OSFile | None = None
        self._stream: pa.ipc.RecordBatchStreamWriter | None = None
        #: The batches of the stream that is not sealed yet; replaced, never changed in place.
        self.written: tuple[Written, ...] = ()

    @property
    def _path(self) -> Path:
        return self._session / schema.UNSEALED / schema.stream_name(self._folder, self._number)

    def append(self, batch: pa.RecordBatch) -> None:
        """Write `batch` so that a killed process has it on disk; seal where the segment is full."""
        if self._stream is None:
            self._file = pa.OSFile(str(private.create(self._path)), "wb")
            self._stream = pa.ipc.new_stream(self._file, schema.EVENT_SCHEMA, options=_OPTIONS)
        assert self._file is not None
        at = self._file.tell()
        self._stream.write_batch(batch, custom_metadata={CRC32: batch_checksum(batch)})
        seqs, times = batch.column("seq"), batch.column("time_ns")
        last = batch.num_rows - 1
        bounds = (seqs[0].as_py(), seqs[last].as_py(), times[0].as_py(), times[last].as_py())
        self.written = (*self.written, Written(self._path, *bounds, at))
        self._events += batch.num_rows
        if self._events >= schema.SEGMENT_EVENTS:
            self.seal()

    def seal(self) -> None:
        if self._stream is None or self._file is None:
            return
        self._stream.close()
        self._file.close()
        self._stream = self._file = None
        seal_stream(self._session, self._folder, self._path)
        self.written = ()
        self._number += 1
        self._events = 0

    def abandon(self) -> None:
        if self._file is not None:
            self._file.close()
            self._stream = self._file = None


def stream_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The whole batches of a stream; then, if others are not whole, EOFError that says what is wrong."""
    damaged = 0
    with pa.memory_map(str(path)) as file:
        try:
            reader = pa.ipc.open_stream(file)
            if not reader.schema.equals(schema.EVENT_SCHEMA):
                raise EOFError(_NO_STREAM)
        except (OSError, pa.ArrowException):
            raise EOFError(_NO_STREAM if path.stat().st_size else _TORN) from None
        while True:
            try:
                batch, told = reader.read_next_batch_with_custom_metadata()
                batch.validate()
            except StopIteration:
                break
            except (OSError, pa.ArrowException):
                raise EOFError(_TORN) from None
            if dict(told or {}).get(CRC32.encode()) == batch_checksum(batch):
                yield batch
            else:
                damaged += batch.num_rows
    if damaged:
        raise EOFError(f"is damaged; {damaged} of its events are missing")


_TORN = "ends in the middle of a batch; what follows it is missing"
_NO_STREAM = "is damaged at its beginning; its events are missing"


def seal_stream(session: Path, folder: str, path: Path) -> str:
    """Turn the stream into its Parquet segment, which appears when it is whole on disk. Returns what is missing, or "".
    Raises OSError.
    """
    partial = session / schema.UNSEALED / (path.stem + ".parquet.partial")
    missing = ""
    rows: list[pa.RecordBatch] = []
    written = 0
    with schema.parquet_writer(private.create(partial)) as writer:

        def flush() -> None:
            nonlocal written
            table = pa.Table.from_batches(rows, schema.EVENT_SCHEMA)
            writer.write_table(table, row_group_size=max(table.num_rows, 1))
            written += table.num_rows
            rows.clear()

        try:
            for batch in stream_batches(path):
                rows.append(batch)
                if sum(piece.num_rows for piece in rows) >= schema.ROW_GROUP_EVENTS:
                    flush()
        except EOFError as error:
            missing = str(error)
        if rows:
            flush()
    if written:
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        partial.replace(session / folder / schema.part_name(schema.part_number(path)))
    else:
        partial.unlink()
    path.unlink()
    return missing
