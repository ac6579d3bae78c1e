"""Requests of those who look at a log, its messages, leases and dead letters, a page at a time.

Keys, values and headers are bytes, which JSON has as Base64. What an answer reads of a log is bounded.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from broker_core.limits import MAX_PARTITIONS
from broker_core.log.config import LogConfig
from broker_core.log.segment import SegmentView
from broker_core.messages import Headers, StoredMessage
from broker_core.operations.entry import READ, Entry, Right, Visible, declaring
from broker_core.operations.fields import Name, Number, Offset, Partition
from broker_core.operations.request import Request, Result
from broker_core.schemas.languages import SchemaKind
from broker_core.snapshots import DeadLetterView, LeaseView

Most = Annotated[int, Meta(ge=1, le=1_000)]


class LogName(Result, frozen=True, kw_only=True, gc=False):
    name: str
    partitions: int


class PartitionState(Result, frozen=True, kw_only=True):
    """How one partition is kept. `lost` has (first offset, end offset, cause)."""

    topic: str
    partition: int
    start_offset: int
    end_offset: int
    size_bytes: int
    segments: tuple[SegmentView, ...]
    lost: tuple[tuple[int, int, str], ...]
    read_only: str
    compacted_to: int
    config: LogConfig
    notes: tuple[str, ...]


class PartitionStates(Result, frozen=True, kw_only=True):
    partitions: list[PartitionState]
    more: bool


class Bounds(Result, frozen=True, kw_only=True, gc=False):
    """The offsets that a partition holds: `start` up to `end`, without that one; `found` is the first at a time."""

    partition: int
    start: int
    end: int
    found: int


class MessageRow(Result, frozen=True, kw_only=True, gc=False):
    """A message as a table shows it. `preview` is how its value begins, as JSON if it names a schema; `gap` says why
    there is none at this offset.
    """

    topic: str
    partition: int
    offset: int
    published_ns: int = 0
    key: bytes | None = None
    preview: bytes | None = None
    size_bytes: int = 0
    headers: Headers = ()
    gap: str = ""


class Page(Result, frozen=True, kw_only=True):
    """Rows from offset `first` up to `end`, one for each offset."""

    first: int
    end: int
    rows: tuple[MessageRow, ...]


class MergeStep(Result, frozen=True, kw_only=True):
    """The result of one step of a merge. `cursors` is where the next step continues, by partition; `done` at the end.

    `looked` counts messages that were looked at.
    """

    rows: tuple[MessageRow, ...]
    cursors: dict[int, int]
    looked: int
    done: bool


class Held(Result, frozen=True, kw_only=True):
    """How a queue or subscription stands to a message. `until_ns` ends the lease or the wait."""

    queue: str
    state: str
    holder: str = ""
    attempt: int = 0
    until_ns: int = 0


class Present(Result, frozen=True, kw_only=True):
    """The broker's current copy of a message; `why` it has none. `readable` as `SchemaRegistry.readable`."""

    message: StoredMessage | None = None
    held: tuple[Held, ...] = ()
    why: str = ""
    readable: tuple[int, SchemaKind, bytes] | None = None


class BatchKeys(Result, frozen=True, kw_only=True):
    """How often each key is in a batch; None if it is not stored whole any more, or larger than a fetch may be."""

    first: int
    keys: list[tuple[bytes | None, int]] | None


class LeasesPage(Result, frozen=True, kw_only=True):
    """Leases from one offset of a level on; `level` and `offset` are where the next page begins, -1 at the end."""

    leases: tuple[LeaseView, ...]
    level: int
    offset: int


class DeadLetterPage(Result, frozen=True, kw_only=True):
    """Letters that were read, and how many of the offsets that were asked for they answer.

    `sizes` has the true size of the values of which only the beginning is there, by offset.
    """

    letters: tuple[DeadLetterView, ...]
    looked: int
    sizes: dict[int, int]


ENTRIES: list[Entry] = []
_topic = declaring(
    ENTRIES, tag="Topics", rights=(Right(READ, "topic or queue", "topic"),), repeatable=True, errors=(409,)
)
_broker = declaring(ENTRIES, tag="Broker", rights=(Right(READ, "broker"),))
_letters = declaring(ENTRIES, tag="Dead letters", rights=(Right(READ, "topic or queue", "queue"),), repeatable=True)
_entry = declaring(ENTRIES)


