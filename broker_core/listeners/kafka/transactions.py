from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.groups.reconciling import compiled
from broker_core.kafka_messages.writing import Body
from broker_core.listeners.kafka.call import (
    FEW_ELEMENTS,
    READ,
    WRITE,
    Answer,
    Call,
    Waiting,
    api,
    by_partition,
    kafka_code,
    ms,
    outcome,
)
from broker_core.log.batch import ProducerStamp
from broker_core.messages import OffsetAndMetadata, TopicPartition, grouped
from broker_core.replies import Reply, all_done
from broker_core.transactions.coordinator import NOBODY
from broker_core.transactions.transaction import Identity, PendingOffset, TransactionState

if TYPE_CHECKING:
    from kio.schema.add_offsets_to_txn.v4.request import AddOffsetsToTxnRequest
    from kio.schema.add_partitions_to_txn.v5.request import AddPartitionsToTxnRequest
    from kio.schema.describe_producers.v0.request import DescribeProducersRequest
    from kio.schema.describe_transactions.v0.request import DescribeTransactionsRequest
    from kio.schema.end_txn.v5.request import EndTxnRequest
    from kio.schema.init_producer_id.v5.request import InitProducerIdRequest
    from kio.schema.list_transactions.v2.request import ListTransactionsRequest
    from kio.schema.txn_offset_commit.v5.request import TxnOffsetCommitRequest

T = TypeVar("T")
_NEVER = 1 << 15  # no version of the API has the error


def _identity_of(request: Any) -> Identity:
    return Identity(request.producer_id, request.producer_epoch)


def _code_of(call: Call, error: Exception | None, fenced_from: int) -> int:
    """The number of an error; versions before `fenced_from` know PRODUCER_FENCED as INVALID_PRODUCER_EPOCH."""
    if error is not None:
        call.connection.failed(str(error))
    if isinstance(error, BrokerError) and error.code is ErrorCode.PRODUCER_FENCED and call.version < fenced_from:
        return ErrorCode.INVALID_PRODUCER_EPOCH.code
    return kafka_code(error)


def _answered(
    call: Call, ask: Callable[[], Reply[T]], body: Callable[[int, T | None], Body], *, fenced_from: int
) -> Answer:
    """`body(error number, result)` when what was asked for is settled; the result is None with an error."""
    try:
        reply = ask()
    except BrokerError as error:
        return body(_code_of(call, error, fenced_from), None)

    def answer(_reply: Reply[Any], _now_ns: int) -> Body:
        if reply.error is not None:
            return body(_code_of(call, reply.error, fenced_from), None)
        return body(0, reply.result())

    return Waiting(reply, answer)


@api("InitProducerId", 22, 0, 5)
def _init_producer_id(call: Call, request: InitProducerIdRequest) -> Answer:
    """An id for a producer that is idempotent, or that of a transactional id.

    With a transactional id the producer that had it before is fenced off, and what it has left open is aborted; the
    answer comes when that is done. From v3 on a producer names what it has, to go on after an error (KIP-360). Left
    out: two-phase commit (v6, KIP-939).
    """
    transactional_id, previous = request.transactional_id, _identity_of(request)
    if transactional_id is None:
        return _producer_body(0, Identity(*call.broker.producer_ids.register()))

    def ask() -> Reply[Identity]:
        call.must(WRITE, "transactional_id", transactional_id)
        return call.broker.transactions.begin_session(
            call.now_ns,
            transactional_id,
            ms(request.transaction_timeout),
            client=call.client,
            previous=NOBODY if previous.producer_id < 0 else previous,
        )

    return _answered(call, ask, _producer_body, fenced_from=4)


def _producer_body(error: int, identity: Identity | None) -> Body:
    producer_id, epoch = identity or NOBODY
    return {"error_code": error, "producer_id": producer_id, "producer_epoch": epoch}


_FENCED_FROM = 2  # in AddPartitionsToTxn, AddOffsetsToTxn and EndTxn
_FIRST_WITH_MANY = 4


@api("AddPartitionsToTxn", 24, 0, 5)
def _add_partitions_to_txn(call: Call, request: AddPartitionsToTxnRequest) -> Answer:
    """These partitions belong to the producer's transaction, which begins with the first of them.

    All of them are added, or none. From v4 on the request has several transactions, and may ask only to verify
    (KIP-890).
    """
    if call.version < _FIRST_WITH_MANY:
        older: Any = request
        identity = Identity(older.v3_and_below_producer_id, older.v3_and_below_producer_epoch)
        topics = older.v3_and_below_topics
        judged, added = _add(call, older.v3_and_below_transactional_id, identity, topics, verify_only=False)

        def one(_reply: Reply[Any], _now_ns: int) -> Mapping[str, Any]:
            return {"results_by_topic_v3_and_below": _rows(call, topics, judged, added)}

        return Waiting(added, one)
    if len(request.transactions) > FEW_ELEMENTS:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{len(request.transactions)} transactions in one request")
    found = [
        (each, *_add(call, each.transactional_id, _identity_of(each), each.topics, verify_only=each.verify_only))
        for each in request.transactions
    ]

    def many(_reply: Reply[Any], _now_ns: int) -> Mapping[str, Any]:
        rows = [
            {"transactional_id": each.transactional_id, "topic_results": _rows(call, each.topics, judged, added)}
            for each, judged, added in found
        ]
        return {"results_by_transaction": rows}

    return Waiting(all_done([added for _, _, added in found]), many)


