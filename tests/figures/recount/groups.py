"""Consumer groups: who is there, who owns what and since when, what was handed out and what is committed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Place = tuple[str, int]
Row = dict[str, Any]


@dataclass
class Member:
    client: str
    topics: list[str]
    joined_ns: int
    owned_ns: dict[Place, int] = field(default_factory=dict)  # since when


@dataclass
class Rebalance:
    """`before` and `after` hold who owned what; `after` is None while it runs. `number` is that of its first event."""

    group: str
    cause: str
    number: int
    started_ns: int
    generation_before: int
    before: dict[Place, str]
    ended_ns: int | None = None
    generation_after: int | None = None
    after: dict[Place, str] | None = None


@dataclass
class Span:
    owner: str
    start_ns: int
    end_ns: int | None = None
    member_id: str = ""


@dataclass
class Group:
    name: str
    since_ns: int
    state: str = "Empty"
    generation: int = 0
    assignor: str = ""
    leader: str = ""
    members: dict[str, Member] = field(default_factory=dict)  # by member id
    committed: dict[Place, int] = field(default_factory=dict)
    handed_to: dict[Place, int] = field(default_factory=dict)  # the end of what was handed out last
    handed_from: dict[Place, int] = field(default_factory=dict)  # where that began after the last assignment
    position: dict[Place, int] = field(default_factory=dict)  # what its owner reads next
    began: dict[Place, int] = field(default_factory=dict)  # where it began to read, having committed nothing
    reads: set[str] = field(default_factory=set)  # the topics of the generation of now
    spans: dict[Place, list[Span]] = field(default_factory=dict)
    had_ns: dict[Place, int] = field(default_factory=dict)  # since when its last owner had it, given back or not

    def owner(self, place: Place) -> str:
        """Who owns the partition; "" for nobody."""
        for member in self.members.values():
            if place in member.owned_ns:
                return member.client
        return ""

    def owned_ns(self, place: Place) -> int | None:
        """Since when its owner has owned it; what it was given back in a rebalance, since it first had it."""
        for member in self.members.values():
            if place in member.owned_ns:
                return member.owned_ns[place]
        return None

    def topics(self) -> list[str]:
        """What its members read, by name."""
        return sorted({topic for member in self.members.values() for topic in member.topics})

    # -- events

    def joined(self, row: Row) -> None:
        detail = row["detail"]
        before = self.members.pop(detail.get("replaces") or "", None)
        member = Member(row["client"], list(detail["topics"]), row["time_ns"])
        for place in before.owned_ns if before is not None else ():  # another process has them from now on
            self.lost(place, row["time_ns"])
            self.had_ns[place] = member.owned_ns[place] = row["time_ns"]
            self.spans[place].append(Span(member.client, row["time_ns"], member_id=detail["member_id"]))
        self.members[detail["member_id"]] = member

    def left(self, row: Row) -> None:
        gone = self.members.pop(row["detail"]["member_id"], None)
        if gone is not None and gone.client == self.leader:
            self.leader = ""
        for place in gone.owned_ns if gone is not None else ():
            self.lost(place, row["time_ns"])

    def lost(self, place: Place, time_ns: int) -> None:
        """The partition is nobody's any more."""
        self.spans[place][-1].end_ns = time_ns
        self.handed_from.pop(place, None)
        self.handed_to.pop(place, None)

    def revoked(self, row: Row) -> None:
        member = self.members.get(row["detail"]["member_id"])
        for topic, partition in row["detail"]["partitions"] if member is not None else ():
            if member is not None and member.owned_ns.pop((topic, partition), None) is not None:
                self.lost((topic, partition), row["time_ns"])

    def assigned(self, row: Row) -> None:
        member_id = row["detail"]["member_id"]
        member = self.members[member_id]
        for topic, partition in row["detail"]["partitions"]:
            since_ns: int = row["time_ns"]
            before = self.spans.get((topic, partition), [])
            if before and before[-1].member_id == member_id:
                since_ns = self.had_ns[topic, partition]  # given back
            self.had_ns[topic, partition] = member.owned_ns[topic, partition] = since_ns
            if (topic, partition) in self.committed:
                self.position[topic, partition] = self.committed[topic, partition]
            span = Span(member.client, row["time_ns"], member_id=member_id)
            self.spans.setdefault((topic, partition), []).append(span)

    def delivered(self, row: Row) -> None:
        place = (row["topic"], row["partition"])
        self.handed_from.setdefault(place, row["offset"])
        self.handed_from[place] = min(self.handed_from[place], row["offset"])
        self.handed_to[place] = self.position[place] = row["offset"] + row["count"]

    def acknowledged(self, row: Row) -> None:
        place, end = (row["topic"], row["partition"]), row["offset"] + row["count"]
        self.committed[place] = max(end, self.committed.get(place, 0))

    def reset(self, row: Row) -> None:
        for topic, partition, _old, new in row["detail"]["changes"]:
            self.committed[topic, partition] = new
