"""The lag of a whole group."""

from __future__ import annotations

import pytest

from app.presenters.group_lag import lag_of
from broker_core.snapshots import GroupView, OffsetView


def partition(number: int, end_offset: int, committed: int | None) -> OffsetView:
    lag = None if committed is None else end_offset - committed
    return OffsetView("orders", number, "reader", committed, committed, end_offset, lag, None)


@pytest.mark.parametrize(
    ("partitions", "lag"),
    [
        (((10, 4), (8, 8)), 6),
        (((10, None), (8, 8)), None),  # nothing committed of ten messages: nobody knows
        (((10, 4), (0, None)), 6),  # nothing committed of nothing
        (((0, None), (0, None)), 0),
        ((), None),
    ],
)
def test_the_lag_of_a_group_is_told_where_it_is_known_of_all_its_partitions(
    partitions: tuple[tuple[int, int | None], ...], lag: int | None
) -> None:
    offsets = tuple(partition(number, *each) for number, each in enumerate(partitions))
    assert lag_of(GroupView("g", "Stable", 1, "range", "", ("orders",), (), offsets, 0)) == lag
