from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractItemModel, QEvent, Signal
from PySide6.QtWidgets import QAbstractItemView, QWidget

from widgets.boxes import Columns, scrolled
from widgets.controls import named
from widgets.i18n import tr
from widgets.panels.curves import ChartFacts
from widgets.panels.panel import Panel, declared
from widgets.row_table import RowTable
from widgets.side_by_side import side_by_side

if TYPE_CHECKING:
    from widgets.panels.chart import Chart

CHART_WIDTH = 250


class ChartGrid(Columns):
    """Charts in as many columns as fit, or one of them alone."""

    widgets: tuple[Chart, ...]

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(CHART_WIDTH, parent, margins=(4, 0, 4, 0), spacing=2, even=True)

    def set_charts(self, charts: tuple[Chart, ...]) -> None:
        for chart in self.widgets:
            chart.set_alone(False)
            if chart not in charts:
                chart.deleteLater()
        for chart in charts:
            if chart not in self.widgets:
                chart.aloneWanted.connect(lambda on, chart=chart: self.show_alone(chart if on else None))
        self.put(charts)

    def show_alone(self, alone: Chart | None) -> None:
        for chart in self.widgets:
            chart.set_alone(chart is alone)
            chart.setVisible(alone is None or chart is alone)
        own = None if alone is None else self.widgets.index(alone) % self.across
        for column in range(self.across):
            self.grid.setColumnStretch(column, int(own is None or column == own))

    def place(self) -> None:
        super().place()
        self.show_alone(next((chart for chart in self.widgets if chart.is_alone), None))


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
