"""One group: its members, its generation and its state. `Rebalancer` decides when to rebalance."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.assignors import COOPERATIVE
from broker_core.groups.commits import Commits
from broker_core.groups.history import Causes, Owned
from broker_core.groups.members import CONSUMER, JoinResult, Member, SyncResult, read_subscription
from broker_core.groups.offsets import OffsetStore
from broker_core.groups.protocol import decode_assignment
from broker_core.groups.states import VALID_PREVIOUS, GroupState
from broker_core.messages import TopicPartition
from broker_core.replies import Reply
from broker_core.snapshots import GroupView
from broker_core.timers import Timer


def view_of(
    now_ns: int, group: Group, offsets: OffsetStore, commits: Commits, partitions_of: Callable[[str], int] | None
) -> GroupView:
    """The view of `group` with its members, and its offsets in each subscribed or committed partition; in none where
    no `partitions_of` is given.
    """
    owners = {place: member for member in group.members.values() for place in member.owned}
    wanted = {topic for member in group.members.values() for topic in member.subscription.topics}
    topics = sorted(wanted | {topic for topic, _ in offsets.fetch_all(group.name)})
    return GroupView(
        name=group.name,
        state=str(group.state),
        generation=group.generation,
        assignor=group.protocol,
        leader=group.members[group.leader].client if group.leader else "",
        topics=tuple(sorted(wanted)),
        members=tuple(member.view() for member in group.members.values()),
        offsets=tuple(
            commits.view(now_ns, group.name, topic, number, *_names(owners.get((topic, number))))
            for topic in topics
            for number in range(partitions_of(topic) if partitions_of is not None else 0)
        ),
        state_since_ns=group.state_since_ns,
    )


def _names(owner: Member | None) -> tuple[str, str]:
    return ("", "") if owner is None else (owner.client, owner.member_id)


_FENCED_KEPT = 1_000  # ids of replaced static members; older ones are unknown members


GroupType = Literal["classic", "consumer"]  # which protocol its members speak, in Kafka's words


class Group:
    """The table of members, with counters that make queries O(1)."""

    def __init__(self, name: str, generation: int = 0, members_seen: int = 0) -> None:
        self.name = name
        self.state = GroupState.EMPTY
        self.state_since_ns = 0
        self.generation = generation
        self.type: GroupType = "classic"
        self.protocol_type = ""
        self.protocol = ""
        self.leader = ""
        self.members: dict[str, Member] = {}
        self.static: dict[str, str] = {}
        self.fenced: dict[str, str] = {}
        self.joining: set[str] = set()
        self.unsynced: set[str] = set()
        self.topics: dict[str, int] = {}
        self.members_seen = members_seen
        self.causes = Causes()
        self.timer: Timer | None = None
        self.initial_until_ns: int | None = None
        self.initial_joins = 0
        self._support: Counter[str] = Counter()
        self._outbox: deque[tuple[Reply[Any], object, BrokerError | None]] = deque()
        self._settling = False

    # -- state

    def move_to(self, state: GroupState, now_ns: int) -> GroupState:
        """Returns the previous state. AssertionError for an invalid transition."""
        old = self.state
        assert old in VALID_PREVIOUS[state], f"group {self.name}: {old} cannot be followed by {state}"
        self.state, self.state_since_ns = state, now_ns
        return old

    def set_timer(self, timer: Timer | None) -> None:
        """Replace the group's timer: the initial delay, the deadline for joins or for syncs."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = timer

    # -- members

    def new_member_id(self, client: str) -> str:
        self.members_seen += 1
        return f"{client}-{self.members_seen}"

    def add(self, member: Member, protocol_type: str, protocols: Mapping[str, bytes]) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        self.members[member.member_id] = member
        if member.instance_id:
            self.static[member.instance_id] = member.member_id
        self.offer(member, protocols)

    def offer(self, member: Member, protocols: Mapping[str, bytes]) -> None:
        self._support.subtract(member.protocols.keys())
        member.offer(self.protocol_type, protocols)
        self._support.update(member.protocols.keys())

    def replace(self, member: Member, member_id: str) -> None:
        """A static member rejoined: it gets a new id, the old one is fenced."""
        old_id = member.member_id
        del self.members[old_id]
        member.member_id = member_id
        self.members[member_id] = member
        self.static[member.instance_id] = member_id
        for ids in (self.joining, self.unsynced):
            if old_id in ids:
                ids.remove(old_id)
                ids.add(member_id)
        if self.leader == old_id:
            self.leader = member_id
        self.fenced[old_id] = member.instance_id
        if len(self.fenced) > _FENCED_KEPT:
            del self.fenced[next(iter(self.fenced))]

    def remove(self, member: Member, error: BrokerError) -> None:
        member.unwatch()
        del self.members[member.member_id]
        if member.instance_id:
            del self.static[member.instance_id]
        self._support.subtract(member.protocols.keys())
        self.fail_waiting(member, error)
        self.joining.discard(member.member_id)
        self.unsynced.discard(member.member_id)
        if self.leader == member.member_id:
            self.leader = ""

    def find(self, member_id: str) -> Member:
        """The member. Raises FENCED_INSTANCE_ID for a replaced one, otherwise UNKNOWN_MEMBER_ID."""
        member = self.members.get(member_id)
        if member is not None:
            return member
        if member_id in self.fenced:
            raise BrokerError(
                ErrorCode.FENCED_INSTANCE_ID,
                f"{member_id} of group {self.name} was replaced by a newer {self.fenced[member_id]}",
            )
        raise BrokerError(
            ErrorCode.UNKNOWN_MEMBER_ID, f"{member_id!r} is not in group {self.name}; join again without a member id"
        )

    def current(self, member_id: str, generation: int) -> Member:
        """The member of the current generation.

        Raises as `find`, and ILLEGAL_GENERATION, or STALE_MEMBER_EPOCH in the consumer group protocol.
        """
        member = self.find(member_id)
        if member.epoch is not None:
            if generation != member.epoch:
                raise BrokerError(
                    ErrorCode.STALE_MEMBER_EPOCH,
                    f"{member_id} of group {self.name} says {generation}, but is at {member.epoch}",
                )
            return member
        if generation != self.generation:
            raise BrokerError(
                ErrorCode.ILLEGAL_GENERATION,
                f"{member_id} says {generation}, group {self.name} is in generation {self.generation}",
            )
        return member

    # -- assignors

    def accepts(self, protocol_type: str, protocols: Iterable[str]) -> bool:
        """Whether all members support one of `protocols`; who joins again counts with what it offered before, too, as
        in Kafka.
        """
        count = len(self.members)
        return not count or (
            protocol_type == self.protocol_type and any(self._support[name] == count for name in protocols)
        )

    def elect_protocol(self) -> str:
        """The assignor that all support and most prefer; among equals the first by name."""
        common = {name for name, count in self._support.items() if count == len(self.members)}
        votes = Counter(next(name for name in member.protocols if name in common) for member in self.members.values())
        return max(sorted(votes), key=votes.__getitem__)

    def subscribe(self) -> frozenset[str]:
        for member in self.members.values():
            member.subscription = read_subscription(
                self.protocol_type, member.protocols[self.protocol], member.instance_id
            )
        return frozenset(topic for member in self.members.values() for topic in member.subscription.topics)

    @property
    def cooperative(self) -> bool:
        return self.protocol in COOPERATIVE

    def owned(self) -> Owned:
        """(topic, partition, client) of all owned partitions, sorted."""
        return tuple(
            sorted((topic, number, member.client) for member in self.members.values() for topic, number in member.owned)
        )

    def reading(self, place: TopicPartition) -> list[Member]:
        """Members that read the partition: its owner; while members join anew, the former one until it has joined."""
        owners = [member for member in self.members.values() if place in member.owned]
        if owners or self.state is not GroupState.PREPARING or self.protocol_type != CONSUMER:
            return owners
        return [
            member
            for member in self.members.values()
            if member.join is None and place in _partitions_of(member.assignment)
        ]

    def max_rebalance_timeout_ns(self) -> int:
        return max((member.rebalance_timeout_ns for member in self.members.values()), default=0)

    # -- replies

    def park(self, member: Member, reply: Reply[JoinResult]) -> None:
        self._fail_earlier(member, "joined")
        member.join = reply
        self.joining.add(member.member_id)

    def park_sync(self, member: Member, reply: Reply[SyncResult]) -> None:
        """Park the sync of a member until its assignment; its earlier sync fails."""
        self._fail_earlier(member, "asked")
        member.sync = reply
        self.unsynced.discard(member.member_id)

    def _fail_earlier(self, member: Member, done: str) -> None:
        text = f"{member.member_id} has {done} {self.name} again"
        self.fail_waiting(member, BrokerError(ErrorCode.REBALANCE_IN_PROGRESS, text))

    def join_result(self, member: Member) -> JoinResult:
        others = self.members.values() if member.member_id == self.leader else ()
        told = tuple((other.member_id, other.instance_id, other.protocols[self.protocol]) for other in others)
        return JoinResult(member.member_id, self.generation, self.protocol, self.leader, told)

    def fail_waiting(self, member: Member, error: BrokerError) -> None:
        for reply in (member.join, member.sync):
            if reply is not None:
                self._outbox.append((reply, None, error))
        member.join = member.sync = None

    def answer(self, reply: Reply[Any], value: object) -> None:
        """Settle `reply` with the next `settle`, after the present call has completed its changes."""
        self._outbox.append((reply, value, None))

    def settle(self) -> None:
        """Settle the queued replies in order. Replies to calls that callbacks make are queued behind."""
        if self._settling:
            return
        self._settling = True
        try:
            while self._outbox:
                reply, value, error = self._outbox.popleft()
                if error is not None:
                    reply.fail(error)
                else:
                    reply.resolve(value)
        finally:
            self._settling = False


@lru_cache(maxsize=1_024)
def _partitions_of(assignment: bytes) -> frozenset[TopicPartition]:
    return frozenset(decode_assignment(assignment).partitions)
