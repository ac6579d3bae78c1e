"""Messages of the live broker, a page at a time. Everything here runs in the engine's thread and stays below 2 ms."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import StoredMessage
from broker_core.schemas.registry import SchemaRegistry
from broker_core.simulation.simulation import Simulation

BUDGET_S = 0.0015
READ_BYTES = 256 * 1024
PREVIEW_BYTES = 400
CHUNK = 100


class MessageRow(NamedTuple):
    """A message as a table shows it. `preview` is how its value begins, as JSON where it names a schema; `gap` says why
    there is none at this offset.
    """

    topic: str
    partition: int
    offset: int
    published_ns: int
    key: bytes | None
    preview: bytes | None
    size_bytes: int
    headers: tuple[tuple[str, bytes], ...]
    gap: str = ""


class Bounds(NamedTuple):
    """The offsets that a partition holds: `start` up to `end`, without that one."""

    start: int
    end: int


class Page(NamedTuple):
    """Rows from offset `first` up to `end`, one for each offset."""

    first: int
    end: int
    rows: tuple[MessageRow, ...]


class MergeStep(NamedTuple):
    """What one step of a merge has found. `cursors` is where the next one goes on, by partition; `done` at the end.

    `looked` counts messages that were looked at.
    """

    rows: tuple[MessageRow, ...]
    cursors: dict[int, int]
    looked: int
    done: bool


def row_of(message: StoredMessage, schemas: SchemaRegistry) -> MessageRow:
    value = message.value
    readable = None if value is None else schemas.readable(value)
    if readable is not None:
        value = readable[2]
    preview = value if value is None or len(value) <= PREVIEW_BYTES else value[:PREVIEW_BYTES]
    return MessageRow(
        message.topic,
        message.partition,
        message.offset,
        message.published_ns,
        message.key,
        preview,
        len(message.value or b""),
        message.headers,
    )


def sources(simulation: Simulation) -> tuple[tuple[str, int], ...]:
    """(name, partitions) of what can be browsed: topics, queues by their priorities, and the bins of queues."""
    broker = simulation.broker
    queues = [broker.queues.queue(name) for name in broker.queues.names()]
    # A subscription has no log of its own: it reads that of its topic.
    logs = [queue.name for queue in queues if queue.levels.tables[0].log.topic == queue.name]
    bins = [queue.dead_letters.name for queue in queues]
    names = dict.fromkeys((*broker.topics.names(), *logs, *bins))
    return tuple((name, broker.logs.partition_count(name)) for name in names)


class Cutoff(NamedTuple):
    """A moment of the past; `ends` are the end offsets of partitions, where they are known: events may share a time."""

    time_ns: int
    ends: Mapping[int, int]


def partition_bounds(simulation: Simulation, topic: str, partition: int, moment: Cutoff | None) -> Bounds:
    """What a partition holds, as far as it was published at `moment`. Raises UNKNOWN_TOPIC_OR_PARTITION."""
    return _bounds(simulation.broker.logs.partition(topic, partition), moment)


def _bounds(log: PartitionLog, moment: Cutoff | None) -> Bounds:
    end = log.high_watermark
    if moment is not None:
        end = min(end, log.offset_for_time(moment.time_ns + 1), moment.ends.get(log.partition, end))
    return Bounds(log.start_offset, max(log.start_offset, end))


def offset_at(simulation: Simulation, topic: str, partition: int, time_ns: int) -> int:
    """The first offset that was published at `time_ns` or later."""
    return simulation.broker.logs.partition(topic, partition).offset_for_time(time_ns)


def page(simulation: Simulation, topic: str, partition: int, first: int, end: int) -> Page:
    """Rows of the offsets from `first` on, up to `end` at most; fewer where the time is up."""
    log = simulation.broker.logs.partition(topic, partition)
    first, end = max(first, log.start_offset), min(end, log.high_watermark)
    rows: list[MessageRow] = []
    at, began = first, time.perf_counter()
    while at < end and (at == first or time.perf_counter() - began < BUDGET_S):
        found, at = _read(log, at, end, simulation.broker.schemas.registry)
        rows += found
    return Page(first, at, tuple(rows))


def _read(log: PartitionLog, at: int, end: int, schemas: SchemaRegistry) -> tuple[list[MessageRow], int]:
    """Rows for every offset from `at` on, gaps included, and where to go on."""
    try:
        messages = log.read(at, max_messages=min(CHUNK, end - at), max_bytes=READ_BYTES)
    except BrokerError as error:
        if error.code is not ErrorCode.DAMAGED:
            raise
        lost = next((one for one in log.lost if one.start_offset <= at < one.end_offset), None)
        stop = min(end, at + CHUNK, lost.end_offset if lost is not None else at + 1)
        return [_gap(log, offset, "lost: " + (lost.cause if lost else str(error))) for offset in range(at, stop)], stop
    rows: list[MessageRow] = []
    for message in messages:
        if message.offset >= end:
            break
        rows += [_gap(log, offset, "compacted") for offset in range(at, message.offset)]
        rows.append(row_of(message, schemas))
        at = message.offset + 1
    if not messages:
        # Nothing more up to the end: compaction has left no message there.
        stop = min(end, at + CHUNK)
        rows += [_gap(log, offset, "compacted") for offset in range(at, stop)]
        at = stop
    return rows, at


def _gap(log: PartitionLog, offset: int, why: str) -> MessageRow:
    return MessageRow(log.topic, log.partition, offset, 0, None, None, 0, (), why)


def step(
    simulation: Simulation,
    topic: str,
    cursors: dict[int, int],
    *,
    back: bool,
    test: Callable[[StoredMessage], bool] | None,
    moment: Cutoff | None,
    most: int,
) -> MergeStep:
    """Go on from `cursors` (partition: next offset; going back, the offset above the next) in order of time.

    Stops after `most` rows that pass the test, when the time is up, or at the end of what there is.
    """
    logs = {number: simulation.broker.logs.partition(topic, number) for number in cursors}
    limits = {number: _bounds(log, moment) for number, log in logs.items()}
    at = {n: max(limits[n].start, min(offset, limits[n].end)) for n, offset in cursors.items()}
    rows: list[MessageRow] = []
    looked, began = 0, time.perf_counter()
    chunk = max(4, CHUNK // len(cursors))
    while len(rows) < most and (looked == 0 or time.perf_counter() - began < BUDGET_S):
        read = _back(logs, limits, at, chunk) if back else _forth(logs, limits, at, chunk)
        if not read:
            return MergeStep(tuple(rows), at, looked, True)
        for message in read:
            if isinstance(message, StoredMessage):
                looked += 1
                if test is None or test(message):
                    rows.append(row_of(message, simulation.broker.schemas.registry))
                at[message.partition] = message.offset if back else message.offset + 1
            else:
                at[message.partition] = message.first if back else message.offset + 1
            if len(rows) >= most:
                break
    return MergeStep(tuple(rows), at, looked, False)


class _Skip(NamedTuple):
    """Offsets from `first` to `offset` that have no message: the cursor moves past them."""

    partition: int
    offset: int
    published_ns: int
    first: int


Found = StoredMessage | _Skip


def _forth(logs: dict[int, PartitionLog], limits: dict[int, Bounds], at: dict[int, int], chunk: int) -> Sequence[Found]:
    """The next messages of all partitions in order of time, as far as that order is certain."""
    found: list[Found] = []
    horizon: int | None = None
    for number, log in logs.items():
        if at[number] >= limits[number].end:
            continue
        part = _messages(log, at[number], min(limits[number].end, at[number] + _fitting(log, chunk)))
        found += part
        if part[-1].offset + 1 < limits[number].end:
            horizon = part[-1].published_ns if horizon is None else min(horizon, part[-1].published_ns)
    found.sort(key=lambda one: (one.published_ns, one.partition, one.offset))
    sure = [one for one in found if horizon is None or one.published_ns <= horizon]
    return sure


def _back(logs: dict[int, PartitionLog], limits: dict[int, Bounds], at: dict[int, int], chunk: int) -> Sequence[Found]:
    """The messages before, the newest first, as far as that order is certain."""
    found: list[Found] = []
    horizon: int | None = None
    for number, log in logs.items():
        if at[number] <= limits[number].start:
            continue
        first = max(limits[number].start, at[number] - _fitting(log, chunk))
        part = _messages(log, first, at[number])
        found += part
        if first > limits[number].start:
            horizon = part[0].published_ns if horizon is None else max(horizon, part[0].published_ns)
    found.sort(key=lambda one: (-one.published_ns, one.partition, -one.offset))
    return [one for one in found if horizon is None or one.published_ns >= horizon]


def _messages(log: PartitionLog, first: int, end: int) -> list[Found]:
    """At least one: what is read from `first` up to `end`, or what stands for the offsets that hold nothing."""
    found: list[Found] = []
    at = first
    while at < end:
        try:
            messages = log.read(at, max_messages=end - at, max_bytes=READ_BYTES)
        except BrokerError as error:
            if error.code is not ErrorCode.DAMAGED:
                raise
            messages = []
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


def _fitting(log: PartitionLog, chunk: int) -> int:
    """As many messages as may be read at once: few where they are large."""
    mean_bytes = log.size_bytes // max(1, log.messages_between(log.start_offset, log.end_offset))
    return max(1, min(chunk, READ_BYTES // max(1, mean_bytes)))


def _time_near(log: PartitionLog, offset: int) -> int:
    runs = log.runs(offset, min(log.high_watermark, offset + 1)) if offset < log.high_watermark else []
    return runs[0].published_ns if runs else 0
