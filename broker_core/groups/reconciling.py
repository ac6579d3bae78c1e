"""The consumer group protocol of Kafka 4 (KIP-848): the coordinator assigns, and members reconcile while they read on.

Every change of members, subscriptions or topics makes a new group epoch and a target assignment. The reply to a
member's heartbeat has its current assignment: first it revokes partitions, then it gets those that their owners have
revoked. A member has reached the group's epoch when it has nothing left to revoke.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import re2

from broker_core.clock import NS_PER_MS, NS_PER_S, s_from_ns
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.assignors import assign
from broker_core.groups.commits import Reads
from broker_core.groups.config import GroupSettingsByName
from broker_core.groups.group import Group
from broker_core.groups.joining import JoinRequest
from broker_core.groups.members import (
    CONSUMER,
    JOINING,
    LEAVING_FOR_A_WHILE,
    ConsumerHeartbeat,
    ConsumerHeartbeatResult,
    ConsumerMember,
    Member,
)
from broker_core.groups.offsets import OffsetStore
from broker_core.groups.protocol import MemberSubscription
from broker_core.groups.rebalancing import Rebalancer
from broker_core.groups.states import GroupState
from broker_core.messages import TopicPartition
from broker_core.timers import Timers

ASSIGNORS = ("uniform", "range")  # those that Kafka's coordinator has
DEFAULT_ASSIGNOR = "uniform"
# Up to so many members, each change is assigned at once. In a larger group, changes are gathered for an interval, as by
# Kafka 4.2 (KIP-1263), so that a join costs the same however many have joined.
_ASSIGNED_AT_ONCE = 100
_ASSIGNMENT_INTERVAL_NS = NS_PER_S
_PATTERNS = re2.Options()
_PATTERNS.log_errors = False  # the client is told
_PATTERNS.never_capture = True
_PATTERNS.max_mem = 1_048_576


class Reconciler(msgspec.Struct, eq=False):
    """Serves the heartbeats of groups whose type is "consumer".

    `expel(group, now_ns, member, cause, heard_ns)` is called for a member that leaves or misses a deadline.
    """

    _timers: Timers
    _offsets: OffsetStore
    _rebalancer: Rebalancer
    _configs: GroupSettingsByName
    _reads: Reads
    _expel: Callable[[Group, int, Member, str, int | None], object]

    def heartbeat(self, group: Group, now_ns: int, request: ConsumerHeartbeat) -> ConsumerHeartbeatResult:
        """Handle the heartbeat of a member.

        Raises UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID, UNSUPPORTED_ASSIGNOR,
        INVALID_REGULAR_EXPRESSION, INVALID_REQUEST, GROUP_MAX_SIZE_REACHED.
        """
        self._check(request)
        if request.member_epoch < JOINING:
            return self._leaves(group, now_ns, request)
        member = self.joined(group, now_ns, request) if request.member_epoch == JOINING else self._known(group, request)
        member.heard(now_ns)
        settings = self._configs.of(group.name)
        if member.session is not None and member.session.timeout_ns != settings.consumer_session_timeout_ms * NS_PER_MS:
            self.watch(group, now_ns, member, settings.consumer_session_timeout_ms)
        if request.member_epoch != JOINING:
            self.subscribe(group, now_ns, member, request)
        self.reconcile(group, now_ns, member, request.owned)
        self.settle(group, now_ns)
        asked_for_all = request.member_epoch == JOINING or request.topics is not None
        assigned = member.may_read
        news = assigned if asked_for_all or assigned != member.reported else None
        member.reported = assigned
        return ConsumerHeartbeatResult(member.member_id, member.epoch, settings.consumer_heartbeat_interval_ms, news)

    def expel(self, group: Group, now_ns: int, member: ConsumerMember, cause: str, heard_ns: int | None = None) -> None:
        self._rebalancer.emit_left(group, now_ns, member, cause, heard_ns)
        self._rebalancer.record_cause(group, now_ns, cause)
        self._rebalancer.revoke(group, now_ns, member, member.owned)
        member.stop_timer()
        group.remove(member, BrokerError(ErrorCode.UNKNOWN_MEMBER_ID, f"{member.member_id} left: {cause}"))
        self.assign_anew(group, now_ns, cause)

    def topic_changed(self, group: Group, now_ns: int, topic: str, what: str) -> None:
        """A topic was created, deleted or extended: a group that subscribes to it gets a new target."""
        before = dict(group.topics)
        cause = f"topic {topic} {what}"
        for member in () if self._reads.partitions_of(topic) else group.members.values():
            assert isinstance(member, ConsumerMember)
            gone = [place for place in member.owned if place[0] == topic]
            if gone:  # nobody has to confirm that
                self._rebalancer.record_cause(group, now_ns, cause)
                self._rebalancer.revoke(group, now_ns, member, gone)
            member.forget(topic)
        self.read_subscriptions(group)
        if group.topics != before:
            self.assign_anew(group, now_ns, cause)

    # -- members

    def _check(self, request: ConsumerHeartbeat) -> None:
        if request.member_epoch < LEAVING_FOR_A_WHILE:
            raise BrokerError(
                ErrorCode.INVALID_REQUEST, f"{request.client_id} says member epoch {request.member_epoch}"
            )
        if request.member_epoch == JOINING and request.topics is None and request.topic_regex is None:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{request.client_id} joins without a subscription")
        if request.assignor and request.assignor not in ASSIGNORS:
            raise BrokerError(
                ErrorCode.UNSUPPORTED_ASSIGNOR,
                f"{request.assignor} for {request.client_id}; there are {', '.join(ASSIGNORS)}",
            )
        if request.topic_regex:
            compiled(request.topic_regex)

    def joined(
        self, group: Group, now_ns: int, request: ConsumerHeartbeat, classic: JoinRequest | None = None
    ) -> ConsumerMember:
        """The new or returning member; `classic` is its request in the classic protocol."""
        replaced, heard_ns = "", 0
        member = self.find(group, request.member_id) if request.member_id in group.members else None
        if member is None and request.instance_id in group.static:
            member = self.find(group, group.static[request.instance_id])
            if not member.away and classic is None:
                raise BrokerError(
                    ErrorCode.UNRELEASED_INSTANCE_ID,
                    f"{request.instance_id} of group {group.name} is still {member.member_id}",
                )
            replaced, heard_ns = member.member_id, member.heard_ns
            group.replace(member, request.member_id)
            member.away = False
            member.client, member.host, member.joined_ns = request.client_id, request.host, now_ns
        if member is None:
            return self._enter(group, now_ns, request, classic)
        group.offer(member, {} if classic is None else classic.protocols)
        member.is_classic = classic is not None
        # A member that joins reads nothing: its revocations are done.
        member.reported = None
        self.watch(group, now_ns, member, self._configs.of(group.name).consumer_session_timeout_ms)
        if replaced:
            cause = f"{member.client} came back as {member.instance_id}"
            self._rebalancer.emit_joined(group, now_ns, member, cause, replaced, heard_ns)
        self.subscribe(group, now_ns, member, request)
        return member

    def _enter(
        self, group: Group, now_ns: int, request: ConsumerHeartbeat, classic: JoinRequest | None
    ) -> ConsumerMember:
        if len(group.members) >= self._configs.broker_config.max_members:
            raise BrokerError(ErrorCode.GROUP_MAX_SIZE_REACHED, f"group {group.name} has {len(group.members)} members")
        member = ConsumerMember(request.member_id, request.client_id, request.instance_id, now_ns)
        member.host = request.host
        group.members_seen += 1
        member.is_classic = classic is not None
        group.add(member, CONSUMER, {} if classic is None else classic.protocols)
        self._take(member, request)
        self.watch(group, now_ns, member, self._configs.of(group.name).consumer_session_timeout_ms)
        group.topics.update({topic: self._reads.partitions_of(topic) for topic in self._read_subscription(member)})
        cause = f"{member.client} joined"
        self._rebalancer.emit_joined(group, now_ns, member, cause)
        self.assign_anew(group, now_ns, cause)
        return member

    def _known(self, group: Group, request: ConsumerHeartbeat) -> ConsumerMember:
        member = self.find(group, request.member_id)
        repeated = request.member_epoch == member.previous_epoch and set(request.owned or ()) <= set(member.owned)
        if request.member_epoch != member.epoch and not repeated:
            raise BrokerError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                f"{request.member_id} of group {group.name} says {request.member_epoch}, but is at {member.epoch}",
            )
        return member

    def _leaves(self, group: Group, now_ns: int, request: ConsumerHeartbeat) -> ConsumerHeartbeatResult:
        member = self.find(group, request.member_id)
        if request.member_epoch == LEAVING_FOR_A_WHILE and member.instance_id:
            member.away, member.reported, member.seen_ns = True, None, now_ns
            self._rebalancer.note_members(group)
            member.revoking = frozenset()
            member.stop_timer()
        else:
            self._expel(group, now_ns, member, f"{member.client} left", None)
        return ConsumerHeartbeatResult(request.member_id, request.member_epoch, 0, None)

    def find(self, group: Group, member_id: str) -> ConsumerMember:
        member = group.find(member_id)
        assert isinstance(member, ConsumerMember)
        return member

    def watch(self, group: Group, now_ns: int, member: Member, session_timeout_ms: int) -> None:
        member.watch(self._timers, now_ns, session_timeout_ms, 0, partial(self._expel, group))

    # -- subscriptions and targets

    @staticmethod
    def _take(member: ConsumerMember, request: ConsumerHeartbeat) -> bool:
        """Apply the fields of a heartbeat. Returns whether the subscription or the assignor has changed."""
        if request.rebalance_timeout_ms is not None:
            member.rebalance_timeout_ns = request.rebalance_timeout_ms * NS_PER_MS
        member.allowed = request.allowed
        before = (member.names, member.regex, member.assignor)
        member.names = member.names if request.topics is None else tuple(sorted(request.topics))
        member.regex = member.regex if request.topic_regex is None else request.topic_regex
        member.assignor = member.assignor if request.assignor is None else request.assignor
        return before != (member.names, member.regex, member.assignor)

    def subscribe(self, group: Group, now_ns: int, member: ConsumerMember, request: ConsumerHeartbeat) -> None:
        if self._take(member, request):
            self.assign_anew(group, now_ns, f"{member.client} changed its subscription")

    def _read_subscription(self, member: ConsumerMember) -> set[str]:
        topics = set(member.names)
        if member.regex:
            pattern = compiled(member.regex)
            topics |= {name for name in self._reads.topic_names() if pattern.fullmatch(name) and member.allowed(name)}
        member.subscription = MemberSubscription(tuple(sorted(topics)), instance_id=member.instance_id)
        return topics

    def read_subscriptions(self, group: Group) -> None:
        wanted: set[str] = set()
        for each in group.members.values():
            assert isinstance(each, ConsumerMember)
            wanted |= self._read_subscription(each)
        group.topics = {topic: self._reads.partitions_of(topic) for topic in sorted(wanted)}

    def assign_anew(self, group: Group, now_ns: int, cause: str) -> None:
        """Begin the next group epoch with a new target assignment; in a large group, when the interval is over."""
        if len(group.members) <= _ASSIGNED_AT_ONCE:
            self._assign(group, now_ns, cause)
        elif group.timer is None:

            def over(at_ns: int) -> None:
                group.set_timer(None)
                self._assign(group, at_ns, cause)
                group.settle()

            group.set_timer(self._timers.at(now_ns + _ASSIGNMENT_INTERVAL_NS, over))

    def _assign(self, group: Group, now_ns: int, cause: str) -> None:
        group.set_timer(None)
        self._rebalancer.record_cause(group, now_ns, cause)
        group.generation += 1
        self._offsets.set_numbers(group.name, group.generation, group.members_seen)
        if not group.members:
            group.protocol = ""
            group.topics = {}
            self._rebalancer.move(group, now_ns, GroupState.EMPTY)
            self._rebalancer.complete(group, now_ns)
            self._reads.on_new_generation(now_ns)
            return
        self.read_subscriptions(group)
        members = {key: member for key, member in group.members.items() if isinstance(member, ConsumerMember)}
        votes = [member.assignor for member in members.values() if member.assignor]
        # The most votes; among equals, and without votes, the default.
        group.protocol = max(ASSIGNORS, key=lambda name: (votes.count(name), name == DEFAULT_ASSIGNOR))
        claims = {
            key: msgspec.structs.replace(member.subscription, owned=member.target, generation=0)
            for key, member in members.items()
        }
        plan = assign(group.protocol, claims, group.topics)
        for key, member in members.items():
            member.target = tuple(plan[key])
        # Said again where it reconciles already: the generation is another.
        self._rebalancer.move(group, now_ns, GroupState.RECONCILING)
        self._reads.on_new_generation(now_ns)

    # -- reconciliation

    def reconcile(
        self, group: Group, now_ns: int, member: ConsumerMember, owned: tuple[TopicPartition, ...] | None
    ) -> None:
        """Revoke and assign the partitions of a member that reads `owned`, as far as possible; None is unchanged."""
        if member.reported is None and not member.is_classic:
            owned = ()  # it has just joined
        if member.revoking and owned is not None and not member.revoking & set(owned):
            self._rebalancer.revoke(group, now_ns, member, member.revoking)
            member.revoking = frozenset()
            member.stop_timer()
        if member.revoking:
            return
        lost = frozenset(member.owned) - frozenset(member.target)
        if lost and member.reported is not None:
            member.revoking = lost
            if member.rebalance_timeout_ns:
                member.timer = self._timers.at(
                    now_ns + member.rebalance_timeout_ns, lambda at_ns: self._overdue(group, at_ns, member)
                )
            return
        self._rebalancer.revoke(group, now_ns, member, lost)
        if member.epoch != group.generation:
            member.previous_epoch, member.epoch = member.epoch, group.generation
            self._rebalancer.note_members(group)
        more = set(member.target) - set(member.owned)
        others = self.owned_by_others(group, member) if more else set()
        free = [place for place in member.target if place not in others]
        self._rebalancer.assign(group, now_ns, member, tuple(sorted({*member.owned, *free})))

    @staticmethod
    def owned_by_others(group: Group, member: Member) -> set[TopicPartition]:
        return {place for other in group.members.values() if other is not member for place in other.owned}

    def _overdue(self, group: Group, now_ns: int, member: ConsumerMember) -> None:
        limit_s = s_from_ns(member.rebalance_timeout_ns)
        sentence = f"{member.client} did not give up its partitions within {limit_s:.1f} s"
        self._expel(group, now_ns, member, sentence, None)

    def settle(self, group: Group, now_ns: int) -> None:
        if group.state is not GroupState.RECONCILING:
            return
        for member in group.members.values():
            assert isinstance(member, ConsumerMember)
            if (
                member.epoch != group.generation
                or member.revoking
                or not (member.owned == member.target or set(member.owned) == set(member.target))
            ):
                return
        self._rebalancer.move(group, now_ns, GroupState.STABLE)
        self._rebalancer.complete(group, now_ns)


def compiled(pattern: str) -> Any:
    """A pattern of RE2, as Kafka's. Raises INVALID_REGULAR_EXPRESSION."""
    try:
        return re2.compile(pattern, _PATTERNS)
    except re2.error as error:
        raise BrokerError(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{pattern[:100]!r} ({error})") from error
