"""Where the messages of one partition are for one reader, by what was given, acknowledged, given back and reset.

The broker asks it what is delivered again; the account of a recording counts with it. `resources.account` has the
words.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import NamedTuple

from broker_core.events import (
    BROKER_CRASH,
    COMMITTED_BACKWARDS,
    FETCHED_AGAIN,
    READ_OUTSIDE,
    Event,
    EventKind,
    is_by_hand,
)
from broker_core.groups.states import GroupState
from broker_core.runs import Runs
from resources.account import ACKNOWLEDGED, BESIDE, CONNECTION_LOST, FELL_SILENT, MEMBER_LEFT, MOVED, NACKED, RESET

MOST_RUNS = 10_000  # beyond, it is forgotten who acknowledged what first


class Fate(NamedTuple):
    """`client` and `member` are who was given it last, "" for nobody; `why` a waiting message was given back."""

    state: str
    client: str = ""
    member: str = ""
    why: str = ""


class Part(NamedTuple):
    """Offsets that were given. `again` is "" for the first time, FETCHED_AGAIN, or a word of `REASONS`; `before` the
    client that had them last."""

    first: int
    end: int
    again: str = ""
    before: str = ""


_ACKNOWLEDGED = Fate("acknowledged")
_GIVEN = frozenset({"in_hand", "waiting"})


class Deliveries:
    """What is in no run was never given: it waits, or lies before the `begin` or the `committed` offset."""

    __slots__ = ("_acknowledged", "_held", "begin", "committed", "given_end", "gone", "runs")

    def __init__(self, begin: int | None = None, committed: int | None = None) -> None:
        """`begin` is where the reader began, `committed` what a group has committed; None for not yet."""
        self.begin = begin
        self.committed = committed
        self.given_end = 0  # of the furthest delivery
        self.gone = 0  # the log begins there
        self.runs: Runs[Fate] = Runs()
        self._held, self._acknowledged = Fate("in_hand"), Fate("acknowledged")  # the last ones, which are made once

    @classmethod
    def of_group(cls, committed: int | None) -> Deliveries:
        """Of a group that had committed so much before: that was acknowledged."""
        found = cls(0 if committed else None, committed)
        found.settle(0, committed or 0, "acknowledged")
        return found

    # -- what is given

    def give(self, first: int, end: int, client: str, member: str, *, lost: str = "", attempt: int = 0) -> list[Part]:
        """`member` gets these; `lost` is why it is no owner any more. The `attempt` of a queue is above 1 if it knows
        of a delivery before.
        """
        held = self._held
        if lost or held.member != member or held.client != client:
            held = self._held = Fate("in_hand", client, member)
        if lost:
            held = Fate("waiting", client, member, lost)
        if self.begin is None or first < self.begin:
            self.begin = first
        self.given_end = max(self.given_end, end)
        done = self.committed or 0
        if first >= done and first >= self.runs.end:
            self.runs.put(first, end, held)
            return [Part(first, end, NACKED if attempt > 1 else "")]
        parts: list[Part] = []
        for low, high, fate in self.runs.split(first, end):
            below = min(high, max(low, done))
            for start, stop in ((low, below), (below, high)):
                if start < stop:
                    again = self._again(fate, member) or (NACKED if attempt > 1 else "")
                    _join(parts, Part(start, stop, again, fate.client if fate and again else ""))
            self.runs.put(low, below, Fate("acknowledged", client, member))
            self.runs.put(below, high, held)
        return parts

    @staticmethod
    def _again(fate: Fate | None, member: str) -> str:
        if fate is None:
            return ""
        usual = {"in_hand": FETCHED_AGAIN if fate.member == member else BESIDE, "acknowledged": ACKNOWLEDGED}
        return fate.why or usual.get(fate.state, "") if fate.state in {*usual, "waiting"} else ""

    def pass_over(self, first: int, end: int) -> None:
        """Aborted messages, which the reader is not given."""
        self.begin = first if self.begin is None else min(self.begin, first)
        self.given_end = max(self.given_end, end)
        self.runs.put(first, end, Fate("aborted"))

    def began(self, offset: int) -> None:
        """The reader begins at `offset`, having committed nothing. What it passes by, beginning anew, it skips."""
        if self.begin is None:
            for first, end, fate in self.runs.split(0, offset):
                if fate is not None and not fate.client:
                    self.runs.remove(first, end)  # it was deleted before anybody wanted it
            self.begin = offset
            return
        for first, end, fate in self.runs.split(min(self.begin, offset), offset):
            if fate is None or fate.state == "waiting":
                self.runs.put(first, end, Fate("skipped_by_reader", *(fate[1:3] if fate else ())))
        self.begin = min(self.begin, offset)

    # -- what becomes of it

    def acknowledge(self, first: int, end: int) -> None:
        """A group has committed up to `end`; `first` is the first message of these that the log still has. What was
        given before it, and compaction has removed since, is committed, too.
        """
        begin = self.begin if self.committed is None else self.committed
        first = first if begin is None else min(first, begin)
        whole = self.runs.around(first, end)
        for low, high, fate in self.runs.split(first, end) if whole is None else ((first, end, whole),):
            if fate is not None and fate.state in _GIVEN:
                done = self._acknowledged
                if done.member != fate.member or done.client != fate.client:
                    done = self._acknowledged = Fate("acknowledged", fate.client, fate.member)
                self.runs.put(low, high, done)
        if self.begin is None:
            self.begin = first
        self.committed = max(self.committed or 0, end)
        if len(self.runs) > MOST_RUNS:
            self._forget_clients()

    def settle(self, first: int, end: int, state: str) -> None:
        """They have come to their end."""
        self.runs.put(first, end, Fate(state))

    def give_back(self, first: int, end: int, why: str) -> None:
        """Their holder has lost them unacknowledged."""
        for low, high, fate in self.runs.split(first, end):
            if fate is not None and fate.state == "in_hand":
                gone = min(high, max(low, self.gone))
                self.runs.put(low, gone, fate._replace(state="deleted", why=why))
                self.runs.put(gone, high, fate._replace(state="waiting", why=why))

    def lose(self, member: str, why: str) -> bool:
        """`member` is no owner any more; "" for nobody is. False if it had nothing in hand."""
        held = [run for run in self.runs if run[2].state == "in_hand" and member in {"", run[2].member}]
        for first, end, _ in held:
            self.give_back(first, end, why)
        return bool(held)

    def bring_back(self, first: int, end: int, why: str = "") -> None:
        """They are ready again; with `why`, what was finished is delivered again."""
        for low, high, fate in self.runs.split(first, end):
            if fate is not None and why and fate.state == "acknowledged":
                self.runs.put(low, high, Fate("waiting", fate.client, fate.member, why))
            elif fate is not None:
                self.runs.remove(low, high)

    def delete(self, end: int) -> None:
        """The log begins at `end`. What is in hand may still be acknowledged."""
        for first, stop, fate in self.runs.split(max(self.begin or 0, self.committed or 0, self.gone), end):
            if fate is None:
                self.runs.put(first, stop, Fate("deleted"))
        for first, stop, fate in list(self.runs):
            if first < end and fate.state == "waiting":
                self.runs.put(first, min(stop, end), fate._replace(state="deleted"))
        self.gone = max(self.gone, end)

    def reset(self, old: int | None, new: int, *, owner: str = "", outside: bool = False) -> None:
        """The committed offset is moved from `old`: by a commit of its `owner`, or by somebody else; `outside`, by who
        has read without being known.
        """
        base = old if old is not None else self.begin or 0
        for first, end, fate in self.runs.split(base, new) if new > base else ():
            if fate is None or (fate.state in _GIVEN and not outside):
                self.runs.put(first, end, Fate("skipped_by_reset", *(fate[1:3] if fate else ())))
            elif fate.state in _GIVEN:
                self.runs.put(first, end, fate._replace(state="acknowledged", why=""))
        for first, end, fate in self.runs.split(new, base) if new < base else ():
            if fate is None or fate.state not in {"acknowledged", "skipped_by_reset", "skipped_by_reader"}:
                continue
            if not fate.client:
                self.runs.remove(first, end)
            elif owner and fate.member == owner:
                self.runs.put(first, end, fate._replace(state="in_hand"))
            else:
                self.runs.put(first, end, fate._replace(state="waiting", why=ACKNOWLEDGED if owner else RESET))
        self.begin = min(base if self.begin is None else self.begin, new if new < base else base)
        self.committed = new

    def forget(self) -> None:
        """Somebody has deleted the committed offset: what is delivered from its beginning on is so by a reset."""
        for first, end, fate in self.runs.split(self.begin or 0, self.committed or 0):
            if fate is None:
                self.runs.put(first, end, Fate("skipped_by_reader"))
            elif fate.state == "acknowledged":
                self.runs.put(first, end, fate._replace(why=RESET))
        self.committed = None

    def _forget_clients(self) -> None:
        for first, end, fate in [run for run in self.runs if run[2].state == "acknowledged"]:
            self.runs.put(first, end, _ACKNOWLEDGED._replace(client=fate.client and "?"))

    # -- counting

    @property
    def keeps_offsets_elsewhere(self) -> bool:
        """It has read, and never committed."""
        return self.committed is None and len(self.runs) > 0

    def places(
        self, published: Runs[bool], aborted: Iterable[tuple[int, int]] = (), *, compacts: bool = False
    ) -> list[tuple[int, int, Fate]]:
        """(first, end, fate) of every message of the log, in order; `aborted` ranges are passed over, unless the reader
        takes such. What a log that `compacts` never gave is taken for removed.
        """
        takes = any(fate is not None and bool(fate.client) for span in aborted for _, _, fate in self.runs.split(*span))
        dead: Runs[bool] = Runs()
        for first, end in () if takes else aborted:
            dead.put(first, end, True)
        passed = max(self.committed or 0, self.given_end if compacts else 0)
        began = self.begin or 0
        found = []
        for start, stop, _ in published:
            for first, end, fate in self.runs.split(start, stop):
                if fate is not None:
                    found.append((first, end, fate))
                    continue
                for low, high, state in (
                    (first, min(end, began), "before_it_began"),
                    (max(first, began), min(end, passed), "compacted" if compacts else "skipped_by_reader"),
                    (max(first, began, passed), end, "waiting"),
                ):
                    if low < high:
                        for at, upto, is_dead in dead.split(low, high):
                            gone = is_dead and state != "before_it_began"
                            found.append((at, upto, Fate("aborted" if gone else state)))
        return found


def _join(parts: list[Part], new: Part) -> None:
    if parts and parts[-1].end == new.first and parts[-1][2:] == new[2:]:
        parts[-1] = parts[-1]._replace(end=new.end)
    else:
        parts.append(new)


GroupPlace = tuple[str, str, int]  # group, topic, partition


class Reader(NamedTuple):
    """Who of a group reads: `client` is its name, `member` its member id, or a name if it assigned them by hand."""

    group: str
    client: str
    member: str


class GroupEvents:
    """A sink of the event stream: who of a group owns a partition, why somebody does no more, and resets of offsets."""

    def __init__(
        self,
        kept: dict[GroupPlace, Deliveries],
        find: Callable[[GroupPlace], Deliveries | None],
        queues: Container[str] = (),
    ) -> None:
        """`kept` are the deliveries of all readers, of which `queues` are no groups. `find` may make those that are
        not there.
        """
        self._kept, self._find, self._queues = kept, find, queues
        self._owners: dict[GroupPlace, str] = {}
        self._owned: dict[tuple[str, str], set[GroupPlace]] = {}  # by group and member
        self._ever: set[GroupPlace] = set()  # where an owner was told of; elsewhere everybody is one
        self._why: dict[tuple[str, str], str] = {}  # of members that are none any more
        self.handlers: dict[EventKind, Callable[[Event], object]] = {
            EventKind.PARTITIONS_ASSIGNED: self._assigned,
            EventKind.PARTITIONS_REVOKED: self._revoked,
            EventKind.MEMBER_JOINED: self._joined,
            EventKind.MEMBER_LEFT: self._left,
            EventKind.FAULT: self._fault,
            EventKind.OFFSETS_RESET: self._reset,
            EventKind.GROUP_STATE: self._state,
            EventKind.USER_ACTION: self._acted,
        }
        self.kinds = frozenset(self.handlers)

    def __call__(self, event: Event) -> None:
        self.handlers[event.kind](event)

    def owner(self, place: GroupPlace) -> str:
        """The member that owns it; "" for nobody."""
        return self._owners.get(place, "")

    @property
    def all(self) -> list[tuple[GroupPlace, str]]:
        return list(self._owners.items())

    def why_lost(self, place: GroupPlace, member: str) -> str:
        """Why `member` is no owner; "" if it is, reads by hand, or if nobody was ever told to own it."""
        if self._owners.get(place) == member or place not in self._ever or is_by_hand(member):
            return ""
        return self._why.get((place[0], member), MOVED)

    def _assigned(self, event: Event) -> None:
        member = event.member_id
        for place in event.partitions:
            self._owners[place] = member
            self._ever.add(place)
            self._owned.setdefault((event.group, member), set()).add(place)

    def _revoked(self, event: Event) -> None:
        member, places = event.member_id, event.partitions
        self._release(member, places)
        self._lose(places, member, self._why.get((event.group, member), MOVED))

    def _lose(self, places: Iterable[GroupPlace], member: str, why: str) -> None:
        """`member` ("" for all) loses what it has in hand of the places."""
        for place in places:
            if (found := self._find(place)) is not None:
                found.lose(member, why)

    def _of(self, group: str) -> list[GroupPlace]:
        return [] if group in self._queues else [place for place in self._kept if place[0] == group]

    def _release(self, member: str, places: Iterable[GroupPlace]) -> None:
        for place in places:
            self._owned.get((place[0], member), set()).discard(place)
            if self._owners.get(place) == member:
                del self._owners[place]

    def _joined(self, event: Event) -> None:
        group, member = event.group, event.member_id
        self._why.pop((group, member), None)
        replaced = str(event.told.get("replaces", ""))
        if not replaced:
            return
        places = self._leaves(group, replaced, MEMBER_LEFT)
        self._owners |= dict.fromkeys(places, member)
        self._owned[group, member] = places

    def _left(self, event: Event) -> None:
        self._leaves(event.group, event.member_id, FELL_SILENT if "heard_ns" in event.told else MEMBER_LEFT)

    def _leaves(self, group: str, member: str, why: str) -> set[GroupPlace]:
        self._why[group, member] = why
        places = self._owned.pop((group, member), set())
        self._release(member, places)
        self._lose(places or self._of(group), member, why)
        return places

    def _state(self, event: Event) -> None:
        if event.cause == GroupState.DEAD:
            for place in self._of(event.group):
                del self._kept[place]

    def _reset(self, event: Event) -> None:
        outside = event.cause == READ_OUTSIDE
        for topic, partition, old, new in event.told.get("changes", ()):
            place = (event.group, str(topic), int(partition))
            found = self._find(place)
            if found is not None:
                owner = self.owner(place) if event.cause == COMMITTED_BACKWARDS else ""
                found.reset(old, new, owner=owner, outside=outside)

    def _acted(self, event: Event) -> None:
        for topic, partition in event.told.get("forgotten", ()):
            found = self._find((event.group, str(topic), int(partition)))
            if found is not None:
                found.forget()

    def _fault(self, event: Event) -> None:
        """A broker that has crashed knows no members; the leases of its queues are kept."""
        if event.told.get("fault") != BROKER_CRASH:
            return
        groups = dict.fromkeys(group for group, _, _ in self._ever)
        self._owners.clear()
        self._owned.clear()
        for group in groups:
            self._lose(self._of(group), "", CONNECTION_LOST)
