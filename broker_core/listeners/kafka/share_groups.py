from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from broker_core.broker.share_groups import JOINING
from broker_core.errors import BrokerError
from broker_core.kafka_messages.writing import Body
from broker_core.listeners.kafka.call import (
    ADMIN,
    LEADER_EPOCH,
    READ,
    Answer,
    Call,
    Later,
    Waiting,
    api,
    by_topic,
    failed,
    outcome,
)
from broker_core.listeners.kafka.group_members import allowed, heartbeating_member
from broker_core.listeners.kafka.groups import IN_PROCESS, with_operations
from broker_core.operations.groups import ForgetShareOffsets, ResetShareOffsets, SubscribeShareGroup
from broker_core.replies import Reply, all_done

if TYPE_CHECKING:
    from kio.schema.alter_share_group_offsets.v0.request import AlterShareGroupOffsetsRequest
    from kio.schema.delete_share_group_offsets.v0.request import DeleteShareGroupOffsetsRequest
    from kio.schema.describe_share_group_offsets.v1.request import DescribeShareGroupOffsetsRequest
    from kio.schema.share_group_describe.v1.request import ShareGroupDescribeRequest
    from kio.schema.share_group_heartbeat.v1.request import ShareGroupHeartbeatRequest


@api("ShareGroupHeartbeat", 76, 1, 1)
def _share_group_heartbeat(call: Call, request: ShareGroupHeartbeatRequest) -> Answer:
    """A member joins, is there, and leaves; every member may take from every partition.

    The first member that subscribes to a topic makes the group's subscription to it, a queue that the window shows.
    Left out: racks.
    """
    group, topics = request.group_id, allowed(call, request.subscribed_topic_names)
    known = {each.member_id: each.topics for each in call.broker.share_groups.members(group)} if topics is None else {}
    missing = call.broker.share_groups.missing(group, known.get(request.member_id, ()) if topics is None else topics)
    if missing and call.may(READ, "group", group):
        return Later(lambda: _subscribe(call, request, topics, missing))
    return _beat(call, request, topics, call.now_ns)


def _subscribe(
    call: Call, request: ShareGroupHeartbeatRequest, topics: tuple[str, ...] | None, missing: tuple[str, ...]
) -> Body:
    try:
        for topic in missing:
            call.ask(SubscribeShareGroup(group=request.group_id, topic=topic))
    except BrokerError as error:
        return _refused(call, error)
    return call.context.host.call(lambda now_ns: _beat(call, request, topics, now_ns))


def _beat(call: Call, request: ShareGroupHeartbeatRequest, topics: tuple[str, ...] | None, now_ns: int) -> Body:
    share_groups, group = call.broker.share_groups, request.group_id
    try:
        member_id = heartbeating_member(call, request, is_there=group in share_groups.names())
        holders = {member.member_id: member.holder for member in share_groups.members(group)}
        holder = call.context.pending.label(group, call.client, holders, member_id, call.connection.id)
        keeps = call.context.share_sessions.is_open(group, member_id)
        told = share_groups.heartbeat(
            now_ns, group, member_id, request.member_epoch, holder, topics, keeps=keeps, host=call.client_host
        )
    except BrokerError as error:
        return _refused(call, error)
    return {
        "member_id": member_id,
        "member_epoch": told.epoch,
        "heartbeat_interval": 0
        if request.member_epoch < JOINING
        else call.broker.groups.configs.of(group).share_heartbeat_interval_ms,
        "assignment": None if told.topics is None else {"topic_partitions": by_topic(call, places(call, told.topics))},
    }


