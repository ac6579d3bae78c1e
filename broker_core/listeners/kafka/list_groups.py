"""ListGroups: the groups that the client may read."""

from __future__ import annotations

from typing import Any

from broker_core.listeners.kafka.call import READ, Answer, Call, given
from broker_core.listeners.kafka.describe_groups import state_of

KEY = 16


def handle(call: Call, request: Any) -> Answer:
    """Filtered by state and by type, where the request says so."""
    states = {state.lower() for state in given(request, "states_filter", ())}
    kinds = {kind.lower() for kind in given(request, "types_filter", ())}
    groups = []
    for name in call.broker.groups.groups():
        kind = call.broker.groups.type(name)
        if not call.may(READ, "group", name) or (kinds and kind not in kinds):
            continue
        state = state_of(str(call.broker.groups.state(name)))
        if not states or state.lower() in states:
            groups.append({"group_id": name, "protocol_type": "consumer", "group_state": state, "group_type": kind})
    return {"error_code": 0, "groups": groups}
