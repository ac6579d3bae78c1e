"""AddPartitionsToTxn: these partitions belong to the producer's transaction, which begins with the first of them.

All of them are added, or none. From v4 on the request has several transactions, and may ask only to verify (KIP-890).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.call import WRITE, Answer, Call, Waiting, kafka_code
from broker_core.listeners.kafka.transactional import code_of, identity_of
from broker_core.log.batch import ProducerStamp
from broker_core.replies import Reply, all_done
from broker_core.transactions.transaction import Identity, Place

KEY = 24
_FENCED_FROM = 2
_FIRST_WITH_MANY = 4
_NOT_ATTEMPTED = 55
_Outcome = Reply[None] | BrokerError


def handle(call: Call, request: Any) -> Answer:
    """Add them, and answer when that is kept."""
    if call.version < _FIRST_WITH_MANY:
        identity = Identity(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
        topics = request.v3_and_below_topics
        judged, outcome = _add(call, request.v3_and_below_transactional_id, identity, topics, verify_only=False)

        def one(_reply: Reply[Any], _now_ns: int) -> Mapping[str, Any]:
            return {"results_by_topic_v3_and_below": _rows(call, topics, judged, outcome)}

        return Waiting(_settled(outcome), one)
    found = [
        (each, *_add(call, each.transactional_id, identity_of(each), each.topics, verify_only=each.verify_only))
        for each in request.transactions
    ]

    def many(_reply: Reply[Any], _now_ns: int) -> Mapping[str, Any]:
        rows = [
            {"transactional_id": each.transactional_id, "topic_results": _rows(call, each.topics, judged, outcome)}
            for each, judged, outcome in found
        ]
        return {"error_code": 0, "results_by_transaction": rows}

    return Waiting(all_done([_settled(outcome) for _, _, outcome in found]), many)


def _settled(outcome: _Outcome) -> Reply[None]:
    return Reply.of(None) if isinstance(outcome, BrokerError) else outcome


def _add(
    call: Call, transactional_id: str, identity: Identity, topics: Any, *, verify_only: bool
) -> tuple[dict[Place, int], _Outcome]:
    """What is wrong with single partitions, and what becomes of the others."""
    judged: dict[Place, int] = {}
    places = [Place(topic.name, number) for topic in topics for number in topic.partitions]
    transactions = call.broker.transactions
    try:
        call.must(WRITE, "transactional_id", transactional_id)
        for place in places:
            judge = partial(_verify, call, identity) if verify_only else partial(_check, call)
            try:
                judge(place)
            except BrokerError as error:
                judged[place] = kafka_code(error)
        if verify_only:
            return judged, Reply.of(None)
        if judged:
            judged.update({place: _NOT_ATTEMPTED for place in places if place not in judged})
            return judged, Reply.of(None)
        return judged, transactions.add_partitions(call.now_ns, transactional_id, identity, places)
    except BrokerError as error:
        return judged, error


def _check(call: Call, place: Place) -> None:
    call.must_topic(WRITE, place.topic)
    call.broker.logs.partition(*place)


def _verify(call: Call, identity: Identity, place: Place) -> None:
    try:
        call.broker.transactions.check_append(ProducerStamp(*identity, 0, True), *place)
    except BrokerError as error:
        if error.code is not ErrorCode.INVALID_TXN_STATE:
            raise
        raise BrokerError(ErrorCode.TRANSACTION_ABORTABLE, error.about) from error


def _rows(call: Call, topics: Any, judged: Mapping[Place, int], outcome: _Outcome) -> list[dict[str, Any]]:
    failed = code_of(call, outcome if isinstance(outcome, BrokerError) else outcome.error, _FENCED_FROM)
    return [
        {
            "name": topic.name,
            "results_by_partition": [
                {
                    "partition_index": number,
                    "partition_error_code": failed or judged.get(Place(topic.name, number), 0),
                }
                for number in topic.partitions
            ],
        }
        for topic in topics
    ]
