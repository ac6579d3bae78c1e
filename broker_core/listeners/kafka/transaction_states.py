from __future__ import annotations

from typing import Any

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.reconciling import compiled
from broker_core.listeners.kafka.call import READ, Answer, Call, api, given, outcome
from broker_core.transactions.transaction import TransactionState


@api("DescribeProducers", 61, 0, 0)
def _describe_producers(call: Call, request: Any) -> Answer:
    """The idempotent producers that a partition knows, and where their open transactions begin."""
    wanted = {topic.name: dict.fromkeys(topic.partition_indexes) for topic in request.topics}

    def row(name: str, number: int) -> dict[str, Any]:
        return outcome(_partition, call, name, number, partition_index=number)

    rows = ({"name": name, "partitions": [row(name, each) for each in wanted[name]]} for name in wanted)
    return call.sliced("topics", rows)


def _partition(call: Call, name: str, number: int) -> dict[str, Any]:
    call.must_topic(READ, name)
    log = call.broker.logs.partition(name, number)
    opened = log.open_transactions
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
        ],
    }


@api("DescribeTransactions", 65, 0, 0)
def _describe_transactions(call: Call, request: Any) -> Answer:
    """The state of transactional ids, and the partitions of their transactions."""
    nobody = {"producer_id": -1, "producer_epoch": -1}
    ids = dict.fromkeys(request.transactional_ids)
    rows = (outcome(_state, call, each, transactional_id=each, **nobody) for each in ids)
    return call.sliced("transaction_states", rows)


def _state(call: Call, transactional_id: str) -> dict[str, Any]:
    call.must(READ, "transactional_id", transactional_id)
    found = call.broker.transactions.ids().get(transactional_id)
    if found is None:
        raise BrokerError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, transactional_id)
    topics: dict[str, list[int]] = {}
    for topic, number in found.partitions:
        topics.setdefault(topic, []).append(number)
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
def _list_transactions(call: Call, request: Any) -> Answer:
    """Transactional ids that the client may read, by state, by producer and by how long they are open.

    From v2 on also by a pattern that the whole id must fit (KIP-1152).
    """
    states, producers = set(request.state_filters), set(request.producer_id_filters)
    least_ms = given(request, "duration_filter", -1)
    text = given(request, "transactional_id_pattern", "")
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