@_broker("GET /v1/logs", "List the logs of topics, queues and dead letters")
class ListLogs(Request[list[LogName]], frozen=True, kw_only=True):
    """Topics, queues and the dead letters of queues."""


@_broker("GET /v1/logs/partitions", "Describe how partitions are kept: segments, sizes, damage")
class DescribeLogs(Request[PartitionStates], frozen=True, kw_only=True):
    """Partitions of all logs, from number `first` of all on."""

    first: Number = 0
    most: Most = 60


@_topic("GET /v1/topics/{topic}/offsets", "Find the first and last offsets of a topic or queue")
class FindOffsets(Request[list[Bounds]], frozen=True, kw_only=True):
    """A topic or queue: what it holds, as far as that was published by `until_ns`; and the first offset that was
    published at `from_ns` or later. Both are nanoseconds since the broker was opened.
    """

    topic: Name
    partition: Partition | None = None
    until_ns: Number | None = None
    from_ns: Number | None = None


@_topic(
    "GET /v1/topics/{topic}/partitions/{partition}/rows",
    "List the messages of a partition as rows, with the offsets that have none",
)
class BrowsePartition(Request[Page], frozen=True, kw_only=True):
    topic: Name
    partition: Partition
    first: Offset
    end: Offset


@_topic("POST /v1/topics/{topic}/browse", "Search the messages of several partitions in order of time")
class BrowseMessages(Request[MergeStep], frozen=True, kw_only=True):
    """Messages of several partitions in order of time, or going `back`, on from `cursors` (partition: next offset;
    going back, the offset above the next). `filter` is in the filter language; `ends` are the end offsets where they
    are known, since events may share a time.
    """

    topic: Name
    cursors: Annotated[dict[Partition, Offset], Meta(max_length=MAX_PARTITIONS)]
    back: bool = False
    filter: Annotated[str, Meta(max_length=2_000)] = ""
    until_ns: Number | None = None
    ends: Annotated[dict[Partition, Offset], Meta(max_length=MAX_PARTITIONS)] = msgspec.field(default_factory=dict)
    most: Most = 200


@_topic(
    "GET /v1/topics/{topic}/partitions/{partition}/messages/{offset}",
    "Describe a message and who holds it",
    visible=Visible("queue", "queue", "held"),
)
class DescribeMessage(Request[Present], frozen=True, kw_only=True):
    topic: Name
    partition: Partition
    offset: Offset


@_topic("POST /v1/topics/{topic}/partitions/{partition}/keys", "Count the keys in batches of a partition")
class CountKeys(Request[list[BatchKeys]], frozen=True, kw_only=True):
    """Batches of a partition: (first offset, number of messages). Those that are not durable yet are left out, and
    those at the end that are too many for one answer.
    """

    topic: Name
    partition: Partition
    batches: Annotated[list[tuple[Offset, Number]], Meta(max_length=10_000)]


@_entry(
    "GET /v1/queues/{queue}/leases", "List the leases of a queue", tag="Queues", rights=(Right(READ, "queue", "queue"),)
)
class ListLeases(Request[LeasesPage], frozen=True, kw_only=True):
    """Leases of a queue from `offset` of a `level` on; a level is a priority, or a partition of a topic."""

    queue: Name
    level: Number = 0
    offset: Offset = 0


@_letters("GET /v1/dead-letters/{queue}/offsets", "List the offsets of the dead letters of a queue")
class ListDeadOffsets(Request[list[int]], frozen=True, kw_only=True):
    """The oldest first."""

    queue: Name


@_letters("POST /v1/dead-letters/{queue}/read", "Read dead letters by their offsets")
class ReadDeadLetters(Request[DeadLetterPage], frozen=True, kw_only=True):
    """Dead letters of a queue; those that are gone are left out. Of values the first `most_bytes`, null is all."""

    queue: Name
    offsets: Annotated[list[Offset], Meta(max_length=10_000)]
    most_bytes: Number | None = None
