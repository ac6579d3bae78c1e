"""Messages of logs as rows, a bounded number at a time: pages of one partition, a merge of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from broker_core.errors import BrokerError, ErrorCode, Suppress
from broker_core.filters import Field, Fields, FilterError, parse
from broker_core.messages import StoredMessage, header_texts
from broker_core.operations.browse import Bounds, BrowseMessages, FindOffsets, MergeStep, MessageRow, Page
from broker_core.schemas.registry import SchemaRegistry

READ_BYTES = 256 * 1024
PREVIEW_BYTES = 400
CHUNK = 100
PAGE_ROWS = 300
STEP_LOOKS = 400

Test = Callable[[StoredMessage], bool]


class BrowsedLog(Protocol):
    """A partition here, or one of a cluster that is observed."""

    topic: str
    partition: int

    @property
    def start_offset(self) -> int: ...
    @property
    def end_offset(self) -> int: ...
    @property
    def high_watermark(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def lost(self) -> Sequence[Any]: ...
    def messages_between(self, start: int, end: int, /) -> int: ...
    def runs(self, start: int, end: int, /) -> Sequence[Any]: ...
    def offset_for_time(self, time_ns: int, /) -> int: ...
    def read(self, offset: int, /, *, max_messages: int, max_bytes: int) -> list[StoredMessage]: ...


Logs = Mapping[int, BrowsedLog]
Limits = dict[int, tuple[int, int]]

# What a filter asks of a stored message, whole: a row holds the beginning of its value only.
_ANSWERS: dict[str, tuple[Any, Callable[[StoredMessage], Any]]] = {
    "published": ("time", lambda message: message.published_ns),
    "partition": ("number", lambda message: message.partition),
    "offset": ("number", lambda message: message.offset),
    "key": ("text", lambda message: message.key),
    "value": ("text", lambda message: message.value),
    "header": ("text", lambda message: header_texts(message.headers)),
    "size": ("size", lambda message: len(message.value or b"")),
    "tombstone": ("flag", lambda message: message.value is None),
}
FIELDS = Fields(Field(name, kind) for name, (kind, _) in _ANSWERS.items())


@lru_cache(maxsize=16)
def message_test(text: str) -> Test | None:
    """A test of stored messages for a filter; None if every message matches. Raises FilterError."""
    wanted = parse(text, FIELDS)
    if wanted.takes_all:
        return None
    return wanted.tester({name: answer for name, (_, answer) in _ANSWERS.items()}, _haystack)


def asked_test(text: str) -> Test | None:
    """The filter of a request, parsed by `message_test`; None for no filter. Raises MALFORMED_REQUEST."""
    try:
        return message_test(text)
    except FilterError as error:
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, f"the filter {text!r}: {error}") from None


def _haystack(message: StoredMessage) -> str:
    parts = [message.key or b"", message.value or b""]
    text = "\n".join(part.decode(errors="replace") for part in parts)
    if message.headers:
        text += "\n" + "\n".join(header_texts(message.headers))
    return text.casefold()


def row_of(message: StoredMessage, schemas: SchemaRegistry) -> MessageRow:
    value = message.value
    readable = None if value is None else schemas.readable(value)
    if readable is not None:
        value = readable[2]
    preview = value if value is None or len(value) <= PREVIEW_BYTES else value[:PREVIEW_BYTES]
    return MessageRow(
        topic=message.topic,
        partition=message.partition,
        offset=message.offset,
        published_ns=message.published_ns,
        key=message.key,
        preview=preview,
        size_bytes=len(message.value or b""),
        headers=message.headers,
    )


def bounds(log: BrowsedLog, until_ns: int | None, known_end: int | None = None) -> tuple[int, int]:
    """(start, end) of what a partition holds, as far as it was published by `until_ns`; `known_end` is another limit,
    since events may share a time.
    """
    end = log.high_watermark
    if until_ns is not None:
        end = min(end, log.offset_for_time(until_ns + 1))
    if known_end is not None:
        end = min(end, known_end)
    return log.start_offset, max(log.start_offset, end)


def offsets_of(log: BrowsedLog, asked: FindOffsets) -> Bounds:
    start, end = bounds(log, asked.until_ns)
    found = start if asked.from_ns is None else log.offset_for_time(asked.from_ns)
    return Bounds(partition=log.partition, start=start, end=end, found=found)


def page(log: BrowsedLog, first: int, end: int, schemas: SchemaRegistry) -> Page:
    """Rows of the offsets from `first` on, up to `end` at most; about `PAGE_ROWS`, or `READ_BYTES`, at once."""
    first, end = max(first, log.start_offset), min(end, log.high_watermark)
    rows: list[MessageRow] = []
    at, size_bytes = first, 0
    while at < end and len(rows) < PAGE_ROWS and size_bytes < READ_BYTES:
        found, at = _read(log, at, end, schemas)
        rows += found
        size_bytes += sum(row.size_bytes for row in found)
    return Page(first=first, end=at, rows=tuple(rows))


def _read(log: BrowsedLog, at: int, end: int, schemas: SchemaRegistry) -> tuple[list[MessageRow], int]:
    """Rows for every offset from `at` on, gaps included, and where to go on."""
    try:
        read = log.read(at, max_messages=min(CHUNK, end - at), max_bytes=READ_BYTES)
    except BrokerError as error:
        if error.code is not ErrorCode.DAMAGED:
            raise
        lost = next((one for one in log.lost if one.start_offset <= at < one.end_offset), None)
        stop = min(end, at + CHUNK, lost.end_offset if lost is not None else at + 1)
        return [_gap(log, offset, "lost: " + (lost.cause if lost else str(error))) for offset in range(at, stop)], stop
    rows: list[MessageRow] = []
    messages = [message for message in read if message.offset < end]
    for message in messages:
        rows += [_gap(log, offset, "compacted") for offset in range(at, message.offset)]
        rows.append(row_of(message, schemas))
        at = message.offset + 1
    if not messages:
        # Nothing more up to the end: compaction has left no message there.
        stop = min(end, at + CHUNK)
        rows += [_gap(log, offset, "compacted") for offset in range(at, stop)]
        at = stop
    return rows, at


def _gap(log: BrowsedLog, offset: int, why: str) -> MessageRow:
    return MessageRow(topic=log.topic, partition=log.partition, offset=offset, gap=why)


def step(logs: Logs, asked: BrowseMessages, test: Test | None, schemas: SchemaRegistry) -> MergeStep:
    """Go on from the cursors in order of time. Stops after so many rows that pass the test, after `STEP_LOOKS`
    messages or `READ_BYTES`, or at the end of what there is.
    """
    limits = {number: bounds(log, asked.until_ns, asked.ends.get(number)) for number, log in logs.items()}
    at = {n: max(limits[n][0], min(offset, limits[n][1])) for n, offset in asked.cursors.items()}
    rows: list[MessageRow] = []
    looked, size_bytes, chunk = 0, 0, max(4, CHUNK // max(1, len(logs)))
    while len(rows) < asked.most and looked < STEP_LOOKS and size_bytes < READ_BYTES:
        read = _merged(logs, limits, at, chunk, asked.back)
        if not read:
            return MergeStep(rows=tuple(rows), cursors=at, looked=looked, done=True)
        for message in read:
            if isinstance(message, StoredMessage):
                looked += 1
                size_bytes += message.size_bytes
                if test is None or test(message):
                    rows.append(row_of(message, schemas))
                at[message.partition] = message.offset if asked.back else message.offset + 1
            else:
                at[message.partition] = message.first if asked.back else message.offset + 1
            if len(rows) >= asked.most:
                break
    return MergeStep(rows=tuple(rows), cursors=at, looked=looked, done=False)


class _Skip(NamedTuple):
    """Offsets from `first` to `offset` that have no message: the cursor moves past them."""

    partition: int
    offset: int
    published_ns: int
    first: int


Found = StoredMessage | _Skip


def _merged(logs: Logs, limits: Limits, at: dict[int, int], chunk: int, back: bool) -> Sequence[Found]:
    """The next messages of all partitions in order of time, or those before, the newest first, as far as that order is
    certain.
    """
    found: list[Found] = []
    horizons: list[int] = []  # of the partitions that hold more
    for number, log in logs.items():
        start, end = limits[number]
        if at[number] <= start if back else at[number] >= end:
            continue
        most = _fitting(log, chunk)
        first, stop = (max(start, at[number] - most), at[number]) if back else (at[number], min(end, at[number] + most))
        part = _messages(log, first, stop)
        found += part
        if back and first > start:
            horizons.append(part[0].published_ns)
        elif not back and part[-1].offset + 1 < end:
            horizons.append(part[-1].published_ns)
    if back:
        found.sort(key=lambda one: (-one.published_ns, one.partition, -one.offset))
        return [one for one in found if not horizons or one.published_ns >= max(horizons)]
    found.sort(key=lambda one: (one.published_ns, one.partition, one.offset))
    return [one for one in found if not horizons or one.published_ns <= min(horizons)]


def _messages(log: BrowsedLog, first: int, end: int) -> list[Found]:
    """The messages from `first` up to `end`, or a `_Skip` for offsets that hold none; never empty."""
    found: list[Found] = []
    at = first
    while at < end:
        messages: list[StoredMessage] = []
        with Suppress(ErrorCode.DAMAGED):
            messages = log.read(at, max_messages=end - at, max_bytes=READ_BYTES)
        inside = [message for message in messages if message.offset < end]
        if not inside:
            # Nothing is readable there: the last offset stands for all, with the time of the message before.
            lost = next((one for one in log.lost if one.start_offset <= at < one.end_offset), None)
            start, at = at, min(end, lost.end_offset) if lost is not None else end
            time_ns = found[-1].published_ns if found else _time_near(log, at)
            found.append(_Skip(log.partition, at - 1, time_ns, start))
            continue
        found += inside
        at = inside[-1].offset + 1
    return found


def _fitting(log: BrowsedLog, chunk: int) -> int:
    """How many messages to read at once: `chunk`, or as many of mean size as fit into `READ_BYTES`; at least 1."""
    mean_bytes = log.size_bytes // max(1, log.messages_between(log.start_offset, log.end_offset))
    return max(1, min(chunk, READ_BYTES // max(1, mean_bytes)))


def _time_near(log: BrowsedLog, offset: int) -> int:
    runs = log.runs(offset, min(log.high_watermark, offset + 1)) if offset < log.high_watermark else []
    return runs[0].published_ns if runs else 0