def _add(
    call: Call, transactional_id: str, identity: Identity, topics: Any, *, verify_only: bool
) -> tuple[dict[TopicPartition, int], Reply[None]]:
    """The errors of partitions, and the reply of those that are added, if it was asked to add them."""
    judged: dict[TopicPartition, int] = {}
    places = [(topic.name, number) for topic in topics for number in topic.partitions]
    judge = partial(_verify, call, identity) if verify_only else partial(_check, call)
    try:
        call.must(WRITE, "transactional_id", transactional_id)
        for place in places:
            try:
                judge(place)
            except BrokerError as error:
                judged[place] = kafka_code(error)
        if not (judged or verify_only):
            return judged, call.broker.transactions.add_partitions(call.now_ns, transactional_id, identity, places)
    except BrokerError as error:
        refused: Reply[None] = Reply()
        refused.fail(error)
        return judged, refused
    if not verify_only:
        judged = dict.fromkeys(places, KafkaError.operation_not_attempted.value) | judged
    return judged, Reply.of(None)


def _check(call: Call, place: TopicPartition) -> None:
    call.must_topic(WRITE, place[0])
    call.broker.logs.partition(*place)


def _verify(call: Call, identity: Identity, place: TopicPartition) -> None:
    try:
        call.broker.transactions.check_append(ProducerStamp(*identity, 0, True), *place)
    except BrokerError as error:
        if error.code is not ErrorCode.INVALID_TXN_STATE:
            raise
        raise BrokerError(ErrorCode.TRANSACTION_ABORTABLE, error.about) from error


def _rows(call: Call, topics: Any, judged: Mapping[TopicPartition, int], added: Reply[None]) -> list[Body]:
    failed = _code_of(call, added.error, _FENCED_FROM)

    def row(topic: str, number: int) -> Body:
        return {"partition_index": number, "partition_error_code": failed or judged.get((topic, number), 0)}

    return [*by_partition(topics, row, into="results_by_partition")]


@api("AddOffsetsToTxn", 25, 0, 4)
def _add_offsets_to_txn(call: Call, request: AddOffsetsToTxnRequest) -> Answer:
    """The offsets of a group belong to the producer's transaction."""

    def ask() -> Reply[None]:
        call.must(WRITE, "transactional_id", request.transactional_id)
        call.must(READ, "group", request.group_id)
        return call.broker.transactions.add_group(
            call.now_ns, request.transactional_id, _identity_of(request), request.group_id
        )

    return _answered(call, ask, lambda error, _none: {"error_code": error}, fenced_from=_FENCED_FROM)


_FIRST_THAT_ADDS = 5


@api("TxnOffsetCommit", 28, 0, 5)
def _txn_offset_commit(call: Call, request: TxnOffsetCommitRequest) -> Answer:
    """Offsets that a group has committed when the producer's transaction commits, and not before.

    A member of the group is checked as in OffsetCommit if the request names one (v3). From v5 on the group is added to
    the transaction by the way (KIP-890). Each partition is refused by itself.
    """
    refused: dict[TopicPartition, int] = {}

    def body(error: int, _none: None) -> Body:
        def row(name: str, each: Any) -> Body:
            number = each.partition_index
            return {"partition_index": number, "error_code": refused.get((name, number), error)}

        return {"topics": [*by_partition(request.topics, row)]}

    return _answered(call, lambda: _put(call, request, refused), body, fenced_from=_NEVER)


def _put(call: Call, request: TxnOffsetCommitRequest, refused: dict[TopicPartition, int]) -> Reply[None]:
    """Keep what can be committed; of the others, the errors are added to `refused`."""
    group, transactional_id, identity = request.group_id, request.transactional_id, _identity_of(request)
    call.must(WRITE, "transactional_id", transactional_id)
    call.must(READ, "group", group)
    offsets: dict[TopicPartition, OffsetAndMetadata] = {}
    broker = call.broker
    for topic in request.topics:
        for each in topic.partitions:
            place = (topic.name, each.partition_index)
            value = OffsetAndMetadata(each.committed_offset, each.committed_metadata or "", each.committed_leader_epoch)
            try:
                call.must_topic(READ, topic.name)
                broker.groups.commits.check(*place, value, beyond_end=True)
            except BrokerError as error:
                refused[place] = kafka_code(error)
            else:
                offsets[place] = value
    if not offsets:
        return Reply.of(None)
    generation, member_id = request.generation_id, request.member_id
    if generation >= 0 or member_id:
        broker.groups.check_commit(call.now_ns, group, member_id, generation)
    if call.version >= _FIRST_THAT_ADDS:  # in the same log as the offsets, which are behind it
        broker.transactions.add_group(call.now_ns, transactional_id, identity, group)
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
    return broker.transactions.put_offsets(call.now_ns, transactional_id, identity, pending)


