"""ShareGroupDescribe (KIP-932): the members of share groups, and what they may take from."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import READ, Answer, Call, kafka_code
from broker_core.listeners.kafka.consumer_group_heartbeat import by_topic
from broker_core.listeners.kafka.share_group_heartbeat import places

KEY = 77


def handle(call: Call, request: Any) -> Answer:
    """Answer for each group."""
    return {"groups": [_group(call, name) for name in request.group_ids]}


def _group(call: Call, name: str) -> dict[str, Any]:
    share_groups = call.broker.share_groups
    try:
        call.must(READ, "group", name)
        if name not in share_groups.names():
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, name)
    except BrokerError as error:
        return {
            "group_id": name,
            "error_code": kafka_code(error),
            "error_message": str(error),
            "group_state": "Dead",
            "assignor_name": "",
            "members": (),
        }
    members = share_groups.members(name)
    epoch = max((member.epoch for member in members), default=0)
    return {
        "group_id": name,
        "error_code": 0,
        "group_state": "Stable" if members else "Empty",
        "group_epoch": epoch,
        "assignment_epoch": epoch,
        "assignor_name": "simple",
        "members": [
            {
                "member_id": member.member_id,
                "member_epoch": member.epoch,
                "client_id": member.holder,
                "client_host": "/127.0.0.1",
                "subscribed_topic_names": member.topics,
                "assignment": {"topic_partitions": by_topic(places(call, member.topics))},
            }
            for member in members
        ],
    }
