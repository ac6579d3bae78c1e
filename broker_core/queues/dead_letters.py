"""The bin for messages that were given up: a log of its own, and which of its messages are still in there.

A redrive appends to the origin first and removes after: one that is interrupted loses nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.messages import Message, StoredMessage
from broker_core.queues.dead_letter_record import decode, encode, original_of
from broker_core.queues.log_port import TopicPort
from broker_core.snapshots import AttemptView, DeadLetterView

Append = Callable[[Message], tuple[str, int, int]]  # to the origin; gives topic, partition and offset


class DeadLetterFilter(msgspec.Struct, frozen=True):
    """Which dead letters; "" and None mean any. `text` is looked for in key, value and headers, as UTF-8."""

    queue: str = ""
    cause: str = ""
    text: str = ""
    min_redrives: int = 0
    since_ns: int | None = None
    until_ns: int | None = None

    def accepts(self, letter: DeadLetterView) -> bool:
        """True where `letter` is one of them; `since_ns` and `until_ns` are inclusive and mean the time of death."""
        wanted = self.text.encode()
        return (
            (not self.queue or letter.queue == self.queue)
            and (not self.cause or letter.cause == self.cause)
            and letter.redrives >= self.min_redrives
            and (self.since_ns is None or letter.dead_ns >= self.since_ns)
            and (self.until_ns is None or letter.dead_ns <= self.until_ns)
            and (not wanted or any(wanted in part for part in _parts(letter)))
        )


def _parts(letter: DeadLetterView) -> Iterator[bytes]:
    yield letter.key or b""
    yield letter.value or b""
    for name, value in letter.headers:
        yield name.encode()
        yield value


class Redriven(msgspec.Struct, frozen=True, gc=False):
    """Dead letter `offset` is now message `to_offset` of its origin."""

    offset: int
    to_topic: str
    to_partition: int
    to_offset: int


class Refused(msgspec.Struct, frozen=True):
    """Dead letter `offset` stays as it was, because of `error`."""

    offset: int
    error: BrokerError


class RedriveResult(msgspec.Struct, frozen=True):
    """What became of each dead letter that a redrive was asked for."""

    redriven: tuple[Redriven, ...]
    refused: tuple[Refused, ...]


class PurgeResult(msgspec.Struct, frozen=True):
    """How many dead letters were taken out, and which could not be."""

    purged: int
    refused: tuple[Refused, ...]


class _Purge(msgspec.Struct, frozen=True):
    time_ns: int
    letters: dict[int, tuple[str, str]]


class DeadLetters:
    """The dead letters in one bin; several queues may share it."""

    def __init__(self, log: TopicPort, events: EventStream, *, undo_window_ms: float = 60_000.0) -> None:
        """Everything in partition 0 of `log` is a dead letter until `restore` says otherwise."""
        self.name = log.name
        self.purged = 0
        self._log = log.partitions[0]
        self._events = events
        self._undo_window_ns = ns_from_ms(undo_window_ms)
        self._live: dict[int, tuple[str, str]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._redriven: Counter[str] = Counter()
        self._purges: list[_Purge] = []
        self._find(self._log.start_offset)

    # -- looking

    def count(self, queue: str = "") -> int:
        """How many there are, of `queue` or of all."""
        return sum(count for (owner, _), count in self._counts.items() if not queue or owner == queue)

    def redriven(self, queue: str = "") -> int:
        """How many were redriven, of `queue` or of all."""
        return self._redriven[queue] if queue else self._redriven.total()

    def by_cause(self, queue: str = "") -> dict[str, int]:
        """How many died of each cause, the most frequent first."""
        causes: Counter[str] = Counter()
        for (owner, cause), count in self._counts.items():
            if count and (not queue or owner == queue):
                causes[cause] += count
        return dict(sorted(causes.items(), key=lambda item: (-item[1], item[0])))

    def get(self, offset: int) -> DeadLetterView:
        """The dead letter at `offset` of the bin. Raises UNKNOWN_DEAD_LETTER, DAMAGED."""
        return decode(self._stored(offset))

    def list(
        self, only: DeadLetterFilter | None = None, offset: int = 0, limit: int = 100
    ) -> tuple[DeadLetterView, ...]:
        """At most `limit` dead letters from `offset` of the bin on, the oldest first."""
        letters = (self.get(place) for place in self._live if place >= offset)
        return tuple(islice((letter for letter in letters if only is None or only.accepts(letter)), limit))

    def newest(self, queue: str, limit: int) -> tuple[DeadLetterView, ...]:
        """The last `limit` dead letters of `queue`, the oldest of them first."""
        places = (place for place in reversed(self._live) if self._live[place][0] == queue)
        return tuple(self.get(place) for place in [*islice(places, limit)][::-1])

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

        `attempt` is the number of the last one, where `attempts` does not tell of all. Raises what the log does.
        """
        place = self._log.append_batch(now_ns, [encode(now_ns, stored, queue, cause, attempts)]).base_offset
        self._add(place, (queue, cause))
        self._events.emit(
            now_ns,
            EventKind.DEAD_LETTERED,
            topic=stored.topic,
            partition=stored.partition,
            offset=stored.offset,
            count=1,
            size_bytes=stored.size_bytes,
            client=attempts[-1].holder if attempts else "",
            group=queue,
            attempt=len(attempts) if attempt is None else attempt,
            published_ns=stored.published_ns,
            key=stored.key,
            cause=cause,
            to_topic=self.name,
            to_partition=0,
            to_offset=place,
        )
        return place

    def redrive(
        self,
        now_ns: int,
        offsets: Iterable[int],
        *,
        append: Append,
        client: str = "user",
        edits: Mapping[int, Message] | None = None,
    ) -> RedriveResult:
        """Append each to its origin, and take it out of the bin after.

        `edits` holds what to append in place of the original; its redrives are counted all the same. One that is gone,
        or that `append` refuses with a `BrokerError`, is reported and stays; the rest goes on.
        """
        redriven: list[Redriven] = []
        refused: list[Refused] = []
        for offset in dict.fromkeys(offsets):
            try:
                stored = self._stored(offset)
                letter = decode(stored)
                message = original_of(stored)
                edited = edits.get(offset) if edits else None
                if edited is not None:
                    message = msgspec.structs.replace(edited, headers=(*edited.headers, message.headers[-1]))
                topic, partition, to_offset = append(message)
            except BrokerError as error:
                refused.append(Refused(offset, error))
                continue
            self._remove(offset)
            self._redriven[letter.queue] += 1
            redriven.append(Redriven(offset, topic, partition, to_offset))
            self._events.emit(
                now_ns,
                EventKind.REDRIVEN,
                topic=self.name,
                partition=0,
                offset=offset,
                count=1,
                size_bytes=stored.size_bytes,
                client=client,
                group=letter.queue,
                published_ns=letter.published_ns,
                key=letter.key,
                cause=letter.cause,
                to_topic=topic,
                to_partition=partition,
                to_offset=to_offset,
            )
        return RedriveResult(tuple(redriven), tuple(refused))

    def purge(self, now_ns: int, offsets: Sequence[int] | None = None, client: str = "user") -> PurgeResult:
        """Take out these, or all; `undo_purge` brings them back for a while. What is gone already is reported."""
        taken: dict[int, tuple[str, str]] = {}
        refused: list[Refused] = []
        for offset in tuple(self._live) if offsets is None else dict.fromkeys(offsets):
            try:
                stored = self._stored(offset)
            except BrokerError as error:
                refused.append(Refused(offset, error))
                continue
            queue, cause = taken[offset] = self._remove(offset)
            self._events.emit(
                now_ns,
                EventKind.PURGED,
                topic=self.name,
                partition=0,
                offset=offset,
                count=1,
                size_bytes=stored.size_bytes,
                client=client,
                group=queue,
                published_ns=stored.published_ns,
                key=stored.key,
                cause=cause,
            )
        self.purged += len(taken)
        self._forget_old_purges(now_ns)
        if taken:
            self._purges.append(_Purge(now_ns, taken))
        return PurgeResult(len(taken), tuple(refused))

    def undo_purge(self, now_ns: int, client: str = "user") -> int:
        """Bring back what the last purge took, unless it was too long ago; how many dead letters that is."""
        self._forget_old_purges(now_ns)
        if not self._purges:
            return 0
        letters = self._purges.pop().letters
        for offset, owner in letters.items():
            self._add(offset, owner)
        self._live = dict(sorted(self._live.items()))
        self._events.emit(
            now_ns,
            EventKind.USER_ACTION,
            topic=self.name,
            count=len(letters),
            client=client,
            cause="undo purge",
            detail={"offsets": [*letters]},
        )
        return len(letters)

    # -- inside

    def _find(self, offset: int) -> None:
        """Every dead letter in the log from `offset` on is live."""
        while offset < self._log.end_offset:
            for stored in self._log.read(offset, max_messages=1_000):
                letter = decode(stored)
                self._add(stored.offset, (letter.queue, letter.cause))
                offset = stored.offset + 1

    def _stored(self, offset: int) -> StoredMessage:
        if offset not in self._live:
            raise BrokerError(ErrorCode.UNKNOWN_DEAD_LETTER, f"{offset} in {self.name}")
        return self._log.message(offset)

    def _add(self, offset: int, owner: tuple[str, str]) -> None:
        self._live[offset] = owner
        self._counts[owner] += 1

    def _remove(self, offset: int) -> tuple[str, str]:
        owner = self._live.pop(offset)
        self._counts[owner] -= 1
        if not self._counts[owner]:
            del self._counts[owner]
        return owner

    def _forget_old_purges(self, now_ns: int) -> None:
        self._purges = [purge for purge in self._purges if now_ns - purge.time_ns <= self._undo_window_ns]
