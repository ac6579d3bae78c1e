"""The journal of queues: state changes of messages since the states of queues were saved last.

An attempt is written before its message is delivered, so that it counts even when it kills its process. The journal is
a log, like `__share_group_state` of Kafka's share groups (KIP-932), with records of `JournalEntry`. A saved state names
the first journal offset that it does not include.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from broker_core.errors import BrokerError
from broker_core.files import FileSystem
from broker_core.log.config import LogConfig
from broker_core.log.group_commit import GroupCommit
from broker_core.log.internal_log import InternalLog
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import Message
from broker_core.queues.spans import NEVER_LEASED, LeaseSpan, SpanLease
from broker_core.queues.states import LeaseState
from broker_core.replies import Reply, all_done

DIRECTORY = "queue-journal"
_SEGMENT_BYTES = 4 * 1_048_576
_AT_A_TIME = 500  # entries of one record
_MOST_UNWRITTEN = 1_000
_FINISHED = LeaseState.ARCHIVED


class JournalEntry(msgspec.Struct, array_like=True, gc=False):
    """The messages of `level` from `first` up to (excluding) `end` are in `state` from `time_ns` on.

    ARCHIVED stands for both final states. `counted` names the totals that this change has increased. A `level` of -1
    marks a new queue: earlier entries belong to a deleted queue of the same name.
    """

    queue: str
    time_ns: int
    level: int = -1
    first: int = 0
    end: int = 0
    state: LeaseState = _FINISHED
    counted: tuple[str, ...] = ()
    lease: SpanLease = NEVER_LEASED
    sizes: tuple[int, ...] = ()  # of a saved state, with the `ticket` of the deadline
    ticket: int = -1


_ENCODER = msgspec.msgpack.Encoder()
_NO_ENTRIES = _ENCODER.encode([])
_DECODER = msgspec.msgpack.Decoder(list[JournalEntry])


class Journal(InternalLog):
    def __init__(
        self,
        files: FileSystem,
        syncs: GroupCommit,
        config: LogConfig,
        epoch_ms: int,
        tell: Callable[[int, str], object],
    ) -> None:
        """`tell(now_ns, sentence)` is called once when writing begins to fail."""
        super().__init__(files, syncs, config, epoch_ms, DIRECTORY, segment_bytes=_SEGMENT_BYTES)
        self.durable = syncs.durable
        self.letters: dict[PartitionLog, Reply[None]] = {}  # of the last dead letter that is awaited, by its log
        self._tell = tell
        self._failed = False

    @property
    def end_offset(self) -> int:
        return 0 if self.log is None else self.log.end_offset

    def write(self, now_ns: int, entries: list[JournalEntry]) -> Reply[None]:
        """Append `entries`. The reply is settled when they are durable; it fails with STORAGE_ERROR."""
        parts = (entries[first : first + _AT_A_TIME] for first in range(0, len(entries), _AT_A_TIME))
        try:
            reply = self.append(now_ns, [Message(_ENCODER.encode(part)) for part in parts])
        except BrokerError as error:
            reply = Reply()
            reply.fail(error)
        reply.then(lambda done: self._note(now_ns, done))
        return reply

    def kept(self) -> Reply[None]:
        """Settled when the awaited dead letters are durable, and then all that was written, or when that has failed."""
        letters = all_done(tuple(self.letters.values()))
        return letters.chain(lambda _done: all_done([self.durable(log, log.end_offset) for log in self.logs]))

    def _note(self, now_ns: int, done: Reply[None]) -> None:
        if done.error is not None and not self._failed:
            about = "Until the journal of queues can be written, attempts that end with the process are not counted"
            self._tell(now_ns, f"{about}. {str(done.error).removesuffix('.')}")
        self._failed = done.error is not None

    def entries(self, from_offset: int = 0) -> dict[str, list[tuple[int, JournalEntry]]]:
        """(journal offset, entry) by queue, from `from_offset` on, in order."""
        found: dict[str, list[tuple[int, JournalEntry]]] = {}
        for record in self.records(from_offset):
            for entry in _DECODER.decode(record.value or _NO_ENTRIES):
                found.setdefault(entry.queue, []).append((record.offset, entry))
        return found

    def forget_before(self, offset: int) -> None:
        """Delete segments before `offset`, which saved states include. Raises STORAGE_ERROR."""
        if self.log is not None and self.log.size_bytes > _SEGMENT_BYTES:
            self.log.delete_before(min(offset, self.log.high_watermark))


class QueueJournal:
    """The journal as one queue writes it. Without a `journal`, in memory, nothing is written."""

    def __init__(self, queue: str, journal: Journal | None, *, counts_attempts: bool) -> None:
        """Without `counts_attempts`, only durable acknowledgements are written."""
        self._queue = queue
        self._journal = journal
        self._counts_attempts = counts_attempts
        self._unwritten: list[JournalEntry] = []
        self._urgent = False

    @property
    def is_kept(self) -> bool:
        return self._journal is not None

    def begin(self, now_ns: int) -> None:
        if self._journal is not None and self._journal.end_offset:
            self._journal.write(now_ns, [JournalEntry(self._queue, now_ns)])

    def moved(self, now_ns: int, level: int, span: LeaseSpan, *counted: str) -> None:
        if self._journal is not None and self._counts_attempts:
            self._urgent = True
            entry = JournalEntry(self._queue, now_ns, level, span.offset, span.end, span.state, counted, span.lease)
            self._unwritten.append(entry)

    def finished(self, now_ns: int, level: int, first: int, end: int, *counted: str, urgent: bool) -> None:
        """Note finished messages. With `urgent` the next `flush` writes them, otherwise a later one may."""
        if self._journal is None or not (urgent or self._counts_attempts):
            return
        self._urgent = self._urgent or urgent
        last = self._unwritten[-1] if self._unwritten else None
        if last is not None and (last.level, last.end, last.counted, last.state) == (level, first, counted, _FINISHED):
            last.end = end
            return
        self._unwritten.append(JournalEntry(self._queue, now_ns, level, first, end, _FINISHED, counted))
        if len(self._unwritten) >= _MOST_UNWRITTEN:
            self.write(now_ns)

    def dead_lettered(self, now_ns: int, level: int, offset: int, letters: PartitionLog, *counted: str) -> None:
        """Note a message as finished once the last of `letters` is durable: a power cut must not lose both."""
        if (journal := self._journal) is None:
            return

        def durable(done: Reply[None]) -> None:
            if journal.letters.get(letters) is done:
                del journal.letters[letters]
            if done.error is None:
                self.finished(now_ns, level, offset, offset + 1, *counted, "dead_lettered", urgent=True)
                self.flush(now_ns)

        awaited = journal.letters[letters] = journal.durable(letters, letters.end_offset)
        awaited.then(durable)

    def flush(self, now_ns: int) -> None:
        if self._urgent:
            self.write(now_ns)

    def write(self, now_ns: int) -> Reply[None]:
        if self._journal is None or not self._unwritten:
            return Reply.of(None)
        entries, self._unwritten = self._unwritten, []
        self._urgent = False
        return self._journal.write(now_ns, entries)


def unknown_to(entries: list[tuple[int, JournalEntry]], journal_offset: int) -> list[JournalEntry]:
    """The entries of the present queue that a state saved at `journal_offset` does not include."""
    found: list[JournalEntry] = []
    for offset, entry in entries:
        if entry.level < 0:
            found.clear()
        elif offset >= journal_offset:
            found.append(entry)
    return found
