"""Produce: batches as the client has made them are checked and stored as they came, or by `compression.type`.

acks=0 gets no response; acks=1 and acks=all are answered when the messages are as durable as the topic promises. A
topic that is full or limited holds the producer: the response waits for room as long as the request allows, and fails
with THROTTLING_QUOTA_EXCEEDED then, which is retriable; so does a topic that rejects. What a policy drops is answered
without an error and with base offset -1. Left out: record errors one by one.

A transactional batch is taken where its partition belongs to the producer's open transaction; from v12 on the partition
is added to it by the way (KIP-890).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from kio.schema.errors import ErrorCode as KafkaError

from broker_core.broker.publishing import Published
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import WRITE, Answer, Call, KafkaOnlyError, Waiting, api, kafka_code, ms
from broker_core.log.client_batch import ClientBatch, client_batches, producer_of
from broker_core.log.config import LogConfig
from broker_core.messages import TopicPartition
from broker_core.replies import Reply, all_done
from broker_core.transactions.transaction import Identity

if TYPE_CHECKING:
    from kio.schema.produce.v13.request import ProduceRequest

_NO_ACKS, _ACKS = 0, {0, 1, -1}
_Outcome = Reply[Published | None] | BrokerError
_Row = tuple[int, list[_Outcome]]  # a partition, and what has come of each of its batches
_FIRST_ABORTABLE = 11
_FIRST_THAT_ADDS = 12


@api("Produce", 0, 3, 13)
def _produce(call: Call, request: ProduceRequest) -> Answer:
    """Append everything, and answer when all of it is settled."""
    transactional_id = request.transactional_id
    if request.acks not in _ACKS:
        return _store(call, request, KafkaOnlyError(KafkaError.invalid_required_acks, f"acks={request.acks}"))
    if transactional_id is None or call.version < _FIRST_THAT_ADDS:
        return _store(call, request, None)
    try:
        added = _add_to_transaction(call, request, transactional_id)
    except BrokerError as error:
        return _store(call, request, error)

    def go_on(_added: Reply[Any], now_ns: int) -> Answer:
        error = added.error if isinstance(added.error, BrokerError) else None
        return _store(msgspec.structs.replace(call, now_ns=now_ns), request, error)

    return Waiting(added, go_on)


def _add_to_transaction(call: Call, request: ProduceRequest, transactional_id: str) -> Reply[None]:
    """The partitions of the request belong to the transaction of the producer that its first batch names."""
    identity: Identity | None = None
    places: list[TopicPartition] = []
    for topic in request.topic_data:
        name = call.name_of(topic)
        partitions = 0 if name is None or name not in call.broker.topics else call.broker.logs.partition_count(name)
        for each in topic.partition_data:
            producer = producer_of(each.records or b"")
            if producer is not None and name is not None and each.index < partitions and call.may(WRITE, "topic", name):
                identity = identity or Identity(producer.producer_id, producer.epoch)
                places.append((name, each.index))
    if identity is None:
        return Reply.of(None)  # each is refused for what it is
    call.must(WRITE, "transactional_id", transactional_id)
    return call.broker.transactions.add_partitions(call.now_ns, transactional_id, identity, places)


def _store(call: Call, request: ProduceRequest, refused: BrokerError | None) -> Answer:
    """`refused` is why nothing of the request can be stored."""
    wait_ms = min(max(0, ms(request.timeout)), call.context.limits.max_wait_ms)
    deadline_ns = call.now_ns + wait_ms * NS_PER_MS
    outcomes: list[tuple[Any, list[_Row]]] = []
    for topic in request.topic_data:
        parts: list[Any] = [*topic.partition_data]
        try:
            if refused is not None:
                raise refused
            name = call.must_name(WRITE, topic)
            outcomes.append((topic, [(each.index, _append(call, name, each, deadline_ns)) for each in parts]))
        except BrokerError as error:
            outcomes.append((topic, [(each.index, [error]) for each in parts]))
    replies = [outcome for _, rows in outcomes for _, found in rows for outcome in found if isinstance(outcome, Reply)]
    if request.acks == _NO_ACKS:
        return None
    return Waiting(all_done(replies), lambda _reply, _now_ns: _body(call, outcomes))


def _append(call: Call, name: str, asked: Any, deadline_ns: int) -> list[_Outcome]:
    outcomes: list[_Outcome] = []
    try:
        config = call.broker.logs.partition(name, asked.index).config
        for batch in client_batches(asked.records or b""):
            _check_times(call, config, batch)
            call.connection.messages_in += batch.count
            outcomes.append(
                call.broker.publishing.publish_encoded(
                    call.now_ns, name, asked.index, batch, client=call.client, deadline_ns=deadline_ns
                )
            )
    except BrokerError as error:
        outcomes.append(error)
    return outcomes


def _check_times(call: Call, config: LogConfig, batch: ClientBatch) -> None:
    """Raises INVALID_TIMESTAMP for what is too old or too far in the future, as its header says.

    By the session's clock and by the machine's: where a session is at another time, clients stamp by the machine's.
    """
    session_ms = call.broker.logs.epoch_ms + call.now_ns // NS_PER_MS
    machine_ms = call.context.host.clock.machine_ms()
    early = min(session_ms, machine_ms) - config.timestamp_before_max_ms
    late = max(session_ms, machine_ms) + config.timestamp_after_max_ms
    if config.timestamp_type == "CreateTime" and (batch.timestamp_ms < early or batch.max_timestamp_ms > late):
        why = f"{batch.timestamp_ms} to {batch.max_timestamp_ms} ms; {early} to {late} are allowed"
        raise KafkaOnlyError(KafkaError.invalid_timestamp, why)


def _body(call: Call, outcomes: list[tuple[Any, list[_Row]]]) -> dict[str, Any]:
    return {
        "responses": [
            {
                "name": getattr(topic, "name", ""),
                "topic_id": topic.topic_id,
                "partition_responses": [_partition(call, number, found) for number, found in rows],
            }
            for topic, rows in outcomes
        ]
    }


def _code(call: Call, error: Exception) -> int:
    """The response's error code. Newer versions have one of their own for an error that ends only the transaction."""
    if isinstance(error, BrokerError):
        if error.code is ErrorCode.INVALID_TXN_STATE and call.version >= _FIRST_ABORTABLE:
            return ErrorCode.TRANSACTION_ABORTABLE.code
        if error.code is ErrorCode.PRODUCER_FENCED:
            return ErrorCode.INVALID_PRODUCER_EPOCH.code
    return kafka_code(error)


def _partition(call: Call, number: int, outcomes: list[_Outcome]) -> dict[str, Any]:
    offset, start_offset, append_time_ms = -1, -1, -1
    for outcome in outcomes:
        error = outcome if isinstance(outcome, BrokerError) else outcome.error
        if error is not None:
            call.connection.failed(str(error))
            return {"index": number, "error_code": _code(call, error), "error_message": str(error), "base_offset": -1}
        assert isinstance(outcome, Reply)
        published = outcome.result()
        if published is not None and offset < 0:
            offset = published.offset
            log = call.broker.logs.partition(published.topic, published.partition)
            start_offset = log.start_offset
            if log.config.timestamp_type == "LogAppendTime":
                appended_ns = log.published_from_ns(offset)
                if appended_ns is not None:
                    append_time_ms = call.broker.logs.epoch_ms + appended_ns // NS_PER_MS
    return {"index": number, "base_offset": offset, "log_append_time": append_time_ms, "log_start_offset": start_offset}
