"""Owners of partitions, and gaps without a reader: one reducer over the event stream, from its first event on.

Any moment can be read from it. FORMAT.md says what counts; the report computes the same from the recording.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from broker_core.events import Event, EventKind

SPANS_KEPT = 200  # of one partition
GAPS_KEPT = 100_000  # of all; the oldest rebalances are forgotten beyond
Place = tuple[str, str, int]  # group, topic, partition
Reader = tuple[str, str]  # group, member id
Rebalance = tuple[str, int]  # group, time at which it started
Loss = Literal["", "crash", "pause", "silence"]
_STOPS: dict[str, Loss] = {"crash": "crash", "pause": "pause"}  # faults after which a member reads nothing


class Span(NamedTuple):
    """A partition was `owner`'s from `start_ns` to `end_ns`, None while it is. An owner that loses it reads on
    (`reads_on`) until its next heartbeat; `read_until_ns` is the last time it was given something after that, if any.
    """

    owner: str
    start_ns: int
    end_ns: int | None
    reads_on: bool = False
    read_until_ns: int | None = None


class _OwnedSpan(NamedTuple):
    """A span with the events of its beginning and end, its member id, and what was read after that."""

    owner: str
    member: str
    start_ns: int
    start_seq: int
    end_ns: int | None = None
    end_seq: int | None = None
    read_on_seq: int | None = None
    read_on_ns: int | None = None
    read_until_ns: int | None = None

    def at(self, time_ns: int, events: int, is_last: bool) -> Span:
        """As it was known then; `is_last` while there was no later owner."""
        if self.end_ns is None or self.end_seq is None or self.end_seq >= events or self.end_ns > time_ns:
            return Span(self.owner, self.start_ns, None)
        if not is_last:
            return Span(self.owner, self.start_ns, self.end_ns, read_until_ns=self.read_until_ns)
        reads_on = (
            self.read_on_ns is not None
            and self.read_on_seq is not None
            and self.read_on_seq < events
            and self.read_on_ns <= time_ns
        )
        return Span(self.owner, self.start_ns, self.end_ns, reads_on)


class Gap(NamedTuple):
    """A partition had no reader from `start_ns` to `end_ns`, because of `cause`, "" for a revocation. `last_ns` is the
    last delivery to the old owner after that, None without one. `assigned_ns` is None without another owner, `read_ns`
    until that has read; `*_seq` number the events that told it. `came_back`: to a static member, without a rebalance.
    """

    place: Place
    cause: Loss
    lost_ns: int
    revoked_ns: int
    last_ns: int | None = None
    assigned_ns: int | None = None
    read_ns: int | None = None
    owner_before: str = ""
    owner_after: str | None = None
    came_back: bool = False
    revoked_seq: int = 0
    assigned_seq: int = 0
    read_seq: int = 0

    def at(self, events: int) -> Gap:
        """As it was known after the first `events` of the session."""
        assigned_ns = self.assigned_ns if self.assigned_seq < events else None
        read_ns = self.read_ns if self.read_seq < events else None
        return self._replace(assigned_ns=assigned_ns, read_ns=read_ns)

    @property
    def start_ns(self) -> int:
        """The last read. Until there is another owner, it is not known whether the old one reads on."""
        return self.lost_ns if self.last_ns is None or self.assigned_ns is None else max(self.lost_ns, self.last_ns)

    @property
    def end_ns(self) -> int | None:
        """The next read; None while there is no owner."""
        return self.assigned_ns if self.read_ns is None else self.read_ns

    def lasted_ns(self, time_ns: int) -> int:
        """Its length, up to `time_ns` where it is open."""
        return (time_ns if self.end_ns is None else self.end_ns) - self.start_ns


class _Lost(NamedTuple):
    cause: Loss
    time_ns: int


class _Together:
    """Partitions that one event took or gave. A delivery from one counts for all, each until it is `settled`."""

    def __init__(self) -> None:
        self._of_reader: dict[Reader, list[tuple[frozenset[Place], set[Place]]]] = {}  # all, and those not settled
        self._unsettled: dict[Place, tuple[Reader, set[Place]]] = {}

    def add(self, reader: Reader, places: Iterable[Place], unsettled: Iterable[Place]) -> None:
        """One event was about `places`, and `unsettled` of them are waited for."""
        waiting = set(unsettled)
        if waiting:
            self._of_reader.setdefault(reader, []).append((frozenset(places), waiting))
            self._unsettled.update(dict.fromkeys(waiting, (reader, waiting)))

    def settled(self, place: Place) -> None:
        reader, waiting = self._unsettled.pop(place, (None, None))
        if reader is None or waiting is None:
            return
        waiting.discard(place)
        if not waiting:
            left = [pair for pair in self._of_reader[reader] if pair[1]]
            if left:
                self._of_reader[reader] = left
            else:
                del self._of_reader[reader]

    def beside(self, reader: Reader, place: Place) -> list[Place]:
        """The places that are waited for, and were taken from `reader` or given to it together with `place`."""
        found = self._of_reader.get(reader, ())
        return [each for places, waiting in found if place in places for each in sorted(waiting)]


class Ownership:
    """A sink of the event stream. With `keeps_all`, all spans and gaps of a session are kept."""

    def __init__(self, *, keeps_all: bool = False) -> None:
        self._keeps_all = keeps_all
        self._spans: dict[Place, deque[_OwnedSpan]] = {}
        self._rebalance: dict[str, Rebalance] = {}  # the last of each group
        self._gaps: dict[Rebalance, dict[tuple[Place, int], Gap]] = {}  # by place and number of the revocation
        self._gaps_count = 0
        self._newest: dict[Place, tuple[Rebalance, int]] = {}  # where its newest gap is
        self._members: dict[tuple[str, str], str] = {}  # clients by group and member id
        self._ids: dict[tuple[str, str], str] = {}  # the last member id by group and client
        self._lost: dict[tuple[str, str], _Lost] = {}  # by group and member id, until its partitions are revoked
        self._delivered_ns: dict[Reader, int] = {}
        self._taken = _Together()  # by revocations, until there is another owner
        self._given = _Together()  # by assignments, until the new owner reads

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

    def _completed(self, event: Event) -> None:
        """Members that have left own nothing any more."""
        for key in [key for key in self._lost if key[0] == event.group and key not in self._members]:
            del self._lost[key]

    # -- deliveries

    def _delivered(self, event: Event) -> None:
        place = (event.group, *event.place)
        reader = (event.group, event.member or self._ids.get((event.group, event.client), event.client))
        self._delivered_ns[reader] = event.time_ns
        for each in self._taken.beside(reader, place):
            self._read_on(each, event)
        for each in self._given.beside(reader, place):
            self._read(each, event)
            self._given.settled(each)

    # -- members

    def _joined(self, event: Event) -> None:
        replaced = (event.group, str(event.told.get("replaces", "")))
        lost = self._lost.pop(replaced, None)
        if self._members.pop(replaced, None) is not None:
            self._came_back(event, replaced, lost or self._silent(event, replaced))
        self._members[event.group, event.member_id] = event.client
        self._ids[event.group, event.client] = event.member_id

    def _came_back(self, event: Event, replaced: Reader, lost: _Lost | None) -> None:
        """A static member is back under another id, and has what it had. Nobody read that while it was away."""
        had = [
            place
            for place, spans in self._spans.items()
            if place[0] == event.group and spans[-1].end_seq is None and spans[-1].member == replaced[1]
        ]
        for place in had:
            since_ns = self._spans[place][-1].start_ns
            self._begin_span(place, event)
            self._given.settled(place)
            if lost is not None:
                gap = Gap(place, lost.cause, max(lost.time_ns, since_ns), event.time_ns, came_back=True)
                gap = gap._replace(assigned_ns=event.time_ns, owner_before=event.client, owner_after=event.client)
                gap = gap._replace(revoked_seq=event.seq, assigned_seq=event.seq)
                self._open(gap, (event.group, -1 - event.seq))  # of no rebalance
        if lost is not None:
            self._given.add((event.group, event.member_id), had, had)

    def _silent(self, event: Event, member: Reader) -> _Lost | None:
        """Since when a member was not heard of that has left, or is replaced; None if the event does not say."""
        heard_ns = event.told.get("heard_ns")
        return None if heard_ns is None else _Lost("silence", max(int(heard_ns), self._delivered_ns.get(member, 0)))

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
        silent = self._silent(event, key)
        if silent is not None:
            self._lost.setdefault(key, silent)
        self._members.pop(key, None)

    # -- partitions

    def _revoked(self, event: Event) -> None:
        key = (event.group, event.member_id)
        lost = self._lost.get(key, _Lost("", event.time_ns))
        if key not in self._members:
            self._lost.pop(key, None)
        places = event.partitions
        opened = []
        for place in places:
            self._given.settled(place)
            spans = self._spans.get(place)
            since_ns = 0
            if spans and spans[-1].end_seq is None:
                if spans[-1].member != key[1]:
                    continue  # it has another owner already
                since_ns = spans[-1].start_ns
                spans[-1] = spans[-1]._replace(end_ns=event.time_ns, end_seq=event.seq)
            gap = self._gap(place)
            if gap is None or gap.assigned_ns is not None:
                lost_ns = max(lost.time_ns, since_ns)
                gap = Gap(place, lost.cause, lost_ns, event.time_ns, owner_before=event.client, revoked_seq=event.seq)
                self._open(gap)
                opened.append(place)
        if lost.cause not in _STOPS:  # a client that stands still does not read what it is given
            self._taken.add(key, places, opened)

    def _gap(self, place: Place) -> Gap | None:
        rebalance, seq = self._newest.get(place, (("", 0), 0))
        return self._gaps.get(rebalance, {}).get((place, seq))

    def _open(self, gap: Gap, of: Rebalance | None = None) -> None:
        group = gap.place[0]
        rebalance = of or self._rebalance.get(group, (group, gap.revoked_ns))
        self._newest[gap.place] = (rebalance, gap.revoked_seq)
        self._gaps.setdefault(rebalance, {})[gap.place, gap.revoked_seq] = gap
        self._gaps_count += 1
        while self._gaps_count > GAPS_KEPT and len(self._gaps) > 1 and not self._keeps_all:
            self._gaps_count -= len(self._gaps.pop(next(iter(self._gaps))))

    def _assigned(self, event: Event) -> None:
        places = event.partitions
        ended = []
        for place in places:
            self._begin_span(place, event)
            self._taken.settled(place)
            gap = self._gap(place)
            if gap is not None and gap.assigned_ns is None:
                self._replace(gap, assigned_ns=event.time_ns, assigned_seq=event.seq, owner_after=event.client)
                ended.append(place)
        self._given.add((event.group, event.member_id), places, ended)

    def _begin_span(self, place: Place, event: Event) -> None:
        spans = self._spans.setdefault(place, deque(maxlen=None if self._keeps_all else SPANS_KEPT))
        if spans and spans[-1].end_seq is None:
            if spans[-1].member == event.member_id:
                return  # it keeps what it has, since then
            spans[-1] = spans[-1]._replace(end_ns=event.time_ns, end_seq=event.seq)
        spans.append(_OwnedSpan(event.client, event.member_id, event.time_ns, event.seq))

    def _read_on(self, place: Place, event: Event) -> None:
        """A delivery to the old owner: it reads on until its next heartbeat."""
        gap = self._gap(place)
        if gap is not None:
            self._replace(gap, last_ns=event.time_ns)
        spans = self._spans.get(place)
        if spans and spans[-1].end_seq is not None:
            last = spans[-1]._replace(read_until_ns=event.time_ns)
            if last.read_on_ns is None:
                last = last._replace(read_on_ns=event.time_ns, read_on_seq=event.seq)
            spans[-1] = last

    def _read(self, place: Place, event: Event) -> None:
        """The first delivery from any partition of an assignment begins the reading of all of them."""
        gap = self._gap(place)
        if gap is not None and gap.assigned_ns is not None:
            waited = event.published_ns is not None and event.published_ns <= gap.assigned_ns
            self._replace(gap, read_ns=event.time_ns if waited else gap.assigned_ns, read_seq=event.seq)

    def _replace(self, gap: Gap, **values: Any) -> None:
        rebalance, seq = self._newest[gap.place]
        self._gaps[rebalance][gap.place, seq] = gap._replace(**values)

    # -- queries

    def spans(self, place: Place, time_ns: int, events: int = 1 << 62) -> tuple[Span, ...]:
        """The spans as known at `time_ns`, after the first `events` of the session."""
        begun = self._begun(place, time_ns, events)
        return tuple(span.at(time_ns, events, span is begun[-1]) for span in begun)

    def _begun(self, place: Place, time_ns: int, events: int) -> list[_OwnedSpan]:
        spans = tuple(self._spans.get(place, ()))
        return [span for span in spans if span.start_seq < events and span.start_ns <= time_ns]

    def since_ns(self, place: Place, owner: str, time_ns: int, events: int = 1 << 62) -> int | None:
        """Since when `owner` has had the partition at `time_ns`; None if not known. `events` as in `spans`."""
        begun = self._begun(place, time_ns, events)
        last = begun[-1].at(time_ns, events, True) if begun else None
        return last.start_ns if last is not None and last.owner == owner and last.end_ns is None else None

    def places(self, group: str) -> list[Place]:
        return sorted(place for place in tuple(self._spans) if place[0] == group)

    def gaps(self, group: str, started_ns: int) -> tuple[Gap, ...]:
        """The gaps of all partitions that were revoked in the rebalance of `group` that began at `started_ns`."""
        return tuple(self._gaps.get((group, started_ns), {}).values())

    def all_gaps(self) -> Iterator[tuple[Rebalance, Gap]]:
        return ((rebalance, gap) for rebalance, gaps in self._gaps.items() for gap in gaps.values())

    def owned(self) -> Iterator[tuple[Place, _OwnedSpan]]:
        return ((place, span) for place, spans in self._spans.items() for span in spans)
