from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from itertools import islice

import msgspec

from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError, ErrorCode, Suppress
from broker_core.events import UNDO_PURGE, EventKind, EventStream
from broker_core.limits import UNDO_WINDOW_MS
from broker_core.log.topic_log import TopicLog
from broker_core.messages import Message, StoredMessage
from broker_core.queues.dead_letter_record import Edits, decode, encode, with_redrive
from broker_core.settings import Count, checked
from broker_core.snapshots import AttemptView, DeadLetterView

QueueAndCause = tuple[str, str]


class LiveDeadLetters:
    """Offsets in order, with the queue and the cause of each, and their counts."""

    def __init__(self) -> None:
        self._by_offset: dict[int, QueueAndCause] = {}
        self._counts: Counter[QueueAndCause] = Counter()

    def __contains__(self, offset: int) -> bool:
        return offset in self._by_offset

    def __iter__(self) -> Iterator[int]:
        return iter(self._by_offset)

    def add(self, offset: int, queue_and_cause: QueueAndCause) -> None:
        self._by_offset[offset] = queue_and_cause
        self._counts[queue_and_cause] += 1

    def bring_back(self, removed: dict[int, QueueAndCause]) -> None:
        for offset, queue_and_cause in removed.items():
            self.add(offset, queue_and_cause)
        self._by_offset = dict(sorted(self._by_offset.items()))

    def remove(self, offset: int) -> QueueAndCause:
        queue_and_cause = self._by_offset.pop(offset)
        self._counts[queue_and_cause] -= 1
        if not self._counts[queue_and_cause]:
            del self._counts[queue_and_cause]
        return queue_and_cause

    def trim(self, start_offset: int) -> None:
        for offset in [offset for offset in self._by_offset if offset < start_offset]:
            self.remove(offset)

    def keep_only(self, runs: tuple[tuple[int, int], ...], end_offset: int) -> None:
        kept = {offset for first, count in runs for offset in range(first, first + count)}
        for offset in [offset for offset in self._by_offset if offset < end_offset and offset not in kept]:
            self.remove(offset)

    def runs(self) -> tuple[tuple[int, int], ...]:
        runs: list[tuple[int, int]] = []
        for offset in self._by_offset:
            if runs and sum(runs[-1]) == offset:
                runs[-1] = (runs[-1][0], runs[-1][1] + 1)
            else:
                runs.append((offset, 1))
        return tuple(runs)

    def newest(self, queue: str) -> Iterator[int]:
        return (offset for offset, (its_queue, _cause) in reversed(self._by_offset.items()) if its_queue == queue)

    def count(self, queue: str) -> int:
        return sum(count for (its_queue, _cause), count in self._counts.items() if not queue or its_queue == queue)

    def by_cause(self, queue: str) -> dict[str, int]:
        causes: Counter[str] = Counter()
        for (its_queue, cause), count in self._counts.items():
            if not queue or its_queue == queue:
                causes[cause] += count
        return dict(sorted(causes.items(), key=lambda item: (-item[1], item[0])))


_VIEWS_KEPT = 2_048  # decoded dead letters, for a window that reads the same ones many times a second
_SMALL_BYTES = 4_096  # larger ones are decoded each time

Append = Callable[[Message], tuple[str, int, int]]  # to the origin; returns (topic, partition, offset)
Withdraw = Callable[[str, int, int], bool]  # (topic, partition, offset) -> False if the message was delivered


class Refused(msgspec.Struct, frozen=True):
    """Dead letter `offset` is unchanged because of `error`, a code, which `message` tells in a sentence."""

    offset: int
    error: str
    message: str

    @classmethod
    def of(cls, offset: int, error: BrokerError) -> Refused:
        return cls(offset, error.code.name, str(error))


class Redriven(msgspec.Struct, frozen=True, gc=False):
    """Dead letter `offset` was appended to its origin at `to_offset`."""

    offset: int
    to_topic: str
    to_partition: int
    to_offset: int


class RedriveResult(msgspec.Struct, frozen=True):
    """The result of a redrive for each dead letter."""

    redriven: tuple[Redriven, ...]
    refused: tuple[Refused, ...]


