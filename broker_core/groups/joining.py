"""Joins: new members, rejoining members and returning static members, and whether they need a rebalance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.config import GroupConfig
from broker_core.groups.group import Group
from broker_core.groups.members import JoinResult, Member, read_subscription
from broker_core.groups.protocol import MemberSubscription
from broker_core.groups.rebalancing import Rebalancer
from broker_core.groups.states import GroupState
from broker_core.limits import MAX_ASSIGNORS, MAX_GROUP_METADATA_BYTES
from broker_core.plurals import counted
from broker_core.replies import Reply
from broker_core.timers import Timers


class JoinRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The join request of a member. `protocols` maps assignors, the preferred first, to metadata.

    `cause` is the sentence shown with the rebalance; "" is a default. With a `max_poll_interval_ms` above 0, `polled`
    must be called that often. A new member gets `new_member_id`, or a generated id, which is predictable. `host` is the
    address of a client outside this process, which is a member over a restart of the broker, too.
    """

    client_id: str
    member_id: str = ""
    instance_id: str = ""
    session_timeout_ms: int
    rebalance_timeout_ms: int
    max_poll_interval_ms: int = 0
    protocol_type: str
    protocols: Mapping[str, bytes]
    cause: str = ""
    new_member_id: str = ""
    host: str = ""


