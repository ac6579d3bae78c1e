"""SyncGroup, classic protocol: the leader sends all assignments, each member waits for its own."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.groups.members import SyncResult
from broker_core.listeners.kafka.call import READ, Answer, Call, Kept, Waiting, kafka_code
from broker_core.replies import Reply

KEY = 14


def handle(call: Call, request: Any) -> Answer:
    """The response comes with the assignment, once the group is kept: its members go on after a crash of the broker."""
    try:
        call.must(READ, "group", request.group_id)
    except BrokerError as error:
        call.connection.failed(str(error))
        return {"error_code": kafka_code(error), "assignment": b""}
    assignments = {each.member_id: each.assignment for each in request.assignments}
    reply = call.broker.groups.sync(
        call.now_ns, request.group_id, request.member_id, request.generation_id, assignments
    )
    return Waiting(reply, lambda done, _now_ns: _body(call, request, done))


def _body(call: Call, request: Any, reply: Reply[SyncResult]) -> Answer:
    if reply.error is not None:
        call.connection.failed(str(reply.error))
        return {"error_code": kafka_code(reply.error), "assignment": b""}
    synced = reply.result()
    return Kept(
        {
            "error_code": 0,
            "protocol_type": getattr(request, "protocol_type", None),
            "protocol_name": synced.protocol,
            "assignment": synced.assignment,
        }
    )
