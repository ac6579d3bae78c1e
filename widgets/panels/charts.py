from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractItemModel, QEvent, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QGridLayout, QWidget

from widgets.boxes import put_in_columns, scrolled
from widgets.facts import named
from widgets.i18n import tr
from widgets.panels.curves import ChartFacts
from widgets.panels.panel import Panel, declared, side_by_side
from widgets.panels.table_panel import RowTable

if TYPE_CHECKING:
    from widgets.panels.chart import Chart

CHART_WIDTH = 250


class ChartGrid(QWidget):
    """Charts in as many columns as fit, or one of them alone."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._charts: tuple[Chart, ...] = ()
        self._across = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(4, 0, 4, 0)
        self._grid.setSpacing(2)

    def set_charts(self, charts: tuple[Chart, ...]) -> None:
        for chart in self._charts:
            self._grid.removeWidget(chart)
            chart.set_alone(False)
            if chart not in charts:
                chart.deleteLater()
        added = [chart for chart in charts if chart not in self._charts]
        self._charts, self._across = charts, 0
        for chart in added:
            chart.aloneWanted.connect(lambda on, chart=chart: self.show_alone(chart if on else None))
        self._lay_out()

    def show_alone(self, alone: Chart | None) -> None:
        for chart in self._charts:
            chart.set_alone(chart is alone)
            chart.setVisible(alone is None or chart is alone)
        own = None if alone is None else self._charts.index(alone) % self._across
        for column in range(self._across):
            self._grid.setColumnStretch(column, int(own is None or column == own))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        count = len(self._charts)
        fit = max(1, self.width() // CHART_WIDTH)
        rows = max(1, -(-count // fit))
        across = max(1, -(-count // rows))
        if across == self._across:
            return
        self._across = across
        put_in_columns(self._grid, self._charts, across)
        self.show_alone(next((chart for chart in self._charts if chart.is_alone), None))


class ChartsPanel(Panel):
    """Charts in as many columns as fit, and a table of the rates of now.

    `momentChosen(seconds)` on a double click into a chart, `pointed(seconds)` where the mouse is on one,
    None when it leaves.
    """

    info = declared("charts")

    least_height = 84  # table and charts scroll by themselves

    momentChosen = Signal(float)
    pointed = Signal(object)

    def __init__(self, rates: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._charts: dict[str, Chart] = {}
        self.rates_table = named(RowTable(rates, self), tr("Current rates"))
        self.rates_table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.rates_table.setMinimumWidth(366)
        self._area = ChartGrid(self)
        scroll = scrolled(self._area, self)
        self.stack.addWidget(side_by_side(self, self.rates_table, scroll, stretch=(2, 5), widths=(600, 1000)))
        self.show_body(False)

    def set_charts(self, charts: Sequence[ChartFacts], until_s: float) -> None:
        wanted = [facts.key for facts in charts]
        if wanted != list(self._charts):
            self._make(wanted)
        for facts in charts:
            self._charts[facts.key].set_facts(facts, until_s)
        self.show_body(bool(charts))

    def _make(self, keys: Sequence[str]) -> None:
        # A fifth of the program's start would be spent on plots that nobody looks at yet.
        from widgets.panels.chart import Chart

        charts = list(self._charts.values())[: len(keys)]  # a plot takes long to make
        while len(charts) < len(keys):
            charts.append(chart := Chart(self._area))
            chart.momentChosen.connect(self.momentChosen)
            chart.pointed.connect(self._on_pointed)
        self._charts = dict(zip(keys, charts, strict=True))
        self._area.set_charts(tuple(charts))

    def _on_pointed(self, time_s: float) -> None:
        self.set_cursor(time_s)
        self.pointed.emit(time_s)

    def set_cursor(self, time_s: float | None) -> None:
        for chart in self._charts.values():
            chart.set_cursor(time_s)

    def charts(self) -> dict[str, Chart]:
        return dict(self._charts)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.set_cursor(None)
        self.pointed.emit(None)
