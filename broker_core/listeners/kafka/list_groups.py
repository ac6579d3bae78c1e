"""ListGroups: the groups that the client may read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from broker_core.groups.states import GroupState
from broker_core.listeners.kafka.call import READ, Answer, Call, given, sliced
from broker_core.listeners.kafka.describe_groups import state_of

KEY = 16


def handle(call: Call, request: Any) -> Answer:
    """Filtered by state and by type, where the request says so."""
    states = {state.lower() for state in given(request, "states_filter", ())}
    kinds = {kind.lower() for kind in given(request, "types_filter", ())}
    rows = (
        {
            "group_id": name,
            "protocol_type": "share" if kind == "share" else "consumer",
            "group_state": state_of(state),
            "group_type": kind,
        }
        for name, kind, state in _there(call)
        if (not kinds or kind in kinds) and (not states or state_of(state).lower() in states)
    )
    return sliced(call, "groups", rows, error_code=0)


def _there(call: Call) -> Iterator[tuple[str, str, str]]:
    """The name, type and state of each group that the client may read."""
    groups, shares = call.broker.groups, call.broker.share_groups
    for name in groups.groups():
        state = groups.state(name)
        if state is not GroupState.DEAD and call.may(READ, "group", name):
            yield name, groups.type(name), str(state)
    for name in tuple(shares.names()):
        if call.may(READ, "group", name):
            yield name, "share", "Stable" if shares.members(name) else "Empty"
