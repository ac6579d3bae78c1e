"""Members of both protocols in one group, for its upgrade and downgrade member by member (KIP-848).

The first heartbeat of the consumer protocol turns a classic group into a consumer group. Its classic members continue
with JoinGroup, SyncGroup and Heartbeat; REBALANCE_IN_PROGRESS makes them rejoin. When the last member of the consumer
protocol leaves, the group is classic again.
"""

from __future__ import annotations

from typing import TypeVar

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.config import GroupSettingsByName
from broker_core.groups.group import Group
from broker_core.groups.joining import JoinRequest
from broker_core.groups.members import (
    CONSUMER,
    JOINING,
    ConsumerHeartbeat,
    ConsumerMember,
    JoinResult,
    Member,
    SyncResult,
    read_subscription,
)
from broker_core.groups.protocol import encode_assignment
from broker_core.groups.rebalancing import Rebalancer
from broker_core.groups.reconciling import DEFAULT_ASSIGNOR, Reconciler

M = TypeVar("M", bound=Member)


class MixedGroups:
    """Serves the classic members of consumer groups."""

    def __init__(self, reconciler: Reconciler, rebalancer: Rebalancer, configs: GroupSettingsByName) -> None:
        self._reconciler = reconciler
        self._rebalancer = rebalancer
        self._configs = configs

    def upgrade(self, group: Group, now_ns: int) -> None:
        """Turn a classic group into a consumer group. Its members keep their partitions, as classic members."""
        group.set_timer(None)
        group.joining.clear()
        group.unsynced.clear()
        waiting = BrokerError(ErrorCode.REBALANCE_IN_PROGRESS, f"group {group.name} is upgraded; join again")
        for member in list(group.members.values()):
            group.fail_waiting(member, waiting)
            upgraded = self._turned(group, now_ns, member, ConsumerMember)
            upgraded.is_classic = True
            upgraded.names = tuple(sorted(member.subscription.topics))
            upgraded.target = upgraded.reported = member.owned
            upgraded.epoch = upgraded.previous_epoch = group.generation
        group.type, group.leader, group.protocol = "consumer", "", DEFAULT_ASSIGNOR

    def _turned(self, group: Group, now_ns: int, old: Member, kind: type[M]) -> M:
        """Put a member of the other `kind` in place of `old`."""
        session_ms = old.session.timeout_ns // NS_PER_MS if old.session is not None else 0
        old.unwatch()
        made = kind(old.member_id, old.client, old.instance_id, old.joined_ns)
        made.host, made.owned, made.rebalance_timeout_ns = old.host, old.owned, old.rebalance_timeout_ns
        made.offer(CONSUMER, old.protocols)
        group.members[old.member_id] = made
        self._reconciler.watch(
            group, now_ns, made, session_ms or self._configs.of(group.name).consumer_session_timeout_ms
        )
        return made

    def classic_join(self, group: Group, now_ns: int, request: JoinRequest) -> JoinResult:
        """A classic member joins or rejoins a consumer group; it is answered at once.

        Raises INCONSISTENT_GROUP_PROTOCOL, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, GROUP_MAX_SIZE_REACHED.
        """
        if request.protocol_type != CONSUMER:
            raise BrokerError(
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
                f"{request.client_id} offers {request.protocol_type}, not {CONSUMER}",
            )
        name, metadata = next(iter(request.protocols.items()))
        subscription = read_subscription(CONSUMER, metadata, request.instance_id)
        heartbeat = ConsumerHeartbeat(
            client_id=request.client_id,
            member_id=request.member_id or request.new_member_id or group.new_member_id(request.client_id),
            member_epoch=JOINING,
            instance_id=request.instance_id,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            topics=subscription.topics,
            owned=subscription.owned,
            host=request.host,
        )
        if request.member_id:
            member = self._reconciler.find(group, request.member_id)
            group.offer(member, request.protocols)
            self._reconciler.subscribe(group, now_ns, member, heartbeat)
        else:
            member = self._reconciler.joined(group, now_ns, heartbeat, request)
        self._reconciler.watch(group, now_ns, member, request.session_timeout_ms)
        self._reconciler.reconcile(group, now_ns, member, heartbeat.owned)
        self._reconciler.settle(group, now_ns)
        return JoinResult(member.member_id, member.epoch, name, "")

    def classic_sync(self, group: Group, now_ns: int, member_id: str, generation: int) -> SyncResult:
        """The current assignment of a classic member of a consumer group. Raises as `Group.current`."""
        member = self._classic(group, member_id, generation)
        member.heard(now_ns)
        member.reported = member.may_read
        return SyncResult(encode_assignment(member.reported), member.epoch, next(iter(member.protocols)))

    def classic_heartbeat(self, group: Group, now_ns: int, member_id: str, generation: int) -> None:
        """The heartbeat of a classic member. Raises REBALANCE_IN_PROGRESS if its assignment changes."""
        member = self._classic(group, member_id, generation)
        member.heard(now_ns)
        gains = set(member.target) - set(member.owned) - self._reconciler.owned_by_others(group, member)
        if member.epoch != group.generation or member.reported != member.may_read or gains:
            raise BrokerError(ErrorCode.REBALANCE_IN_PROGRESS, f"group {group.name}: {group.causes}")

    def _classic(self, group: Group, member_id: str, generation: int) -> ConsumerMember:
        member = group.current(member_id, generation)
        assert isinstance(member, ConsumerMember)
        return member

    def downgrade(self, group: Group, now_ns: int, cause: str) -> None:
        members = [each for each in group.members.values() if isinstance(each, ConsumerMember)]
        if not members or not all(each.is_classic for each in members):
            return
        for old in members:
            old.stop_timer()
            self._turned(group, now_ns, old, Member)
        group.type = "classic"
        group.protocol = group.elect_protocol()
        self._rebalancer.prepare_rebalance(group, now_ns, cause)