class Redrivable(msgspec.Struct, frozen=True):
    """The message that a redrive of dead letter `offset` would append, and its origin."""

    offset: int
    origin_topic: str
    origin_partition: int
    message: Message


class RedrivePreview(msgspec.Struct, frozen=True):
    """The result that a redrive would have."""

    redrivable: tuple[Redrivable, ...]
    refused: tuple[Refused, ...]


class PurgeResult(msgspec.Struct, frozen=True):
    """The number of purged dead letters, and those that could not be purged."""

    purged: int
    refused: tuple[Refused, ...]


class DeadLettersState(msgspec.Struct, frozen=True):
    """State besides the log: the live offsets below `end_offset` as (offset, count) runs, and totals."""

    end_offset: int
    live: tuple[tuple[int, int], ...]
    redriven: dict[str, int]
    purged: int
    restored: int


class _Undoable(msgspec.Struct, frozen=True):
    time_ns: int
    removed: dict[int, QueueAndCause]  # by offset
    redriven: tuple[Redriven, ...] = ()


class DeadLetters:
    """The dead letters in one log, by queue. `purged` and `restored` (by an undo) are totals."""

    def __init__(self, log: TopicLog, events: EventStream, *, undo_window_ms: float = UNDO_WINDOW_MS) -> None:
        """All messages in partition 0 of `log` are dead letters until `restore`."""
        self.name = log.name
        self.purged = 0
        self.restored = 0
        self.log = log.partitions[0]
        self._events = events
        self._undo_window_ns = ns_from_ms(undo_window_ms)
        self._redriven_counts: Counter[str] = Counter()
        self._purges: deque[_Undoable] = deque()  # oldest first
        self._redrives: deque[_Undoable] = deque()
        self._live = LiveDeadLetters()
        self._views: dict[int, DeadLetterView] = {}
        self.on_added: Callable[[int, StoredMessage, str, int], object] | None = None  # time, message, cause, attempts
        self._trimmed_to = self.log.start_offset
        for offset in range(self.log.start_offset, self.log.end_offset):
            try:
                dead_letter = decode(self.log.message(offset))
            except BrokerError:
                continue  # corrupt, or published by a client
            self._live.add(offset, (dead_letter.queue, dead_letter.cause))

    # -- queries

    def count(self, queue: str = "") -> int:
        return self._live.count(queue)

    def redriven(self, queue: str = "") -> int:
        return self._redriven_counts[queue] if queue else self._redriven_counts.total()

    def by_cause(self, queue: str = "") -> dict[str, int]:
        return self._live.by_cause(queue)

    def holds(self, offset: int) -> bool:
        return offset in self._live

    def get(self, offset: int) -> DeadLetterView:
        """The dead letter at `offset`. Raises UNKNOWN_DEAD_LETTER, DAMAGED."""
        self._trim()
        dead_letter = self._views.get(offset)
        if dead_letter is None or offset not in self._live:
            dead_letter = decode(stored := self._stored(offset))
            if stored.size_bytes <= _SMALL_BYTES:
                if len(self._views) >= _VIEWS_KEPT:
                    del self._views[next(iter(self._views))]
                self._views[offset] = dead_letter
        return dead_letter

    @checked
    def list(
        self, accepts: Callable[[DeadLetterView], bool] | None = None, offset: int = 0, limit: Count | None = 100
    ) -> tuple[DeadLetterView, ...]:
        """Up to `limit` dead letters from `offset` on, the oldest first, without corrupt ones."""
        self._trim()
        return tuple(islice(filter(accepts, self._decoded(each for each in self._live if each >= offset)), limit))

    def offsets(self, queue: str) -> Sequence[int]:
        self._trim()
        return [*self._live.newest(queue)][::-1]

    def newest(self, queue: str, limit: int) -> tuple[DeadLetterView, ...]:
        self._trim()
        return tuple([*islice(self._decoded(self._live.newest(queue)), limit)][::-1])

    # -- changes

    def add(
        self,
        now_ns: int,
        stored: StoredMessage,
        queue: str,
        cause: str,
        attempts: tuple[AttemptView, ...],
        attempt: int | None = None,
    ) -> int:
        """Append a message that `queue` dead-letters. Returns its offset in the dead letter queue.

        `attempt` is the number of the last attempt, if `attempts` does not hold all. A message that a schema kept out
        of its topic has offset -1; its event has no offset and no group. Raises the errors of the log.
        """
        was_there = stored.offset >= 0
        offset = self.log.append_batch(now_ns, [encode(now_ns, stored, queue, cause, attempts)]).base_offset
        self._live.add(offset, (queue, cause))
        self._events.emit(
            now_ns,
            EventKind.DEAD_LETTERED,
            topic=stored.topic,
            partition=stored.partition if was_there else None,
            offset=stored.offset if was_there else None,
            count=1,
            size_bytes=stored.size_bytes,
            client=attempts[-1].holder if attempts else "",
            group=queue if was_there else "",
            attempt=len(attempts) if attempt is None else attempt,
            published_ns=stored.published_ns,
            key=stored.key,
            cause=cause,
            to_topic=self.name,
            to_partition=0,
            to_offset=offset,
        )
        if self.on_added is not None:
            self.on_added(now_ns, stored, cause, len(attempts) if attempt is None else attempt)
        return offset

    def preview(self, offsets: Iterable[int], edits: Edits | None = None) -> RedrivePreview:
        refused: list[Refused] = []
        redrivable = [
            Redrivable(offset, view.origin_topic, view.origin_partition, _message_to_append(stored, offset, edits))
            for offset, stored, view in self._each(offsets, refused)
        ]
        return RedrivePreview(tuple(redrivable), tuple(refused))

    def redrive(
        self, now_ns: int, offsets: Iterable[int], *, append: Append, client: str = "user", edits: Edits | None = None
    ) -> RedriveResult:
        """Append each dead letter to its origin, then remove it here: an interrupted redrive loses no message.

        `edits` holds replacements or changes by offset. A dead letter that is gone, or that `append` refuses with a
        `BrokerError`, is reported in `refused`; the others are not affected.
        """
        redriven: list[Redriven] = []
        removed: dict[int, QueueAndCause] = {}
        refused: list[Refused] = []
        for offset, stored, dead_letter in self._each(offsets, refused):
            try:
                to = append(_message_to_append(stored, offset, edits))
            except BrokerError as error:
                refused.append(Refused.of(offset, error))
                continue
            removed[offset] = self._live.remove(offset)
            self._redriven_counts[dead_letter.queue] += 1
            redriven.append(Redriven(offset, *to))
            self._gone(now_ns, EventKind.REDRIVEN, stored, dead_letter, client, to)
        if redriven:
            self._in_time(now_ns, self._redrives).append(_Undoable(now_ns, removed, tuple(redriven)))
        return RedriveResult(tuple(redriven), tuple(refused))

    def last_redriven(self, now_ns: int) -> tuple[Redriven, ...]:
        """The messages that `undo_redrive` would take back."""
        return self._redrives[-1].redriven if self.can_undo_redrive(now_ns) else ()

    def undo_redrive(self, now_ns: int, *, withdraw: Withdraw, client: str = "user") -> tuple[Redriven, ...]:
        """Undo the last redrive: messages that `withdraw` can still remove from their origin are dead letters again.

        Returns those; () if the undo window is over. Totals of redriven messages stay. A second call undoes the redrive
        before.
        """
        if not self.can_undo_redrive(now_ns):
            return ()
        last = self._redrives[-1]
        back = tuple(each for each in last.redriven if withdraw(each.to_topic, each.to_partition, each.to_offset))
        self._redrives.pop()
        self._bring_back(now_ns, {each.offset: last.removed[each.offset] for each in back}, "undo redrive", client)
        return back

    def purge(self, now_ns: int, offsets: Iterable[int] | None = None, client: str = "user") -> PurgeResult:
        """Remove the dead letters at `offsets`, or all. `undo_purge` restores them within the undo window."""
        removed: dict[int, QueueAndCause] = {}
        refused: list[Refused] = []
        self._trim()
        for offset, stored, dead_letter in self._each(self._live if offsets is None else offsets, refused):
            removed[offset] = self._live.remove(offset)
            self._gone(now_ns, EventKind.PURGED, stored, dead_letter, client)
        if removed:
            self.purged += len(removed)
            self._in_time(now_ns, self._purges).append(_Undoable(now_ns, removed))
        return PurgeResult(len(removed), tuple(refused))

    def can_undo_purge(self, now_ns: int) -> bool:
        return bool(self._in_time(now_ns, self._purges))

    def can_undo_redrive(self, now_ns: int) -> bool:
        return bool(self._in_time(now_ns, self._redrives))

    def undo_purge(self, now_ns: int, client: str = "user") -> int:
        """Restore the dead letters of the last purge within the undo window. Returns their number."""
        if not self.can_undo_purge(now_ns):
            return 0
        last = self._purges.pop()
        start = self.log.start_offset
        back = {offset: queue_and_cause for offset, queue_and_cause in last.removed.items() if offset >= start}
        self._bring_back(now_ns, back, UNDO_PURGE, client)
        return len(back)

    # -- restart

    def state(self) -> DeadLettersState:
        live = self._live.runs()
        return DeadLettersState(self.log.end_offset, live, dict(self._redriven_counts), self.purged, self.restored)

    def restore(self, state: DeadLettersState) -> None:
        """Continue from `state`. Dead letters added since are kept; those redriven since are dead letters again."""
        self._live.keep_only(state.live, state.end_offset)
        self._redriven_counts = Counter(state.redriven)
        self.purged, self.restored = state.purged, state.restored

    # -- inside

    def _in_time(self, now_ns: int, undoable: deque[_Undoable]) -> deque[_Undoable]:
        while undoable and now_ns - undoable[0].time_ns > self._undo_window_ns:
            undoable.popleft()
        return undoable

    def _trim(self) -> None:
        if self.log.start_offset > self._trimmed_to:
            self._trimmed_to = self.log.start_offset
            self._live.trim(self._trimmed_to)

    def _decoded(self, offsets: Iterable[int]) -> Iterable[DeadLetterView]:
        for offset in offsets:
            with Suppress(ErrorCode.DAMAGED):
                yield self.get(offset)

    def _each(
        self, offsets: Iterable[int], refused: MutableSequence[Refused]
    ) -> Iterator[tuple[int, StoredMessage, DeadLetterView]]:
        for offset in dict.fromkeys(offsets):
            try:
                stored = self._stored(offset)
                dead_letter = decode(stored)
            except BrokerError as error:
                refused.append(Refused.of(offset, error))
            else:
                yield offset, stored, dead_letter

    def _stored(self, offset: int) -> StoredMessage:
        self._trim()
        if offset not in self._live:
            raise BrokerError(ErrorCode.UNKNOWN_DEAD_LETTER, f"{offset} in {self.name}")
        # It need not be durable: a crash that loses it leaves its message in the queue.
        return self.log.message(offset, unsynced=True)

    def _bring_back(self, now_ns: int, back: dict[int, QueueAndCause], what: str, client: str) -> None:
        if back:
            self._live.bring_back(back)
            self.restored += len(back)
            self._events.emit_action(
                now_ns, topic=self.name, count=len(back), client=client, cause=what, detail={"offsets": [*back]}
            )

    def _gone(
        self,
        now_ns: int,
        kind: EventKind,
        stored: StoredMessage,
        dead_letter: DeadLetterView,
        client: str,
        to: tuple[str, int | None, int | None] = ("", None, None),
    ) -> None:
        self._events.emit(
            now_ns,
            kind,
            topic=self.name,
            partition=0,
            offset=stored.offset,
            count=1,
            size_bytes=stored.size_bytes,
            client=client,
            group=dead_letter.queue,
            published_ns=dead_letter.published_ns,
            key=stored.key,
            cause=dead_letter.cause,
            to_topic=to[0],
            to_partition=to[1],
            to_offset=to[2],
        )


def _message_to_append(stored: StoredMessage, offset: int, edits: Edits | None) -> Message:
    return with_redrive(stored, edits.get(offset) if edits else None)
