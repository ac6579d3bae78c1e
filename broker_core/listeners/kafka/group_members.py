"""Members of groups, by the classic protocol, and by KIP-848, where the broker assigns. Left out of that: racks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.joining import JoinRequest
from broker_core.groups.members import JOINING, ConsumerHeartbeat, JoinResult, SyncResult
from broker_core.listeners.kafka.call import (
    READ,
    Answer,
    Call,
    Waiting,
    WhenDurable,
    api,
    by_topic,
    failed,
    kafka_code,
    ms,
)
from broker_core.messages import TopicPartition
from broker_core.names import check_name
from broker_core.replies import Reply

if TYPE_CHECKING:
    from kio.schema.consumer_group_heartbeat.v1.request import ConsumerGroupHeartbeatRequest
    from kio.schema.heartbeat.v4.request import HeartbeatRequest
    from kio.schema.join_group.v9.request import JoinGroupRequest
    from kio.schema.leave_group.v5.request import LeaveGroupRequest
    from kio.schema.sync_group.v5.request import SyncGroupRequest

_FIRST_WITH_MANY, _FIRST_TO_REQUIRE_IDS = 3, 4
_FIRST_WITHOUT_PROTOCOL = 7  # v7 on may answer null for "none"


@api("JoinGroup", 11, 0, 9)
def _join_group(call: Call, request: JoinGroupRequest) -> Answer:
    """A member comes, or comes back, and waits for the next generation.

    From v4 on a newcomer without a member id is answered MEMBER_ID_REQUIRED with one that nobody can guess
    (KIP-394), unless it is static (KIP-345); its reason is shown with the rebalance (KIP-800).
    """
    group, member_id = request.group_id, request.member_id
    instance_id = request.group_instance_id or ""
    session_ms, rebalance_ms, reason = ms(request.session_timeout), ms(request.rebalance_timeout), request.reason
    pending = call.context.pending
    new_id = ""
    try:
        call.must(READ, "group", group)
        least_ms, most_ms = call.context.min_session_timeout_ms, call.context.max_session_timeout_ms
        if not least_ms <= session_ms <= most_ms:
            raise BrokerError(
                ErrorCode.INVALID_SESSION_TIMEOUT,
                f"{call.client} asks for {session_ms} ms; {least_ms} to {most_ms} are allowed",
            )
        check_name(group, "group", ErrorCode.INVALID_GROUP_ID)
        if not request.protocol_type or not request.protocols:
            raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"{call.client} must offer an assignor")
        if not member_id and not instance_id and call.version >= _FIRST_TO_REQUIRE_IDS:
            return _join_refused(
                call, KafkaError.member_id_required.value, pending.give(call.now_ns, group, call.client)
            )
        if member_id and pending.use(group, member_id):
            new_id, member_id = member_id, ""
        elif not member_id:
            new_id = pending.new(call.client)
        clients = call.broker.groups.clients(group)
        label = clients.get(member_id or call.broker.groups.static_member(group, instance_id), "")
        if not pending.is_of(label, call.client):
            label = pending.label(group, call.client, clients, new_id or member_id, call.connection.id)
        asked = JoinRequest(
            client_id=label,
            member_id=member_id,
            instance_id=instance_id,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms if rebalance_ms > 0 else session_ms,
            protocol_type=request.protocol_type,
            protocols={each.name: each.metadata for each in request.protocols},
            cause=f"{call.client}: {reason[:255]}" if reason else "",
            new_member_id=new_id,
            host=call.client_host,
        )
        reply = call.broker.groups.join(call.now_ns, group, asked)
    except BrokerError as error:
        call.connection.failed(str(error))
        return _join_refused(call, kafka_code(error), member_id)
    return Waiting(reply, lambda done, _now_ns: _join_body(call, request, done))


def _join_refused(call: Call, code: int, member_id: str) -> dict[str, Any]:
    return {
        "error_code": code,
        "protocol_type": None,
        "protocol_name": None if call.version >= _FIRST_WITHOUT_PROTOCOL else "",
        "member_id": member_id,
    }


def _join_body(call: Call, request: JoinGroupRequest, reply: Reply[JoinResult]) -> dict[str, Any]:
    if reply.error is not None:
        call.connection.failed(str(reply.error))
        return _join_refused(call, kafka_code(reply.error), request.member_id)
    joined = reply.result()
    return {
        "generation_id": joined.generation,
        "protocol_type": request.protocol_type,
        "protocol_name": joined.protocol,
        "leader": joined.leader,
        "member_id": joined.member_id,
        "members": [
            {"member_id": member_id, "group_instance_id": instance_id or None, "metadata": metadata}
            for member_id, instance_id, metadata in joined.members
        ],
    }


@api("SyncGroup", 14, 0, 5)
def _sync_group(call: Call, request: SyncGroupRequest) -> Answer:
    """The leader sends all assignments, each member waits for its own; answered once the group is kept on the disk."""
    group = request.group_id
    call.must(READ, "group", group)
    named = (request.protocol_type, request.protocol_name)
    if None not in named and call.broker.groups.is_member(group, request.member_id):
        there = call.broker.groups.protocol(group)
        if call.broker.groups.type(group) == "classic" and named != there:
            raise BrokerError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"{named}, and group {group} has {there}")
    assignments = {each.member_id: each.assignment for each in request.assignments}
    reply = call.broker.groups.sync(call.now_ns, group, request.member_id, request.generation_id, assignments)
    return Waiting(reply, lambda done, _now_ns: _sync_body(call, request, done))


def _sync_body(call: Call, request: SyncGroupRequest, reply: Reply[SyncResult]) -> Answer:
    if reply.error is not None:
        call.connection.failed(str(reply.error))
        return {"error_code": kafka_code(reply.error), "assignment": b""}
    synced = reply.result()
    kind = request.protocol_type
    return WhenDurable({"protocol_type": kind, "protocol_name": synced.protocol, "assignment": synced.assignment})


@api("Heartbeat", 12, 0, 4)
def _heartbeat(call: Call, request: HeartbeatRequest) -> Answer:
    """A sign of life, answered with REBALANCE_IN_PROGRESS if the member must join again."""
    try:
        call.must(READ, "group", request.group_id)
        call.broker.groups.heartbeat(call.now_ns, request.group_id, request.member_id, request.generation_id)
    except BrokerError as error:
        return {"error_code": kafka_code(error)}
    return {}


@api("LeaveGroup", 13, 0, 5)
def _leave_group(call: Call, request: LeaveGroupRequest) -> Answer:
    """A member goes, or, from v3 on, several, static ones by instance id; answered once their departure is kept."""
    call.must(READ, "group", request.group_id)
    if call.version < _FIRST_WITH_MANY:
        older: Any = request
        return WhenDurable({"error_code": _leave(call, request.group_id, older.member_id, "", "")})
    members = [
        {
            "member_id": each.member_id,
            "group_instance_id": each.group_instance_id,
            "error_code": _leave(
                call, request.group_id, each.member_id, each.group_instance_id or "", each.reason or ""
            ),
        }
        for each in request.members
    ]
    return WhenDurable({"members": members})


def _leave(call: Call, group: str, member_id: str, instance_id: str, reason: str) -> int:
    cause = f"{call.client} left: {reason[:255]}" if reason else ""
    try:
        if instance_id and not member_id:
            member_id = call.broker.groups.static_member(group, instance_id)
        call.broker.groups.leave(call.now_ns, group, member_id, cause)
        call.context.readers.left(member_id)
    except BrokerError as error:
        return kafka_code(error)
    return 0


@api("ConsumerGroupHeartbeat", 68, 0, 1)
def _consumer_group_heartbeat(call: Call, request: ConsumerGroupHeartbeatRequest) -> Answer:
    """A member joins, reconciles and leaves (KIP-848). The first one that comes to a classic group upgrades it."""
    group, pending = request.group_id, call.context.pending
    clients = call.broker.groups.clients(group)
    try:
        member_id = heartbeating_member(call, request, is_there=call.broker.groups.is_consumer_group(group))
        timeout_ms = ms(request.rebalance_timeout)
        result = call.broker.groups.consumer_heartbeat(
            call.now_ns,
            group,
            ConsumerHeartbeat(
                client_id=clients.get(member_id)
                or pending.label(group, call.client, clients, member_id, call.connection.id),
                member_id=member_id,
                member_epoch=request.member_epoch,
                instance_id=request.instance_id or "",
                rebalance_timeout_ms=timeout_ms if timeout_ms > 0 else None,
                topics=allowed(call, request.subscribed_topic_names),
                topic_regex=request.subscribed_topic_regex,
                allowed=partial(call.may, READ, "topic"),
                assignor=request.server_assignor,
                owned=_owned(call, request.topic_partitions),
                host=call.client_host,
            ),
        )
        if request.member_epoch < JOINING:
            call.context.readers.left(member_id)
    except BrokerError as error:
        call.connection.failed(str(error))
        return failed(error)
    # As in Kafka, a member that was told something is known after a crash, and who has left is not waited for.
    told = None if result.assignment is None else {"topic_partitions": by_topic(call, result.assignment)}
    return WhenDurable(
        {
            "member_id": result.member_id,
            "member_epoch": result.member_epoch,
            "heartbeat_interval": result.heartbeat_interval_ms,
            "assignment": told,
        }
    )


def heartbeating_member(call: Call, request: Any, *, is_there: bool) -> str:
    """The id of the member that heartbeats, a new one if it joins without. Raises FORBIDDEN, INVALID_REQUEST.

    Raises for the leave of a member of a group that is not there as Kafka does, which Java's clients ignore, and
    for its heartbeat UNKNOWN_MEMBER_ID, by which it joins anew: they die of Kafka's answer, and a broker that keeps
    nothing begins without groups where Kafka's does not.
    """
    group, epoch, member_id = request.group_id, request.member_epoch, request.member_id
    call.must(READ, "group", group)
    if not group:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "the group has no id")
    if not is_there and epoch != JOINING:
        code = ErrorCode.GROUP_ID_NOT_FOUND if epoch < JOINING else ErrorCode.UNKNOWN_MEMBER_ID
        raise BrokerError(code, repr(group))
    return call.context.pending.new(call.client) if epoch == JOINING and not member_id else member_id


def allowed(call: Call, topics: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The topics that the client may read: what it may not see is as if it were not there."""
    return None if topics is None else tuple(name for name in topics if call.may(READ, "topic", name))


def _owned(call: Call, rows: Any) -> tuple[TopicPartition, ...] | None:
    if rows is None:
        return None
    named = ((call.topic_with(row.topic_id), row.partitions) for row in rows)
    return tuple((name, number) for name, numbers in named if name is not None for number in numbers)
