"""Rows and cards of what goes on stand still under the pointer, and while a row is selected; new ones wait."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.presenters.columns import Column
from app.presenters.table import TableModel
from tests.widgets.panels.test_block_chains import FACTS
from widgets.cards import RebalanceFacts, RebalancesPanel
from widgets.panels.backpressure import BackpressurePanel
from widgets.panels.panel import PanelInfo
from widgets.panels.table_panel import TablePanel


@dataclass(frozen=True)
class Letter:
    number: int
    text: str = ""


class Letters(TablePanel):
    info = PanelInfo("letters", "Letters", "message", empty="None.", filter_hint="Filter")


@pytest.fixture
def panel(qtbot: QtBot, qapp: QApplication) -> TablePanel:
    """Five letters, the newest first; the order may be changed by a click on the header."""
    columns = (
        Column[Letter]("Number", lambda row: str(row.number), look="number", sort=lambda row: row.number),
        Column[Letter]("Text", lambda row: row.text),
    )
    model = TableModel[Letter](columns, key=lambda row: row.number)
    made = Letters(model)
    model.setParent(made)
    model.set_rows(tuple(Letter(number) for number in (5, 4, 3, 2, 1)))
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    QApplication.processEvents()
    point(made.table.viewport(), False)  # where another test has left it
    return made


def test_rows_that_wait_are_among_those_that_stand_for_all_messages(panel: TablePanel) -> None:
    panel.set_messages(20)
    assert panel.count_label.text() == "20 messages in 5 rows"
    panel.table.selectRow(0)
    QApplication.processEvents()
    assert isinstance(panel.model, TableModel)
    panel.model.set_rows(tuple(Letter(number) for number in (7, 6, 5, 4, 3, 2, 1)))
    panel.set_messages(30)
    assert panel.waiting.text() == "2 new" and panel.count_label.text() == "30 messages in 7 rows"


def numbers(panel: TablePanel) -> list[int]:
    return [int(panel.model.index(place, 0).data()) for place in range(panel.model.rowCount())]


def point(widget: QWidget, on: bool) -> None:
    at = QPointF(20, 20)
    QApplication.sendEvent(widget, QEnterEvent(at, at, at) if on else QEvent(QEvent.Type.Leave))


def give(panel: TablePanel, *rows: Letter | int) -> None:
    model = panel.model
    assert isinstance(model, TableModel)
    model.set_rows(tuple(Letter(row) if isinstance(row, int) else row for row in rows))


def test_under_the_pointer_no_row_changes_its_place_and_new_ones_wait(panel: TablePanel) -> None:
    viewport = panel.table.viewport()
    point(viewport, True)
    at = panel.table.visualRect(panel.model.index(1, 0)).center()
    give(panel, 8, 7, 6, 5, Letter(4, "changed"), 3, 2, 1)
    assert numbers(panel) == [5, 4, 3, 2, 1] and panel.waiting.text() == "3 new" and panel.waiting.isVisible()
    assert panel.model.index(1, 1).data() == "changed", "what is shown is as it is now"
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=at)
    assert panel.current_key() == 4, "the row that was aimed at"
    point(viewport, False)
    QApplication.processEvents()
    assert numbers(panel) == [5, 4, 3, 2, 1], "it is selected"
    give(panel, 9, 8, 7, 6, 5, 4, 3, 2, 1)
    assert panel.waiting.text() == "4 new"
    QTest.mouseClick(panel.waiting, Qt.MouseButton.LeftButton)
    assert numbers(panel) == [9, 8, 7, 6, 5, 4, 3, 2, 1] and panel.current_key() == 4 and not panel.waiting.isVisible()
    give(panel, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
    assert panel.waiting.text() == "1 new", "it holds on from there"
    panel.table.clearSelection()
    QTest.qWait(1)
    assert numbers(panel)[0] == 10 and not panel.waiting.isVisible()


def test_a_row_that_waits_is_counted_and_not_told_to_be_hidden(panel: TablePanel) -> None:
    """As after a redrive: the letter is gone, another one comes, and "2 of 3 are shown" would speak of a filter."""
    assert isinstance(panel.model, TableModel)
    panel.model.counted.connect(lambda _shown, total: panel.set_total(total))
    panel.table.selectRow(1)
    QApplication.processEvents()
    give(panel, 5, 4, 3, 2)
    give(panel, 6, 5, 4, 3, 2)
    assert panel.waiting.text() == "1 new" and panel.count_label.text() == "5"
    panel.model.set_filter("5")
    panel.model.settle()
    assert panel.count_label.text() == "1 of 5 are shown"


def test_a_row_that_is_gone_keeps_its_place_under_the_pointer_and_cannot_be_chosen(panel: TablePanel) -> None:
    viewport = panel.table.viewport()
    point(viewport, True)
    give(panel, 6, 5, 3, 2, 1)
    assert numbers(panel) == [5, 4, 3, 2, 1]
    gone = panel.model.index(1, 0)
    assert not gone.flags() & Qt.ItemFlag.ItemIsSelectable and panel.model.index(0, 0).flags()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=panel.table.visualRect(gone).center())
    assert panel.selected_keys() == []
    point(viewport, False)
    assert numbers(panel) == [6, 5, 3, 2, 1]


def test_what_was_selected_and_is_gone_lets_the_new_ones_in(panel: TablePanel) -> None:
    panel.select(0)
    QTest.qWait(1)
    give(panel, 7, 6, 4, 3, 2, 1)
    QTest.qWait(1)
    panel.table.clearSelection()
    QTest.qWait(1)
    assert numbers(panel) == [7, 6, 4, 3, 2, 1]


def test_where_there_was_no_row_none_waits(panel: TablePanel) -> None:
    """As where another session is opened by a key, while the pointer is over the table."""
    point(panel.table.viewport(), True)
    give(panel)
    assert numbers(panel) == [] and panel.waiting.isHidden()
    give(panel, 5, 3)
    assert numbers(panel) == [5, 3] and panel.waiting.isHidden()


def test_another_order_is_what_the_user_asks_for(panel: TablePanel) -> None:
    point(panel.table.viewport(), True)
    give(panel, 6, 5, 4, 3, 2, 1)
    panel.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert numbers(panel) == [1, 2, 3, 4, 5, 6]
    give(panel, 7, 6, 5, 4, 3, 2, 1, 0)
    assert numbers(panel) == [1, 2, 3, 4, 5, 6] and panel.waiting.text() == "2 new"
    assert panel.table.viewport().rect().contains(QPoint(1, 1))


def test_a_column_that_went_for_lack_of_room_comes_back_after_rows_had_another_order(qtbot: QtBot) -> None:
    columns = (
        Column[Letter]("Number", lambda row: str(row.number), (100, 1)),
        Column[Letter]("Text", lambda row: row.text, (200, 1, 1)),
    )
    model = TableModel[Letter](columns, key=lambda row: row.number)
    panel = Letters(model)
    model.setParent(panel)
    qtbot.addWidget(panel)
    panel.resize(240, 300)
    panel.show()
    for order in ((1, 2, 3), (3, 2, 1)):
        give(panel, *order)
    QApplication.processEvents()
    assert panel.table.isColumnHidden(1)
    panel.resize(600, 300)
    QApplication.processEvents()
    assert not panel.table.isColumnHidden(1)


def test_gauges_stand_still_under_the_pointer(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = BackpressurePanel()
    qtbot.addWidget(panel)
    a, b, c = (replace(FACTS, target=name) for name in "abc")
    panel.set_gauges((a, b))
    monkeypatch.setattr(panel._inner, "underMouse", lambda: True)
    panel.set_gauges((c, b, a))

    def order() -> list[str]:
        return [gauge.facts.target for gauge in panel.gauges if gauge.facts is not None]

    assert order() == ["a", "b", "c"]
    monkeypatch.setattr(panel._inner, "underMouse", lambda: False)
    panel.set_gauges((c, a, b))
    assert order() == ["c", "a", "b"]


def test_cards_of_rebalances_stand_still_under_the_pointer(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = RebalancesPanel()
    qtbot.addWidget(panel)
    first, second = (
        RebalanceFacts(("g", number), "g", "joined", "Stable", "", "", "", said, "", False, (), ())
        for number, said in ((1, "goes on"), (2, ""))
    )
    panel.set_rebalances((first,))
    monkeypatch.setattr(panel._area, "underMouse", lambda: True)
    panel.set_rebalances((second, first))
    assert len(panel.cards) == 1 and panel.count_label.text() == "1, 1 new"
    monkeypatch.setattr(panel._area, "underMouse", lambda: False)
    panel.set_rebalances((second, first))
    assert len(panel.cards) == 2 and panel.count_label.text() == "2"
