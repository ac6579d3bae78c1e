"""The group coordinator: the table of groups, and the calls of members and administrators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.events import COMMITTED_BACKWARDS, EventKind, EventStream
from broker_core.groups.commits import Advance, Commits, Reads
from broker_core.groups.config import GroupConfig, GroupSettingsByName
from broker_core.groups.group import Group, GroupType, view_of
from broker_core.groups.history import RebalanceHistory
from broker_core.groups.joining import Joining, JoinRequest
from broker_core.groups.members import (
    CONSUMER,
    JOINING,
    ConsumerHeartbeat,
    ConsumerHeartbeatResult,
    ConsumerMember,
    JoinResult,
    Member,
    SyncResult,
)
from broker_core.groups.mixed_group import MixedGroups
from broker_core.groups.offset_reset import Change
from broker_core.groups.offsets import OffsetStore
from broker_core.groups.rebalancing import Rebalancer, rebalancing
from broker_core.groups.reconciling import Reconciler
from broker_core.groups.states import GroupState
from broker_core.limits import MAX_METADATA_BYTES
from broker_core.messages import OffsetAndMetadata, TopicPartition
from broker_core.names import check_name
from broker_core.replies import Reply
from broker_core.snapshots import GroupView
from broker_core.timers import Timers


class KeptMember(msgspec.Struct, frozen=True, array_like=True):
    """A member; what stands behind `rebalance_timeout_ms` is of the consumer group protocol."""

    member_id: str
    client: str
    host: str
    instance_id: str
    protocols: dict[str, bytes]
    assignment: bytes
    owned: tuple[TopicPartition, ...]
    session_timeout_ms: int
    rebalance_timeout_ms: int
    epoch: int = 0
    previous_epoch: int = 0
    names: tuple[str, ...] = ()
    regex: str = ""
    assignor: str = ""
    is_classic: bool = False
    away: bool = False


class KeptGroup(msgspec.Struct, frozen=True, array_like=True):
    """The state of a group that a restart needs, as Kafka keeps it in `__consumer_offsets`; `settled` where it was
    Stable, and all of its members are kept: those that came over the network. Those in the broker's own process end
    with it.
    """

    type: GroupType
    protocol_type: str
    protocol: str
    leader: str
    settled: bool
    members: tuple[KeptMember, ...]


_DECODER = msgspec.msgpack.Decoder(KeptGroup)
#: What a member has under the same name.
_SAME, _OF_CONSUMERS = KeptMember.__struct_fields__[:7], KeptMember.__struct_fields__[9:]


def kept_bytes(group: Group) -> bytes | None:
    """The members to store, b"" for none; None if it stays as it is: until a generation has begun."""
    if group.type == "classic" and group.state not in {GroupState.STABLE, GroupState.EMPTY}:
        return None
    members = tuple(_kept(member) for member in group.members.values() if member.host)
    if not members:
        return b""
    settled = group.state is GroupState.STABLE and len(members) == len(group.members)
    return msgspec.msgpack.encode(
        KeptGroup(group.type, group.protocol_type, group.protocol, group.leader, settled, members)
    )


def _kept(member: Member) -> KeptMember:
    names = _SAME + (_OF_CONSUMERS if isinstance(member, ConsumerMember) else ())
    return KeptMember(
        **{name: getattr(member, name) for name in names},
        session_timeout_ms=0 if member.session is None else member.session.timeout_ns // NS_PER_MS,
        rebalance_timeout_ms=member.rebalance_timeout_ns // NS_PER_MS,
    )


def member_of(kept: KeptMember, kind: GroupType, now_ns: int) -> Member:
    make = ConsumerMember if kind == "consumer" else Member
    member = make(kept.member_id, kept.client, kept.instance_id, now_ns)
    member.host, member.assignment = kept.host, kept.assignment
    member.rebalance_timeout_ns = kept.rebalance_timeout_ms * NS_PER_MS
    if isinstance(member, ConsumerMember):
        for name in _OF_CONSUMERS:
            setattr(member, name, getattr(kept, name))
        member.target = kept.owned
        # Its rights are looked up with its next heartbeat.
        member.allowed = frozenset(topic for topic, _ in kept.owned).__contains__
        member.tell_again()
    return member


__all__ = ["Advance", "GroupCoordinator", "JoinResult", "SyncResult"]


class GroupCoordinator:
    """The coordinator of all groups, after Kafka's classic protocol (KIP-62, 134, 345, 429, 800) and KIP-848."""

    def __init__(
        self, events: EventStream, timers: Timers, offsets: OffsetStore, reads: Reads, config: GroupConfig | None = None
    ) -> None:
        self.config = config or GroupConfig()
        self.configs = GroupSettingsByName(self.config)
        self.offsets = offsets
        self._events = events
        self._reads = reads
        self.commits = Commits(offsets, reads)
        self.history = RebalanceHistory(self.config.rebalances_kept)
        delay_ns = self.config.initial_rebalance_delay_ms * NS_PER_MS
        self._rebalancer = Rebalancer(events, timers, offsets, self.history, delay_ns, reads)
        self._reconciler = Reconciler(timers, offsets, self._rebalancer, self.configs, reads, self._expel)
        self._mixed = MixedGroups(self._reconciler, self._rebalancer, self.configs)
        self._joining = Joining(timers, self.config, self._rebalancer, self._expel)
        self._groups: dict[str, Group] = {}
        self._metadata_bytes = 0  # of all members; at least what it is, as long as nobody has counted again
        for name in offsets.groups():
            numbers = offsets.numbers(name)
            self._groups[name] = Group(name, numbers.generation, numbers.last_member_number)
        offsets.members_of = self._kept

    # -- over a restart

    def _kept(self, group: str) -> bytes | None:
        found = self._groups.get(group)
        return b"" if found is None else kept_bytes(found)

    def restore(self, now_ns: int) -> None:
        """Members of before a restart are members still, with their session timeouts to come back. Call it after the
        topics.
        """
        for name, data in self.offsets.members().items():
            group = self._found(now_ns, name)
            if data and not group.members:
                self._restore(group, now_ns, _DECODER.decode(data))
                group.settle()

    def _restore(self, group: Group, now_ns: int, kept: KeptGroup) -> None:
        group.type = kept.type
        cause = "the broker was started again"
        group.causes.add(cause)
        for each in kept.members:
            member = member_of(each, kept.type, now_ns)
            group.add(member, kept.protocol_type, each.protocols)
            self._metadata_bytes += member.metadata_bytes
            if each.session_timeout_ms:
                self._reconciler.watch(group, now_ns, member, each.session_timeout_ms)
        group.protocol, group.leader = kept.protocol, kept.leader if kept.leader in group.members else ""
        if kept.type == "consumer":
            self._reconciler.read_subscriptions(group)
        else:
            group.topics = {topic: self._reads.partitions_of(topic) for topic in sorted(group.subscribe())}
        for each in kept.members:
            member = group.members[each.member_id]
            self._rebalancer.emit_joined(group, now_ns, member, f"{member.client} is a member since before: {cause}")
            self._rebalancer.assign(group, now_ns, member, each.owned)
        self._rebalancer.move(group, now_ns, GroupState.STABLE)
        if kept.settled:
            return
        if kept.type == "consumer":
            self._reconciler.assign_anew(group, now_ns, cause)
        else:
            self._rebalancer.prepare_rebalance(group, now_ns, cause)

    # -- calls of members

    def _hold(self, group: str, size_bytes: int) -> None:
        """Count what a member adds. Raises GROUP_MAX_SIZE_REACHED if all members together hold too much."""
        self._metadata_bytes += size_bytes
        if self._metadata_bytes > MAX_METADATA_BYTES:
            members = (member for found in self._groups.values() for member in found.members.values())
            self._metadata_bytes = size_bytes + sum(member.metadata_bytes for member in members)
        if self._metadata_bytes > MAX_METADATA_BYTES:
            about = f"group {group}: the metadata of all members together would be {self._metadata_bytes} bytes"
            raise BrokerError(ErrorCode.GROUP_MAX_SIZE_REACHED, about)

    def join(self, now_ns: int, group: str, request: JoinRequest) -> Reply[JoinResult]:
        """Join the group, or rejoin as `member_id`. The reply is settled when the next generation begins.

        The reply fails with INVALID_GROUP_ID, INVALID_SESSION_TIMEOUT, INVALID_REQUEST, INCONSISTENT_GROUP_PROTOCOL,
        UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID or GROUP_MAX_SIZE_REACHED. Never raises.
        """
        reply: Reply[JoinResult] = Reply()
        try:
            self._joining.check(request)
            self._hold(group, sum(map(len, request.protocols.values())))
            member_id = request.member_id
            found = self._member_group(group, member_id) if member_id else self._found(now_ns, group)
            if found.type == "consumer" and found.members:
                reply.resolve(self._mixed.classic_join(found, now_ns, request))
                return reply
            found.type = "classic"
            self._joining.join(found, now_ns, request, reply)
        except BrokerError as error:
            reply.fail(error)
            return reply
        self._rebalancer.proceed(found, now_ns)
        found.settle()
        return reply

    def sync(
        self, now_ns: int, group: str, member_id: str, generation: int, assignments: Mapping[str, bytes]
    ) -> Reply[SyncResult]:
        """Get the assignment of a member. The leader passes the `assignments` of all, by member id.

        The reply fails with UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS,
        and INVALID_REQUEST for a leader with an invalid assignment. Never raises.
        """
        reply: Reply[SyncResult] = Reply()
        try:
            found = self._member_group(group, member_id)
            if found.type == "consumer":
                reply.resolve(self._mixed.classic_sync(found, now_ns, member_id, generation))
                return reply
            member = found.current(member_id, generation)
            if found.state is GroupState.PREPARING:
                raise rebalancing(found)
            found.park_sync(member, reply)
            if found.state is GroupState.STABLE:
                self._rebalancer.answer_sync(found, now_ns, member)
            elif member_id == found.leader:
                try:
                    self._hold(group, sum(map(len, assignments.values())))
                    self._rebalancer.distribute(found, now_ns, assignments)
                except BrokerError as error:
                    found.fail_waiting(member, error)
                    found.unsynced.add(member_id)
        except BrokerError as error:
            reply.fail(error)
            return reply
        found.settle()
        return reply

    def heartbeat(self, now_ns: int, group: str, member_id: str, generation: int) -> None:
        """Restart a member's session timeout. Raises as `Group.current`, or REBALANCE_IN_PROGRESS if it must join."""
        found = self._member_group(group, member_id)
        if found.type == "consumer":
            self._mixed.classic_heartbeat(found, now_ns, member_id, generation)
            return
        found.current(member_id, generation).heard(now_ns)
        if found.state is GroupState.PREPARING:
            raise rebalancing(found)

    def consumer_heartbeat(self, now_ns: int, group: str, said: ConsumerHeartbeat) -> ConsumerHeartbeatResult:
        """A heartbeat of the consumer group protocol (KIP-848), by which a member joins, reconciles and leaves.

        A group of classic consumers is upgraded by the first of them. Raises as `Reconciler.heartbeat`,
        INVALID_GROUP_ID, and INCONSISTENT_GROUP_PROTOCOL for a group whose members are no consumers.
        """
        joins = said.member_epoch == JOINING
        self._hold(group, sum(map(len, said.topics or ())))
        found = self._found(now_ns, group) if joins else self._member_group(group, said.member_id)
        if found.members and found.type == "classic":
            if found.protocol_type != CONSUMER:
                raise BrokerError(
                    ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"the members of group {found.name} are not consumers"
                )
            self._mixed.upgrade(found, now_ns)
        found.type = "consumer"
        result = self._reconciler.heartbeat(found, now_ns, said)
        found.settle()
        return result

    def type(self, group: str) -> GroupType:
        """The protocol type of `group`. Raises GROUP_ID_NOT_FOUND."""
        return self._existing(group).type

    def is_consumer_group(self, group: str) -> bool:
        """Whether it is there, and its members come by KIP-848."""
        found = self._groups.get(group)
        return found is not None and found.type == "consumer"

    def protocol(self, group: str) -> tuple[str, str]:
        """The members' protocol type, "" if there never was one, and their assignor. Raises GROUP_ID_NOT_FOUND."""
        found = self._existing(group)
        return found.protocol_type, found.protocol

    def consumer_members(self, group: str) -> tuple[ConsumerMember, ...]:
        """The members of a consumer group. Raises GROUP_ID_NOT_FOUND."""
        members = self._existing(group).members.values()
        return tuple(member for member in members if isinstance(member, ConsumerMember))

    def polled(self, now_ns: int, group: str, member_id: str) -> None:
        """Restart the poll interval of a member. Raises UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID."""
        self._member_group(group, member_id).find(member_id).polled(now_ns)

    def heard_from_all(self, now_ns: int) -> None:
        for group in self._groups.values():
            for member in group.members.values():
                member.heard(now_ns)
                member.polled(now_ns)

    def leave(self, now_ns: int, group: str, member_id: str, cause: str = "") -> None:
        """Remove a member, also a static one. Raises UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID."""
        found = self._member_group(group, member_id)
        member = found.find(member_id)
        self._expel(found, now_ns, member, cause or f"{member.client} left")

    def commit(
        self,
        now_ns: int,
        group: str,
        member_id: str | None,
        generation: int,
        offsets: Mapping[TopicPartition, int | OffsetAndMetadata],
        *,
        backwards: bool = False,
        reset: str = "",
    ) -> list[Advance]:
        """Commit all of `offsets`, or none on an error.

        An offset below the committed one is ignored, or, with `backwards`, set as by a reset; so is each if there is a
        cause of a `reset`. One beyond the end is refused, or, with `backwards`, taken. Returns (topic, partition,
        old or None, new) of what advanced. A `member_id` of None was checked by `check_commit`; administrators pass a
        generation below 0, while the group is Empty. Raises as `check_commit`, and OFFSET_OUT_OF_RANGE,
        OFFSET_METADATA_TOO_LARGE, UNKNOWN_TOPIC_OR_PARTITION.
        """
        if member_id is not None:
            self.check_commit(now_ns, group, member_id, generation)
        changes = self.commits.advance(group, offsets, backwards=backwards)
        self._found(now_ns, group)
        rewound = [change for change in changes if change[2] is not None and change[3] < change[2]]
        if rewound:
            self._say_reset(now_ns, group, rewound, COMMITTED_BACKWARDS)
        advanced = [change for change in changes if change not in rewound]
        if reset and advanced:
            self._say_reset(now_ns, group, advanced, reset)
        return [] if reset else advanced

    def check_commit(self, now_ns: int, group: str, member_id: str, generation: int) -> None:
        """Raises NON_EMPTY_GROUP, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS."""
        if generation < 0:
            if self.state(group) not in (GroupState.EMPTY, GroupState.DEAD):
                raise BrokerError(ErrorCode.NON_EMPTY_GROUP, f"{group} has members, which commit; stop them first")
        else:
            found = self._member_group(group, member_id)
            found.current(member_id, generation).heard(now_ns)
            if found.state is GroupState.COMPLETING:
                raise rebalancing(found)

    def check_epoch(self, group: str, member_id: str, epoch: int) -> None:
        """Raises UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH for a member of a group of the consumer group protocol."""
        found = self._groups.get(group)
        if found is not None and found.type == "consumer":
            found.current(member_id, epoch)

    def begin(self, now_ns: int, group: str, client: str, topic: str, partition: int, offset: int) -> None:
        """`client` begins at `offset`, for its group has committed nothing there; an event where that is news."""
        if self.commits.note_start(group, topic, partition, offset):
            self._events.emit(
                now_ns,
                EventKind.READING_BEGAN,
                topic=topic,
                partition=partition,
                offset=offset,
                client=client,
                group=group,
            )

    # -- calls of administrators

    def committed(self, group: str, topic: str, partition: int) -> int | None:
        return self.commits.committed(group, topic, partition)

    def reset(self, now_ns: int, group: str, changes: Sequence[Change], cause: str) -> None:
        """Apply the changes of `offset_reset.preview`, all or none; `cause` is told. Raises as `delete`, and
        OFFSET_OUT_OF_RANGE.
        """
        self._must_be_empty(group)
        self.commits.reset(group, changes)
        rows = [(each.topic, each.partition, each.from_offset, each.to_offset) for each in changes]
        self._say_reset(now_ns, group, rows, cause)

    def delete(self, now_ns: int, group: str) -> None:
        """Delete an Empty group and its offsets. Raises GROUP_ID_NOT_FOUND or NON_EMPTY_GROUP."""
        self._rebalancer.move(self._must_be_empty(group), now_ns, GroupState.DEAD)
        del self._groups[group]
        self.offsets.delete_group(group)
        self.commits.forget(group)

    def forget_offsets(self, now_ns: int, group: str, places: Sequence[TopicPartition]) -> None:
        """Raises GROUP_ID_NOT_FOUND, and GROUP_SUBSCRIBED_TO_TOPIC for a topic that members read."""
        read = self._existing(group).topics if self._existing(group).members else {}
        for topic, partition in places:
            if topic in read:
                raise BrokerError(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, f"{group} reads {topic}")
            self.offsets.delete(group, topic, partition)
        named = ", ".join(f"{topic}/{partition}" for topic, partition in places[:5])
        more = f" and {len(places) - 5} more" if len(places) > 5 else ""
        self._events.emit_action(
            now_ns, group=group, cause=f"{group} forgot its offsets in {named}{more}", detail={"forgotten": places}
        )

    def topic_changed(self, now_ns: int, topic: str) -> None:
        count = self._reads.partitions_of(topic)
        if count == 0:
            self.offsets.delete_topic(topic)
            self.commits.forget(topic=topic)
        for group in list(self._groups.values()):
            known = group.topics.get(topic)
            if group.type == "classic" and known in (None, count):
                continue
            what = "was deleted" if count == 0 else "got more partitions" if known else "was created"
            if group.type == "consumer":
                self._reconciler.topic_changed(group, now_ns, topic, what)
                group.settle()
                continue
            group.topics[topic] = count
            self._rebalancer.prepare_rebalance(group, now_ns, f"topic {topic} {what}")
            self._rebalancer.proceed(group, now_ns)
            group.settle()

    def state(self, group: str) -> GroupState:
        found = self._groups.get(group)
        return GroupState.DEAD if found is None else found.state

    def groups(self) -> list[str]:
        return sorted(self._groups)

    def readers(self, topic: str) -> list[str]:
        """Groups with members that subscribe to `topic`, or with a committed offset in it, in order of creation."""
        committed = self.offsets.groups_of(topic)
        return [name for name, group in self._groups.items() if topic in group.topics or name in committed]

    def subscribes(self, group: str, topic: str) -> bool:
        found = self._groups.get(group)
        return found is not None and topic in found.topics

    def reading(self, topic: str, partition: int) -> list[tuple[str, Member]]:
        """(group, member) of each member that reads the partition, the oldest group first; see `Group.reading`."""
        return [
            (name, member)
            for name, group in self._groups.items()
            if topic in group.topics
            for member in group.reading((topic, partition))
        ]

    def is_member(self, group: str, member_id: str) -> bool:
        return member_id in self.members(group)

    def static_member(self, group: str, instance_id: str) -> str:
        """The id of the static member that is called so; "" for none."""
        found = self._groups.get(group)
        return "" if found is None else found.static.get(instance_id, "")

    def seen(self, now_ns: int, group: str, member_id: str) -> None:
        """A connection of the member has ended, which is a sign of life, and no heartbeat."""
        if self.is_member(group, member_id):
            self._groups[group].members[member_id].seen_ns = now_ns

    def lost(self, now_ns: int, group: str, member_id: str) -> None:
        """The connection has ended by which the member was heard; nothing if it has left."""
        member = self.members(group).get(member_id)
        away = isinstance(member, ConsumerMember) and member.away
        if member is not None and member.lost_ns is None and not away:
            member.lost_ns = now_ns
            detail = {"member_id": member_id}
            self._events.emit(now_ns, EventKind.CONNECTION_ENDED, client=member.client, group=group, detail=detail)

    def clients(self, group: str) -> dict[str, str]:
        return {key: member.client for key, member in self.members(group).items()}

    def members(self, group: str) -> Mapping[str, Member]:
        """The members themselves, by id, not to be changed; empty for an unknown group."""
        found = self._groups.get(group)
        return {} if found is None else found.members

    def has_left(self, group: str, topic: str) -> bool:
        """Whether `group` has members and none of them subscribes to `topic`. False for a group without members."""
        found = self._groups.get(group)
        return found is not None and bool(found.members and found.topics) and topic not in found.topics

    def view(self, now_ns: int, group: str, *, offsets: bool = True) -> GroupView:
        """The view of a group; its offsets are what costs. Raises GROUP_ID_NOT_FOUND."""
        count = self._reads.partitions_of if offsets else None
        return view_of(now_ns, self._existing(group), self.offsets, self.commits, count)

    def views(self, now_ns: int) -> tuple[GroupView, ...]:
        return tuple(self.view(now_ns, group) for group in self.groups())

    # -- inside

    def _expel(self, group: Group, now_ns: int, member: Member, cause: str, heard_ns: int | None = None) -> None:
        if isinstance(member, ConsumerMember):
            self._reconciler.expel(group, now_ns, member, cause, heard_ns)
            self._mixed.downgrade(group, now_ns, cause)
            group.settle()
            return
        self._rebalancer.expel(group, now_ns, member, cause, heard_ns)
        self._rebalancer.proceed(group, now_ns)
        group.settle()

    def _say_reset(self, now_ns: int, group: str, changes: Sequence[Advance], cause: str) -> None:
        detail = {"changes": [list(change) for change in changes]}
        self._events.emit(now_ns, EventKind.OFFSETS_RESET, group=group, count=len(changes), cause=cause, detail=detail)

    def _found(self, now_ns: int, name: str) -> Group:
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = Group(check_name(name, "group", ErrorCode.INVALID_GROUP_ID))
            group.state_since_ns = now_ns
        return group

    def _existing(self, name: str) -> Group:
        return must(self._groups.get(name), ErrorCode.GROUP_ID_NOT_FOUND, f"{name!r}")

    def _must_be_empty(self, name: str) -> Group:
        group = self._existing(name)
        if group.state is not GroupState.EMPTY:
            raise BrokerError(ErrorCode.NON_EMPTY_GROUP, f"stop those of {name} first")
        return group

    def _member_group(self, name: str, member_id: str) -> Group:
        return must(self._groups.get(name), ErrorCode.UNKNOWN_MEMBER_ID, f"{member_id!r}: there is no group {name!r}")
