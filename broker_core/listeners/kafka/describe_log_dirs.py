"""DescribeLogDirs: the data directory, its disk, and the size of each partition in it.

A broker in memory has one directory, `memory`, and no disk. Left out: several directories, and moving between them.
"""

from __future__ import annotations

import shutil
from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import READ, Answer, Call, Later, kafka_code

KEY = 35
_IN_MEMORY = "memory"
_UNKNOWN_BYTES = -1


def handle(call: Call, request: Any) -> Answer:
    """The sizes of the partitions that are asked for, of all where none are."""
    try:
        call.must(READ, "broker")
    except BrokerError as error:
        return {"error_code": kafka_code(error), "results": ()}
    wanted = None if request.topics is None else {each.topic: set(each.partitions) for each in request.topics}
    topics = []
    for name in call.broker.topics.names():
        if not call.may(READ, "topic", name) or (wanted is not None and name not in wanted):
            continue
        rows = [
            {"partition_index": number, "partition_size": log.size_bytes, "offset_lag": 0, "is_future_key": False}
            for number, log in enumerate(call.broker.logs.topic(name).log.partitions)
            if wanted is None or number in wanted[name]
        ]
        topics.append({"name": name, "partitions": rows})
    return Later(lambda: {"error_code": 0, "results": [{"error_code": 0, **_disk(call), "topics": topics}]})


def _disk(call: Call) -> dict[str, Any]:
    path = call.shared.host.path
    if path is None:
        return {"log_dir": _IN_MEMORY, "total_bytes": _UNKNOWN_BYTES, "usable_bytes": _UNKNOWN_BYTES}
    usage = shutil.disk_usage(path)
    return {"log_dir": str(path), "total_bytes": usage.total, "usable_bytes": usage.free}
