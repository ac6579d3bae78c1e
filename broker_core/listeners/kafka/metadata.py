"""Metadata: the cluster of one broker, its topics and their partitions.

Topics that do not exist are created where the listener is told to, and the client asks for it. A work queue is
described where it is asked for by name, since share groups take from it; dead letters are no topics here. Left out:
authorized operations, which are answered as "not known".
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import (
    ADMIN,
    CLUSTER_ID,
    LEADER_EPOCH,
    NODE_ID,
    READ,
    WRITE,
    Answer,
    Call,
    Later,
    gathered,
    given,
    kafka_code,
    sliced,
)
from broker_core.listeners.kafka.codec import Body
from broker_core.names import check_name

KEY = 3
_UNKNOWN_TOPIC_ID = 100


def handle(call: Call, request: Any) -> Answer:
    """Describe the topics that are named, or all that the client may see."""
    wanted = request.topics
    if wanted is None or (call.version == 0 and not wanted):
        there = call.broker.topics
        rows = (topic_body(call, name) for name in there.names() if visible(call, name) and name in there)
        return sliced(call, "topics", rows, **_cluster(call))
    # One of each, as in Kafka.
    wanted = {each.topic_id if each.name is None else each.name: each for each in wanted}.values()
    missing = [each.name for each in wanted if each.name and each.name not in call.broker.topics]
    may_create = call.shared.create_topics and given(request, "allow_auto_topic_creation", True)
    if missing and may_create:
        return Later(lambda: _create(call, wanted, missing))
    return sliced(call, "topics", _named(call, wanted), **_cluster(call))


def _create(call: Call, wanted: Any, missing: list[str]) -> Body:
    """Create missing topics, as far as that is allowed; the response calls the others unknown."""
    host = call.shared.host
    with host.saved_at_end():
        for name in missing:
            if call.may(ADMIN, "topic", name):
                # Another client may have created it, and a name may not be allowed: the response shows both.
                with contextlib.suppress(BrokerError):
                    host.admin(partial(_create_one, call, name))
    return {"topics": gathered(call, _named(call, wanted)), **_cluster(call)}


def _create_one(call: Call, name: str, now_ns: int) -> None:
    call.broker.topics.create(now_ns, name, call.shared.create_topics)


def _cluster(call: Call) -> Body:
    return {"brokers": [call.this_node], "cluster_id": CLUSTER_ID, "controller_id": NODE_ID}


def visible(call: Call, name: str) -> bool:
    """Whether the client may do anything with the topic."""
    return any(call.may(operation, "topic", name) for operation in (READ, WRITE, ADMIN))


def _named(call: Call, wanted: Any) -> Iterator[dict[str, Any]]:
    topics, logs = call.broker.topics, call.broker.logs
    for each in wanted:
        name = each.name
        if name is None:
            name = call.topic_with(each.topic_id, queues=True)
            if name is None or not visible(call, name):
                yield {"error_code": _UNKNOWN_TOPIC_ID, "name": None, "topic_id": each.topic_id, "partitions": []}
                continue
        try:
            if not visible(call, name):
                call.must(READ, "topic", name)
            if name not in topics and ((log := logs.get(name)) is None or log.queue is None):
                check_name(name, "topic")
                raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)
            yield topic_body(call, name)
        except BrokerError as error:
            yield {"error_code": kafka_code(error), "name": name, "partitions": []}


def topic_body(call: Call, name: str) -> dict[str, Any]:
    """One topic, as this API and DescribeTopicPartitions describe it."""
    return {
        "error_code": 0,
        "name": name,
        "topic_id": call.topic_id(name),
        "is_internal": False,
        "topic_authorized_operations": -(1 << 31),
        "partitions": [
            {
                "error_code": 0,
                "partition_index": number,
                "leader_id": NODE_ID,
                "leader_epoch": LEADER_EPOCH,
                "replica_nodes": (NODE_ID,),
                "isr_nodes": (NODE_ID,),
                "offline_replicas": (),
                "eligible_leader_replicas": None,
                "last_known_elr": None,
            }
            for number in range(call.broker.logs.partition_count(name))
        ],
    }
