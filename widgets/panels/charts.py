"""Curves over session time, side by side on one time axis, with the rates of now beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QAbstractItemModel, QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QGridLayout, QScrollArea, QSizePolicy, QWidget

from widgets.facts import plain_label, set_plain_tip
from widgets.fold_button import FoldButton
from widgets.i18n import mark, tr
from widgets.panels.chart_axes import TimeAxis, ValueAxis, short
from widgets.panels.panel import Panel, PanelInfo, side_by_side
from widgets.panels.table_panel import ColumnLook, RowTable
from widgets.theme import current_theme, qcolour, ui_font

Values = npt.NDArray[np.float64]

CHART_WIDTH = 250
SIDE = 4
CURVES_MAX = 12
RATE_LOOKS = (
    ColumnLook("text", 112, 3),
    ColumnLook("text", 84, 1, spare=3),
    ColumnLook("number", 88),
    ColumnLook("number", 76, spare=1),
    ColumnLook("number", 104, 1),
    ColumnLook("text", 122, 1, spare=2),
)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One line: its name, the index of its hue, seconds of session time and values (NaN leaves a gap)."""

    name: str
    hue: int
    times_s: Values
    values: Values


@dataclass(frozen=True, slots=True, eq=False)
class ChartFacts:
    """One chart. `unit` stands behind its title; `logarithmic` for what spans many powers of ten; `about` is
    its tool tip."""

    key: str
    title: str
    unit: str
    curves: tuple[Curve, ...] = field(default=())
    logarithmic: bool = False
    about: str = ""


