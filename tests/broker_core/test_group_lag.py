"""The lag of a whole group."""

from __future__ import annotations

import pytest

from broker_core.snapshots import GroupView, OffsetView


def partition(number: int, end_offset: int, committed: int | None) -> OffsetView:
    lag = None if committed is None else end_offset - committed
    return OffsetView("orders", number, "reader", committed, committed, end_offset, lag, None)


@pytest.mark.parametrize(
    ("partitions", "lag"),
    [
        (((10, 4), (8, 8)), 6),
        (((10, None), (8, 1)), 7),  # of the partitions in which it has committed
        (((10, 4), (0, None)), 6),
        (((10, None), (0, None)), None),
        (((0, None), (0, None)), 0),
        ((), None),
    ],
)
def test_the_lag_of_a_group_is_that_of_the_partitions_in_which_it_has_committed(
    partitions: tuple[tuple[int, int | None], ...], lag: int | None
) -> None:
    offsets = tuple(partition(number, *each) for number, each in enumerate(partitions))
    assert GroupView("g", "Stable", 1, "range", "", ("orders",), (), offsets, 0).lag == lag
