"""AlterPartitionReassignments and ListPartitionReassignments: every replica is on the one broker, and nothing moves."""

from __future__ import annotations

from typing import Any

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.listeners.kafka.call import ADMIN, NODE_ID, READ, Answer, Call, KafkaOnlyError, outcome

ALTER_KEY, LIST_KEY = 45, 46


def alter(call: Call, request: Any) -> Answer:
    """A reassignment to this broker is done already; another one is refused, and there is none to cancel."""
    call.must(ADMIN, "broker")
    return {
        "error_code": 0,
        "error_message": None,
        "allow_replication_factor_change": getattr(request, "allow_replication_factor_change", True),
        "responses": [
            {
                "name": topic.name,
                "partitions": [
                    {
                        "partition_index": each.partition_index,
                        **outcome(_reassign, call, topic.name, each),
                    }
                    for each in topic.partitions
                ],
            }
            for topic in request.topics
        ],
    }


def _reassign(call: Call, topic: str, asked: Any) -> None:
    call.broker.logs.partition(topic, asked.partition_index)
    if asked.replicas is None:
        raise KafkaOnlyError(KafkaError.no_reassignment_in_progress, f"{topic}-{asked.partition_index} does not move")
    if asked.replicas != (NODE_ID,):
        raise KafkaOnlyError(
            KafkaError.invalid_replica_assignment,
            f"replicas {list(asked.replicas)}, and there is broker {NODE_ID} alone",
        )


def list_all(call: Call, request: Any) -> Answer:
    """None is ever under way."""
    call.must(READ, "broker")
    return {"error_code": 0, "error_message": None, "topics": ()}
