from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from html import escape

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal, SignalInstance
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from widgets.controls import plain_label, set_plain_tip
from widgets.fold_button import FoldButton
from widgets.formats import clock_time
from widgets.i18n import tr
from widgets.panels.curves import ChartFacts, Curve, Values
from widgets.theme import current_theme, follow_theme, qcolour, ui_font

LABELS_APART = 1.6  # in heights of a label
LABEL_OUT_PX = 9
_STEPS = (1.0, 2.0, 5.0, 10.0)
# What of each power of ten is labelled, the most first; below the last, only some of the powers.
_OF_TEN = ((1, 2, 5), (1, 3), (1,))


class TimeAxis(pg.AxisItem):
    def tickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:
        return [clock_time(int(value)) if value >= 0 else "" for value in values]


class ValueAxis(pg.AxisItem):
    """Short numbers: 0.5, 12, 3.4k, 2M."""

    def boundingRect(self) -> QRectF:
        """Leaves room for half a label above and below, so that the lowest and highest values have theirs."""
        return super().boundingRect().adjusted(0, -LABEL_OUT_PX, 0, LABEL_OUT_PX)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float | None, list[float]]]:
        """One level of ticks between `low` and `high` on an axis of `size` pixels, or of their logarithms."""
        font = self.style["tickFont"]
        height = QFontMetricsF(font).height() if font is not None else 14.0
        most = max(2, 1 + int(size / (height * LABELS_APART)))
        values = power_ticks(low, high, most) if self.logMode else even_ticks(low, high, most)
        return [(None, values)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float | None) -> list[str]:
        return [short(10**value if self.logMode else value * scale) for value in values]


def short(value: float) -> str:
    """A number in as few characters as a small axis has room for."""
    size = abs(value)
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"


def even_ticks(low: float, high: float, most: int) -> list[float]:
    """Ticks from `low` to `high`, at most `most` (2 or more): multiples of 1, 2 or 5 times a power of ten."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return []
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    finer: list[float] = []
    for step in (*_STEPS, *(10 * step for step in _STEPS)):
        first, last = math.ceil(low / (step * power) - 1e-9), math.floor(high / (step * power) + 1e-9)
        ticks = [number * step * power for number in range(first, last + 1)]
        if len(ticks) <= most:
            # A single tick is no scale.
            return ticks if len(ticks) > 1 or len(finer) < 2 else [finer[0], finer[-1]]
        finer = ticks
    return []


def power_ticks(low: float, high: float, most: int) -> list[float]:
    """Logarithms to base ten of round numbers, at most `most` (2 or more), from logarithm `low` to `high`."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return []
    first, last = math.floor(low), math.ceil(high)
    for of_ten in _OF_TEN if last - first <= most else ():
        ticks = [power + math.log10(part) for power in range(first, last + 1) for part in of_ten]
        shown = [tick for tick in ticks if low - 1e-9 <= tick <= high + 1e-9]
        if 2 <= len(shown) <= most:
            return shown
    # More powers than there is room for: every second, fifth or so; less than one: round values.
    whole = [tick for tick in even_ticks(low, high, most) if tick == int(tick)]
    return whole if len(whole) > 1 else [math.log10(value) for value in even_ticks(10**low, 10**high, most)]


SIDE = 4
CURVES_MAX = 12


class _Plot(pg.PlotWidget):
    doubleClicked = Signal(QPointF)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
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
        self._plot.scene().sigMouseMoved.connect(partial(self._tell_time, self.pointed))
        self._plot.doubleClicked.connect(partial(self._tell_time, self.momentChosen))
        follow_theme(self._restyle)

    def set_alone(self, alone: bool) -> None:
        self.is_alone = alone
        if alone:
            self.alone_button.set_sign("restore", tr("All charts"))
        else:
            self.alone_button.set_sign("maximise", tr("This chart alone"))

    def set_facts(self, facts: ChartFacts, until_s: float) -> None:
        self.facts = facts
        unit = f" ({facts.unit})" if facts.unit else ""
        self._title.setText(facts.title + unit)
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
            most = max((float(_known(curve.values).max()) for curve in curves), default=0.0)
            item.setYRange(0, most * 1.06 or 1.0, padding=0)
        self._colour(curves)
        set_plain_tip(self._legend, "\n".join(curve.name for curve in curves))
        last = [f"{curve.name} {short(float(_known(curve.values)[-1]))}" for curve in curves if len(curve.values)]
        self.setAccessibleName(f"{facts.title}{unit}: {', '.join(last)}")

    def _show_legend(self) -> None:
        curves = () if self.facts is None else self.facts.curves[:CURVES_MAX]
        theme, letters, room = current_theme(), self._legend.fontMetrics(), self.width() - 2 * SIDE
        widths = [letters.horizontalAdvance(f"\u25a0 {curve.name}\u00a0 ") for curve in curves]
        shown = len(curves)
        while shown > 1 and sum(widths[:shown]) + (shown < len(curves)) * letters.horizontalAdvance("+99") > room:
            shown -= 1
        middle, longest = Qt.TextElideMode.ElideMiddle, room - letters.horizontalAdvance("\u25a0\u00a0 \u00a0 +99")
        names = []
        for curve in curves[:shown]:
            name = escape(letters.elidedText(curve.name, middle, longest), quote=False)
            names.append(f'<span style="color:{theme.owner(curve.hue)}">&#9632;</span> {name}')
        more = [f"+{len(curves) - shown}"] if shown < len(curves) else []
        self._legend.setText("&nbsp; ".join(names + more))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_legend()

    def set_cursor(self, time_s: float | None) -> None:
        self._cursor.setVisible(time_s is not None)
        if time_s is not None:
            self._cursor.setPos(time_s)

    def _tell_time(self, told: SignalInstance, scene_pos: QPointF) -> None:
        item = self._plot.getPlotItem()
        if item.sceneBoundingRect().contains(scene_pos):
            told.emit(max(0.0, float(item.vb.mapSceneToView(scene_pos).x())))

    def _restyle(self) -> None:
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
        theme = current_theme()
        for line, curve in zip(self._lines, curves, strict=False):
            line.setPen(QPen(qcolour(theme.owner(curve.hue)), 0))
        self._show_legend()


def _known(values: Values) -> Values:
    known = values[~np.isnan(values)]
    return known if len(known) else np.zeros(1)
