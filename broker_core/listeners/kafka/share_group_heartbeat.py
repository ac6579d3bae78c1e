"""ShareGroupHeartbeat (KIP-932): a member joins, is there, and leaves; every member may take from every partition.

The first member that subscribes to a topic makes the group's subscription to it, a queue that the window shows. Left
out: racks.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from broker_core.broker.share_groups import JOINING
from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import READ, Answer, Call, Later, kafka_code
from broker_core.listeners.kafka.codec import Body
from broker_core.listeners.kafka.consumer_group_heartbeat import by_topic

KEY = 76


def handle(call: Call, request: Any) -> Answer:
    """Note what the member says; subscriptions that are missing are made first."""
    group, names = request.group_id, request.subscribed_topic_names
    topics = None if names is None else tuple(name for name in names if call.may(READ, "topic", name))
    known = {each.member_id: each.topics for each in call.broker.share_groups.members(group)} if topics is None else {}
    missing = call.broker.share_groups.missing(group, known.get(request.member_id, ()) if topics is None else topics)
    if missing and call.may(READ, "group", group):
        return Later(lambda: _subscribe(call, request, topics, missing))
    return _beat(call, request, topics, call.now_ns)


def _subscribe(call: Call, request: Any, topics: tuple[str, ...] | None, missing: tuple[str, ...]) -> Body:
    host, share_groups = call.shared.host, call.broker.share_groups
    try:
        for topic in missing:
            host.admin(partial(share_groups.subscribe, group=request.group_id, topic=topic))
    except BrokerError as error:
        return _refused(call, request, error)
    return host.call(lambda now_ns: _beat(call, request, topics, now_ns))


def _beat(call: Call, request: Any, topics: tuple[str, ...] | None, now_ns: int) -> Body:
    share_groups, group, member_id = call.broker.share_groups, request.group_id, request.member_id
    try:
        call.must(READ, "group", group)
        if request.member_epoch == JOINING and not member_id:
            member_id = call.shared.pending.new(call.client)
        others = [member.holder for member in share_groups.members(group) if member.member_id != member_id]
        holder = call.shared.pending.label(group, call.client, others, member_id, call.connection.id)
        keeps = call.shared.share_sessions.is_open(group, member_id)
        told = share_groups.heartbeat(now_ns, group, member_id, request.member_epoch, holder, topics, keeps=keeps)
    except BrokerError as error:
        return _refused(call, request, error)
    return {
        "error_code": 0,
        "member_id": member_id,
        "member_epoch": told.epoch,
        "heartbeat_interval": call.broker.groups.config.consumer_heartbeat_interval_ms,
        "assignment": None if told.topics is None else {"topic_partitions": by_topic(call, places(call, told.topics))},
    }


def places(call: Call, topics: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """All partitions of `topics`; of a work queue, all its priorities."""
    logs = call.broker.logs
    return tuple(
        (topic, partition) for topic in topics if logs.get(topic) for partition in range(logs.partition_count(topic))
    )


def _refused(call: Call, request: Any, error: BrokerError) -> Body:
    call.connection.failed(str(error))
    return {
        "error_code": kafka_code(error),
        "error_message": str(error),
        "member_id": request.member_id,
        "member_epoch": request.member_epoch,
        "assignment": None,
    }
