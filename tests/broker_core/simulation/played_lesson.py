"""A lesson that is played without a window, and the judges of what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from broker_core.clock import NS_PER_S
from broker_core.events import EventKind
from broker_core.simulation.actions.action import Action
from broker_core.simulation.actions.clients import DuplicateClient
from broker_core.simulation.actions.faults import Crash
from broker_core.simulation.actions.groups import MoveConsumer
from broker_core.snapshots import GroupView, QueueView, RebalanceView, Snapshot
from tests.broker_core.simulation.session_run import SessionRun, shipped

LOOKS_PER_S = 2

#: What each lesson tells to try, and at which second a learner does it.
TRIED: dict[str, tuple[tuple[float, Action], ...]] = {
    "first-session": ((20, MoveConsumer("indexer-4", "indexers")),),
    "partitions-and-keys": ((10, MoveConsumer("packer-2", "")),),
    "hot-key": ((20, MoveConsumer("spare-1", "counters")),),
    "lag-and-catch-up": ((80, MoveConsumer("spare-1", "clerks")),),
    "alerts": ((62, MoveConsumer("spare-1", "packers")), (62, MoveConsumer("packer-1", ""))),
    "range-versus-sticky": (
        (5, MoveConsumer("ranger-1", "")),
        (10, MoveConsumer("sticker-1", "")),
        (15, MoveConsumer("helper-1", "")),
    ),
    "static-members": ((50, MoveConsumer("regular-2", "")),),
    "at-most-or-at-least-once": ((40, Crash("poster-1", for_s=2)),),
    "work-queue": ((28, Crash("painter-1", for_s=30)),),
    "poison-message": (),
    "backpressure-policies": (),
    "transactions": ((61, Crash("shop", for_s=20)),),
    "share-group": ((45, DuplicateClient("floor-1")),),
    "group-protocols": ((75, MoveConsumer("old-3", "")), (85, MoveConsumer("new-3", ""))),
}


class Played(SessionRun):
    """A lesson as it went, with the state at each half second."""

    def __init__(self, name: str, tried: tuple[tuple[float, Action], ...]) -> None:
        self.states: dict[float, Snapshot] = {}
        scenario = shipped(name)
        tries = sorted(tried, key=lambda one: one[0])
        looks = [number / LOOKS_PER_S for number in range(1, int(scenario.until_s * LOOKS_PER_S) + 1)]

        def look(simulation: Any) -> None:
            at_s = simulation.loop.now_ns / NS_PER_S
            self.states[at_s] = simulation.snapshot()
            while tries and tries[0][0] <= at_s:
                simulation.perform(tries.pop(0)[1])

        super().__init__(scenario, looks_s=tuple(looks), look=look)

    def at(self, second: float) -> Snapshot:
        return self.states[second]

    def during(self, from_s: float, to_s: float) -> Iterator[Snapshot]:
        return (state for at, state in self.states.items() if from_s <= at < to_s)

    def group(self, name: str, second: float) -> GroupView:
        return next(view for view in self.at(second).groups if view.name == name)

    def queue(self, name: str, second: float) -> QueueView:
        return next(view for view in self.at(second).queues if view.name == name)

    def lag_at(self, group: str, second: float) -> int:
        return self.group(group, second).lag or 0

    def lag_of(self, group: str, topic: str, partition: int, second: float) -> int:
        (found,) = (at for at in self.group(group, second).offsets if (at.topic, at.partition) == (topic, partition))
        return found.lag or 0

    def owned(self, client: str, second: float) -> set[tuple[str, int]]:
        return {
            place
            for group in self.at(second).groups
            for member in group.members
            if member.client == client
            for place in member.partitions
        }

    def first(self, kind: EventKind, after_s: float = 0, **fields: object) -> float:
        """The second of the first such event."""
        return next(e.time_ns for e in self.of(kind, **fields) if e.time_ns >= after_s * NS_PER_S) / NS_PER_S

    def rebalance(self, group: str, after_s: float) -> RebalanceView:
        """The first that begins at that second or later."""
        found = (r for r in self.snapshot.rebalances if r.group == group and r.started_ns >= after_s * NS_PER_S)
        return min(found, key=lambda one: one.started_ns)

    def deliveries(self, from_s: float, to_s: float, **fields: object) -> int:
        """Messages delivered between two seconds."""
        found = self.of(EventKind.DELIVERED, **fields)
        return sum(e.count for e in found if from_s * NS_PER_S <= e.time_ns < to_s * NS_PER_S)

    def state_of(self, client: str, second: float) -> str:
        return next(view.state for view in self.at(second).actors if view.name == client)


Claim = Callable[[Played], bool]


CLAIMS: dict[tuple[str, str], tuple[int, Claim]] = {}
#: Lessons whose `about` texts are of a session in which nobody tries anything.
UNTOUCHED = ("lag-and-catch-up", "range-versus-sticky", "work-queue", "transactions")


def claim(lesson: str, place: str, checksum: int) -> Callable[[Claim], Claim]:
    """The judge of a text; `checksum` is CRC-32 of the text that it was written for."""

    def kept(judge: Claim) -> Claim:
        CLAIMS[lesson, place] = (checksum, judge)
        return judge

    return kept


def judge(lesson: str, place: str, checksum: int, judged: Claim) -> None:
    claim(lesson, place, checksum)(judged)


def moves_only_of(p: Played, group: str, client: str, after_s: float) -> bool:
    moved = p.rebalance(group, after_s).moved
    return bool(moved) and {old for _, _, old, _ in moved} == {client}


def moves_between_those_who_stay(p: Played, group: str, client: str, after_s: float) -> bool:
    return any(old != client and old and new for _, _, old, new in p.rebalance(group, after_s).moved)


def given_up(p: Played, group: str, after_s: float) -> int:
    """How many partitions the members gave up in the first rebalance after that second."""
    one = p.rebalance(group, after_s)
    revoked = p.of(EventKind.PARTITIONS_REVOKED, group=group)
    places = {
        tuple(place)
        for event in revoked
        if one.started_ns <= event.time_ns <= (one.ended_ns or 0)
        for place in (event.detail or {})["partitions"]
    }
    return len(places)
