"""The course of a rebalance: revoke, wait for joins, wait for the leader, assign."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import msgspec

from broker_core.clock import s_from_ns
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.groups.commits import Reads
from broker_core.groups.group import Group
from broker_core.groups.history import Causes, RebalanceHistory
from broker_core.groups.members import CONSUMER, Member, SyncResult
from broker_core.groups.offsets import OffsetStore
from broker_core.groups.protocol import decode_assignment
from broker_core.groups.states import GroupState
from broker_core.messages import TopicPartition
from broker_core.timers import Timers


class Rebalancer(msgspec.Struct, eq=False):
    """Moves groups through their states. Replies are queued; callers finish with `group.settle()`."""

    _events: EventStream
    _timers: Timers
    _offsets: OffsetStore
    _history: RebalanceHistory
    _initial_delay_ns: int
    _reads: Reads

    def prepare_rebalance(self, group: Group, now_ns: int, cause: str) -> None:
        self.record_cause(group, now_ns, cause)
        if group.state is GroupState.PREPARING:
            return
        for member in group.members.values():
            if member.sync is not None:
                group.fail_waiting(member, rebalancing(group))
        group.unsynced.clear()
        old = self.move(group, now_ns, GroupState.PREPARING)
        if not group.cooperative:
            for member in group.members.values():
                self.revoke(group, now_ns, member, member.owned)
        if old is GroupState.EMPTY:
            group.initial_until_ns = now_ns + group.max_rebalance_timeout_ns()
            self._await_more(group, now_ns)
        else:
            self._await_joins(group, now_ns)

    def record_cause(self, group: Group, now_ns: int, cause: str) -> None:
        """Record the start of a rebalance, or one more cause of the running one."""
        if self._history.running(group.name) is None:
            group.causes = Causes()
            group.causes.add(cause)
            before = group.owned()
            self._history.start(group.name, cause, now_ns, group.generation, before)
            detail = {"before": [list(owned) for owned in before]}
            self._emit(group, now_ns, EventKind.REBALANCE_STARTED, cause=cause, detail=detail)
        else:
            group.causes.add(cause)
            self._history.update(group.name, cause=str(group.causes))

    def expel(self, group: Group, now_ns: int, member: Member, cause: str, heard_ns: int | None = None) -> None:
        """Remove a member and rebalance. `heard_ns` is its last sign of life, where it missed a deadline."""
        self.emit_left(group, now_ns, member, cause, heard_ns)
        self.prepare_rebalance(group, now_ns, cause)
        self.revoke(group, now_ns, member, member.owned)
        group.remove(
            member, BrokerError(ErrorCode.UNKNOWN_MEMBER_ID, f"{member.member_id} left group {group.name}: {cause}")
        )

    def proceed(self, group: Group, now_ns: int) -> None:
        """Begin the next generation where all members have joined."""
        if group.state is not GroupState.PREPARING:
            return
        everybody = group.initial_until_ns is None and len(group.joining) == len(group.members)
        if everybody or not group.members:
            self._begin_generation(group, now_ns)

    def distribute(self, group: Group, now_ns: int, assignments: Mapping[str, bytes]) -> None:
        """Apply the leader's assignments and answer all syncs. Raises INVALID_REQUEST, and does nothing, for two
        owners.
        """
        plan = self._decode_assignments(group, assignments)
        for member in group.members.values():
            self.revoke(group, now_ns, member, set(member.owned) - set(plan[member.member_id]))
        for member in group.members.values():
            member.assignment = assignments.get(member.member_id, b"")
            self.assign(group, now_ns, member, plan[member.member_id])
        self.move(group, now_ns, GroupState.STABLE)
        self.complete(group, now_ns)
        for member in group.members.values():
            self.answer_sync(group, now_ns, member)

    def answer_sync(self, group: Group, now_ns: int, member: Member) -> None:
        if member.sync is None:
            return
        group.answer(member.sync, SyncResult(member.assignment, group.generation, group.protocol))
        member.sync = None
        member.heard(now_ns)
        member.polled(now_ns)
        if not group.unsynced:
            group.set_timer(None)

    def emit_joined(
        self, group: Group, now_ns: int, member: Member, cause: str, replaces: str = "", heard_ns: int = 0
    ) -> None:
        """A member is there, or back under another id than `replaces`, which was heard of last at `heard_ns`."""
        detail = {
            "member_id": member.member_id,
            "instance_id": member.instance_id,
            "topics": list(member.subscription.topics),
            "replaces": replaces,
            **({"heard_ns": heard_ns} if replaces else {}),
        }
        self._emit(group, now_ns, EventKind.MEMBER_JOINED, client=member.client, cause=cause, detail=detail)

    def emit_left(self, group: Group, now_ns: int, member: Member, cause: str, heard_ns: int | None) -> None:
        detail: dict[str, object] = {"member_id": member.member_id, "instance_id": member.instance_id}
        if heard_ns is not None:
            detail["heard_ns"] = heard_ns
        self._emit(group, now_ns, EventKind.MEMBER_LEFT, client=member.client, cause=cause, detail=detail)

    def note_members(self, group: Group) -> None:
        self._offsets.note_members(group.name)

    def move(self, group: Group, now_ns: int, state: GroupState) -> GroupState:
        """Returns the previous state."""
        old = group.move_to(state, now_ns)
        self.note_members(group)
        leader = group.members.get(group.leader)
        detail = {"from": str(old), "assignor": group.protocol, "leader": "" if leader is None else leader.client}
        self._emit(group, now_ns, EventKind.GROUP_STATE, cause=str(state), detail=detail)
        return old

    # -- waiting

    def _await_more(self, group: Group, now_ns: int) -> None:
        """Wait until no member has joined for the initial delay, at most for the rebalance timeout."""
        assert group.initial_until_ns is not None
        group.initial_joins = group.members_seen
        deadline_ns = min(now_ns + self._initial_delay_ns, group.initial_until_ns)
        group.set_timer(self._timers.at(deadline_ns, partial(self._initial_delay_over, group)))

    def _initial_delay_over(self, group: Group, now_ns: int) -> None:
        assert group.initial_until_ns is not None
        if group.members_seen > group.initial_joins and now_ns < group.initial_until_ns:
            self._await_more(group, now_ns)
            return
        self._begin_generation(group, now_ns)
        group.settle()

    def _await_joins(self, group: Group, now_ns: int) -> None:
        deadline_ns = now_ns + group.max_rebalance_timeout_ns()
        group.set_timer(self._timers.at(deadline_ns, partial(self._joins_overdue, group)))

    def _joins_overdue(self, group: Group, now_ns: int) -> None:
        limit_s = s_from_ns(group.max_rebalance_timeout_ns())
        # Static members may return until their session times out.
        for member in [each for each in group.members.values() if each.join is None and not each.instance_id]:
            self.expel(group, now_ns, member, f"{member.client} did not rejoin within {limit_s:.1f} s")
        if group.members and not group.joining:
            self._await_joins(group, now_ns)
        else:
            self._begin_generation(group, now_ns)
        group.settle()

    def _syncs_overdue(self, group: Group, now_ns: int) -> None:
        for member in [each for each in group.members.values() if each.member_id in group.unsynced]:
            limit_s = s_from_ns(member.rebalance_timeout_ns)
            self.expel(group, now_ns, member, f"{member.client} did not sync within {limit_s:.1f} s")
        self.proceed(group, now_ns)
        group.settle()

    # -- steps

    def _begin_generation(self, group: Group, now_ns: int) -> None:
        """Begin the next generation: Empty without members, otherwise the leader has to send the assignment."""
        group.set_timer(None)
        group.initial_until_ns = None
        group.generation += 1
        self._offsets.set_numbers(group.name, group.generation, group.members_seen)
        if not group.members:
            group.protocol = group.leader = ""
            group.topics = {}
            self.move(group, now_ns, GroupState.EMPTY)
            self.complete(group, now_ns)
            return
        group.protocol = group.elect_protocol()
        group.topics = {topic: self._reads.partitions_of(topic) for topic in sorted(group.subscribe())}
        present = [member for member in group.members.values() if member.join is not None]
        if group.leader not in group.joining:
            group.leader = present[0].member_id
        self.move(group, now_ns, GroupState.COMPLETING)
        group.unsynced, group.joining = group.joining, set()
        deadline_ns = now_ns + group.max_rebalance_timeout_ns()
        group.set_timer(self._timers.at(deadline_ns, partial(self._syncs_overdue, group)))
        for member in present:
            assert member.join is not None
            group.answer(member.join, group.join_result(member))
            member.join = None
            member.heard(now_ns)
            member.polled(now_ns)
        self._reads.on_new_generation(now_ns)

    def complete(self, group: Group, now_ns: int) -> None:
        after = group.owned()
        done = self._history.update(group.name, ended_ns=now_ns, generation_after=group.generation, after=after)
        assert done is not None
        self._emit(
            group,
            now_ns,
            EventKind.REBALANCE_COMPLETED,
            cause=done.cause,
            detail={
                "before": [list(owned) for owned in done.before],
                "after": [list(owned) for owned in after],
                "started_ns": done.started_ns,
            },
        )

    def _decode_assignments(
        self, group: Group, assignments: Mapping[str, bytes]
    ) -> dict[str, tuple[TopicPartition, ...]]:
        plan: dict[str, tuple[TopicPartition, ...]] = {}
        owner: dict[TopicPartition, str] = {}
        for member_id in group.members:
            assignment = assignments.get(member_id, b"")
            plan[member_id] = decode_assignment(assignment).partitions if group.protocol_type == CONSUMER else ()
            for partition in plan[member_id]:
                if owner.setdefault(partition, member_id) != member_id:
                    raise BrokerError(
                        ErrorCode.INVALID_REQUEST,
                        f"the leader of group {group.name} gave {partition[0]}-{partition[1]} to both "
                        f"{owner[partition]} and {member_id}",
                    )
        return plan

    def revoke(self, group: Group, now_ns: int, member: Member, gone: Iterable[TopicPartition]) -> None:
        lost = sorted(gone)
        if not lost:
            return
        member.owned = tuple(sorted(set(member.owned) - set(lost)))
        self._ownership(group, now_ns, EventKind.PARTITIONS_REVOKED, member, lost)

    def assign(self, group: Group, now_ns: int, member: Member, plan: tuple[TopicPartition, ...]) -> None:
        gained = sorted(set(plan) - set(member.owned))
        member.owned = plan
        if gained:
            self._ownership(group, now_ns, EventKind.PARTITIONS_ASSIGNED, member, gained)

    def _ownership(
        self, group: Group, now_ns: int, kind: EventKind, member: Member, partitions: list[TopicPartition]
    ) -> None:
        self.note_members(group)
        detail: dict[str, object] = {
            "partitions": [list(partition) for partition in partitions],
            "member_id": member.member_id,
        }
        if kind is EventKind.PARTITIONS_REVOKED:
            # Where its reading stood, and what was committed: in between is what it loses.
            detail["positions"] = [self._reads.position(group.name, *partition) for partition in partitions]
            detail["committed"] = [self._committed(group.name, *partition) for partition in partitions]
        self._emit(group, now_ns, kind, client=member.client, cause=str(group.causes), detail=detail)

    def _committed(self, group: str, topic: str, partition: int) -> int | None:
        found = self._offsets.fetch(group, topic, partition)
        return None if found is None else found.offset

    def _emit(self, group: Group, now_ns: int, kind: EventKind, **fields: Any) -> None:
        self._events.emit(now_ns, kind, group=group.name, generation=group.generation, **fields)


def rebalancing(group: Group) -> BrokerError:
    return BrokerError(ErrorCode.REBALANCE_IN_PROGRESS, f"group {group.name}: {group.causes}")