class _Plot(pg.PlotWidget):
    """A plot that tells of double clicks, at a place of its scene."""

    doubleClicked = Signal(QPointF)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Tell the place."""
        self.doubleClicked.emit(self.mapToScene(event.position().toPoint()))
        event.accept()


class Chart(QWidget):
    """One plot below its title. `momentChosen(seconds)` on a double click, `pointed(seconds)` as the mouse moves.

    `aloneWanted(on)` when its button asks for all of the room, or gives it back.
    """

    momentChosen = Signal(float)
    aloneWanted = Signal(bool)
    pointed = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.facts: ChartFacts | None = None
        self._title = plain_label("", "heading", self)
        self._legend = plain_label("", "muted", self)
        self._legend.setTextFormat(Qt.TextFormat.RichText)
        # What has no room is cut at its right; the tool tip has it whole.
        self._legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        axes = {"bottom": TimeAxis("bottom"), "left": ValueAxis("left")}
        self._plot = _Plot(self, axisItems=axes, enableMenu=False)
        self._plot.setMouseEnabled(x=False, y=False)
        self._plot.hideButtons()
        self._plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._plot.setMinimumSize(80, 72)
        item = self._plot.getPlotItem()
        item.setClipToView(True)
        item.showGrid(x=False, y=True, alpha=0.15)
        item.setContentsMargins(0, 6, 4, 0)
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._cursor.setVisible(False)
        item.addItem(self._cursor, ignoreBounds=True)
        self._lines: list[pg.PlotDataItem] = []
        grid = QGridLayout(self)
        grid.setContentsMargins(SIDE, 0, SIDE, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(0)
        grid.addWidget(self._title, 0, 0)
        grid.addWidget(self._legend, 1, 0, 1, 2)
        self.alone_button = FoldButton("maximise", "", self)
        self.alone_button.clicked.connect(lambda: self.aloneWanted.emit(not self.is_alone))
        self.set_alone(False)
        grid.addWidget(self.alone_button, 0, 1)
        grid.addWidget(self._plot, 2, 0, 1, 2)
        grid.setColumnStretch(0, 1)
        grid.setRowStretch(2, 1)
        self._plot.scene().sigMouseMoved.connect(self._on_move)
        self._plot.doubleClicked.connect(self._on_double_click)
        self.restyle()

    def set_alone(self, alone: bool) -> None:
        """Whether it has all of the room, so that its button gives it back."""
        self.is_alone = alone
        if alone:
            self.alone_button.set_sign("restore", tr("All charts"))
        else:
            self.alone_button.set_sign("maximise", tr("This chart alone"))

    def set_facts(self, facts: ChartFacts, until_s: float) -> None:
        """Show curves over 0 to `until_s` seconds."""
        self.facts = facts
        unit = f" ({facts.unit})" if facts.unit else ""
        self._set_text(self._title, facts.title + unit)
        set_plain_tip(self._title, facts.about)
        item = self._plot.getPlotItem()
        item.setLogMode(x=False, y=facts.logarithmic)
        curves = facts.curves[:CURVES_MAX]
        while len(self._lines) < len(curves):
            line = pg.PlotDataItem(connect="finite", antialias=True)
            item.addItem(line)
            self._lines.append(line)
        for place, line in enumerate(self._lines):
            if place >= len(curves):
                line.setData([], [])
            else:
                line.setData(curves[place].times_s, curves[place].values)
        item.setXRange(0, max(until_s, 1.0), padding=0)
        if not facts.logarithmic:
            # From zero, so that a height is an amount.
            most = max((_most(curve.values) for curve in curves), default=0.0)
            item.setYRange(0, most * 1.06 or 1.0, padding=0)
        self._colour(curves)
        set_plain_tip(self._legend, "\n".join(curve.name for curve in curves))
        values = ", ".join(f"{curve.name} {short(_last(curve.values))}" for curve in curves if len(curve.values))
        self.setAccessibleName(f"{facts.title}{unit}: {values}")

    def _show_legend(self) -> None:
        """Names in the colours of their lines, as many as there is room for, and how many more there are."""
        curves = () if self.facts is None else self.facts.curves[:CURVES_MAX]
        theme, letters, room = current_theme(), self._legend.fontMetrics(), self.width() - 2 * SIDE
        widths = [letters.horizontalAdvance(f"\u25a0 {curve.name}\u00a0 ") for curve in curves]
        shown = len(curves)
        while shown > 1 and sum(widths[:shown]) + (shown < len(curves)) * letters.horizontalAdvance("+99") > room:
            shown -= 1
        middle, longest = Qt.TextElideMode.ElideMiddle, room - letters.horizontalAdvance("\u25a0\u00a0 \u00a0 +99")
        names = []
        for curve in curves[:shown]:
            name = _escaped(letters.elidedText(curve.name, middle, longest))
            names.append(f'<span style="color:{theme.owner(curve.hue)}">&#9632;</span> {name}')
        more = [f"+{len(curves) - shown}"] if shown < len(curves) else []
        self._set_text(self._legend, "&nbsp; ".join(names + more))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width, other names."""
        super().resizeEvent(event)
        self._show_legend()

    @staticmethod
    def _set_text(label: QWidget, text: str) -> None:
        if label.text() != text:  # type: ignore[attr-defined]
            label.setText(text)  # type: ignore[attr-defined]

    def set_cursor(self, time_s: float | None) -> None:
        """The shared moment; None for none."""
        self._cursor.setVisible(time_s is not None)
        if time_s is not None:
            self._cursor.setPos(time_s)

    def _time_at(self, scene_pos: QPointF) -> float | None:
        item = self._plot.getPlotItem()
        if not item.sceneBoundingRect().contains(scene_pos):
            return None
        return max(0.0, float(item.vb.mapSceneToView(scene_pos).x()))

    def _on_move(self, scene_pos: QPointF) -> None:
        time_s = self._time_at(scene_pos)
        if time_s is not None:
            self.pointed.emit(time_s)

    def _on_double_click(self, scene_pos: QPointF) -> None:
        time_s = self._time_at(scene_pos)
        if time_s is not None:
            self.momentChosen.emit(time_s)

    def restyle(self) -> None:
        """Take the colours of the theme of now."""
        theme = current_theme()
        self._plot.setBackground(qcolour(theme.window))
        item = self._plot.getPlotItem()
        for side in ("bottom", "left"):
            axis = item.getAxis(side)
            axis.setPen(QPen(QColor(theme.border), 0))
            axis.setTextPen(QPen(QColor(theme.muted), 0))
            axis.setTickFont(ui_font(11))
            axis.setStyle(tickLength=3, tickTextOffset=3)
        item.getAxis("left").setWidth(38)
        item.getAxis("bottom").setHeight(20)
        self._cursor.setPen(QPen(QColor(theme.accent), 0, Qt.PenStyle.DashLine))
        if self.facts is not None:
            self._colour(self.facts.curves[:CURVES_MAX])

    def _colour(self, curves: Sequence[Curve]) -> None:
        """Lines and legend in the colours of the theme of now."""
        theme = current_theme()
        for line, curve in zip(self._lines, curves, strict=False):
            line.setPen(QPen(qcolour(theme.owner(curve.hue)), 0))
        self._show_legend()


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
        """Show these in place of those before; which of those are not among them is deleted."""
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
        """Give all of the room to one of the charts; None for all of them."""
        for chart in self._charts:
            chart.set_alone(chart is alone)
            chart.setVisible(alone is None or chart is alone)
        self._stretch(alone)

    def _stretch(self, alone: Chart | None) -> None:
        """Columns without a chart take no room."""
        own = None if alone is None else self._charts.index(alone) % self._across
        for column in range(self._across):
            self._grid.setColumnStretch(column, int(own is None or column == own))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width, other columns."""
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
        for column in range(self._grid.columnCount()):
            self._grid.setColumnStretch(column, 0)
        for place, chart in enumerate(self._charts):
            self._grid.addWidget(chart, place // across, place % across)
        self.show_alone(next((chart for chart in self._charts if chart.is_alone), None))


class ChartsPanel(Panel):
    """Charts in as many columns as fit, and a table of the rates of now.

    `momentChosen(seconds)` on a double click into a chart, `pointed(seconds)` where the mouse is on one,
    None when it leaves.
    """

    info = PanelInfo(
        "charts",
        mark("Charts"),
        "chart",
        mark("Rates, latencies and lag over time."),
        mark(
            "Curves over session time, with the present rates at their left. The consumer whose oldest message "
            "has waited longest is marked as the **slowest**. Double-click a curve to go to that moment."
        ),
        "Ctrl+6",
        group=mark("Flow"),
    )

    momentChosen = Signal(float)
    pointed = Signal(object)

    def __init__(self, rates: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(
            (
                tr("Nothing has happened yet."),
                tr("Curves grow here as session time passes and messages are published."),
            ),
            filter_hint=tr("Filter the rates"),
            parent=parent,
        )
        self._charts: dict[str, Chart] = {}
        self.rates_table = RowTable(rates, RATE_LOOKS, self)
        self.rates_table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.rates_table.setMinimumWidth(320)
        self.rates_table.setAccessibleName(tr("Rates of now"))
        self._area = ChartGrid(self)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._area)
        self.stack.addWidget(side_by_side(self, self.rates_table, scroll, (2, 5), (600, 1000)))
        self.show_body(False)

    def set_charts(self, charts: Sequence[ChartFacts], until_s: float) -> None:
        """Show charts from 0 to `until_s` seconds of session time."""
        wanted = [facts.key for facts in charts]
        if wanted != list(self._charts):
            self._make(wanted)
        for facts in charts:
            self._charts[facts.key].set_facts(facts, until_s)
        self.show_body(bool(charts))

    def _make(self, keys: Sequence[str]) -> None:
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
        """One moment marked in every chart; None for none."""
        for chart in self._charts.values():
            chart.set_cursor(time_s)

    def charts(self) -> dict[str, Chart]:
        """The charts by their keys."""
        return dict(self._charts)

    def restyle(self) -> None:
        """Another theme: other pens."""
        super().restyle()
        for chart in getattr(self, "_charts", {}).values():
            chart.restyle()

    def leaveEvent(self, event: QEvent) -> None:
        """No cursor where no mouse is."""
        super().leaveEvent(event)
        self.set_cursor(None)
        self.pointed.emit(None)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _most(values: Values) -> float:
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else 0.0


def _last(values: Values) -> float:
    known = values[~np.isnan(values)]
    return float(known[-1]) if len(known) else 0.0
