"""The table model tells its view what changed, keeps selections by key, and stays quick."""

import time
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QTableView

from app.presenters.columns import Column
from app.presenters.row_changes import MAX_RANGES, common_prefix, common_suffix, row_changes
from app.presenters.table import TableModel
from widgets.roles import Role
from widgets.row_table import RowTable


class Row(NamedTuple):
    key: int
    name: str
    lag: int


COLUMNS = (
    Column[Row]("Name", lambda row: row.name),
    Column[Row](
        "Lag (messages)", lambda row: f"{row.lag:,}", look="number", sort=lambda row: row.lag, about="How far behind."
    ),
)


def made(*rows):
    model = TableModel(COLUMNS, key=lambda row: row.key)
    model.set_rows(tuple(rows))
    return model


def names(model):
    return [model.index(place, 0).data() for place in range(model.rowCount())]


def signals_of(model):
    told: list[tuple[object, ...]] = []
    model.dataChanged.connect(lambda a, b: told.append(("cells", a.row(), a.column(), b.row(), b.column())))
    model.rowsInserted.connect(lambda _p, a, b: told.append(("in", a, b)))
    model.rowsRemoved.connect(lambda _p, a, b: told.append(("out", a, b)))
    model.layoutChanged.connect(lambda: told.append(("moved",)))
    model.modelReset.connect(lambda: told.append(("reset",)))
    return told


def test_only_the_cell_that_changed_is_told(qapp):
    model = made(Row(1, "a", 5), Row(2, "b", 6))
    told = signals_of(model)
    model.set_rows((Row(1, "a", 5), Row(2, "b", 7)))
    assert told == [("cells", 1, 1, 1, 1)]
    assert model.index(1, 1).data() == "7"


def test_the_same_rows_tell_nothing(qapp):
    rows = (Row(1, "a", 5), Row(2, "b", 6))
    model = made(*rows)
    told = signals_of(model)
    model.set_rows(rows)
    model.set_rows(tuple(Row(*row) for row in rows))
    assert told == []


def test_many_changed_cells_become_one_signal(qapp):
    model = made(*(Row(number, "x", number) for number in range(500)))
    told = signals_of(model)
    model.set_rows(tuple(Row(number, "x", number + 1) for number in range(500)))
    assert told == [("cells", 0, 0, 499, 1)]


def test_rows_come_and_go_where_they_are(qapp):
    model = made(Row(1, "a", 0), Row(2, "b", 0), Row(3, "c", 0))
    told = signals_of(model)
    model.set_rows((Row(1, "a", 0), Row(3, "c", 0), Row(4, "d", 0), Row(5, "e", 0)))
    assert told == [("out", 1, 1), ("in", 2, 3)]
    assert names(model) == ["a", "c", "d", "e"]


def test_a_row_that_moves_keeps_the_selection_by_key(qapp, qtbot):
    model = made(Row(1, "a", 1), Row(2, "b", 2), Row(3, "c", 3))
    view = QTableView()
    qtbot.addWidget(view)
    view.setModel(model)
    view.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    view.selectRow(1)
    model.sort(1, Qt.SortOrder.DescendingOrder)
    model.set_rows((Row(1, "a", 1), Row(2, "b", 9), Row(3, "c", 3), Row(4, "d", 4)))
    assert names(model) == ["b", "d", "c", "a"]
    assert [index.data(Role.KEY) for index in view.selectionModel().selectedRows()] == [2]


def test_a_selected_row_that_goes_is_not_selected_any_more(qapp, qtbot):
    model = made(Row(1, "a", 1), Row(2, "b", 2), Row(3, "c", 3))
    chosen = QItemSelectionModel(model)
    flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    for place in (0, 1):
        chosen.select(model.index(place, 0), flags)
    model.set_rows((Row(2, "b", 2), Row(3, "c", 3)))
    assert [index.data(Role.KEY) for index in chosen.selectedRows()] == [2]
    model.set_rows((Row(3, "c", 3), Row(2, "b", 5)))
    assert [index.data(Role.KEY) for index in chosen.selectedRows()] == [2]
    model.set_rows((Row(3, "c", 3),))
    assert chosen.selectedRows() == []


