"""OffsetCommit: a group's offsets, partition by partition; backwards too, as Kafka allows.

A member commits in its generation; a client without one (generation -1) commits for a group without members. Left out:
retention times of single commits (v2 to v4), as in Kafka since 2.1.
"""

from __future__ import annotations

from typing import Any

from broker_core.errors import BrokerError
from broker_core.groups.offsets import OffsetAndMetadata
from broker_core.groups.protocol import TopicPartition
from broker_core.listeners.kafka.call import READ, Answer, Call, Kept, given, kafka_code

KEY = 8


def handle(call: Call, request: Any) -> Answer:
    """Commit each partition that can be committed; an error of one does not affect the others."""
    errors: dict[TopicPartition, int] = {}
    offsets: dict[TopicPartition, OffsetAndMetadata] = {}
    for topic in request.topics:
        for each in topic.partitions:
            place = (topic.name, each.partition_index)
            try:
                call.must(READ, "group", request.group_id)
                call.must_topic(READ, topic.name)
                call.broker.logs.partition(*place)
            except BrokerError as error:
                errors[place] = kafka_code(error)
                continue
            offsets[place] = OffsetAndMetadata(
                each.committed_offset,
                each.committed_metadata or "",
                given(each, "committed_leader_epoch", -1),
            )
    for place, value in offsets.items():
        errors[place] = _commit(call, request, {place: value})
    topics = [
        {
            "name": topic.name,
            "partitions": [
                {"partition_index": each.partition_index, "error_code": errors[topic.name, each.partition_index]}
                for each in topic.partitions
            ],
        }
        for topic in request.topics
    ]
    return Kept({"topics": topics})


def _commit(call: Call, request: Any, offsets: dict[TopicPartition, OffsetAndMetadata]) -> int:
    generation = getattr(request, "generation_id_or_member_epoch", -1)
    group, member_id = request.group_id, request.member_id
    client, reader = call.broker.groups.clients(group).get(member_id, call.client), member_id
    if not member_id:
        ((place, value),) = offsets.items()
        reader = call.shared.readers.committing(call.now_ns, call.broker, client, group, place, value.offset)
    try:
        call.broker.offsets.commit(
            call.now_ns, group, client, member_id, generation, offsets, backwards=True, reader=reader
        )
    except BrokerError as error:
        return kafka_code(error)
    return 0
