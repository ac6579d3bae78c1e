"""DescribeCluster: the one broker."""

from __future__ import annotations

from typing import Any

from broker_core.listeners.kafka.call import CLUSTER_ID, NODE_ID, Answer, Call

KEY = 60


def handle(call: Call, request: Any) -> Answer:
    """Name the broker by the address that the client has connected to."""
    return {
        "error_code": 0,
        "error_message": None,
        "endpoint_type": 1,
        "cluster_id": CLUSTER_ID,
        "controller_id": NODE_ID,
        "brokers": [call.this_node],
        "cluster_authorized_operations": -(1 << 31),
    }
