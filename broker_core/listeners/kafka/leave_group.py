"""LeaveGroup, classic protocol: a member goes, or, from v3 on, several, static ones by their instance id."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import READ, Answer, Call, Kept, given, kafka_code

KEY = 13


def handle(call: Call, request: Any) -> Answer:
    """Each member has an answer of its own. It comes once the departure is kept: a broker that dies right after it
    would wait for who has gone.
    """
    try:
        call.must(READ, "group", request.group_id)
    except BrokerError as error:
        return {"error_code": kafka_code(error), "members": ()}
    if not hasattr(request, "members"):
        return Kept({"error_code": _leave(call, request.group_id, request.member_id, "", "")})
    members = [
        {
            "member_id": each.member_id,
            "group_instance_id": each.group_instance_id,
            "error_code": _leave(
                call, request.group_id, each.member_id, each.group_instance_id or "", given(each, "reason", "")
            ),
        }
        for each in request.members
    ]
    return Kept({"error_code": 0, "members": members})


def _leave(call: Call, group: str, member_id: str, instance_id: str, reason: str) -> int:
    cause = f"{call.client} left: {reason[:255]}" if reason else ""
    try:
        if instance_id and not member_id:
            member_id = call.broker.groups.static_member(group, instance_id)
        call.broker.groups.leave(call.now_ns, group, member_id, cause)
        call.shared.readers.left(member_id)
    except BrokerError as error:
        return kafka_code(error)
    return 0
