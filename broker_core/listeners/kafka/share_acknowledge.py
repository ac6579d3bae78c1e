"""ShareAcknowledge (KIP-932): records are accepted, released, rejected, or held longer.

A release counts as an attempt, as in Kafka; what is rejected, or released too often, becomes a dead letter (KIP-1191).
"""

from __future__ import annotations

from typing import Any

from broker_core.listeners.kafka.call import READ, Answer, Call, kafka_code
from broker_core.listeners.kafka.share_fetch import acknowledged
from broker_core.listeners.kafka.share_sessions import CLOSING

KEY = 79


def handle(call: Call, request: Any) -> Answer:
    """Apply them, partition by partition."""
    group = request.group_id
    call.must(READ, "group", group)
    session = call.shared.share_sessions.at(group, request.member_id, request.share_session_epoch)
    responses = []
    for topic in request.topics:
        rows, name = [], call.topic_with(topic.topic_id, queues=True) or ""
        for each in topic.partitions:
            place = (name, each.partition_index)
            error = acknowledged(call, session, place, each.acknowledgement_batches)
            rows.append(
                {
                    "partition_index": each.partition_index,
                    "error_code": kafka_code(error),
                    "error_message": None if error is None else str(error),
                    "current_leader": {"leader_id": 0, "leader_epoch": 0},
                }
            )
        responses.append({"topic_id": topic.topic_id, "partitions": rows})
    if request.share_session_epoch == CLOSING:
        session.release_all(call.broker, call.now_ns)
    return {
        "error_code": 0,
        "acquisition_lock_timeout": call.broker.share_groups.config(group).record_lock_duration_ms,
        "responses": responses,
        "node_endpoints": (),
    }
