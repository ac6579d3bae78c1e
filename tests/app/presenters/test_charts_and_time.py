"""Charts and timeline share one cursor, and a double click into a chart goes to its moment."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt

from broker_core.clock import NS_PER_S
from tests.app.conftest import Hand
from widgets.panels.charts import ChartsPanel


def test_the_cursor_is_shared_both_ways(hand: Hand) -> None:
    window = hand.workbench.window
    window.show_tab("charts")
    hand.show()
    charts, timeline = window.tab(ChartsPanel), window.timeline
    (chart, *_others) = charts.charts().values()
    timeline.pointed.emit(4 * NS_PER_S)
    assert chart._cursor.isVisible()
    assert chart._cursor.value() == pytest.approx(4.0)
    charts.pointed.emit(6.0)
    assert timeline._hover_x == pytest.approx(timeline.shape.x_of(6 * NS_PER_S))
    timeline.pointed.emit(None)
    assert not chart._cursor.isVisible()
    charts.pointed.emit(None)
    assert timeline._hover_x is None


def test_a_double_click_into_a_chart_goes_to_its_moment(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench(record=True)  # of what is not recorded only some moments are kept
    hand.pass_time(10)
    window = hand.workbench.window
    window.show_tab("charts")
    hand.show()
    (chart, *_others) = window.tab(ChartsPanel).charts().values()
    plot = chart._plot
    middle = plot.mapFromScene(plot.getPlotItem().vb.sceneBoundingRect().center())
    hand.qtbot.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    there = range(3 * NS_PER_S, 7 * NS_PER_S)
    hand.qtbot.waitUntil(lambda: hand.workbench.controller.snapshot.time_ns in there, timeout=20_000)
    assert not hand.workbench.controller.live


def test_the_mouse_on_the_timeline_marks_the_moment_in_the_charts(hand: Hand) -> None:
    window = hand.workbench.window
    window.show_tab("charts")
    hand.show()
    (chart, *_others) = window.tab(ChartsPanel).charts().values()
    at = QPoint(round(window.timeline.shape.x_of(5 * NS_PER_S)), 20)
    hand.qtbot.mouseMove(window.timeline, QPoint(at.x() - 30, 20))
    hand.qtbot.mouseMove(window.timeline, at)
    assert chart._cursor.value() == pytest.approx(5.0, abs=0.1)
