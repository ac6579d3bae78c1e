"""AlterReplicaLogDirs: there is one log directory, in which every partition is already."""

from __future__ import annotations

from typing import Any

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.listeners.kafka.call import ADMIN, Answer, Call, KafkaOnlyError, outcome
from broker_core.listeners.kafka.describe_log_dirs import directory

KEY = 34


def handle(call: Call, request: Any) -> Answer:
    """Nothing moves; another directory is LOG_DIR_NOT_FOUND."""
    return {
        "results": [
            {
                "topic_name": topic.name,
                "partitions": [
                    {
                        "partition_index": number,
                        **outcome(_move, call, each.path, topic.name, number),
                    }
                    for number in topic.partitions
                ],
            }
            for each in request.dirs
            for topic in each.topics
        ]
    }


def _move(call: Call, path: str, topic: str, partition: int) -> None:
    call.must(ADMIN, "broker")
    if path != directory(call):
        raise KafkaOnlyError(KafkaError.log_dir_not_found, f"{path[:249]}; there is {directory(call)}")
    call.broker.logs.partition(topic, partition)
