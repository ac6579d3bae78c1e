"""The states of a group, and which may follow which."""

from __future__ import annotations

import enum
from collections.abc import Mapping


class GroupState(enum.StrEnum):
    """The value is the word that people see.

    EMPTY: no members, perhaps committed offsets. A join leads to PREPARING.
    PREPARING: waits until every member has joined again, at most for the rebalance timeout. Heartbeats are
    told
        to rejoin; commits of the old generation are still taken. Leads to COMPLETING, or to EMPTY without
        members.
    COMPLETING: the new generation is announced; waits for the leader's assignment. Heartbeats are taken,
    commits
        are not. Leads to STABLE, or back to PREPARING where somebody joins, leaves or fails.
    RECONCILING: members of a consumer group (KIP-848) give up and take over partitions, and go on reading. Leads to
        STABLE, or to EMPTY without members.
    STABLE: everybody has partitions. Any change leads to PREPARING.
    DEAD: deleted; nothing follows.
    """

    STABLE = "Stable"
    PREPARING = "Preparing rebalance"
    COMPLETING = "Completing rebalance"
    RECONCILING = "Reconciling"
    EMPTY = "Empty"
    DEAD = "Dead"


VALID_PREVIOUS: Mapping[GroupState, frozenset[GroupState]] = {
    GroupState.PREPARING: frozenset(
        {GroupState.EMPTY, GroupState.STABLE, GroupState.COMPLETING, GroupState.RECONCILING}
    ),
    GroupState.COMPLETING: frozenset({GroupState.PREPARING}),
    GroupState.RECONCILING: frozenset(
        {GroupState.EMPTY, GroupState.STABLE, GroupState.PREPARING, GroupState.COMPLETING}
    ),
    GroupState.STABLE: frozenset({GroupState.COMPLETING, GroupState.RECONCILING}),
    GroupState.EMPTY: frozenset({GroupState.PREPARING, GroupState.RECONCILING, GroupState.STABLE}),
    GroupState.DEAD: frozenset({GroupState.EMPTY}),
}
