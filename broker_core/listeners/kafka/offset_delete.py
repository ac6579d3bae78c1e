"""OffsetDelete: forget what a group has committed for partitions that none of its members reads."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, kafka_code

KEY = 47
_GROUP_SUBSCRIBED_TO_TOPIC = 86


def handle(call: Call, request: Any) -> Answer:
    """Each partition has an answer of its own."""
    group = request.group_id
    try:
        call.must(ADMIN, "group", group)
        if group not in call.broker.groups.groups():
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, group)
    except BrokerError as error:
        return {"error_code": kafka_code(error), "topics": ()}
    subscribed = set(call.broker.groups.view(call.now_ns, group).topics)
    topics = []
    for topic in request.topics:
        code = _GROUP_SUBSCRIBED_TO_TOPIC if topic.name in subscribed else 0
        for each in topic.partitions:
            if not code:
                call.broker.groups.offsets.delete(group, topic.name, each.partition_index)
        rows = [{"partition_index": each.partition_index, "error_code": code} for each in topic.partitions]
        topics.append({"name": topic.name, "partitions": rows})
    return {"error_code": 0, "topics": topics}
