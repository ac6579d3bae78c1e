"""Consumer groups, as the requests of their members and the answers to them tell of them.

Their events come from `ClusterDiff`, as those that a look at the cluster shows do; here they are told as they happen,
with the generation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from broker_core.clock import NS_PER_S
from broker_core.events import EventKind, EventStream
from broker_core.groups.members import JOINING
from broker_core.groups.states import GroupState
from broker_core.listeners.between.seen import Seen
from broker_core.messages import TopicPartition
from broker_core.observation.kafka.cluster_diff import ClusterDiff
from broker_core.observation.kafka.seen import GroupSeen, MemberSeen, partitions_of, topics_of

_REBALANCES: Final = 27
_TO_REQUIRE_IDS: Final = 4  # from this version on a first JoinGroup only brings an id
_UUID_CHARS: Final = 37
_CONSUMER: Final = "consumer"
_NOBODY: Final = GroupSeen(GroupState.EMPTY, 0, "", ())


class _Member(msgspec.Struct):
    client: str
    instance_id: str = ""
    topics: tuple[str, ...] = ()
    heard_ns: int = 0
    connection: int = 0  # that it was last heard by
    lost_ns: int = 0  # when that connection has ended
    session_ms: int = 0
    epoch: int = 0
    target: tuple[TopicPartition, ...] = ()  # of one by KIP-848
    unnamed: list[Any] = []  # what it was assigned, if some of it has no name yet but an id


class _Group(msgspec.Struct):
    generation: int = -1
    assignor: str = ""
    members: dict[str, _Member] = {}
    assigned: dict[str, bytes] = {}  # as the leader of this generation has sent them
    told_ns: int = 0
    late: str = ""  # who has joined while a rebalance was being completed: the next one is for that


class SeenGroups:
    """`now` is when what is told now has happened. What `Readers` asks the groups of a broker is asked here."""

    def __init__(self, diff: ClusterDiff, events: EventStream, topic_of: Callable[[Any], str | None]) -> None:
        self._diff, self._events, self._topic_of = diff, events, topic_of
        self._groups: dict[str, _Group] = {}
        self._starts: dict[tuple[str, str, int], int] = {}
        self.now_ns = 0
        self.back: list[tuple[str, str]] = []  # members, by group, that are heard again; whoever reads it empties it
        diff.silence = self._silence

    # -- as `Readers` and `DeliveryRecord` ask

    @property
    def commits(self) -> SeenGroups:
        return self

    def reading(self, topic: str, partition: int) -> Iterator[tuple[str, MemberSeen]]:
        place = (topic, partition)
        for name, group in self._diff.groups.items():
            for member in group.members:
                if place in member.partitions:
                    yield name, member

    def is_member(self, group: str, member_id: str) -> bool:
        return any(each.member_id == member_id for each in self._diff.groups.get(group, _NOBODY).members)

    def committed(self, group: str, topic: str, partition: int) -> int | None:
        return self._diff.committed.get(group, {}).get((topic, partition))

    def next_offset(self, group: str, topic: str, partition: int) -> int | None:
        committed = self.committed(group, topic, partition)
        return self._starts.get((group, topic, partition)) if committed is None else committed

    def begin(self, now_ns: int, group: str, client: str, topic: str, partition: int, offset: int) -> None:
        if self._starts.get((group, topic, partition)) != offset:
            self._starts[group, topic, partition] = offset
            place: dict[str, Any] = {"topic": topic, "partition": partition, "offset": offset}
            self._events.emit(now_ns, EventKind.READING_BEGAN, client=client, group=group, **place)

    def seen(self, _now_ns: int, _group: str, _member_id: str) -> None:
        """A connection of a member has ended; only the cluster knows what follows."""

    # -- a look at the cluster

    def corrected(self, name: str, seen: GroupSeen, since_ns: int) -> GroupSeen:
        """`seen` by a look that began at `since_ns`, where what has passed knows more or later."""
        group, known = self._groups.get(name), self._diff.groups.get(name)
        if group is None or known is None or seen.generation is not None:
            return known if group is not None and known is not None and group.told_ns >= since_ns else seen
        same = [each.member_id for each in seen.members] == [each.member_id for each in known.members]
        return known if group.told_ns >= since_ns or (same and seen.state is known.state) else seen

    def told_since(self, since_ns: int) -> list[str]:
        return [name for name, group in self._groups.items() if group.told_ns >= since_ns]

    # -- the classic protocol

    def join_group_asked(self, seen: Seen, asked: Any) -> None:
        if asked.protocol_type != _CONSUMER or (
            seen.version >= _TO_REQUIRE_IDS and not (asked.member_id or asked.group_instance_id)
        ):
            return
        known = self._diff.groups.get(asked.group_id, _NOBODY)
        again = any(each.member_id == asked.member_id for each in known.members)
        reason = f": {asked.reason[:255]}" if asked.reason else ""
        self._prepare(asked.group_id, f"{seen.client} joins{' again' if again else ''}{reason}")

    def join_group_answered(self, seen: Seen, asked: Any, answer: Any) -> None:
        if answer.error_code or asked.protocol_type != _CONSUMER:
            return
        group = self._group(asked.group_id)
        if answer.generation_id > group.generation:
            group.generation, group.assigned = answer.generation_id, {}
        group.assignor = answer.protocol_name or group.assignor
        member = group.members.setdefault(answer.member_id, _Member(seen.client))
        member.client, member.instance_id = seen.client, asked.group_instance_id or ""
        member.session_ms = asked.session_timeout
        self._hears(asked.group_id, answer.member_id, seen)
        metadata = {each.name: each.metadata for each in asked.protocols}
        member.topics = topics_of(metadata.get(answer.protocol_name or "", b"")) or member.topics
        for each in answer.members:  # the leader is told of all
            other = group.members.setdefault(each.member_id, _Member(_client_of(each.member_id)))
            other.topics = topics_of(each.metadata) or other.topics
            other.instance_id = getattr(each, "group_instance_id", None) or ""
        before = self._diff.groups.get(asked.group_id, _NOBODY)
        self._tell(asked.group_id, GroupState.COMPLETING, before.members)

    def sync_group_asked(self, _seen: Seen, asked: Any) -> None:
        if asked.assignments and asked.group_id in self._groups:
            group = self._groups[asked.group_id]
            if asked.generation_id == group.generation:
                group.assigned = {each.member_id: each.assignment for each in asked.assignments}

    def sync_group_answered(self, seen: Seen, asked: Any, answer: Any) -> None:
        group = self._groups.get(asked.group_id)
        if answer.error_code or group is None or asked.generation_id != group.generation:
            return
        before = self._diff.groups.get(asked.group_id, _NOBODY)
        if before.state is GroupState.STABLE and before.generation == group.generation and group.assigned:
            return
        if group.assigned:
            members = [self._member(group, each, partitions_of(data)) for each, data in group.assigned.items()]
        else:  # its leader does not come through here
            mine = self._member(group, asked.member_id, partitions_of(answer.assignment))
            members = [mine, *(each for each in before.members if each.member_id != asked.member_id)]
        self._tell(asked.group_id, GroupState.STABLE, members)
        for member_id in group.members.keys() - group.assigned.keys() if group.assigned else ():
            del group.members[member_id]

    def heartbeat_answered(self, seen: Seen, asked: Any, answer: Any) -> None:
        group = self._groups.get(asked.group_id)
        if group is None:
            return
        self._hears(asked.group_id, asked.member_id, seen)
        if answer.error_code == _REBALANCES:
            known = self._diff.groups.get(asked.group_id, _NOBODY).members
            silent = "; ".join(found[0] for each in known if (found := self._silence(asked.group_id, each)))
            late, group.late = group.late, ""
            self._prepare(asked.group_id, late or silent or "a member that does not come through here, or new topics")

    def leave_group_answered(self, seen: Seen, asked: Any, answer: Any) -> list[str]:
        """The ids of the members that have left."""
        rows = getattr(answer, "members", None) or ()
        gone = [each.member_id for each in rows if not each.error_code]
        if not rows and not answer.error_code:
            gone = [asked.member_id]
        reasons = {each.member_id: getattr(each, "reason", None) or "" for each in getattr(asked, "members", ())}
        for member_id in gone:
            self._leave(asked.group_id, member_id, reasons.get(member_id, ""))
        return gone

    def _leave(self, name: str, member_id: str, reason: str) -> None:
        known = self._diff.groups.get(name, _NOBODY)
        rest = [each for each in known.members if each.member_id != member_id]
        if name not in self._groups or len(rest) == len(known.members):
            return
        self._groups[name].members.pop(member_id, None)
        client = next(each.client for each in known.members if each.member_id == member_id)
        cause = f"{client} left{f': {reason[:255]}' if reason else ''}"
        state = GroupState.PREPARING if rest else GroupState.EMPTY
        self._tell(name, state, rest, cause, left={member_id: "left by itself"})

    def _prepare(self, name: str, cause: str) -> None:
        group, known = self._group(name), self._diff.groups.get(name, _NOBODY)
        if known.state in {GroupState.STABLE, GroupState.EMPTY, GroupState.DEAD}:
            group.generation = max(group.generation, known.generation or 0)
            self._tell(name, GroupState.PREPARING, known.members, cause)
        elif known.state is GroupState.COMPLETING:
            group.late = cause

    # -- KIP-848

    def consumer_group_heartbeat_answered(self, seen: Seen, asked: Any, answer: Any) -> str:
        """A heartbeat; the id of the member that has left by it, "" for none."""
        if answer.error_code:
            return ""
        name, member_id = asked.group_id, answer.member_id or asked.member_id
        if asked.member_epoch < JOINING:
            self._leave(name, member_id, "")
            return str(member_id)
        group = self._group(name)
        is_new = member_id not in group.members
        member = group.members.setdefault(member_id, _Member(seen.client))
        member.client, member.instance_id = seen.client, asked.instance_id or member.instance_id
        self._hears(name, member_id, seen)
        member.topics = tuple(sorted(asked.subscribed_topic_names or ())) or member.topics
        group.generation = max(group.generation, answer.member_epoch)
        group.assignor = group.assignor or asked.server_assignor or ""
        before = self._diff.groups.get(name, _NOBODY)
        owned = {each.member_id: each.partitions for each in before.members}
        if answer.assignment is not None:
            rows = answer.assignment.topic_partitions
            member.target = self._named(rows)
            member.unnamed = [row for row in rows if self._topic_of(row) is None]
            # What it is given it reads at once; what it is not given any more it stops reading first.
            owned[member_id] = tuple(sorted({*owned.get(member_id, ()), *member.target}))
            for each in before.members:  # what one had that is silent is given to another: it is gone
                if each.member_id != member_id and {*each.partitions} & {*member.target} and self._silence(name, each):
                    del owned[each.member_id]
        if asked.topic_partitions is not None and not is_new:
            there = {*self._named(asked.topic_partitions), *member.target}
            owned[member_id] = tuple(each for each in owned.get(member_id, ()) if each in there)
        owned.setdefault(member_id, ())
        told = is_new or answer.assignment is not None or asked.topic_partitions is not None
        if told or before.generation != group.generation:
            members = [self._member(group, each, parts) for each, parts in owned.items()]
            settled = all(
                set(group.members[each].target) == set(parts) for each, parts in owned.items() if each in group.members
            )
            state = GroupState.STABLE if settled else GroupState.RECONCILING
            cause = f"{seen.client} joins" if is_new else ""
            self._tell(name, state, members, cause or "partitions are reconciled")
        return ""

    def name(self) -> None:
        """A topic has a name: members that were assigned its id before they asked for its name have it, and read."""
        for name, group in self._groups.items():
            known = self._diff.groups.get(name, _NOBODY)
            owned = {each.member_id: each.partitions for each in known.members}
            named = {each: self._named(member.unnamed) for each, member in group.members.items() if each in owned}
            for each, found in named.items():
                member = group.members[each]
                member.unnamed = [row for row in member.unnamed if self._topic_of(row) is None]
                member.target = tuple(sorted({*member.target, *found}))
                owned[each] = tuple(sorted({*owned[each], *found}))
            if any(named.values()):
                members = [self._member(group, each, parts) for each, parts in owned.items()]
                self._tell(name, known.state, members, "partitions are reconciled")

    def _named(self, rows: Any) -> tuple[TopicPartition, ...]:
        named = [(self._topic_of(row), row.partitions) for row in rows]
        return tuple(sorted((name, number) for name, numbers in named if name is not None for number in numbers))

    # -- inside

    def _group(self, name: str) -> _Group:
        return self._groups.setdefault(name, _Group())

    @staticmethod
    def _member(group: _Group, member_id: str, partitions: tuple[TopicPartition, ...]) -> MemberSeen:
        known = group.members.get(member_id) or _Member(_client_of(member_id))
        topics = known.topics or tuple(sorted({topic for topic, _ in partitions}))
        return MemberSeen(member_id, known.client, known.instance_id, topics, partitions)

    def _hears(self, name: str, member_id: str, seen: Seen) -> None:
        member = self._groups[name].members.get(member_id)
        if member is not None:
            member.heard_ns, member.connection = seen.time_ns, seen.connection.id
            if member.lost_ns:
                member.lost_ns = 0
                self.back.append((name, member_id))

    def lost(self, connection: int) -> None:
        """A connection has ended: members that were last heard through it and have not left may be dead."""
        for name, group in self._groups.items():
            there = {each.member_id for each in self._diff.groups.get(name, _NOBODY).members}
            for member_id in there & group.members.keys():
                member = group.members[member_id]
                if member.connection == connection and not member.lost_ns:
                    member.lost_ns = self.now_ns
                    who: dict[str, Any] = {"client": member.client, "detail": {"member_id": member_id}}
                    self._events.emit(self.now_ns, EventKind.CONNECTION_ENDED, group=name, **who)

    def _silence(self, name: str, each: MemberSeen) -> tuple[str, int] | None:
        """Why a member that has not left by itself is gone, and its last sign of life; None without a sign that it
        is gone.
        """
        member = self._groups[name].members.get(each.member_id) if name in self._groups else None
        silent_ns = self.now_ns - member.heard_ns if member is not None else 0
        if member is None or not (member.lost_ns or 0 < member.session_ms * 1_000_000 <= silent_ns):
            return None
        ended = " and its connection has ended" if member.lost_ns else ""
        why = f"nothing came from {member.client} for {silent_ns / NS_PER_S:.1f} s{ended}: its session has timed out"
        return why, max(member.heard_ns, member.lost_ns)

    def _tell(
        self, name: str, state: GroupState, members: Any, cause: str = "", left: Mapping[str, str] | None = None
    ) -> None:
        group = self._groups[name]
        group.told_ns = self.now_ns
        seen = GroupSeen(state, max(0, group.generation), group.assignor, tuple(sorted(members)))
        cause = cause or "its members have joined and synchronized"
        for event in [*self._diff.group_events(name, seen, self.now_ns, cause, left)]:  # known before it is passed on
            self._events.pass_on(event)


def _client_of(member_id: str) -> str:
    """The client id in the member id that a broker gives: with a UUID behind it."""
    return member_id[:-_UUID_CHARS] if len(member_id) > _UUID_CHARS else member_id
