"""ShareGroupDescribe (KIP-932): the members of share groups, and what they may take from."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import READ, Answer, Call, kafka_code, sliced
from broker_core.listeners.kafka.consumer_group_heartbeat import by_topic
from broker_core.listeners.kafka.share_group_heartbeat import places

KEY = 77


def handle(call: Call, request: Any) -> Answer:
    """Answer for each group."""
    return sliced(call, "groups", (_group(call, name) for name in dict.fromkeys(request.group_ids)))


def _group(call: Call, name: str) -> dict[str, Any]:
    try:
        call.must(READ, "group", name)
        view = call.broker.share_groups.view(name)
        call.must_read_all(topic for member in view.members for topic in member.topics)
    except BrokerError as error:
        return {
            "group_id": name,
            "error_code": kafka_code(error),
            "error_message": str(error),
            "group_state": "Dead",
            "assignor_name": "",
            "members": (),
        }
    return {
        "group_id": name,
        "error_code": 0,
        "group_state": view.state,
        "group_epoch": view.epoch,
        "assignment_epoch": view.epoch,
        "assignor_name": "simple",
        "members": [
            {
                "member_id": member.member_id,
                "member_epoch": member.epoch,
                "client_id": member.holder,
                "client_host": "/127.0.0.1",
                "subscribed_topic_names": member.topics,
                "assignment": {"topic_partitions": by_topic(call, places(call, member.topics))},
            }
            for member in view.members
        ],
    }
