"""The bin for messages that were given up: a log of its own, and which of its messages are still in there.

A redrive appends to the origin first and removes after: one that is interrupted loses nothing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import msgspec

from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.limits import UNDO_WINDOW_MS
from broker_core.messages import Message, StoredMessage
from broker_core.queues.dead_letter_edit import Edits
from broker_core.queues.dead_letter_filter import DeadLetterFilter
from broker_core.queues.dead_letter_record import decode, encode, with_redrive
from broker_core.queues.live_dead_letters import LiveDeadLetters, Owner
from broker_core.queues.log_port import TopicPort
from broker_core.snapshots import AttemptView, DeadLetterView

_VIEWS_KEPT = 2_048  # decoded dead letters, for a window that shows the same ones many times a second
_SMALL_BYTES = 4_096  # larger ones are decoded each time

Append = Callable[[Message], tuple[str, int, int]]  # to the origin; gives topic, partition and offset
Withdraw = Callable[[str, int, int], bool]  # topic, partition, offset: True where nobody has seen the message yet


class Refused(msgspec.Struct, frozen=True):
    """Dead letter `offset` stays as it was, because of `error`."""

    offset: int
    error: BrokerError


class Redriven(msgspec.Struct, frozen=True, gc=False):
    """Dead letter `offset` is now message `to_offset` of its origin."""

    offset: int
    to_topic: str
    to_partition: int
    to_offset: int


class RedriveResult(msgspec.Struct, frozen=True):
    """What became of each dead letter that was to be redriven."""

    redriven: tuple[Redriven, ...]
    refused: tuple[Refused, ...]


class Redrivable(msgspec.Struct, frozen=True):
    """What a redrive of dead letter `offset` would append, and where it came from."""

    offset: int
    origin_topic: str
    origin_partition: int
    message: Message


class RedrivePreview(msgspec.Struct, frozen=True):
    """What a redrive would do."""

    redrivable: tuple[Redrivable, ...]
    refused: tuple[Refused, ...]


class PurgeResult(msgspec.Struct, frozen=True):
    """How many dead letters were taken out, and which could not be."""

    purged: int
    refused: tuple[Refused, ...]


class DeadLettersState(msgspec.Struct, frozen=True):
    """What the bin's log does not tell: which offsets below `end_offset` are left, as (offset, count) runs; totals."""

    end_offset: int
    live: tuple[tuple[int, int], ...]
    redriven: dict[str, int]
    purged: int
    restored: int


class _Removal(msgspec.Struct, frozen=True):
    time_ns: int
    owners: dict[int, Owner]
    redriven: tuple[Redriven, ...] = ()


