"""Offsets: those of logs, and those that groups have committed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.broker.group_offsets import Committer
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import reader_by_hand
from broker_core.kafka_messages.writing import Body
from broker_core.listeners.kafka.call import (
    ADMIN,
    LEADER_EPOCH,
    READ,
    READ_COMMITTED,
    Answer,
    Call,
    ForbiddenError,
    KafkaOnlyError,
    WhenDurable,
    api,
    by_partition,
    check_leader_epoch,
    kafka_code,
    named,
    outcomes,
)
from broker_core.log.batch import BatchHeader
from broker_core.log.partition_log import PartitionLog
from broker_core.messages import OffsetAndMetadata, TopicPartition
from broker_core.operations.groups import ForgetOffsets, PartitionPlace

if TYPE_CHECKING:
    from kio.schema.list_offsets.v11.request import ListOffsetsRequest
    from kio.schema.offset_commit.v10.request import OffsetCommitRequest
    from kio.schema.offset_delete.v0.request import OffsetDeleteRequest
    from kio.schema.offset_fetch.v10.request import OffsetFetchRequest
    from kio.schema.offset_for_leader_epoch.v4.request import OffsetForLeaderEpochRequest

# -- of logs

_MOST_LOOKED_AT = 100_000  # offsets or batches, under the lock
_CLOCKS_DIFFER_MS = 60_000
_LATEST, _EARLIEST, _MAX_TIMESTAMP, _EARLIEST_LOCAL, _LATEST_TIERED, _EARLIEST_PENDING_UPLOAD = range(-1, -7, -1)
_FIRST_WITH = {_MAX_TIMESTAMP: 7, _EARLIEST_LOCAL: 8, _LATEST_TIERED: 9, _EARLIEST_PENDING_UPLOAD: 11}


@api("ListOffsets", 2, 1, 11)
def _list_offsets(call: Call, request: ListOffsetsRequest) -> Answer:
    """The earliest and the latest offset, that of a time, and that of the newest timestamp.

    For a reader of committed messages (v2) the log ends at the last stable offset. Times are those of the records.
    Of what is stored elsewhere (v9, v11) there is nothing: -1.
    """
    committed = request.isolation_level == READ_COMMITTED
    return call.sliced("topics", outcomes(request.topics, partial(_listed, call, committed)))


def _listed(call: Call, committed: bool, name: str, asked: Any) -> dict[str, Any]:
    call.must(READ, "topic", name)
    if call.version < _FIRST_WITH.get(asked.timestamp, 0):
        raise KafkaOnlyError(KafkaError.unsupported_version, f"{asked.timestamp} for a time")
    call.must_topic(READ, name)
    check_leader_epoch(asked.current_leader_epoch)
    offset, timestamp_ms = _offset(call, name, asked.partition_index, asked.timestamp, committed)
    return {"offset": offset, "timestamp": timestamp_ms, "leader_epoch": -1 if offset < 0 else LEADER_EPOCH}


def _offset(call: Call, name: str, partition: int, timestamp_ms: int, committed: bool) -> tuple[int, int]:
    broker = call.broker
    log = broker.logs.partition(name, partition)
    end_offset = log.last_stable_offset if committed else log.high_watermark
    if timestamp_ms == _LATEST:
        return end_offset, -1
    if timestamp_ms in {_EARLIEST, _EARLIEST_LOCAL}:
        return log.start_offset, -1
    if timestamp_ms in {_LATEST_TIERED, _EARLIEST_PENDING_UPLOAD}:
        return -1, -1
    if timestamp_ms == _MAX_TIMESTAMP:
        return _greatest(log, broker.logs.epoch_ms, end_offset)
    return _first_from(log, max(0, timestamp_ms), broker.logs.epoch_ms, end_offset)


def _first_from(log: PartitionLog, wanted_ms: int, epoch_ms: int, end_offset: int) -> tuple[int, int]:
    """The first record of that time or later, and its time.

    The search begins with what was appended a little before, since clocks of clients differ from the broker's; where
    that is too much, it is what was appended then.
    """
    appended_ns = (wanted_ms - epoch_ms) * NS_PER_MS
    # The batch before, too: after a restart a batch has the time of its first record.
    offset = max(log.start_offset, log.offset_for_time(appended_ns - _CLOCKS_DIFFER_MS * NS_PER_MS) - 1)
    end_looked = offset + _MOST_LOOKED_AT
    for _, header in log.segments.batches(offset, min(end_offset, end_looked)):
        if header.max_timestamp_ms >= wanted_ms:
            for message in log.read(max(log.start_offset, header.base_offset), max_messages=header.count):
                if message.timestamp_ms >= wanted_ms and message.offset < header.end_offset:
                    return message.offset, message.timestamp_ms
    if end_looked < end_offset:
        offset = log.offset_for_time(appended_ns)
        for message in log.read(offset, max_messages=1, end_offset=end_offset) if offset < end_offset else ():
            return message.offset, message.timestamp_ms
    return -1, -1


def _greatest(log: PartitionLog, epoch_ms: int, end_offset: int) -> tuple[int, int]:
    """The record of the greatest time, and that time."""
    best: BatchHeader | None = None
    newest_first = log.segments.batches(log.start_offset, end_offset, backward=True)
    for published_ns, header in itertools.islice(newest_first, _MOST_LOOKED_AT):
        if best is not None and epoch_ms + published_ns // NS_PER_MS + _CLOCKS_DIFFER_MS < best.max_timestamp_ms:
            break  # what was appended so long before is no later
        if best is None or header.max_timestamp_ms >= best.max_timestamp_ms:
            best = header
    if best is None:
        return -1, -1
    found = log.read(max(best.base_offset, log.start_offset), max_messages=best.count)
    newest = max((each for each in found if each.offset < best.end_offset), key=lambda each: each.timestamp_ms)
    return newest.offset, newest.timestamp_ms


@api("OffsetForLeaderEpoch", 23, 2, 4)
def _offset_for_leader_epoch(call: Call, request: OffsetForLeaderEpochRequest) -> Answer:
    """The leader never changes: the one epoch ends where the log does."""
    return call.sliced("topics", outcomes(request.topics, partial(_epoch_end, call), "partition", leader_epoch=-1))


def _epoch_end(call: Call, name: str, asked: Any) -> dict[str, Any]:
    call.must_topic(READ, name)
    end_offset = call.broker.logs.partition(name, asked.partition).high_watermark
    check_leader_epoch(asked.current_leader_epoch)
    return {"leader_epoch": LEADER_EPOCH, "end_offset": end_offset} if asked.leader_epoch == LEADER_EPOCH else {}


# -- of groups

_FIRST_OF_KIP_848 = 9  # of OffsetCommit
_NO_OFFSET = OffsetAndMetadata(-1)
_FIRST_WITH_GROUPS, _FIRST_WITH_ERRORS_OF_GROUPS = 8, 2  # of OffsetFetch


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
    return WhenDurable({"topics": [*rows]})


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
        committer = Committer(client, member_id, generation, reader)
        call.broker.offsets.commit(call.now_ns, group, committer, {place: value}, backwards=True, sets=sets)
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
        rows = ({"group_id": each.group_id, **_fetched(call, each, stable=stable)} for each in groups)
        return call.sliced("groups", rows)
    return _fetched(call, request, stable=request.require_stable)


def refused_offset_fetch(version: int, request: Any, code: int) -> Body:
    """The answer to OffsetFetch with this error for all that is asked for."""
    if version >= _FIRST_WITH_GROUPS:
        rows = ({"group_id": each.group_id, **_refused(version, each.topics, code)} for each in request.groups)
        return {"groups": [*rows]}
    return _refused(version, request.topics, code)


def _refused(version: int, topics: Any, code: int) -> Body:
    rows: list[Body] = []
    if version < _FIRST_WITH_ERRORS_OF_GROUPS:
        rows = [*by_partition(topics, lambda _topic, number: _no_offset(number, code), of="partition_indexes")]
    return {"topics": rows, "error_code": code}


def _no_offset(number: int, code: int) -> Body:
    return {"partition_index": number, "committed_offset": -1, "metadata": "", "error_code": code}


def _fetched(call: Call, asked: Any, *, stable: bool) -> Body:
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
            return _no_offset(number, KafkaError.unknown_topic_id.value)
        if not call.may(READ, "topic", name):
            return _no_offset(number, kafka_code(ForbiddenError("topic", name)))
        if (name, number) in unstable:
            return _no_offset(number, ErrorCode.UNSTABLE_OFFSET_COMMIT.code)
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
