"""Ticks of small charts."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QPainter, QPicture

from widgets.panels.chart import Chart, even_ticks, power_ticks, short
from widgets.panels.curves import ChartFacts, Curve

_numbers = st.floats(min_value=-1e9, max_value=1e9)


@given(_numbers, st.floats(min_value=1e-3, max_value=1e9), st.integers(2, 12))
def test_even_ticks_are_few_even_and_in_range(low: float, length: float, most: int):
    high = low + length
    ticks = even_ticks(low, high, most)
    assert len(ticks) <= most
    slack = (high - low) * 1e-6 + 1e-6 * abs(low)
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    steps = [later - tick for tick, later in itertools.pairwise(ticks)]
    rounded = 1e-14 * max(abs(low), abs(high))
    assert all(math.isclose(step, steps[0], rel_tol=1e-3, abs_tol=rounded) for step in steps)


@given(st.floats(-6, 9), st.floats(0.01, 12), st.integers(2, 12))
def test_ticks_of_powers_are_few_and_in_range(low: float, length: float, most: int):
    ticks = power_ticks(low, low + length, most)
    assert len(ticks) <= most
    assert all(low - 1e-6 <= tick <= low + length + 1e-6 for tick in ticks)


@pytest.mark.parametrize(
    ("low", "high", "most", "labels"),
    [
        (0, 5.3, 3, ["0", "2", "4"]),
        (0, 21.2, 3, ["0", "10", "20"]),
        (0, 1.06, 2, ["0", "1"]),
        (0.9, 1.1, 2, ["0.9", "1.1"]),
        (0, 9_500, 6, ["0", "2k", "4k", "6k", "8k"]),
    ],
)
def test_even_ticks_are_round(low: float, high: float, most: int, labels: list[str]):
    assert [short(tick) for tick in even_ticks(low, high, most)] == labels


@pytest.mark.parametrize(
    ("low", "high", "most", "labels"),
    [
        (0, 3.7, 4, ["1", "10", "100", "1k"]),
        (0, 3.7, 3, ["1", "100"]),
        (0.1, 1.9, 6, ["2", "5", "10", "20", "50"]),
        (0, 1, 3, ["1", "3", "10"]),
        (0, 1, 2, ["1", "10"]),
        (-0.22, 0.11, 5, ["0.8", "1", "1.2"]),
        (0.02, 0.25, 3, ["1.2", "1.4", "1.6"]),
    ],
)
def test_ticks_of_powers_are_round(low: float, high: float, most: int, labels: list[str]):
    assert [short(10**tick) for tick in power_ticks(low, high, most)] == labels


def test_nothing_to_show_has_no_ticks():
    assert even_ticks(1, 1, 4) == power_ticks(math.nan, 1, 4) == even_ticks(0, math.inf, 4) == []


def test_the_lowest_and_the_highest_label_of_a_low_chart_are_drawn(qtbot):
    chart = Chart()
    qtbot.addWidget(chart)
    chart.resize(300, 110)
    chart.show()
    times_s = np.arange(10.0)
    curve = Curve("depth", 0, times_s, times_s + 1)
    chart.set_facts(ChartFacts("depth", "Queue depth", "messages", (curve,)), 10.0)
    qtbot.waitExposed(chart)
    axis = chart._plot.getPlotItem().getAxis("left")
    qtbot.waitUntil(lambda: axis.picture is not None)
    picture = QPicture()
    painter = QPainter(picture)
    _line, _ticks, texts = axis.generateDrawSpecs(painter)
    painter.end()
    assert [texts[0][2], texts[-1][2]] == ["0", "10"]


def test_a_legend_has_the_names_that_fit_and_counts_the_others(qtbot):
    chart = Chart()
    qtbot.addWidget(chart)
    chart.resize(260, 110)
    chart.show()
    times_s = np.arange(3.0)
    curves = tuple(Curve(f"topic-{number}", number, times_s, times_s) for number in range(5))
    chart.set_facts(ChartFacts("published", "Published", "messages/s", curves), 3.0)

    def some_fit():
        shown = chart._legend.text().count("topic-")
        assert 1 <= shown < 5
        assert chart._legend.text().endswith(f"+{5 - shown}")

    qtbot.waitUntil(some_fit)
    chart.resize(900, 110)
    qtbot.waitUntil(lambda: "topic-4" in chart._legend.text())
    assert "+" not in chart._legend.text()
