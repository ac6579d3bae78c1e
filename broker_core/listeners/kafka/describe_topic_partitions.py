"""DescribeTopicPartitions (KIP-966): topics page by page. Every partition is on the one broker."""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.listeners.kafka.call import READ, Answer, Call, kafka_code
from broker_core.listeners.kafka.metadata import topic_body, visible

KEY = 75
_MOST_PARTITIONS = 2_000


def handle(call: Call, request: Any) -> Answer:
    """At most so many partitions, and the cursor at which the next page begins."""
    names = sorted({each.name for each in request.topics} or call.broker.topics.names())
    first_name, first_partition = "", 0
    if request.cursor is not None:
        first_name, first_partition = request.cursor.topic_name, request.cursor.partition_index
    room = max(1, min(request.response_partition_limit, _MOST_PARTITIONS))
    topics: list[dict[str, Any]] = []
    for name in names:
        if name < first_name or not (request.topics or visible(call, name)):
            continue
        try:
            if not visible(call, name):
                call.must(READ, "topic", name)
            found = topic_body(call, name)
        except BrokerError as error:
            topics.append({"error_code": kafka_code(error), "name": name, "partitions": []})
            continue
        start = first_partition if name == first_name else 0
        left = found["partitions"][start:]
        if room <= 0 or len(left) > room:
            if room > 0:
                topics.append({**found, "partitions": left[:room]})
            cursor = {"topic_name": name, "partition_index": start + max(room, 0)}
            return {"topics": topics, "next_cursor": cursor}
        room -= len(left)
        topics.append({**found, "partitions": left})
    return {"topics": topics, "next_cursor": None}
