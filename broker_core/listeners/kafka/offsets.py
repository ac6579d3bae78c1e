from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import reader_by_hand
from broker_core.kafka_messages.writing import Body
from broker_core.listeners.kafka.call import (
    ADMIN,
    READ,
    Answer,
    Call,
    ForbiddenError,
    WhenKept,
    api,
    by_partition,
    kafka_code,
    named,
    outcomes,
)
from broker_core.messages import OffsetAndMetadata, TopicPartition
from broker_core.operations.groups import ForgetOffsets, PartitionPlace

if TYPE_CHECKING:
    from kio.schema.offset_commit.v10.request import OffsetCommitRequest
    from kio.schema.offset_delete.v0.request import OffsetDeleteRequest
    from kio.schema.offset_fetch.v10.request import OffsetFetchRequest


@api("OffsetCommit", 8, 2, 10)
def _offset_commit(call: Call, request: OffsetCommitRequest) -> Answer:
    """A group's offsets, each partition by itself; backwards too, as Kafka allows. From v10 on topics go by id.

    A member commits in its generation; a client without one (generation -1) commits for a group without members. Left
    out: retention times of single commits (v2 to v4), as in Kafka since 2.1.
    """

    def row(topic: Any, each: Any) -> Body:
        value = OffsetAndMetadata(each.committed_offset, each.committed_metadata or "", each.committed_leader_epoch)
        try:
            call.must(READ, "group", request.group_id)
            name = call.must_name(READ, topic)
            call.broker.logs.partition(name, each.partition_index)
        except BrokerError as error:
            return {"partition_index": each.partition_index, "error_code": kafka_code(error)}
        code = _commit(call, request, (name, each.partition_index), value)
        return {"partition_index": each.partition_index, "error_code": code}

    rows = ({**named(each), "partitions": [row(each, place) for place in each.partitions]} for each in request.topics)
    return WhenKept({"topics": [*rows]})


def _commit(call: Call, request: OffsetCommitRequest, place: TopicPartition, value: OffsetAndMetadata) -> int:
    generation = request.generation_id_or_member_epoch
    group, member_id, groups = request.group_id, request.member_id, call.broker.groups
    client, reader = groups.clients(group).get(member_id, call.client), member_id
    try:
        if value.offset < 0:  # taken by Kafka, too: kafkajs says so that it begins anew
            groups.commit(call.now_ns, group, member_id, generation, {})  # which makes the group
            groups.offsets.delete(group, *place)
            return 0
        if not member_id:
            reader = call.context.readers.committing(call.now_ns, call.broker, client, group, place, value.offset)
        is_there = value.offset <= call.broker.logs.partition(*place).end_offset
        sets = is_there and reader == reader_by_hand(client) and not call.context.readers.reads(client)
        call.broker.offsets.commit(
            call.now_ns, group, client, member_id, generation, {place: value}, backwards=True, reader=reader, sets=sets
        )
    except BrokerError as error:
        return _commit_code(call, group, error)
    return 0


def _commit_code(call: Call, group: str, error: BrokerError) -> int:
    """Kafka's, which tells apart what our coordinator does not; v9 is the first for members of KIP-848."""
    if error.code is ErrorCode.NON_EMPTY_GROUP:
        return ErrorCode.UNKNOWN_MEMBER_ID.code
    if error.code is ErrorCode.UNKNOWN_MEMBER_ID and group not in call.broker.groups.groups():
        missing = ErrorCode.ILLEGAL_GENERATION if call.version < _FIRST_OF_KIP_848 else ErrorCode.GROUP_ID_NOT_FOUND
        return missing.code
    if error.code is ErrorCode.STALE_MEMBER_EPOCH and call.version < _FIRST_OF_KIP_848:
        return KafkaError.unsupported_version.value
    return kafka_code(error)


_FIRST_OF_KIP_848 = 9
_NO_OFFSET = OffsetAndMetadata(-1)
_FIRST_WITH_GROUPS = 8
_FIRST_WITH_ERRORS_OF_GROUPS = 2


@api("OffsetFetch", 9, 1, 10)
def _offset_fetch(call: Call, request: OffsetFetchRequest) -> Answer:
    """The committed offsets of groups, -1 if there is none. From v8 on for several groups at once, from v10 on by topic
    ids.

    An error of a group stands beside its topics, of which none are answered; in v1, which has no place for it, in each
    partition. If the request asks for stable offsets (v7), one that an open transaction is about to commit is answered
    with UNSTABLE_OFFSET_COMMIT, and the client asks again.
    """
    if call.version >= _FIRST_WITH_GROUPS:
        stable = request.require_stable
        groups = {each.group_id: each for each in request.groups}.values()
        rows = ({"group_id": each.group_id, **_group(call, each, stable=stable)} for each in groups)
        return call.sliced("groups", rows)
    return _group(call, request, stable=request.require_stable)


def refused_offset_fetch(version: int, request: Any, code: int) -> Body:
    if version >= _FIRST_WITH_GROUPS:
        rows = ({"group_id": each.group_id, **_refused(version, each.topics, code)} for each in request.groups)
        return {"groups": [*rows]}
    return _refused(version, request.topics, code)


def _refused(version: int, topics: Any, code: int) -> Body:
    rows: list[Body] = []
    if version < _FIRST_WITH_ERRORS_OF_GROUPS:
        rows = [*by_partition(topics, lambda _topic, number: _nothing(number, code), of="partition_indexes")]
    return {"topics": rows, "error_code": code}


def _nothing(number: int, code: int) -> Body:
    return {"partition_index": number, "committed_offset": -1, "metadata": "", "error_code": code}


def _group(call: Call, asked: Any, *, stable: bool) -> Body:
    group, topics, member_id = asked.group_id, asked.topics, getattr(asked, "member_id", None)
    try:
        call.must(READ, "group", group)
        if member_id is not None and asked.member_epoch >= 0:
            call.broker.groups.check_epoch(group, member_id, asked.member_epoch)
    except BrokerError as error:
        return _refused(call.version, topics, kafka_code(error))
    known = call.broker.groups.offsets.fetch_all(group)
    unstable = call.broker.transactions.unstable_offsets(group) if stable else ()
    wanted: dict[str, list[int]] = {}
    places: list[tuple[Body, str | None, Sequence[int]]]
    if topics is None:
        readable = call.readable({name for name, _ in known})
        for name, number in sorted(at for at in known if at[0] in readable):
            wanted.setdefault(name, []).append(number)
        places = [({"name": name, "topic_id": call.topic_id(name)}, name, wanted[name]) for name in wanted]
    else:
        places = [(named(each), call.name_of(each), each.partition_indexes) for each in topics]

    def row(name: str | None, number: int) -> Body:
        if name is None:
            return _nothing(number, KafkaError.unknown_topic_id.value)
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

    found = [{**said, "partitions": [row(name, each) for each in numbers]} for said, name, numbers in places]
    return {"topics": found}


@api("OffsetDelete", 47, 0, 0)
def _offset_delete(call: Call, request: OffsetDeleteRequest) -> Answer:
    """Forget what a group has committed for partitions that none of its members reads."""
    call.must(ADMIN, "group", request.group_id)
    if request.group_id not in call.broker.groups.groups():
        raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, request.group_id)

    def forget(topic: str, asked: Any) -> None:
        place = PartitionPlace(topic=topic, partition=asked.partition_index)
        call.broker.logs.partition(topic, asked.partition_index)
        call.handle(call.now_ns, ForgetOffsets(group=request.group_id, partitions=[place]))

    return call.sliced("topics", outcomes(request.topics, forget))
