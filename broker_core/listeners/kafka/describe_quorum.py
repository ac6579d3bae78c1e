"""DescribeQuorum: the quorum of the metadata is the one broker.

There is no log of metadata; its offsets are the number of changes of the catalog since the start.
"""

from __future__ import annotations

from typing import Any

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import LEADER_EPOCH, NODE_ID, READ, Answer, Call, failed

KEY = 55
_METADATA = ("__cluster_metadata", 0)


def handle(call: Call, request: Any) -> Answer:
    """Each partition has an answer of its own; there is one."""
    call.must(READ, "broker")
    return {
        "error_code": 0,
        "error_message": None,
        "topics": [
            {
                "topic_name": topic.topic_name,
                "partitions": [_partition(call, topic.topic_name, each.partition_index) for each in topic.partitions],
            }
            for topic in request.topics
        ],
        "nodes": [
            {"node_id": NODE_ID, "listeners": [{"name": "CONTROLLER", "host": call.host, "port": call.port}]},
        ],
    }


def _partition(call: Call, topic: str, partition: int) -> dict[str, Any]:
    if (topic, partition) != _METADATA:
        nothing = {"leader_id": -1, "leader_epoch": -1, "high_watermark": -1, "current_voters": (), "observers": ()}
        error = BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic}-{partition} is not a log of metadata")
        return {"partition_index": partition, **nothing, **failed(error)}
    logs = call.broker.logs
    now_ms = logs.epoch_ms + call.now_ns // NS_PER_MS
    return {
        "partition_index": partition,
        "error_code": 0,
        "error_message": None,
        "leader_id": NODE_ID,
        "leader_epoch": LEADER_EPOCH,
        "high_watermark": logs.revision,
        "current_voters": [
            {
                "replica_id": NODE_ID,
                "log_end_offset": logs.revision,
                "last_fetch_timestamp": now_ms,
                "last_caught_up_timestamp": now_ms,
            }
        ],
        "observers": (),
    }
