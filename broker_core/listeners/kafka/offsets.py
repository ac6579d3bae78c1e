from __future__ import annotations

from typing import TYPE_CHECKING, Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.offsets import OffsetAndMetadata
from broker_core.kafka_messages.making import Body
from broker_core.listeners.kafka.call import (
    ADMIN,
    READ,
    Answer,
    Call,
    ForbiddenError,
    Kept,
    api,
    by_partition,
    kafka_code,
)
from broker_core.messages import TopicPartition

if TYPE_CHECKING:
    from kio.schema.offset_commit.v9.request import OffsetCommitRequest
    from kio.schema.offset_delete.v0.request import OffsetDeleteRequest
    from kio.schema.offset_fetch.v9.request import OffsetFetchRequest


@api("OffsetCommit", 8, 2, 9)
def _offset_commit(call: Call, request: OffsetCommitRequest) -> Answer:
    """A group's offsets, each partition by itself; backwards too, as Kafka allows.

    A member commits in its generation; a client without one (generation -1) commits for a group without members. Left
    out: retention times of single commits (v2 to v4), as in Kafka since 2.1.
    """
    errors: dict[TopicPartition, int] = {}
    offsets: dict[TopicPartition, OffsetAndMetadata] = {}
    for topic in request.topics:
        for each in topic.partitions:
            place: TopicPartition = (topic.name, each.partition_index)
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
                each.committed_leader_epoch,
            )
    for place, value in offsets.items():
        errors[place] = _commit(call, request, place, value)

    def row(name: str, asked: Any) -> Body:
        return {"partition_index": asked.partition_index, "error_code": errors[name, asked.partition_index]}

    return Kept({"topics": [*by_partition(request.topics, row)]})


def _commit(call: Call, request: OffsetCommitRequest, place: TopicPartition, value: OffsetAndMetadata) -> int:
    generation = request.generation_id_or_member_epoch
    group, member_id, groups = request.group_id, request.member_id, call.broker.groups
    client, reader = groups.clients(group).get(member_id, call.client), member_id
    try:
        if value.offset < 0:  # taken by Kafka, too: kafkajs says so that it begins anew
            groups.check_commit(call.now_ns, group, member_id, generation)
            groups.offsets.delete(group, *place)
            return 0
        if not member_id:
            reader = call.context.readers.committing(call.now_ns, call.broker, client, group, place, value.offset)
        call.broker.offsets.commit(
            call.now_ns, group, client, member_id, generation, {place: value}, backwards=True, reader=reader
        )
    except BrokerError as error:
        return kafka_code(error)
    return 0


_NO_OFFSET = OffsetAndMetadata(-1)
_FIRST_WITH_GROUPS = 8
_FIRST_WITH_ERRORS_OF_GROUPS = 2


@api("OffsetFetch", 9, 1, 9)
def _offset_fetch(call: Call, request: OffsetFetchRequest) -> Answer:
    """The committed offsets of groups, -1 if there is none. From v8 on for several groups at once.

    An error of a group stands beside its topics, of which none are answered; in v1, which has no place for it, in each
    partition. If the request asks for stable offsets (v7), one that an open transaction is about to commit is answered
    with UNSTABLE_OFFSET_COMMIT, and the client asks again.
    """
    if call.version >= _FIRST_WITH_GROUPS:
        stable = request.require_stable
        groups = {each.group_id: each for each in request.groups}.values()
        return call.sliced("groups", (_group(call, each.group_id, each.topics, stable=stable) for each in groups))
    older: Any = request
    return _group(call, older.group_id, older.topics, stable=request.require_stable)


def refused_offset_fetch(call: Call, request: Any, code: int) -> Body:
    if call.version >= _FIRST_WITH_GROUPS:
        return {"groups": [_refused(call, each.group_id, each.topics, code) for each in request.groups]}
    return _refused(call, request.group_id, request.topics, code)


def _refused(call: Call, group: str, topics: Any, code: int) -> Body:
    rows: list[Body] = []
    if call.version < _FIRST_WITH_ERRORS_OF_GROUPS:
        rows = [*by_partition(topics, lambda _topic, number: _nothing(number, code), of="partition_indexes")]
    return {"group_id": group, "topics": rows, "error_code": code}


def _nothing(number: int, code: int) -> Body:
    return {"partition_index": number, "committed_offset": -1, "metadata": "", "error_code": code}


def _group(call: Call, group: str, topics: Any, *, stable: bool) -> Body:
    try:
        call.must(READ, "group", group)
    except BrokerError as error:
        return _refused(call, group, topics, kafka_code(error))
    known = call.broker.groups.offsets.fetch_all(group)
    unstable = call.broker.transactions.unstable_offsets(group) if stable else ()
    if topics is None:
        wanted: dict[str, list[int]] = {}
        readable = call.readable({name for name, _ in known})
        for name, number in sorted(at for at in known if at[0] in readable):
            wanted.setdefault(name, []).append(number)
    else:
        wanted = {each.name: list(each.partition_indexes) for each in topics}

    def row(name: str, number: int) -> Body:
        if not call.may(READ, "topic", name):
            return _nothing(number, kafka_code(ForbiddenError("topic", name)))
        if (name, number) in unstable:
            return _nothing(number, ErrorCode.UNSTABLE_OFFSET_COMMIT.code)
        value = known.get((name, number), _NO_OFFSET)
        return {
            "partition_index": number,
            "committed_offset": value.offset,
            "committed_leader_epoch": value.leader_epoch,
            "metadata": value.metadata,
        }

    found = [{"name": name, "partitions": [row(name, each) for each in wanted[name]]} for name in wanted]
    return {"group_id": group, "topics": found}


_GROUP_SUBSCRIBED_TO_TOPIC = 86


@api("OffsetDelete", 47, 0, 0)
def _offset_delete(call: Call, request: OffsetDeleteRequest) -> Answer:
    """Forget what a group has committed for partitions that none of its members reads."""
    group, groups = request.group_id, call.broker.groups
    call.must(ADMIN, "group", group)
    if group not in groups.groups():
        raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, group)
    subscribed = set(groups.view(call.now_ns, group, offsets=False).topics)

    def row(topic: str, asked: Any) -> Body:
        if topic in subscribed:
            return {"partition_index": asked.partition_index, "error_code": _GROUP_SUBSCRIBED_TO_TOPIC}
        groups.offsets.delete(group, topic, asked.partition_index)
        return {"partition_index": asked.partition_index}

    return call.sliced("topics", by_partition(request.topics, row))
