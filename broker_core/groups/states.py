from __future__ import annotations

import enum
from collections.abc import Mapping


class GroupState(enum.StrEnum):
    """The state of a group. The value is the text shown to users.

    EMPTY: no members, possibly committed offsets. A join leads to PREPARING.
    PREPARING: waits for all members to rejoin, at most for the rebalance timeout. Heartbeats fail with
        REBALANCE_IN_PROGRESS; commits of the old generation are accepted. Leads to COMPLETING, or to EMPTY without
        members.
    COMPLETING: the new generation has begun and waits for the leader's assignment. Heartbeats are accepted, commits are
        not. Leads to STABLE, or back to PREPARING if a member joins, leaves or fails.
    RECONCILING: members of a consumer group (KIP-848) revoke and take over partitions while they read on. Leads to
        STABLE, or to EMPTY without members.
    STABLE: the partitions are assigned. Any change leads to PREPARING.
    DEAD: deleted. Final.
    """

    STABLE = "Stable"
    PREPARING = "Preparing rebalance"
    COMPLETING = "Completing rebalance"
    RECONCILING = "Reconciling"
    EMPTY = "Empty"
    DEAD = "Dead"


REBALANCING = frozenset({GroupState.PREPARING, GroupState.COMPLETING, GroupState.RECONCILING})

VALID_PREVIOUS: Mapping[GroupState, frozenset[GroupState]] = {
    GroupState.PREPARING: frozenset(
        {GroupState.EMPTY, GroupState.STABLE, GroupState.COMPLETING, GroupState.RECONCILING}
    ),
    GroupState.COMPLETING: frozenset({GroupState.PREPARING}),
    GroupState.RECONCILING: frozenset(
        # Itself: another member came meanwhile, and the generation is another.
        {GroupState.EMPTY, GroupState.STABLE, GroupState.PREPARING, GroupState.COMPLETING, GroupState.RECONCILING}
    ),
    # Empty: its members are restored after a restart of the broker.
    GroupState.STABLE: frozenset({GroupState.COMPLETING, GroupState.RECONCILING, GroupState.EMPTY}),
    GroupState.EMPTY: frozenset({GroupState.PREPARING, GroupState.RECONCILING, GroupState.STABLE}),
    GroupState.DEAD: frozenset({GroupState.EMPTY}),
}