class Joining(msgspec.Struct, eq=False):
    """Handles joins, by the state of the group:

    | member                         | Empty         | Preparing | Completing      | Stable            |
    |--------------------------------|---------------|-----------|-----------------|-------------------|
    | new member                     | initial delay | waits     | rebalance       | rebalance         |
    | member with the same metadata  | -             | waits     | same generation | same generation   |
    | member with other metadata     | -             | waits     | rebalance       | rebalance         |
    | leader                         | -             | waits     | as above        | rebalance         |
    | static member without an id    | -             | waits     | rebalance       | same generation * |

    * A rebalance where its topics have changed.
    """

    _timers: Timers
    _config: GroupConfig
    _rebalancer: Rebalancer
    _missed: Callable[[Group, int, Member, str, int], object]

    def check(self, request: JoinRequest) -> None:
        """Raises INVALID_SESSION_TIMEOUT, INVALID_REQUEST or INCONSISTENT_GROUP_PROTOCOL for an invalid request."""
        low, high = self._config.min_session_timeout_ms, self._config.max_session_timeout_ms
        if not low <= request.session_timeout_ms <= high:
            raise BrokerError(
                ErrorCode.INVALID_SESSION_TIMEOUT,
                f"{request.client_id} asks for {request.session_timeout_ms} ms; {low} to {high} are allowed",
            )
        if request.rebalance_timeout_ms <= 0 or request.max_poll_interval_ms < 0:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"the timeouts of {request.client_id} must be positive")
        if not request.protocol_type or not 0 < len(request.protocols) <= MAX_ASSIGNORS:
            raise BrokerError(
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"{request.client_id} must offer 1 to {MAX_ASSIGNORS} assignors"
            )
        if any(len(metadata) > MAX_GROUP_METADATA_BYTES for metadata in request.protocols.values()):
            raise BrokerError(
                ErrorCode.INVALID_REQUEST,
                f"the metadata of {request.client_id} is longer than {MAX_GROUP_METADATA_BYTES} bytes",
            )

    def join(self, group: Group, now_ns: int, request: JoinRequest, reply: Reply[JoinResult]) -> None:
        member_id = group.static.get(request.instance_id, "") if request.instance_id else ""
        if member_id and request.member_id and request.member_id != member_id:
            raise BrokerError(
                ErrorCode.FENCED_INSTANCE_ID, f"{request.instance_id} of group {group.name} is now {member_id}"
            )
        if request.member_id:
            self._rejoin(group, now_ns, group.find(request.member_id), request, reply)
        elif member_id:
            self._come_back(group, now_ns, group.members[member_id], request, reply)
        else:
            self._enter(group, now_ns, request, reply)

    def _enter(self, group: Group, now_ns: int, request: JoinRequest, reply: Reply[JoinResult]) -> None:
        if len(group.members) >= self._config.max_members:
            raise BrokerError(ErrorCode.GROUP_MAX_SIZE_REACHED, f"group {group.name} has {len(group.members)} members")
        self._must_fit(group, request)
        member = Member(_new_id(group, request), request.client_id, request.instance_id, now_ns)
        member.host = request.host
        group.add(member, request.protocol_type, request.protocols)
        self._watch(group, now_ns, member, request)
        group.park(member, reply)
        cause = request.cause or f"{member.client} joined"
        self._rebalancer.emit_joined(group, now_ns, member, cause)
        self._rebalancer.prepare_rebalance(group, now_ns, cause)

    def _rejoin(
        self, group: Group, now_ns: int, member: Member, request: JoinRequest, reply: Reply[JoinResult]
    ) -> None:
        self._must_fit(group, request)
        member.heard(now_ns)
        member.polled(now_ns)
        same = dict(request.protocols) == member.protocols
        settled = group.state is GroupState.COMPLETING or (
            group.state is GroupState.STABLE and member.member_id != group.leader
        )
        if same and settled:
            group.answer(reply, group.join_result(member))
            return
        old = member.subscription
        group.offer(member, request.protocols)
        self._watch(group, now_ns, member, request)
        group.park(member, reply)
        why = _why(group, member, old)
        if why or group.state is not GroupState.PREPARING:
            cause = request.cause or why or f"{member.client} asked for a rebalance"
            self._rebalancer.prepare_rebalance(group, now_ns, cause)

    def _come_back(
        self, group: Group, now_ns: int, member: Member, request: JoinRequest, reply: Reply[JoinResult]
    ) -> None:
        self._must_fit(group, request)
        old, old_id, heard_ns = member.subscription, member.member_id, member.heard_ns
        group.fail_waiting(
            member,
            BrokerError(ErrorCode.FENCED_INSTANCE_ID, f"{old_id} of group {group.name} was replaced by a newer one"),
        )
        group.replace(member, _new_id(group, request))
        self._rebalancer.note_members(group)
        member.client, member.host, member.joined_ns = request.client_id, request.host, now_ns
        group.offer(member, request.protocols)
        self._watch(group, now_ns, member, request)
        cause = f"{member.client} came back as {member.instance_id}"
        self._rebalancer.emit_joined(group, now_ns, member, cause, old_id, heard_ns)
        if group.state is GroupState.STABLE and group.elect_protocol() == group.protocol:
            member.subscription = read_subscription(
                group.protocol_type, member.protocols[group.protocol], member.instance_id
            )
            if set(member.subscription.topics) == set(old.topics):
                group.answer(reply, group.join_result(member))
                return
        group.park(member, reply)
        why = _why(group, member, old)
        if why or group.state is not GroupState.PREPARING:
            why = why or f"{member.client} came back during a rebalance"
            self._rebalancer.prepare_rebalance(group, now_ns, request.cause or why)

    def _must_fit(self, group: Group, request: JoinRequest) -> None:
        if not group.accepts(request.protocol_type, request.protocols):
            raise BrokerError(
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
                f"{request.client_id} offers {', '.join(request.protocols)} ({request.protocol_type}), "
                f"which not all of group {group.name} support",
            )

    def _watch(self, group: Group, now_ns: int, member: Member, request: JoinRequest) -> None:
        member.rebalance_timeout_ns = request.rebalance_timeout_ms * NS_PER_MS
        member.watch(
            self._timers, now_ns, request.session_timeout_ms, request.max_poll_interval_ms, partial(self._missed, group)
        )


def _new_id(group: Group, request: JoinRequest) -> str:
    return request.new_member_id or group.new_member_id(request.client_id)


def _why(group: Group, member: Member, old: MemberSubscription) -> str:
    """The change of a member's subscription in words; "" if it does not affect others."""
    new = member.subscription
    if set(new.topics) != set(old.topics):
        return f"{member.client} changed its subscription"
    given_back = len(set(old.owned) - set(new.owned)) if group.cooperative else 0
    if given_back:
        return f"{member.client} gave back {counted(given_back, 'partition')}"
    return ""