def _reader(call: Call, group: str, place: TopicPartition, offset: int) -> str:
    for name, member in call.broker.groups.reading(*place):
        if name == group:
            return member.member_id
    return call.context.readers.committing(call.now_ns, call.broker, call.client, group, place, offset)


_FIRST_THAT_BUMPS = 5


@api("EndTxn", 26, 0, 5)
def _end_txn(call: Call, request: EndTxnRequest) -> Answer:
    """Commit or abort. The answer comes when every marker is written and every offset kept.

    From v5 on the producer's epoch goes up with each transaction, and the answer names it (KIP-890).
    """

    def ask() -> Reply[Identity]:
        call.must(WRITE, "transactional_id", request.transactional_id)
        return call.broker.transactions.end(
            call.now_ns,
            request.transactional_id,
            _identity_of(request),
            commits=request.committed,
            bumps_epoch=call.version >= _FIRST_THAT_BUMPS,
        )

    return _answered(call, ask, _producer_body, fenced_from=_FENCED_FROM)


@api("DescribeProducers", 61, 0, 0)
def _describe_producers(call: Call, request: DescribeProducersRequest) -> Answer:
    """The idempotent producers that a partition knows, and where their open transactions begin."""
    wanted = {topic.name: dict.fromkeys(topic.partition_indexes) for topic in request.topics}

    def row(name: str, number: int) -> dict[str, Any]:
        return outcome(_partition, call, name, number, partition_index=number)

    rows = ({"name": name, "partitions": [row(name, each) for each in wanted[name]]} for name in wanted)
    return call.sliced("topics", rows)


def _partition(call: Call, name: str, number: int) -> dict[str, Any]:
    call.must_topic(READ, name)
    log = call.broker.logs.partition(name, number)
    opened = log.segments.open_transactions
    return {
        "active_producers": [
            {
                "producer_id": producer_id,
                "producer_epoch": epoch,
                "last_sequence": -1 if last is None else last.sequence + last.count - 1,
                "last_timestamp": -1 if last is None else call.broker.logs.epoch_ms + last.published_ns // NS_PER_MS,
                "current_txn_start_offset": opened.get(producer_id, -1),
            }
            for producer_id, epoch, last in log.producers
        ]
    }


@api("DescribeTransactions", 65, 0, 0)
def _describe_transactions(call: Call, request: DescribeTransactionsRequest) -> Answer:
    """The state of transactional ids, and the partitions of their transactions."""
    ids = dict.fromkeys(request.transactional_ids)
    rows = (outcome(_state, call, each, transactional_id=each, producer_id=-1) for each in ids)
    return call.sliced("transaction_states", rows)


def _state(call: Call, transactional_id: str) -> dict[str, Any]:
    call.must(READ, "transactional_id", transactional_id)
    known = call.broker.transactions.ids()
    found = must(known.get(transactional_id), ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, transactional_id)
    topics = grouped(found.partitions)
    readable = call.readable(topics)
    return {
        "transaction_state": found.state.value,
        "transaction_timeout": found.timeout_ms,
        "transaction_start_time": found.started_ms if found.is_unfinished else -1,
        "producer_id": found.producer_id,
        "producer_epoch": found.epoch,
        "topics": [{"topic": topic, "partitions": numbers} for topic, numbers in topics.items() if topic in readable],
    }


_STATES = frozenset(state.value for state in TransactionState)


@api("ListTransactions", 66, 0, 2)
def _list_transactions(call: Call, request: ListTransactionsRequest) -> Answer:
    """Transactional ids that the client may read, by state, by producer and by how long they are open.

    From v2 on also by a pattern that the whole id must fit (KIP-1152).
    """
    states, producers = set(request.state_filters), set(request.producer_id_filters)
    least_ms, text = request.duration_filter, request.transactional_id_pattern
    pattern = compiled(text) if text else None
    transactions = call.broker.transactions
    rows = (
        {
            "transactional_id": each.transactional_id,
            "producer_id": each.producer_id,
            "transaction_state": each.state.value,
        }
        for each in tuple(transactions.ids().values())
        if call.may(READ, "transactional_id", each.transactional_id)
        and (pattern is None or pattern.fullmatch(each.transactional_id))
        and (not states or each.state.value in states)
        and (not producers or each.producer_id in producers)
        and (least_ms < 0 or (each.is_unfinished and transactions.age_ms(call.now_ns, each) >= least_ms))
    )
    return call.sliced("transaction_states", rows, error_code=0, unknown_state_filters=sorted(states - _STATES))
