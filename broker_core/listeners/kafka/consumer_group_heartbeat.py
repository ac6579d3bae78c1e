"""ConsumerGroupHeartbeat (KIP-848): a member joins, reconciles and leaves; the broker assigns.

A running classic group is upgraded by the first member that comes by this protocol. Left out: racks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.members import JOINING, ConsumerHeartbeat
from broker_core.listeners.kafka.call import READ, Answer, Call, WhenKept, api, failed, ms
from broker_core.messages import TopicPartition

if TYPE_CHECKING:
    from kio.schema.consumer_group_heartbeat.v1.request import ConsumerGroupHeartbeatRequest


@api("ConsumerGroupHeartbeat", 68, 0, 1)
def _consumer_group_heartbeat(call: Call, request: ConsumerGroupHeartbeatRequest) -> Answer:
    group, pending = request.group_id, call.context.pending
    clients = call.broker.groups.clients(group)
    try:
        member_id = heartbeats(call, request, is_there=call.broker.groups.is_consumer_group(group))
        others = [client for known, client in clients.items() if known != member_id]
        timeout_ms = ms(request.rebalance_timeout)
        result = call.broker.groups.consumer_heartbeat(
            call.now_ns,
            group,
            ConsumerHeartbeat(
                client_id=clients.get(member_id)
                or pending.label(group, call.client, others, member_id, call.connection.id),
                member_id=member_id,
                member_epoch=request.member_epoch,
                instance_id=request.instance_id or "",
                rebalance_timeout_ms=timeout_ms if timeout_ms > 0 else None,
                topics=_allowed(call, request.subscribed_topic_names),
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
    return WhenKept(
        {
            "member_id": result.member_id,
            "member_epoch": result.member_epoch,
            "heartbeat_interval": result.heartbeat_interval_ms,
            "assignment": told,
        }
    )


def heartbeats(call: Call, request: Any, *, is_there: bool) -> str:
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


def by_topic(call: Call, places: tuple[TopicPartition, ...]) -> list[dict[str, Any]]:
    """(topic, partition) as this protocol's messages list them."""
    found: dict[str, list[int]] = {}
    for topic, partition in places:
        found.setdefault(topic, []).append(partition)
    return [{"topic_id": call.topic_id(name), "topic_name": name, "partitions": rows} for name, rows in found.items()]


def _allowed(call: Call, topics: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The topics that the client may read: what it may not see is as if it were not there."""
    return None if topics is None else tuple(name for name in topics if call.may(READ, "topic", name))


def _owned(call: Call, rows: Any) -> tuple[TopicPartition, ...] | None:
    if rows is None:
        return None
    named = ((call.topic_with(row.topic_id), row.partitions) for row in rows)
    return tuple((name, number) for name, numbers in named if name is not None for number in numbers)
