"""Few rows are filtered and sorted at once, many in slices that let the window draw."""

from __future__ import annotations

from PySide6.QtCore import QTimer

from app.presenters import row_filter
from app.presenters.row_filter import RowFilter, Wanted


def odd(row: int) -> bool:
    return row % 2 == 1


def negated(row: int) -> int:
    return -row


def test_few_rows_are_there_at_once(qapp) -> None:
    shown: list[list[int]] = []
    work = RowFilter(shown.append)
    work.apply((3, 1, 2, 5), Wanted((odd,), negated))
    assert shown == [[5, 3, 1]]
    assert not work.busy


def test_rows_of_equal_order_stay_as_they_were_both_ways(qapp) -> None:
    shown: list[list[int]] = []
    work = RowFilter(shown.append)
    work.apply((4, 3, 2, 1), Wanted((), odd))
    work.apply((4, 3, 2, 1), Wanted((), odd, True))
    assert shown == [[4, 2, 3, 1], [3, 1, 4, 2]]


def test_the_event_loop_turns_while_many_rows_are_filtered(qapp, qtbot, monkeypatch) -> None:
    monkeypatch.setattr(row_filter, "SLICE_S", 0.0)
    shown: list[list[int]] = []
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += work.busy

    timer = QTimer()
    timer.timeout.connect(turn)
    timer.start(0)
    work = RowFilter(shown.append)
    work.apply(range(20_000), Wanted((odd,), negated))
    assert shown == []
    qtbot.waitUntil(lambda: not work.busy, timeout=20_000)
    timer.stop()
    assert shown == [list(range(19_999, 0, -2))]
    # A stride of each of 40 and of 20, and the sorting.
    assert turns >= 40


def test_another_wish_for_many_rows_is_told_and_other_rows_are_not(qapp) -> None:
    told: list[bool] = []
    work: RowFilter[int] = RowFilter(lambda _rows: None)
    work.worked.connect(told.append)
    work.apply(range(20_000), Wanted((odd,)))
    work.apply(range(20_000), Wanted((odd,), negated))
    assert told == [True]
    work.settle()
    assert told == [True, False]
    work.apply(range(20_001), Wanted((odd,), negated))
    work.settle()
    work.apply(range(20), Wanted((odd,)))
    assert told == [True, False]


def test_other_rows_wait_for_those_before_and_another_wish_does_not(qapp) -> None:
    shown: list[list[int]] = []
    work = RowFilter(shown.append)
    rows, later = range(20_000), range(20_002)
    work.apply(rows, Wanted((odd,)))
    work.apply(later, Wanted((odd,)))
    work.settle()
    assert [len(one) for one in shown] == [10_000, 10_001]
    work.apply(rows, Wanted((odd,)))
    work.apply(later, Wanted((odd,), negated))
    work.settle()
    assert [one[0] for one in shown[2:]] == [20_001]


def test_few_rows_and_an_empty_wish_do_not_wait_for_many(qapp) -> None:
    shown: list[list[int]] = []
    work = RowFilter(shown.append)
    work.apply(range(20_000), Wanted((odd,)))
    work.apply((), Wanted((odd,)))
    assert shown == [[]]
    work.apply(range(20_000), Wanted((odd,)))
    work.apply(range(6_000), Wanted())
    assert [len(one) for one in shown] == [0, 6_000]
    assert not work.busy
