"""ConsumerGroupDescribe (KIP-848): epochs, assignor, and each member with what it has and what it is to have."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import READ, Answer, Call, kafka_code, sliced
from broker_core.listeners.kafka.consumer_group_heartbeat import by_topic
from broker_core.listeners.kafka.describe_groups import IN_PROCESS, state_of

KEY = 69
_CONSUMER_MEMBER = 1


def handle(call: Call, request: Any) -> Answer:
    """Answer for each group."""
    return sliced(call, "groups", (_group(call, name) for name in dict.fromkeys(request.group_ids)))


def _group(call: Call, name: str) -> dict[str, Any]:
    groups = call.broker.groups
    try:
        call.must(READ, "group", name)
        if groups.type(name) != "consumer":
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, f"{name} is a classic group; DescribeGroups tells of it")
        view, members = groups.view(call.now_ns, name), groups.consumer_members(name)
        call.must_read_all((*view.topics, *(topic for each in members for topic, _ in (*each.owned, *each.target))))
    except BrokerError as error:
        return {
            "group_id": name,
            "error_code": kafka_code(error),
            "error_message": str(error),
            "group_state": "Dead",
            "group_epoch": 0,
            "assignment_epoch": 0,
            "assignor_name": "",
            "members": (),
        }
    return {
        "group_id": name,
        "error_code": 0,
        "group_state": state_of(view.state),
        "group_epoch": view.generation,
        "assignment_epoch": view.generation,
        "assignor_name": view.assignor,
        "members": [
            {
                "member_id": member.member_id,
                "instance_id": member.instance_id or None,
                "member_epoch": member.epoch,
                "client_id": member.client,
                "client_host": member.host or IN_PROCESS,
                "subscribed_topic_names": member.names,
                "subscribed_topic_regex": member.regex or None,
                "assignment": {"topic_partitions": by_topic(call, member.may_read)},
                "target_assignment": {"topic_partitions": by_topic(call, member.target)},
                "member_type": _CONSUMER_MEMBER,
            }
            for member in members
        ],
    }
