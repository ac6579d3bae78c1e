"""TxnOffsetCommit: offsets that a group has committed when the producer's transaction commits, and not before.

A member of the group is checked as in OffsetCommit where the request names one (v3). From v5 on the group is added to
the transaction by the way (KIP-890). One offset that cannot be committed refuses the request.
"""

from __future__ import annotations

from typing import Any

from broker_core.groups.offsets import OffsetAndMetadata
from broker_core.groups.protocol import TopicPartition
from broker_core.listeners.kafka.call import READ, WRITE, Answer, Call, given
from broker_core.listeners.kafka.codec import Body
from broker_core.listeners.kafka.transactional import NEVER, answered, identity_of
from broker_core.replies import Reply, all_done
from broker_core.transactions.transaction import PendingOffset

KEY = 28
_FIRST_THAT_ADDS = 5


def handle(call: Call, request: Any) -> Answer:
    """Keep them with the transaction, and answer when that is done."""

    def body(error: int, _none: None) -> Body:
        return {
            "topics": [
                {
                    "name": topic.name,
                    "partitions": [
                        {"partition_index": each.partition_index, "error_code": error} for each in topic.partitions
                    ],
                }
                for topic in request.topics
            ]
        }

    return answered(call, lambda: _put(call, request), body, fenced_from=NEVER)


def _put(call: Call, request: Any) -> Reply[None]:
    group, transactional_id, identity = request.group_id, request.transactional_id, identity_of(request)
    call.must(WRITE, "transactional_id", transactional_id)
    call.must(READ, "group", group)
    offsets: dict[TopicPartition, OffsetAndMetadata] = {}
    for topic in request.topics:
        call.must_topic(READ, topic.name)
        for each in topic.partitions:
            epoch = given(each, "committed_leader_epoch", -1)
            offsets[topic.name, each.partition_index] = OffsetAndMetadata(
                each.committed_offset, each.committed_metadata or "", epoch
            )
    broker = call.broker
    for place, value in offsets.items():
        broker.groups.commits.check(*place, value, beyond_end=True)
    generation, member_id = getattr(request, "generation_id", -1), getattr(request, "member_id", "")
    if generation >= 0 or member_id:
        broker.groups.check_commit(call.now_ns, group, member_id, generation)
    kept: list[Reply[None]] = []
    if call.version >= _FIRST_THAT_ADDS:
        kept.append(broker.transactions.add_group(call.now_ns, transactional_id, identity, group))
    pending = [
        PendingOffset(
            group,
            *place,
            value.offset,
            value.metadata,
            value.leader_epoch,
            member=member_id or _reader(call, group, place, value.offset),
        )
        for place, value in offsets.items()
    ]
    kept.append(broker.transactions.put_offsets(call.now_ns, transactional_id, identity, pending))
    return kept[0] if len(kept) == 1 else all_done(kept)


def _reader(call: Call, group: str, place: TopicPartition, offset: int) -> str:
    """Who has read, where an older client does not name the member."""
    for name, member in call.broker.groups.reading(*place):
        if name == group:
            return member.member_id
    return call.shared.readers.committing(call.now_ns, call.broker, call.client, group, place, offset)
