from __future__ import annotations

import enum


class LeaseState(enum.IntEnum):
    """The state of a message. ACKNOWLEDGED and ARCHIVED are final and are not stored."""

    AVAILABLE = 0
    DELAYED = 1
    ACQUIRED = 2
    ACKNOWLEDGED = 3
    ARCHIVED = 4


OPEN_STATES = frozenset({LeaseState.AVAILABLE, LeaseState.DELAYED, LeaseState.ACQUIRED})


class LeaseAction(enum.IntEnum):
    TAKE = 0  # leased to a holder, with a deadline
    ACKNOWLEDGE = 1  # processed by the holder
    EXTEND = 2  # the lease is extended
    REQUEUE = 3  # nacked, released or expired: available at once
    DELAY = 4  # nacked: available after the retry delay
    DUE = 5  # the retry delay is over
    REMOVE = 6  # dead-lettered, purged, evicted, expired, withdrawn or trimmed
    RESTORE = 7  # a purge is undone


_S, _A = LeaseState, LeaseAction

# Transitions that are not in the table are impossible.
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
