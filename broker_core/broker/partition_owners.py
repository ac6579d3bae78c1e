"""The member of a group that owns each partition, and what happens to its deliveries when it loses the partition."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import NamedTuple

from broker_core.broker.deliveries import Deliveries
from broker_core.events import BROKER_CRASH, COMMITTED_BACKWARDS, READ_OUTSIDE, Event, EventKind, is_by_hand
from broker_core.groups.states import GroupState
from resources.account import CONNECTION_LOST, FELL_SILENT, MEMBER_LEFT, MOVED

GroupPlace = tuple[str, str, int]  # group, topic, partition


class Reader(NamedTuple):
    """A reader of a group: `member` is its member id, or `reader_by_hand` if it assigned its partitions itself."""

    group: str
    client: str
    member: str


class PartitionOwners:
    """A sink of the event stream: who of a group owns a partition, why somebody does no more, and resets of offsets."""

    def __init__(
        self,
        deliveries: dict[GroupPlace, Deliveries],
        deliveries_at: Callable[[GroupPlace], Deliveries | None],
        queues: Container[str] = (),
    ) -> None:
        """`deliveries` are those of all readers, of which `queues` are no groups. `deliveries_at` returns those of one
        place, which it may make; None if nothing was delivered.
        """
        self._deliveries, self._deliveries_at, self._queues = deliveries, deliveries_at, queues
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
            if (found := self._deliveries_at(place)) is not None:
                found.lose(member, why)

    def _of(self, group: str) -> list[GroupPlace]:
        return [] if group in self._queues else [place for place in self._deliveries if place[0] == group]

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
                del self._deliveries[place]

    def _reset(self, event: Event) -> None:
        outside = event.cause == READ_OUTSIDE
        for topic, partition, old, new in event.told.get("changes", ()):
            place = (event.group, str(topic), int(partition))
            found = self._deliveries_at(place)
            if found is not None:
                owner = self.owner(place) if event.cause == COMMITTED_BACKWARDS else ""
                found.reset(old, new, owner=owner, outside=outside)

    def _acted(self, event: Event) -> None:
        for topic, partition in event.told.get("forgotten", ()):
            found = self._deliveries_at((event.group, str(topic), int(partition)))
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
