"""Partition assignors. Pure functions whose results do not depend on the hash seed."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from broker_core.errors import ErrorCode, must
from broker_core.groups.protocol import MemberSubscription, decode_members, encode_assignment
from broker_core.messages import TopicPartition

Members = Mapping[str, MemberSubscription]
Partitions = Mapping[str, int]
Plan = dict[str, list[TopicPartition]]


def assign_sticky(members: Members, partitions: Partitions) -> Plan:
    """KIP-54: members keep a partition unless another subscriber of its topic has at least two partitions fewer."""
    return _Balance(members, partitions, claims(members, partitions)).plan()


def assign_cooperative(members: Members, partitions: Partitions) -> Plan:
    """KIP-429: the sticky plan without partitions of another member, which revokes them first, and rejoins."""
    claimed = claims(members, partitions)
    plan = _Balance(members, partitions, claimed).plan()
    return {
        member_id: [each for each in owned if all(one == member_id for one in claimed.get(each, ()))]
        for member_id, owned in plan.items()
    }


def claims(members: Members, partitions: Partitions) -> dict[TopicPartition, list[str]]:
    """The members that claim each partition in the newest such generation. Deleted partitions are left out."""
    newest: dict[TopicPartition, int] = {}
    claimed: dict[TopicPartition, list[str]] = {}
    for member_id, subscription in members.items():
        for each in subscription.owned:
            if not 0 <= each[1] < partitions.get(each[0], 0):
                continue
            known = newest.get(each, subscription.generation)
            if subscription.generation > known or each not in claimed:
                claimed[each] = [member_id]
                newest[each] = subscription.generation
            elif subscription.generation == known:
                claimed[each].append(member_id)
    return claimed


class _Balance:
    """Builds the plan. Topics with the same subscribers share one heap of (count, place) of these."""

    def __init__(self, members: Members, partitions: Partitions, claimed: Mapping[TopicPartition, list[str]]) -> None:
        self._ids = list(members)
        self._owned: list[list[TopicPartition]] = [[] for _ in self._ids]
        self._kept: dict[TopicPartition, int] = {}
        self._class_of: dict[str, int] = {}
        self._heaps: list[list[tuple[int, int]]] = []
        self._classes: list[list[int]] = [[] for _ in self._ids]  # of each member
        self._sort_readers(members)
        places = {member_id: place for place, member_id in enumerate(self._ids)}
        free: list[TopicPartition] = []
        for topic in sorted(self._class_of):
            for number in range(partitions.get(topic, 0)):
                owners = claimed.get((topic, number), [])
                if len(owners) == 1 and topic in members[owners[0]].topics:
                    place = self._kept[topic, number] = places[owners[0]]
                    self._owned[place].append((topic, number))
                else:
                    free.append((topic, number))
        for place in range(len(self._ids)):
            self._counted(place)
        # Partitions with the fewest subscribers first: the others can even out the counts.
        free.sort(key=lambda each: len(self._readers[self._class_of[each[0]]]))
        for each in free:
            _, place = self._least(self._class_of[each[0]])
            self._owned[place].append(each)
            self._counted(place)
        self._level()

    def plan(self) -> Plan:
        return dict(zip(self._ids, self._owned, strict=True))

    def _sort_readers(self, members: Members) -> None:
        readers: dict[str, list[int]] = {}
        for place, subscription in enumerate(members.values()):
            for topic in dict.fromkeys(subscription.topics):
                readers.setdefault(topic, []).append(place)
        classes: dict[tuple[int, ...], int] = {}
        for topic in sorted(readers):
            self._class_of[topic] = classes.setdefault(tuple(readers[topic]), len(classes))
        self._readers = list(classes)
        self._heaps = [[] for _ in classes]
        for number, places in enumerate(self._readers):
            for place in places:
                self._classes[place].append(number)

    def _counted(self, place: int) -> None:
        """Push the member's new count; stale entries are dropped when they are met."""
        for number in self._classes[place]:
            heapq.heappush(self._heaps[number], (len(self._owned[place]), place))

    def _least(self, number: int) -> tuple[int, int]:
        heap = self._heaps[number]
        while len(self._owned[heap[0][1]]) != heap[0][0]:
            heapq.heappop(heap)
        return heap[0]

    def _level(self) -> None:
        """Move partitions from the member with the most to the subscriber with the fewest; the sum of squares
        decreases.
        """
        moved = True
        while moved:
            moved = False
            most = [(-len(owned), place) for place, owned in enumerate(self._owned)]
            heapq.heapify(most)
            while most:
                count, place = heapq.heappop(most)
                if -count != len(self._owned[place]) or not self._give(place):
                    continue
                moved = True
                heapq.heappush(most, (-len(self._owned[place]), place))

    def _give(self, place: int) -> bool:
        owned = self._owned[place]
        if not owned:
            return False
        numbers = sorted({self._class_of[topic] for topic, _ in owned})
        (count, receiver), number = min((self._least(number), number) for number in numbers)
        if count + 1 >= len(owned):
            return False
        alike = [each for each in owned if self._class_of[each[0]] == number]
        # Prefer a partition that the member did not own before.
        given = max(alike, key=lambda each: (self._kept.get(each) != place, each))
        owned.remove(given)
        self._owned[receiver].append(given)
        self._counted(place)
        self._counted(receiver)
        return True