class DeadLetters:
    """The dead letters in one bin, told apart by their queues. `purged` and `restored` (by an undo) are totals.

    A broker gives each queue a bin of its own.
    """

    def __init__(self, log: TopicPort, events: EventStream, *, undo_window_ms: float = UNDO_WINDOW_MS) -> None:
        """Everything in partition 0 of `log` is a dead letter until `restore` says otherwise."""
        self.name = log.name
        self.purged = 0
        self.restored = 0
        self._log = log.partitions[0]
        self._events = events
        self._undo_window_ns = ns_from_ms(undo_window_ms)
        self._redriven: Counter[str] = Counter()
        self._purges: deque[_Removal] = deque()  # that can be undone, the last one last
        self._redrives: deque[_Removal] = deque()
        self._live = LiveDeadLetters()
        self._views: dict[int, DeadLetterView] = {}
        self._trimmed_to = self._log.start_offset
        for offset in range(self._log.start_offset, self._log.end_offset):
            try:
                letter = decode(self._log.message(offset))
            except BrokerError:
                continue  # damaged, or published by somebody who took the bin for a topic
            self._live.add(offset, (letter.queue, letter.cause))

    # -- looking

    def count(self, queue: str = "") -> int:
        """How many there are, of `queue` or of all."""
        return self._live.count(queue)

    def redriven(self, queue: str = "") -> int:
        """How many were redriven, of `queue` or of all."""
        return self._redriven[queue] if queue else self._redriven.total()

    def by_cause(self, queue: str = "") -> dict[str, int]:
        """How many died of each cause, the most frequent first."""
        return self._live.by_cause(queue)

    def holds(self, offset: int) -> bool:
        """True where the dead letter at `offset` of the bin is still in there."""
        return offset in self._live

    def get(self, offset: int) -> DeadLetterView:
        """The dead letter at `offset` of the bin. Raises UNKNOWN_DEAD_LETTER, DAMAGED."""
        self._trim()
        letter = self._views.get(offset)
        if letter is None or offset not in self._live:
            letter = decode(stored := self._stored(offset))
            if stored.size_bytes <= _SMALL_BYTES:
                if len(self._views) >= _VIEWS_KEPT:
                    del self._views[next(iter(self._views))]
                self._views[offset] = letter
        return letter

    def list(
        self, only: DeadLetterFilter | None = None, offset: int = 0, limit: int | None = 100
    ) -> tuple[DeadLetterView, ...]:
        """At most `limit` dead letters from `offset` of the bin on, the oldest first, without damaged ones."""
        self._trim()
        letters = self._letters(place for place in self._live if place >= offset)
        return tuple(islice((letter for letter in letters if only is None or only.accepts(letter)), limit))

    def offsets(self, queue: str) -> Sequence[int]:
        """Where the dead letters of `queue` are, the oldest first."""
        self._trim()
        return [*self._live.newest(queue)][::-1]

    def newest(self, queue: str, limit: int) -> tuple[DeadLetterView, ...]:
        """The last `limit` dead letters of `queue`, the oldest of them first."""
        self._trim()
        return tuple([*islice(self._letters(self._live.newest(queue)), limit)][::-1])

    # -- in and out

    def bury(
        self,
        now_ns: int,
        stored: StoredMessage,
        queue: str,
        cause: str,
        attempts: tuple[AttemptView, ...],
        attempt: int | None = None,
    ) -> int:
        """Put a message that `queue` has given up into the bin; its offset there.

        `attempt` is the number of the last one, where `attempts` does not tell of all. One that a schema kept out of
        its topic has offset -1; its event has no place and no group. Raises what the log does.
        """
        was_there = stored.offset >= 0
        place = self._log.append_batch(now_ns, [encode(now_ns, stored, queue, cause, attempts)]).base_offset
        self._live.add(place, (queue, cause))
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
            to_offset=place,
        )
        return place

    def is_durable(self, offset: int) -> bool:
        """Whether the dead letter there is as durable as the bin promises."""
        return offset < self._log.high_watermark

    def preview(self, offsets: Iterable[int], edits: Edits | None = None) -> RedrivePreview:
        """What `redrive` would do; nothing is done."""
        redrivable: list[Redrivable] = []
        refused: list[Refused] = []
        for offset in dict.fromkeys(offsets):
            try:
                stored = self._stored(offset)
                letter = decode(stored)
            except BrokerError as error:
                refused.append(Refused(offset, error))
            else:
                message = with_redrive(stored, edits.get(offset) if edits else None)
                redrivable.append(Redrivable(offset, letter.origin_topic, letter.origin_partition, message))
        return RedrivePreview(tuple(redrivable), tuple(refused))

    def redrive(
        self,
        now_ns: int,
        offsets: Iterable[int],
        *,
        append: Append,
        client: str = "user",
        edits: Edits | None = None,
    ) -> RedriveResult:
        """Append each to its origin, and take it out of the bin after.

        `edits` holds what to append in place of the original, or what to change of it; its redrives are counted all the
        same. One that is gone, or that `append` refuses with a `BrokerError`, is reported and stays; the rest goes on.
        """
        redriven: list[Redriven] = []
        owners: dict[int, Owner] = {}
        refused: list[Refused] = []
        for offset in dict.fromkeys(offsets):
            try:
                stored = self._stored(offset)
                letter = decode(stored)
                place = append(with_redrive(stored, edits.get(offset) if edits else None))
            except BrokerError as error:
                refused.append(Refused(offset, error))
                continue
            owners[offset] = self._live.remove(offset)
            self._redriven[letter.queue] += 1
            redriven.append(Redriven(offset, *place))
            self._gone(now_ns, EventKind.REDRIVEN, stored, letter, client, place)
        if redriven:
            self._in_time(now_ns, self._redrives).append(_Removal(now_ns, owners, tuple(redriven)))
        return RedriveResult(tuple(redriven), tuple(refused))

    def last_redriven(self, now_ns: int) -> tuple[Redriven, ...]:
        """What `undo_redrive` would take back."""
        return self._redrives[-1].redriven if self.can_undo_redrive(now_ns) else ()

    def undo_redrive(self, now_ns: int, *, withdraw: Withdraw, client: str = "user") -> tuple[Redriven, ...]:
        """Take back the last redrive: those that `withdraw` can still take out of their origin are dead letters again.

        Gives those; none where the redrive is too long ago. Totals of what was redriven stay. Called again, it takes
        back the redrive before.
        """
        if not self.can_undo_redrive(now_ns):
            return ()
        last = self._redrives[-1]
        back = tuple(place for place in last.redriven if withdraw(place.to_topic, place.to_partition, place.to_offset))
        self._redrives.pop()
        self._bring_back(now_ns, {place.offset: last.owners[place.offset] for place in back}, "undo redrive", client)
        return back

    def purge(self, now_ns: int, offsets: Iterable[int] | None = None, client: str = "user") -> PurgeResult:
        """Take out these, or all; `undo_purge` brings them back for a while. What is gone already is reported."""
        owners: dict[int, Owner] = {}
        refused: list[Refused] = []
        self._trim()
        for offset in dict.fromkeys(self._live if offsets is None else offsets):
            try:
                stored = self._stored(offset)
                letter = decode(stored)
            except BrokerError as error:
                refused.append(Refused(offset, error))
                continue
            owners[offset] = self._live.remove(offset)
            self._gone(now_ns, EventKind.PURGED, stored, letter, client)
        if owners:
            self.purged += len(owners)
            self._in_time(now_ns, self._purges).append(_Removal(now_ns, owners))
        return PurgeResult(len(owners), tuple(refused))

    def can_undo_purge(self, now_ns: int) -> bool:
        """Whether there is a purge that is not too long ago."""
        return bool(self._in_time(now_ns, self._purges))

    def can_undo_redrive(self, now_ns: int) -> bool:
        """Whether there is a redrive that is not too long ago."""
        return bool(self._in_time(now_ns, self._redrives))

    def undo_purge(self, now_ns: int, client: str = "user") -> int:
        """Bring back what the last purge took, unless it was too long ago; how many dead letters that is.

        Called again, it brings back what the purge before it took.
        """
        if not self.can_undo_purge(now_ns):
            return 0
        last = self._purges.pop()
        start = self._log.start_offset
        owners = {offset: owner for offset, owner in last.owners.items() if offset >= start}
        self._bring_back(now_ns, owners, "undo purge", client)
        return len(owners)

    # -- restart

    def state(self) -> DeadLettersState:
        """What must be kept, besides the bin's log, so that a restart goes on from here."""
        live = self._live.runs()
        return DeadLettersState(self._log.end_offset, live, dict(self._redriven), self.purged, self.restored)

    def restore(self, state: DeadLettersState) -> None:
        """Go on from `state`; what was buried after it was taken is kept, what was redriven after it is there again."""
        self._live.keep_only(state.live, state.end_offset)
        self._redriven = Counter(state.redriven)
        self.purged, self.restored = state.purged, state.restored

    # -- inside

    def _in_time(self, now_ns: int, purge_log: deque[_Removal]) -> deque[_Removal]:
        """`purge_log`, without those that are too long ago."""
        while purge_log and now_ns - purge_log[0].time_ns > self._undo_window_ns:
            purge_log.popleft()
        return purge_log

    def _trim(self) -> None:
        """Retention may have deleted dead letters."""
        if self._log.start_offset > self._trimmed_to:
            self._trimmed_to = self._log.start_offset
            self._live.trim(self._trimmed_to)

    def _letters(self, offsets: Iterable[int]) -> Iterable[DeadLetterView]:
        for offset in offsets:
            try:
                yield self.get(offset)
            except BrokerError as error:
                if error.code is not ErrorCode.DAMAGED:
                    raise

    def _stored(self, offset: int) -> StoredMessage:
        self._trim()
        if offset not in self._live:
            raise BrokerError(ErrorCode.UNKNOWN_DEAD_LETTER, f"{offset} in {self.name}")
        # Who sees it does not rely on it: a crash that takes it away leaves its message in the queue.
        return self._log.message(offset, unsynced=True)

    def _bring_back(self, now_ns: int, owners: dict[int, Owner], what: str, client: str) -> None:
        if owners:
            self._live.bring_back(owners)
            self.restored += len(owners)
            self._events.emit(
                now_ns,
                EventKind.USER_ACTION,
                topic=self.name,
                count=len(owners),
                client=client,
                cause=what,
                detail={"offsets": [*owners]},
            )

    def _gone(
        self,
        now_ns: int,
        kind: EventKind,
        stored: StoredMessage,
        letter: DeadLetterView,
        client: str,
        place: tuple[str, int | None, int | None] = ("", None, None),
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
            group=letter.queue,
            published_ns=letter.published_ns,
            key=stored.key,
            cause=letter.cause,
            to_topic=place[0],
            to_partition=place[1],
            to_offset=place[2],
        )
