"""DescribeGroups, classic protocol: state, assignor and members with their assignments."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.protocol import MemberSubscription, encode_assignment, encode_subscription
from broker_core.groups.states import GroupState
from broker_core.listeners.kafka.call import READ, Answer, Call, kafka_code, sliced

KEY = 15
IN_PROCESS = "/127.0.0.1"  # the host of a member in the broker's own process
_FIRST_TO_MISS = 6  # from v6 on a group that is not there is an error (KIP-1043)


def state_of(state: str) -> str:
    """Kafka's name of a group's state: "Preparing rebalance" is PreparingRebalance."""
    return "".join(word.capitalize() for word in state.split())


def handle(call: Call, request: Any) -> Answer:
    """Answer for each group."""
    return sliced(call, "groups", (_group(call, name) for name in dict.fromkeys(request.groups)))


def _group(call: Call, name: str) -> dict[str, Any]:
    empty = {"group_id": name, "group_state": "Dead", "protocol_type": "", "protocol_data": "", "members": ()}
    try:
        call.must(READ, "group", name)
        view, hosts = call.broker.groups.view(call.now_ns, name), call.broker.groups.hosts(name)
    except BrokerError as error:
        missing = error.code is ErrorCode.GROUP_ID_NOT_FOUND
        if missing and call.version < _FIRST_TO_MISS:
            return {**empty, "error_code": 0, "error_message": None}
        return {**empty, "error_code": kafka_code(error), "error_message": str(error)}
    named = {topic for member in view.members for topic in (*member.topics, *(each for each, _ in member.partitions))}
    readable = call.readable(named)
    return {
        "group_id": name,
        "error_code": 0,
        "error_message": None,
        "group_state": state_of(view.state),
        "protocol_type": "consumer" if view.members else "",
        "protocol_data": view.assignor,
        "members": [
            {
                "member_id": member.member_id,
                "group_instance_id": member.instance_id or None,
                "client_id": member.client,
                "client_host": hosts.get(member.member_id, IN_PROCESS),
                "member_metadata": encode_subscription(
                    MemberSubscription(tuple(topic for topic in member.topics if topic in readable))
                )
                if view.state == GroupState.STABLE
                else b"",
                "member_assignment": encode_assignment(tuple(at for at in member.partitions if at[0] in readable)),
            }
            for member in view.members
        ],
        "authorized_operations": -(1 << 31),
    }