def test_rows_that_cross_while_one_goes_leave_no_selection_behind(qapp, qtbot):
    model = made(*(Row(number, str(number), number) for number in range(6)))
    chosen = QItemSelectionModel(model)
    flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    for place in (1, 4):
        chosen.select(model.index(place, 0), flags)
    model.set_rows(tuple(Row(number, str(number), number) for number in (5, 4, 3, 2, 0)))
    assert [index.data(Role.KEY) for index in chosen.selectedRows()] == [4]


def test_the_filter_wants_every_word_in_any_case(qapp):
    model = made(Row(1, "Alpha one", 1), Row(2, "Beta one", 22), Row(3, "Alpha two", 3))
    counted = []
    model.counted.connect(lambda shown, total: counted.append((shown, total)))
    model.set_filter("ONE alpha")
    assert names(model) == ["Alpha one"]
    model.set_filter("22")
    assert names(model) == ["Beta one"]
    model.set_rows((Row(1, "Alpha 22", 1), Row(2, "Beta one", 22), Row(3, "Alpha two", 3)))
    assert names(model) == ["Alpha 22", "Beta one"]
    model.set_filter("")
    assert len(names(model)) == 3
    assert counted[0] == (1, 3)
    assert counted[-1] == (3, 3)


def test_conditions_ask_for_columns_by_their_names(qapp):
    model = made(Row(1, "Alpha", 1), Row(2, "Beta", 22), Row(3, "Gamma", 3))
    model.set_filter("lag > 2 and not name = gamma")
    assert names(model) == ["Beta"]
    model.set_rows((Row(1, "Alpha", 5), Row(2, "Beta", 22)))
    assert names(model) == ["Alpha", "Beta"]


def test_a_filter_that_cannot_be_read_filters_nothing_and_says_so(qapp):
    model = made(Row(1, "Alpha", 1), Row(2, "Beta", 22))
    told: list[str] = []
    model.filter_checked.connect(told.append)
    model.set_filter("lag > 2")
    model.set_filter("lgg > 2")
    assert names(model) == ["Alpha", "Beta"]
    assert told[0] == ""
    assert "did you mean lag?" in told[1] and "column 1" in told[1] and told[1].endswith(" Nothing is filtered.")
    model.set_filter("lag > 2")
    assert names(model) == ["Beta"] and told[2] == ""


def test_a_row_that_changes_is_looked_at_again_by_the_filter(qapp):
    model = made(Row(1, "wanted", 1), Row(2, "other", 2))
    model.set_filter("wanted")
    model.set_rows((Row(1, "gone", 1), Row(2, "wanted", 2)))
    assert list(model.keys(0)) == [2]


def test_headers_say_unit_and_meaning(qapp):
    model = made()
    assert model.headerData(1, Qt.Orientation.Horizontal) == "Lag (messages)"
    assert model.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole) == "How far behind."
    alignment = model.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole)
    assert alignment & Qt.AlignmentFlag.AlignRight


def test_live_columns_are_drawn_again_when_the_clock_moves(qapp):
    columns = (COLUMNS[0], Column[Row]("Age", lambda row: "1 s", live=True))
    model = TableModel(columns, key=lambda row: row.key)
    model.touch_live()
    model.set_rows((Row(1, "a", 0), Row(2, "b", 0)))
    told = signals_of(model)
    model.touch_live()
    assert told == [("cells", 0, 1, 1, 1)]


KEYS = st.lists(st.integers(0, 30), unique=True, max_size=30)


@given(KEYS, KEYS)
def test_changes_turn_one_list_into_the_other(old, new):
    first = common_prefix(old, new)
    changes = row_changes(old[first:], new[first:], first)
    result = list(old)
    if changes.moved:
        common_old = [key for key in old if key in new]
        assert common_old != [key for key in new if key in old]
        return
    for start, end in changes.removals:
        del result[start : end + 1]
    for start, end in changes.insertions:
        result[start:start] = new[start : end + 1]
    assert result == new


@given(KEYS, KEYS)
def test_the_common_prefix_is_the_longest(one, other):
    length = common_prefix(one, other)
    assert one[:length] == other[:length]
    assert length == min(len(one), len(other)) or one[length] != other[length]


