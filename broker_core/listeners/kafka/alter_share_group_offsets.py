"""AlterShareGroupOffsets (KIP-932): a share group without members goes on at other offsets.

Messages below the offset are finished; those from it on are delivered, again where they were, with a new delivery
count. What the group has no subscription to, and a work queue, cannot be altered.
"""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import ADMIN, READ, Answer, Call, Waiting, all_of, failed, kafka_code
from broker_core.replies import Reply

KEY = 91


def handle(call: Call, request: Any) -> Answer:
    """Each partition has an answer of its own, when all of them are durable."""
    group = request.group_id
    try:
        call.must(ADMIN, "group", group)
        call.broker.share_groups.must_be_empty(group)
    except BrokerError as error:
        return {**failed(error), "responses": ()}
    outcomes = [
        (topic, [_alter(call, group, topic.topic_name, each) for each in topic.partitions]) for topic in request.topics
    ]
    body = {
        "error_code": 0,
        "error_message": None,
        "responses": [
            {
                "topic_name": topic.topic_name,
                "topic_id": call.topic_id(topic.topic_name),
                "partitions": [row for _, row in rows],
            }
            for topic, rows in outcomes
        ],
    }
    return Waiting(all_of(written for _, rows in outcomes for written, _ in rows), lambda _reply, _now_ns: body)


def _alter(call: Call, group: str, topic: str, asked: Any) -> tuple[Reply[None], dict[str, Any]]:
    row = {"partition_index": asked.partition_index, "error_code": 0, "error_message": None}
    try:
        call.must_topic(READ, topic)
        written = call.broker.share_groups.reset(
            call.now_ns, group, topic, asked.partition_index, asked.start_offset, call.client
        )
    except BrokerError as error:
        return Reply.of(None), {**row, "error_code": kafka_code(error), "error_message": str(error)}
    return written, row
