"""Owners of partitions, and gaps without a reader: one reducer over the event stream, from its first event on.

Any moment can be read from it. FORMAT.md says what counts; the report computes the same from the recording.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal, NamedTuple

from broker_core.broker.partition_owners import GroupPlace as Place
from broker_core.events import Event, EventKind

SPANS_KEPT = 200  # of one partition
GAPS_KEPT = 100_000  # of all; the oldest rebalances are forgotten beyond
Reader = tuple[str, str]  # group, member id
Rebalance = tuple[str, int]  # group, time at which it started
Loss = Literal["", "crash", "pause", "silence"]
_STOPS: dict[str, Loss] = {"crash": "crash", "pause": "pause"}  # faults after which a member reads nothing


class Span(NamedTuple):
    """A partition was `owner`'s from `start_ns` to `end_ns`, None while it is. An owner that loses it reads on
    (`reads_on`) until its next heartbeat; `last_late_read_ns` is the last time it was given something after its end.
    """

    owner: str
    start_ns: int
    end_ns: int | None
    reads_on: bool = False
    last_late_read_ns: int | None = None


@dataclass(slots=True)
class Owned:
    """A time in which a partition was one member's, from its beginning to its end, both with the event that told it.
    Of one that was not seen to begin, only the end is known. Where the partition then had no reader, `lost_ns` is since
    when and `cause` why; `first_late_read_*` is the first delivery to the owner after its end, `last_late_read_ns` the
    last. `first_read_*` is when its own reading began.
    """

    owner: str
    member: str
    start_ns: int
    start_seq: int = 0
    generation: int | None = None
    end_ns: int | None = None
    end_seq: int | None = None
    lost_ns: int | None = None
    cause: Loss = ""
    began: bool = True
    came_back: bool = False
    first_late_read_seq: int = 0
    first_late_read_ns: int = 0
    last_late_read_ns: int | None = None
    first_read_ns: int | None = None
    first_read_seq: int = 0
    next_owned: Owned | None = field(default=None, compare=False, repr=False)

    def at(self, time_ns: int, events: int, is_last: bool) -> Span:
        """The ownership as known at `time_ns`, after `events` events; `is_last` if there was no later owner then."""
        if self.end_ns is None or self.end_seq is None or self.end_seq >= events or self.end_ns > time_ns:
            return Span(self.owner, self.start_ns, None)
        if not is_last:
            return Span(self.owner, self.start_ns, self.end_ns, last_late_read_ns=self.last_late_read_ns)
        reads_on = self.first_late_read_seq < events and self.first_late_read_ns <= time_ns
        return Span(self.owner, self.start_ns, self.end_ns, self.last_late_read_ns is not None and reads_on)

    def gap(self, place: Place) -> Gap:
        """Behind it, where `lost_ns` is set."""
        assert self.lost_ns is not None and self.end_ns is not None and self.end_seq is not None
        gap = Gap(
            place,
            cause=self.cause,
            lost_ns=self.lost_ns,
            revoked_ns=self.end_ns,
            revoked_seq=self.end_seq,
            last_late_read_ns=self.last_late_read_ns,
            owner_before=self.owner,
            came_back=self.came_back,
        )
        if self.next_owned is None:
            return gap
        return gap._replace(
            owner_after=self.next_owned.owner,
            assigned_ns=self.next_owned.start_ns,
            assigned_seq=self.next_owned.start_seq,
            first_read_ns=self.next_owned.first_read_ns,
            first_read_seq=self.next_owned.first_read_seq,
        )


class Gap(NamedTuple):
    """A partition had no reader from `start_ns` to `end_ns`, because of `cause`, "" for a revocation.
    `last_late_read_ns` is the last delivery to the old owner after that, None without one. `assigned_ns` is None
    without another owner, `first_read_ns` until that has read; `*_seq` number the events that told it. `came_back`: to
    a static member, without a rebalance.
    """

    place: Place
    cause: Loss
    lost_ns: int
    revoked_ns: int
    revoked_seq: int
    last_late_read_ns: int | None
    owner_before: str
    came_back: bool
    owner_after: str | None = None
    assigned_ns: int | None = None
    assigned_seq: int = 0
    first_read_ns: int | None = None
    first_read_seq: int = 0

    def at(self, events: int) -> Gap:
        """The gap as known after the first `events` of the session."""
        assigned_ns = self.assigned_ns if self.assigned_seq < events else None
        first_read_ns = self.first_read_ns if self.first_read_seq < events else None
        return self._replace(assigned_ns=assigned_ns, first_read_ns=first_read_ns)

    @property
    def start_ns(self) -> int:
        """The last read. Until there is another owner, it is not known whether the old one reads on."""
        late_ns = None if self.assigned_ns is None else self.last_late_read_ns
        return self.lost_ns if late_ns is None else max(self.lost_ns, late_ns)

    @property
    def end_ns(self) -> int | None:
        """The next read; None while there is no owner."""
        return self.assigned_ns if self.first_read_ns is None else self.first_read_ns

    def lasted_ns(self, time_ns: int) -> int:
        """How long the gap lasted; an open one lasts until `time_ns`."""
        return (time_ns if self.end_ns is None else self.end_ns) - self.start_ns


class _Lost(NamedTuple):
    cause: Loss
    time_ns: int


class _Together:
    """Partitions that one event took or gave: a delivery from one counts for all, each as long as it is waited for."""

    def __init__(self, waits: Callable[[Owned], bool]) -> None:
        self._waits = waits
        self._of: dict[Reader, list[tuple[frozenset[Place], Owned]]] = {}

    def add(self, reader: Reader, places: Iterable[Place], waiting: Iterable[Owned]) -> None:
        together = frozenset(places)
        self._of.setdefault(reader, []).extend((together, owned) for owned in waiting)

    def beside(self, reader: Reader, place: Place) -> list[Owned]:
        """The awaited ownerships whose partitions `reader` lost or got by the same event as `place`."""
        if reader in self._of:
            self.forget(reader)
        return [owned for places, owned in self._of.get(reader, ()) if place in places]

    def forget(self, *readers: Reader) -> None:
        """Drop the ownerships of `readers`, or of all of them, that are no longer awaited."""
        for reader in readers or tuple(self._of):
            self._of[reader] = [each for each in self._of[reader] if self._waits(each[1])]
            if not self._of[reader]:
                del self._of[reader]


class Ownership:
    """A sink of the event stream. With `keeps_all`, all spans and gaps of a session are kept."""

    def __init__(self, *, keeps_all: bool = False) -> None:
        self._keeps_all = keeps_all
        self._spans: dict[Place, deque[Owned]] = {}
        self._rebalance: dict[str, Rebalance] = {}  # the last of each group
        self._gaps: dict[Rebalance, list[tuple[Place, Owned]]] = {}  # what they are behind
        self._gaps_count = 0
        self._members: dict[tuple[str, str], str] = {}  # clients by group and member id
        self._lost: dict[tuple[str, str], _Lost] = {}  # by group and member id, until its partitions are revoked
        self._delivered_ns: dict[Reader, int] = {}  # the last time, of members
        self._taken = _Together(lambda owned: owned.next_owned is None)
        self._given = _Together(lambda owned: owned.first_read_ns is None and owned.end_ns is None)

        self._handlers = {
            EventKind.PARTITIONS_ASSIGNED: self._assigned,
            EventKind.PARTITIONS_REVOKED: self._revoked,
            EventKind.REBALANCE_STARTED: self._started,
            EventKind.REBALANCE_COMPLETED: self._completed,
            EventKind.FAULT: self._fault,
            EventKind.MEMBER_JOINED: self._joined,
            EventKind.MEMBER_LEFT: self._left,
        }
        self.kinds = frozenset({EventKind.DELIVERED, *self._handlers})

    def __call__(self, event: Event) -> None:
        if event.offset is not None:  # of messages, which are most
            if event.kind is EventKind.DELIVERED:
                self._delivered(event)
        elif event.kind in self._handlers:
            self._handlers[event.kind](event)

    def _started(self, event: Event) -> None:
        self._rebalance[event.group] = (event.group, event.time_ns)
        self._taken.forget()  # of readers that never come back, too
        self._given.forget()

    def _completed(self, event: Event) -> None:
        """Members that have left own nothing any more."""
        for key in [key for key in self._lost if key[0] == event.group and key not in self._members]:
            del self._lost[key]

    def _delivered(self, event: Event) -> None:
        place = (event.group, *event.place)
        last = (self._spans.get(place) or (None,))[-1]
        known = last.member if last and last.owner == event.client else event.client  # in recordings of before `member`
        reader = (event.group, event.member or known)
        if reader in self._members or (last and last.end_seq is None and last.member == reader[1]):
            self._delivered_ns[reader] = event.time_ns
        for owned in self._taken.beside(reader, place):  # it reads on until its next heartbeat
            if owned.last_late_read_ns is None:
                owned.first_late_read_ns, owned.first_late_read_seq = event.time_ns, event.seq
            owned.last_late_read_ns = event.time_ns
        for owned in self._given.beside(reader, place):
            waited = event.published_ns is not None and event.published_ns <= owned.start_ns
            owned.first_read_ns, owned.first_read_seq = event.time_ns if waited else owned.start_ns, event.seq

    # -- members

    def _joined(self, event: Event) -> None:
        replaced = (event.group, str(event.told.get("replaces", "")))
        lost, silent = self._lost.pop(replaced, None), self._silent(event, replaced)
        if self._members.pop(replaced, None) is not None:
            self._came_back(event, replaced, lost or silent)
        self._members[event.group, event.member_id] = event.client

    def _came_back(self, event: Event, replaced: Reader, lost: _Lost | None) -> None:
        """A static member is back under another id, and has what it had. Nobody read that while it was away."""
        had = {
            place: spans[-1]
            for place, spans in self._spans.items()
            if place[0] == event.group and spans[-1].end_seq is None and spans[-1].member == replaced[1]
        }
        now = [self._begin(place, event) for place in had]
        if lost is None:
            return
        for place, owned in had.items():
            self._lose(place, owned, lost, (event.group, -1 - event.seq))  # of no rebalance
            owned.came_back = True
        self._given.add((event.group, event.member_id), had, now)

    def _silent(self, event: Event, member: Reader) -> _Lost | None:
        """Since when a member was not heard of that has left, or is replaced; None if the event does not say."""
        heard_ns = event.told.get("heard_ns")
        delivered_ns = self._delivered_ns.pop(member, 0)
        return None if heard_ns is None else _Lost("silence", max(int(heard_ns), delivered_ns))

    def _fault(self, event: Event) -> None:
        of_client = [key for key, client in self._members.items() if client == event.client]
        stop = _STOPS.get(str(event.told.get("fault")))
        if stop is not None:
            for key in of_client:
                self._lost.setdefault(key, _Lost(stop, event.time_ns))
        elif event.told.get("ended") == "pause":
            for key in of_client:
                if key in self._lost and self._lost[key].cause == "pause":
                    del self._lost[key]

    def _left(self, event: Event) -> None:
        key = (event.group, event.member_id)
        if (silent := self._silent(event, key)) is not None:
            self._lost.setdefault(key, silent)
        self._members.pop(key, None)

    # -- partitions

    def _revoked(self, event: Event) -> None:
        key = (event.group, event.member_id)
        lost = self._lost.get(key, _Lost("", event.time_ns))
        if key not in self._members:
            self._lost.pop(key, None)
            self._delivered_ns.pop(key, None)
        opened = []
        for place in event.partitions:
            spans = self._of(place)
            if not spans:
                spans.append(Owned(event.client, key[1], 0, began=False))
            owned = spans[-1]
            if owned.end_seq is None and owned.member == key[1]:  # and it has no other owner already
                owned.end_ns, owned.end_seq = event.time_ns, event.seq
                self._lose(place, owned, lost, self._rebalance.get(event.group, (event.group, event.time_ns)))
                opened.append(owned)
        if lost.cause not in _STOPS:  # a client that stands still does not read what it is given
            self._taken.add(key, event.partitions, opened)

    def _lose(self, place: Place, owned: Owned, lost: _Lost, of: Rebalance) -> None:
        owned.cause, owned.lost_ns = lost.cause, max(lost.time_ns, owned.start_ns)
        self._gaps.setdefault(of, []).append((place, owned))
        self._gaps_count += 1
        while self._gaps_count > GAPS_KEPT and len(self._gaps) > 1 and not self._keeps_all:
            self._gaps_count -= len(self._gaps.pop(next(iter(self._gaps))))

    def _assigned(self, event: Event) -> None:
        ended = [place for place in event.partitions if (spans := self._of(place)) and spans[-1].lost_ns is not None]
        given = {place: self._begin(place, event) for place in event.partitions}
        self._given.add((event.group, event.member_id), given, [given[place] for place in ended])

    def _of(self, place: Place) -> deque[Owned]:
        return self._spans.setdefault(place, deque(maxlen=None if self._keeps_all else SPANS_KEPT))

    def _begin(self, place: Place, event: Event) -> Owned:
        spans = self._of(place)
        new = Owned(event.client, event.member_id, event.time_ns, event.seq, event.generation)
        if spans:
            last = spans[-1]
            if last.end_seq is None:
                if last.member == event.member_id:
                    return last  # it keeps what it has, since then
                last.end_ns, last.end_seq = event.time_ns, event.seq
            last.next_owned = new
        spans.append(new)
        return new

    # -- queries

    def spans(self, place: Place, time_ns: int, events: int = 1 << 62) -> tuple[Span, ...]:
        """The spans as known at `time_ns`, after the first `events` of the session."""
        begun = self._begun(place, time_ns, events)
        return tuple(owned.at(time_ns, events, owned is begun[-1]) for owned in begun)

    def _begun(self, place: Place, time_ns: int, events: int) -> list[Owned]:
        spans = tuple(self._spans.get(place, ()))
        return [each for each in spans if each.began and each.start_seq < events and each.start_ns <= time_ns]

    def since_ns(self, place: Place, owner: str, time_ns: int, events: int = 1 << 62) -> int | None:
        """Since when `owner` has had the partition at `time_ns`; None if not known. `events` as in `spans`.

        Rebalances in which it was revoked from its member and given back to it count as no change.
        """
        begun = self._begun(place, time_ns, events)
        last = begun[-1].at(time_ns, events, True) if begun else None
        if last is None or last.owner != owner or last.end_ns is not None:
            return None
        return list(takewhile(lambda owned: owned.member == begun[-1].member, reversed(begun)))[-1].start_ns

    def places(self, group: str) -> list[Place]:
        return sorted(place for place in tuple(self._spans) if place[0] == group)

    def gaps(self, group: str, started_ns: int) -> tuple[Gap, ...]:
        """The gaps of all partitions that were revoked in the rebalance of `group` that began at `started_ns`."""
        return tuple(owned.gap(place) for place, owned in tuple(self._gaps.get((group, started_ns), ())))

    def all_gaps(self) -> Iterator[tuple[Rebalance, Gap]]:
        return ((rebalance, owned.gap(place)) for rebalance, gaps in self._gaps.items() for place, owned in gaps)

    def owned(self) -> Iterator[tuple[Place, Owned]]:
        return ((place, owned) for place, spans in self._spans.items() for owned in spans if owned.began)
