"""DescribeShareGroupOffsets (KIP-932): where each partition of a share group starts, and how many messages are open.

The start offset is the first that is not finished; the lag counts what is ready, delayed or leased. A topic that the
group has no subscription to is answered with -1 for both.
"""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import LEADER_EPOCH, READ, Answer, Call, failed, kafka_code, sliced

KEY = 90
_UNKNOWN = -1


def handle(call: Call, request: Any) -> Answer:
    """Each group has an answer of its own."""
    groups = {each.group_id: each for each in request.groups}.values()
    return sliced(call, "groups", (_group(call, each) for each in groups))


def _group(call: Call, asked: Any) -> dict[str, Any]:
    group, share_groups = asked.group_id, call.broker.share_groups
    try:
        call.must(READ, "group", group)
        if group not in share_groups.names():
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, group)
    except BrokerError as error:
        return {"group_id": group, "topics": (), **failed(error)}
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
    return {"group_id": group, "topics": rows, "error_code": 0, "error_message": None}


def _partition(call: Call, group: str, topic: str, number: int) -> dict[str, Any]:
    nothing = {"partition_index": number, "start_offset": _UNKNOWN, "leader_epoch": LEADER_EPOCH, "lag": _UNKNOWN}
    try:
        call.must(READ, "topic", topic)
        position = call.broker.share_groups.position(group, topic, number)
        if position is None:
            call.must_topic(READ, topic)
            return {**nothing, "error_code": 0, "error_message": None}
    except BrokerError as error:
        return {**nothing, "error_code": kafka_code(error), "error_message": str(error)}
    found = {"start_offset": position.start_offset, "lag": position.lag}
    return {**nothing, **found, "error_code": 0, "error_message": None}
