"""The states of a message in a queue, as a table (after KIP-932, "in-flight state")."""

from __future__ import annotations

import enum


class LeaseState(enum.IntEnum):
    """Where a message stands. ACKNOWLEDGED and ARCHIVED are final, and are not kept: what is not listed is final."""

    AVAILABLE = 0
    DELAYED = 1
    ACQUIRED = 2
    ACKNOWLEDGED = 3
    ARCHIVED = 4


OPEN_STATES = frozenset({LeaseState.AVAILABLE, LeaseState.DELAYED, LeaseState.ACQUIRED})


class LeaseAction(enum.IntEnum):
    """What can happen to it."""

    TAKE = 0  # handed to a holder, with a deadline
    ACKNOWLEDGE = 1  # the holder is done
    EXTEND = 2  # the holder needs longer
    REQUEUE = 3  # given back, or its deadline passed: at once
    DELAY = 4  # given back: after a wait
    DUE = 5  # the wait is over
    REMOVE = 6  # dead-lettered, purged, evicted, expired, withdrawn or trimmed
    RESTORE = 7  # a purge is undone


_S, _A = LeaseState, LeaseAction

# What is not in the table cannot happen.
NEXT_STATE: dict[tuple[LeaseState, LeaseAction], LeaseState] = {
    (_S.AVAILABLE, _A.TAKE): _S.ACQUIRED,
    (_S.AVAILABLE, _A.REMOVE): _S.ARCHIVED,
    (_S.DELAYED, _A.DUE): _S.AVAILABLE,
    (_S.DELAYED, _A.DELAY): _S.DELAYED,
    (_S.DELAYED, _A.REMOVE): _S.ARCHIVED,
    (_S.ACQUIRED, _A.ACKNOWLEDGE): _S.ACKNOWLEDGED,
    (_S.ACQUIRED, _A.EXTEND): _S.ACQUIRED,
    (_S.ACQUIRED, _A.REQUEUE): _S.AVAILABLE,
    (_S.ACQUIRED, _A.DELAY): _S.DELAYED,
    (_S.ACQUIRED, _A.REMOVE): _S.ARCHIVED,
    (_S.ARCHIVED, _A.RESTORE): _S.AVAILABLE,
}