def places(call: Call, topics: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """All partitions of `topics`; of a work queue, all its priorities."""
    logs = call.broker.logs
    return tuple(
        (topic, partition) for topic in topics if logs.get(topic) for partition in range(logs.partition_count(topic))
    )


def _refused(call: Call, error: BrokerError) -> Body:
    call.connection.failed(str(error))
    return failed(error)


@api("ShareGroupDescribe", 77, 1, 1)
def _share_group_describe(call: Call, request: ShareGroupDescribeRequest) -> Answer:
    """The members of share groups, and what they may take from."""
    names = dict.fromkeys(request.group_ids)
    rows = (outcome(_described, call, name, group_id=name) for name in names)
    return call.sliced("groups", (with_operations(call, request, row) for row in rows))


def _described(call: Call, name: str) -> dict[str, Any]:
    call.must(READ, "group", name)
    view = call.broker.share_groups.view(name)
    hosts = {member.member_id: member.host for member in call.broker.share_groups.members(name)}
    call.must_read_all(topic for member in view.members for topic in member.topics)
    return {
        "group_state": view.state,
        "group_epoch": view.epoch,
        "assignment_epoch": view.epoch,
        "assignor_name": "simple",
        "members": [
            {
                "member_id": member.member_id,
                "member_epoch": member.epoch,
                "client_id": member.client,
                "client_host": hosts[member.member_id] or IN_PROCESS,
                "subscribed_topic_names": member.topics,
                "assignment": {"topic_partitions": by_topic(call, places(call, member.topics))},
            }
            for member in view.members
        ],
    }


_UNKNOWN = -1


@api("DescribeShareGroupOffsets", 90, 0, 1)
def _describe_share_group_offsets(call: Call, request: DescribeShareGroupOffsetsRequest) -> Answer:
    """Where each partition of a share group starts, and how many messages are open.

    The start offset is the first that is not finished; the lag counts what is ready, delayed or leased. A topic
    that the group has no subscription to, and a partition of which nobody has read, is answered with -1 for both.
    """
    groups = {each.group_id: each for each in request.groups}.values()
    return call.sliced("groups", (outcome(_offsets_of, call, each, group_id=each.group_id) for each in groups))


def _offsets_of(call: Call, asked: Any) -> dict[str, Any]:
    group, share_groups = asked.group_id, call.broker.share_groups
    call.must(READ, "group", group)
    if asked.topics is None:
        # A group that does not say which means all that it reads.
        topics = [
            (name, range(call.broker.logs.partition_count(name)))
            for name in share_groups.subscribed(group)
            if call.may(READ, "topic", name)
        ]
    else:
        topics = [(each.topic_name, each.partitions) for each in asked.topics]
    rows = [
        {
            "topic_name": name,
            "topic_id": call.topic_id(name),
            "partitions": [_partition(call, group, name, number) for number in partitions],
        }
        for name, partitions in topics
    ]
    return {"topics": rows}


def _partition(call: Call, group: str, topic: str, number: int) -> dict[str, Any]:
    nothing = {"partition_index": number, "start_offset": _UNKNOWN, "leader_epoch": LEADER_EPOCH, "lag": _UNKNOWN}
    try:
        call.must(READ, "topic", topic)
        position = call.broker.share_groups.position(group, topic, number)
        if position is None:
            call.must_topic(READ, topic)
        if position is None or not call.broker.share_groups.was_read(group, topic, number):
            return nothing
    except BrokerError as error:
        return {**nothing, **failed(error)}
    return {**nothing, "start_offset": position.start_offset, "lag": position.lag}


@api("AlterShareGroupOffsets", 91, 0, 0)
def _alter_share_group_offsets(call: Call, request: AlterShareGroupOffsetsRequest) -> Answer:
    """A share group without members goes on at other offsets.

    Messages below the offset are finished; those from it on are delivered, again where they were, with a new
    delivery count. A group that is not there is made for any topic that is, as in Kafka; what is outside the log is
    its start or its end. Other partitions of a topic that is new to the group begin at their start, whatever its
    settings say, as in Kafka. A work queue cannot be altered.
    """
    group, share_groups = request.group_id, call.broker.share_groups
    call.must(ADMIN, "group", group)
    if group in share_groups.names():
        share_groups.must_be_empty(group)
    missing = share_groups.missing(
        group, tuple(each.topic_name for each in request.topics if _has_one(call, each.topic_name, each.partitions))
    )
    knows_none = not any(each.topic_name in call.broker.topics for each in request.topics)
    if not missing and (knows_none or group in share_groups.names()):
        written, body = _rows(call, request)
        return Waiting(all_done(written), lambda _reply, _now_ns: body)

    def work() -> Body:
        for topic in missing or ("",):
            call.ask(SubscribeShareGroup(group=group, topic=topic, from_start=True))
        # What it changes is kept when this is done.
        return call.context.host.admin(lambda now_ns: _rows(msgspec.structs.replace(call, now_ns=now_ns), request)[1])

    return Later(work)


def _has_one(call: Call, topic: str, asked: Iterable[Any]) -> bool:
    """Whether one of the partitions is there, and the client may read it: for others no group begins to read."""
    if topic not in call.broker.topics or not call.may(READ, "topic", topic):
        return False
    return any(0 <= each.partition_index < call.broker.logs.partition_count(topic) for each in asked)


def _rows(call: Call, request: AlterShareGroupOffsetsRequest) -> tuple[list[Reply[None]], Body]:
    group = request.group_id
    outcomes = [
        (topic, [_alter(call, group, topic.topic_name, each) for each in topic.partitions]) for topic in request.topics
    ]
    body = {
        "responses": [
            {
                "topic_name": topic.topic_name,
                "topic_id": call.topic_id(topic.topic_name),
                "partitions": [row for _, row in rows],
            }
            for topic, rows in outcomes
        ]
    }
    return [written for _, rows in outcomes for written, _ in rows], body


def _alter(call: Call, group: str, topic: str, asked: Any) -> tuple[Reply[None], dict[str, Any]]:
    row = {"partition_index": asked.partition_index}
    try:
        call.must_topic(READ, topic)
        number = asked.partition_index
        log = call.broker.logs.partition(topic, number)
        offset = min(max(asked.start_offset, log.start_offset), log.high_watermark)
        reset = ResetShareOffsets(group=group, topic=topic, partition=number, offset=offset)
        written = call.broker.handle(call.now_ns, reset, call.client)
    except BrokerError as error:
        return Reply.of(None), {**row, **failed(error)}
    return written, row


@api("DeleteShareGroupOffsets", 92, 0, 0)
def _delete_share_group_offsets(call: Call, request: DeleteShareGroupOffsetsRequest) -> Answer:
    """A share group without members forgets what it has read of topics.

    The subscriptions that hold it are deleted, with their dead letters; for a while the window can bring them back.
    """
    call.must(ADMIN, "group", request.group_id)
    call.broker.share_groups.must_be_empty(request.group_id)

    def row(topic: str) -> Body:
        return outcome(_delete, call, request.group_id, topic, topic_name=topic, topic_id=call.topic_id(topic))

    return call.later("responses", row, [each.topic_name for each in request.topics])


def _delete(call: Call, group: str, topic: str) -> None:
    call.must(READ, "topic", topic)
    call.ask(ForgetShareOffsets(group=group, topic=topic))
