"""DescribeLogDirs: the data directory, its disk, and the size of each partition in it.

A broker in memory has one directory, `memory`, and no disk. Left out: several directories.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import READ, Answer, Call, Later, gathered, kafka_code
from broker_core.listeners.kafka.codec import Body

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
    names = call.broker.topics.names() if wanted is None else tuple(wanted)

    def work() -> Body:
        topics = gathered(call, _topics(call, names, wanted))
        return {"error_code": 0, "results": [{"error_code": 0, **_disk(call), "topics": topics}]}

    return Later(work)


def _topics(call: Call, names: tuple[str, ...], wanted: dict[str, set[int]] | None) -> Iterator[dict[str, Any]]:
    for name in names:
        if name not in call.broker.topics or not call.may(READ, "topic", name):
            continue
        rows = [
            {"partition_index": number, "partition_size": log.size_bytes, "offset_lag": 0, "is_future_key": False}
            for number, log in enumerate(call.broker.logs.topic(name).log.partitions)
            if wanted is None or number in wanted[name]
        ]
        yield {"name": name, "partitions": rows}


def directory(call: Call) -> str:
    """The one log directory."""
    return str(call.shared.host.path or _IN_MEMORY)


def _disk(call: Call) -> dict[str, Any]:
    path = call.shared.host.path
    usage = None if path is None else shutil.disk_usage(path)
    return {
        "log_dir": directory(call),
        "total_bytes": _UNKNOWN_BYTES if usage is None else usage.total,
        "usable_bytes": _UNKNOWN_BYTES if usage is None else usage.free,
    }
