"""DeleteShareGroupOffsets (KIP-932): a share group without members forgets what it has read of topics.

The subscriptions that hold it are deleted, with their dead letters; for a while the window can bring them back.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import ADMIN, READ, Answer, Call, Later, failed, kafka_code
from broker_core.listeners.kafka.codec import Body

KEY = 92


def handle(call: Call, request: Any) -> Answer:
    """Each topic has an answer of its own."""
    try:
        call.must(ADMIN, "group", request.group_id)
        call.broker.share_groups.must_be_empty(request.group_id)
    except BrokerError as error:
        return {**failed(error), "responses": ()}
    return Later(lambda: _all(call, request.group_id, [each.topic_name for each in request.topics]))


def _all(call: Call, group: str, topics: list[str]) -> Body:
    return {"error_code": 0, "error_message": None, "responses": [_delete(call, group, topic) for topic in topics]}


def _delete(call: Call, group: str, topic: str) -> dict[str, Any]:
    row = {"topic_name": topic, "topic_id": call.topic_id(topic), "error_code": 0, "error_message": None}
    try:
        call.must(READ, "topic", topic)
        call.shared.host.admin(partial(call.broker.share_groups.unsubscribe, group=group, topic=topic))
    except BrokerError as error:
        return {**row, "error_code": kafka_code(error), "error_message": str(error)}
    return row