@given(KEYS, KEYS)
def test_the_common_suffix_is_the_longest_that_spares_the_beginning(one, other):
    first = common_prefix(one, other)
    length = common_suffix(one, other, first)
    assert one[len(one) - length :] == other[len(other) - length :]
    room = min(len(one), len(other)) - first
    assert length == room or one[len(one) - length - 1] != other[len(other) - length - 1]


def test_too_many_ranges_are_a_move():
    old = list(range(0, 4 * MAX_RANGES))
    assert row_changes(old, old[::2]).moved


TABLES = st.lists(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), unique_by=lambda row: row[0]), max_size=8)


@given(TABLES, st.sampled_from([None, Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder]))
def test_qt_finds_no_fault_with_any_sequence_of_rows(qapp, tables, order):
    model = made()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    if order is not None:
        model.sort(1, order)
    for table in tables:
        rows = tuple(Row(key, f"n{key}", lag) for key, lag in table)
        model.set_rows(rows)
        shown = [model.row_at(place) for place in range(model.rowCount())]
        wanted = sorted(rows, key=lambda row: row.lag, reverse=order == Qt.SortOrder.DescendingOrder)
        assert shown == (list(rows) if order is None else wanted)


def test_a_hundred_thousand_rows_stay_while_they_are_filtered_in_slices(qapp, qtbot):
    rows = tuple(Row(number, f"name {number % 97}", number) for number in range(100_000))
    model = made(*rows)
    told = signals_of(model)
    model.set_rows((*rows, Row(100_000, "new", 0)))
    assert told == [("in", 100_000, 100_000)]
    model.set_filter("name contains 5")
    assert model.rowCount() == 100_001
    assert model._row_filter.busy
    qtbot.waitUntil(lambda: not model._row_filter.busy, timeout=60_000)
    kept = [row for row in rows if "5" in row.name]
    assert list(model.keys()) == [row.key for row in kept]
    # What waits for rows, such as a redrive of all that are listed, never gets those before.
    model.set_filter("name = 'name 50'")
    model.settle()
    assert list(model.keys()) == [row.key for row in rows if row.name == "name 50"]


@pytest.mark.bench
def test_what_a_hundred_thousand_rows_cost(qapp, qtbot):
    """Printed: CPU time of the window's thread."""
    rows = tuple(Row(number, f"name {number % 97}", number) for number in range(100_000))
    model = made(*rows)
    view = QTableView()
    qtbot.addWidget(view)
    view.setModel(model)
    view.show()

    def cost(what, call):
        began = time.thread_time()
        call()
        print(f"\n  {what:30} {(time.thread_time() - began) * 1000:7.1f} ms CPU", end="")

    cost("the same rows", lambda: model.set_rows(model.rows))
    cost("one row more", lambda: model.set_rows((*rows, Row(100_000, "new", 0))))
    cost("a filter by words begins", lambda: model.set_filter("name 5"))
    cost("and ends, all at once", model.settle)


def test_children_and_bad_indexes_have_nothing(qapp):
    model = made(Row(1, "a", 1))
    assert model.rowCount(model.index(0, 0)) == 0
    assert model.data(QModelIndex()) is None


@pytest.mark.parametrize("key,place", [(2, 1), (9, -1)])
def test_a_key_is_found_where_it_is_shown(qapp, key, place):
    assert made(Row(1, "a", 1), Row(2, "b", 2)).place_of(key) == place


def selected_names(view):
    return {index.data() for index in view.selectionModel().selectedRows(0)}


@pytest.mark.parametrize("sort", [False, True])
def test_what_is_selected_stays_so_and_nothing_else_when_the_filter_of_many_rows_goes(qapp, qtbot, sort):
    rows = [Row(number, f"n{number}", number % 3) for number in range(3_000)]
    model = made(*rows)
    view = RowTable(model)
    view.setSelectionMode(QTableView.SelectionMode.ExtendedSelection)
    qtbot.addWidget(view)
    model.set_filter("lag = 1")
    view.selectAll()
    wanted = {row.name for row in rows if row.lag == 1}
    assert selected_names(view) == wanted
    if sort:
        model.sort(0)
    model.set_filter("")
    assert model.rowCount() == 3_000
    assert selected_names(view) == wanted
