"""ListTransactions: transactional ids that the client may read, by state, by producer and by how long they are open.

From v2 on also by a pattern that the whole id must fit (KIP-1152).
"""

from __future__ import annotations

from typing import Any

from broker_core.groups.reconciling import compiled
from broker_core.listeners.kafka.call import READ, Answer, Call, given, sliced
from broker_core.transactions.states import TransactionState

KEY = 66
_STATES = frozenset(state.value for state in TransactionState)


def handle(call: Call, request: Any) -> Answer:
    """Filtered as the request says."""
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
    return sliced(call, "transaction_states", rows, error_code=0, unknown_state_filters=sorted(states - _STATES))
