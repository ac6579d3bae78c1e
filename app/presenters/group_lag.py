"""The lag of a whole group: one figure, said the same everywhere."""

from __future__ import annotations

from broker_core.snapshots import GroupView


def lag_of(group: GroupView) -> int | None:
    """The lag of a group over all its partitions; None while it has committed nothing for one that holds messages."""
    lags = [0 if one.lag is None and not one.end_offset else one.lag for one in group.offsets]
    known = [lag for lag in lags if lag is not None]
    return sum(known) if known and len(known) == len(lags) else None
