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
    broker = call.broker
    there: list[tuple[str, str, str]] = [
        (name, broker.groups.type(name), str(broker.groups.state(name))) for name in broker.groups.groups()
    ]
    there += [
        (name, "share", "Stable" if broker.share_groups.members(name) else "Empty")
        for name in broker.share_groups.names()
    ]
    groups = []
    for name, kind, state in there:
        if not call.may(READ, "group", name) or (kinds and kind not in kinds):
            continue
        if not states or state_of(state).lower() in states:
            protocol = "share" if kind == "share" else "consumer"
            groups.append(
                {"group_id": name, "protocol_type": protocol, "group_state": state_of(state), "group_type": kind}
            )
    return {"error_code": 0, "groups": groups}
