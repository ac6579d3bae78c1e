"""Sticky assignment (KIP-54), balanced with as few moves as possible, and its cooperative form (KIP-429).

Members, eager ones too, name what they own in their subscription (`owned`, `generation`).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from broker_core.groups.protocol import MemberSubscription
from broker_core.messages import TopicPartition

Members = Mapping[str, MemberSubscription]
Partitions = Mapping[str, int]
Plan = dict[str, list[TopicPartition]]


def assign_sticky(members: Members, partitions: Partitions) -> Plan:
    """Members keep a partition unless another subscriber of its topic has at least two partitions fewer."""
    return _Balance(members, partitions, claims(members, partitions)).plan()


def assign_cooperative(members: Members, partitions: Partitions) -> Plan:
    """The sticky plan without partitions that another member owns: that member revokes them first, and rejoins."""
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