AssignorName = Literal["range", "roundrobin", "sticky", "cooperative-sticky"]


def assign(name: str, members: Members, partitions: Partitions) -> Plan:
    """The plan of the assignor `name`: a sorted list of (topic, partition) for each member id.

    `members` maps member ids to subscriptions, `partitions` topics to their number of partitions; topics that are not
    in `partitions` are skipped. Members are ordered by instance id, or else by member id. Raises `BrokerError`
    (INCONSISTENT_GROUP_PROTOCOL) for an unknown name.
    """
    name = SERVER_SIDE.get(name, name)
    about = f"there is no assignor {name!r}; there are {', '.join(ASSIGNORS)}"
    assignor = must(ASSIGNORS.get(name), ErrorCode.INCONSISTENT_GROUP_PROTOCOL, about)
    plan = assignor(in_order(members), partitions)
    for owned in plan.values():
        owned.sort()
    return plan


def lead(
    protocol: str, members: Iterable[tuple[str, str, bytes]], partitions_of: Callable[[str], int]
) -> dict[str, bytes]:
    """Assignment bytes by member id, which a leader sends in its sync; `members` is its `JoinResult.members`."""
    subscriptions = decode_members(members)
    topics = sorted({topic for subscription in subscriptions.values() for topic in subscription.topics})
    plan = assign(protocol, subscriptions, {topic: partitions_of(topic) for topic in topics})
    return {member_id: encode_assignment(owned) for member_id, owned in plan.items()}


def in_order(members: Members) -> Members:
    """`members` in the order of assignors, in which static members keep their position across restarts."""
    return dict(sorted(members.items(), key=lambda item: (item[1].instance_id or item[0], item[0])))


def assign_range(members: Members, partitions: Partitions) -> Plan:
    """For each topic a range of partitions for each member; the first members get one more if it does not divide."""
    plan: Plan = {member_id: [] for member_id in members}
    readers: dict[str, list[str]] = {}
    for member_id, subscription in members.items():
        for topic in dict.fromkeys(subscription.topics):
            readers.setdefault(topic, []).append(member_id)
    for topic in sorted(readers):
        each, more = divmod(partitions.get(topic, 0), len(readers[topic]))
        first = 0
        for place, member_id in enumerate(readers[topic]):
            last = first + each + (place < more)
            plan[member_id].extend((topic, partition) for partition in range(first, last))
            first = last
    return plan


def assign_round_robin(members: Members, partitions: Partitions) -> Plan:
    """All partitions of all topics in order, one for each subscriber in turn."""
    plan: Plan = {member_id: [] for member_id in members}
    wanted = {member_id: frozenset(subscription.topics) for member_id, subscription in members.items()}
    ids = list(members)
    turn = 0
    for topic in sorted(frozenset().union(*wanted.values())) if wanted else ():
        for partition in range(partitions.get(topic, 0)):
            while topic not in wanted[ids[turn % len(ids)]]:
                turn += 1
            plan[ids[turn % len(ids)]].append((topic, partition))
            turn += 1
    return plan


ASSIGNORS: Mapping[str, Callable[[Members, Partitions], Plan]] = {
    "range": assign_range,
    "roundrobin": assign_round_robin,
    "sticky": assign_sticky,
    "cooperative-sticky": assign_cooperative,
}
COOPERATIVE: frozenset[str] = frozenset({"cooperative-sticky"})  # members keep reading what does not move
#: Assignors of the consumer group protocol (KIP-848), by ours.
SERVER_SIDE: Mapping[str, str] = {"uniform": "sticky"}
