"""The columns and file names of a session folder. Needs pyarrow and of the core only the checksums and the kinds of
events: Spark's side imports it too.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from broker_core.events import MESSAGE_KINDS, EventKind
from broker_core.recording.checksums import CRC32, MARK, part_fits, stamp_part

FORMAT: Final = "brokerscope-session"
FORMAT_VERSION: Final = 2

SESSION_FILE: Final = "session.json"
SCENARIO_FILE: Final = "scenario.yaml"
ACTIONS_FILE: Final = "actions.jsonl"
MESSAGES: Final = "messages"
CONTROL: Final = "control"
UNSEALED: Final = "tail"
KEYFRAMES: Final = "keyframes"
FRAMES_FILE: Final = "frames.bin"
LETTERS_FILE: Final = "letters.bin"
FOLDERS: Final = (MESSAGES, CONTROL)
MAX_PENDING_EVENTS: Final = 32_768  # about 10 MB of events; the broker waits beyond, it is never dropped from
BATCH_EVENTS: Final = 4_096  # turned into columns in one go: longer bursts are felt by the window's frames
#: By a program that is killed: those that wait, and the batch that is being written.
LOST_MAX_EVENTS: Final = MAX_PENDING_EVENTS + BATCH_EVENTS
DIED: Final = (
    f"The program died while recording: the last half second before that, at most {LOST_MAX_EVENTS:,} events, and what "
    "happened after it are not known."
)
#: The kinds of events that each folder holds.
KINDS: Final = {
    MESSAGES: frozenset(kind.value for kind in MESSAGE_KINDS),
    CONTROL: frozenset(kind.value for kind in EventKind) - frozenset(kind.value for kind in MESSAGE_KINDS),
}

SEGMENT_EVENTS: Final = 250_000  # smaller files cost Spark twice the time and the scrubber fifteen times
ROW_GROUP_EVENTS: Final = 62_500  # what a seek has to decode at most

#: One schema for both folders: the fields of `broker_core.events.Event`, `detail` as JSON text.
EVENT_SCHEMA: Final = pa.schema(
    [
        pa.field("seq", pa.int64(), nullable=False),
        pa.field("time_ns", pa.int64(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("size_bytes", pa.int64(), nullable=False),
        pa.field("client", pa.string(), nullable=False),
        pa.field("group", pa.string(), nullable=False),
        pa.field("generation", pa.int32()),
        pa.field("attempt", pa.int32()),
        pa.field("published_ns", pa.int64()),
        pa.field("key", pa.binary()),
        pa.field("cause", pa.string(), nullable=False),
        pa.field("to_topic", pa.string(), nullable=False),
        pa.field("to_partition", pa.int32()),
        pa.field("to_offset", pa.int64()),
        pa.field("detail", pa.string()),
        pa.field("member", pa.string(), nullable=False),
    ],
    metadata={b"brokerscope.format_version": str(FORMAT_VERSION).encode(), MARK: CRC32.encode()},
)

_FILE_NAME = re.compile(r"[a-z]+-\d{5,}\.(parquet|arrow)", re.ASCII)  # of a segment, sealed or not
_DELTA = ("seq", "time_ns", "offset", "published_ns", "size_bytes", "to_offset")


@contextlib.contextmanager
def parquet_writer(path: Path) -> Iterator[pq.ParquetWriter]:
    """A writer of one sealed segment at `path`, with checksums of its pages and of all of it. Raises OSError."""
    with pq.ParquetWriter(
        path,
        EVENT_SCHEMA,
        compression="zstd",
        use_dictionary=[name for name in EVENT_SCHEMA.names if name not in _DELTA and name != "detail"],
        column_encoding=dict.fromkeys(_DELTA, "DELTA_BINARY_PACKED"),
        write_page_checksum=True,
    ) as writer:
        yield writer
    stamp_part(path)


def part_name(number: int) -> str:
    return f"part-{number:05d}.parquet"


def part_number(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])


def parts(session: Path, folder: str) -> list[Path]:
    """The sealed segments of `folder` (messages or control), in order; what has another name is none."""
    return sorted(path for path in (session / folder).glob("part-*.parquet") if _FILE_NAME.fullmatch(path.name))


def stream_name(folder: str, number: int) -> str:
    """The file name of the stream that becomes sealed segment `number` of `folder`."""
    return f"{folder}-{number:05d}.arrow"


def unsealed(session: Path, folder: str) -> list[Path]:
    """The unsealed streams of `folder`, in order, without those whose sealed segment exists; other names are none."""
    sealed = {part_number(path) for path in parts(session, folder)}
    streams = sorted((session / UNSEALED).glob(f"{folder}-*.arrow"))
    return [path for path in streams if _FILE_NAME.fullmatch(path.name) and part_number(path) not in sealed]


def part_problem(path: Path) -> str | None:
    """Why a sealed segment cannot be read, as one sentence, or None. Reads all its bytes, once: 3 GB a second."""
    try:
        status = path.stat()
        if not os.access(path, os.R_OK):
            return f"{path.parent.name}/{path.name} may not be read: no permission; its events are missing."
    except OSError:
        return _damaged(path)
    return _judged(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=10_000)
def _judged(path: Path, _size: int, _mtime_ns: int) -> str | None:
    try:
        fits = part_fits(path)
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowException, ValueError, struct.error):  # pyarrow decodes names before it judges them
        return _damaged(path)
    if not fits:
        return _damaged(path)
    if not schema.equals(EVENT_SCHEMA):
        return f"{path.parent.name}/{path.name} has unknown columns; its events are missing."
    return None


def _damaged(path: Path) -> str:
    return f"{path.parent.name}/{path.name} is truncated or damaged; its events are missing."
