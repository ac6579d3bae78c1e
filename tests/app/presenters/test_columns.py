"""Columns that several panels have."""

from __future__ import annotations

from typing import NamedTuple

from app.presenters.columns import Column, key_column, number_column, time_column
from app.presenters.table import TableModel
from widgets.formats import Times
from widgets.roles import Role


class Row(NamedTuple):
    key: bytes | None
    size: int | None


def model(*rows: Row) -> TableModel[Row]:
    columns: tuple[Column[Row], ...] = (
        key_column(lambda row: row.key, (90,), none="no key"),
        number_column("Size", lambda row: row.size, (90,)),
        number_column("Given", lambda row: row.size, (90,), absent=""),
        time_column("At", lambda row: row.size, Times(), (90,), absent="-"),
    )
    found = TableModel[Row](columns, key=lambda row: row)
    found.set_rows(rows)
    return found


def test_a_number_that_is_not_given_has_the_text_for_it_and_sorts_first(qapp) -> None:
    shown = model(Row(b"a", 1_500), Row(b"b", None))
    assert [shown.index(0, place).data() for place in (1, 2, 3)] == ["1,500", "1,500", "00:00.000"]
    assert [shown.index(1, place).data() for place in (1, 2, 3)] == ["n/a", "", "-"]
    shown.sort(1)
    assert [row.key for row in map(shown.row_at, range(2))] == [b"b", b"a"]
    of_the_middle = model(Row(b"a", -5), Row(b"b", None), Row(b"c", 3))
    of_the_middle.sort(3)
    assert [row.key for row in map(of_the_middle.row_at, range(3))] == [b"b", b"a", b"c"]


def test_a_key_is_cut_in_its_cell_and_whole_for_a_filter(qapp) -> None:
    shown = model(Row(b"x" * 100 + b"end", 1), Row(None, 2))
    first, second = shown.index(0, 0), shown.index(1, 0)
    assert first.data() == "x" * 59 + "…" and first.data(Role.TOOLTIP) == "x" * 100 + "end"
    assert (second.data(), second.data(Role.TOOLTIP)) == ("", "no key")
    shown.set_filter("key contains end")
    assert [shown.row_at(place).size for place in range(shown.rowCount())] == [1]
