"""OffsetCommit and OffsetFetch v10 name topics by their ids; the answers are those of Kafka 4.4.0."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from broker_core import Admin, BrokerHost
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.listeners.kafka.raw import KEYS, asked

NO_MEMBER = {"generation_id_or_member_epoch": -1, "member_id": "", "group_instance_id": None}


def committed(partition: int, offset: int) -> dict[str, Any]:
    return {"partition_index": partition, "committed_offset": offset, "committed_metadata": "m"}


def test_topics_go_by_id_from_v10_on(host: BrokerHost, admin: Admin, listener: KafkaListener):
    admin.create_topic("orders", 2)
    known = UUID(bytes=host.broker.logs.topic("orders").id)
    unknown = uuid4()
    topics = [
        {"topic_id": known, "partitions": [committed(0, 5), committed(7, 1)]},
        {"topic_id": unknown, "partitions": [committed(0, 1)]},
    ]
    answer = asked(listener.port, KEYS["OffsetCommit"], 10, {"group_id": "billing", **NO_MEMBER, "topics": topics})
    told = {(row.topic_id, each.partition_index): each.error_code for row in answer.topics for each in row.partitions}
    assert told == {(known, 0): 0, (known, 7): 3, (unknown, 0): 100}

    def fetched(topics: list[dict[str, Any]] | None) -> dict[Any, tuple[int, int]]:
        groups = [{"group_id": "billing", "member_epoch": -1, "topics": topics}]
        (group,) = asked(listener.port, KEYS["OffsetFetch"], 10, {"groups": groups}).groups
        assert group.error_code == 0
        return {
            (row.topic_id, each.partition_index): (each.committed_offset, each.error_code)
            for row in group.topics
            for each in row.partitions
        }

    wanted = [{"topic_id": known, "partition_indexes": [0, 1, 7]}, {"topic_id": unknown, "partition_indexes": [0]}]
    assert fetched(wanted) == {(known, 0): (5, 0), (known, 1): (-1, 0), (known, 7): (-1, 0), (unknown, 0): (-1, 100)}
    assert fetched(None) == {(known, 0): (5, 0)}
