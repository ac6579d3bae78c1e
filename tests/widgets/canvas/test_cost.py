"""What a frame of the canvas costs; run by `make bench`. The engine shares the interpreter: cheap frames buy speed."""

from __future__ import annotations

from statistics import median
from time import perf_counter

import pytest
from PySide6.QtWidgets import QApplication

from tests.widgets.canvas.sample_views import wide_view
from widgets.canvas.canvas import Canvas


@pytest.mark.bench
@pytest.mark.parametrize(("partitions", "consumers", "most_ms"), [(6, 20, 4.0), (100, 50, 8.0), (200, 80, 12.0)])
def test_a_frame_in_which_everything_has_changed(
    canvas: Canvas, partitions: int, consumers: int, most_ms: float
) -> None:
    views = [wide_view(shift, partitions, consumers) for shift in range(60)]
    costs = []
    for view in views:
        started = perf_counter()
        canvas.set_view(view)
        QApplication.processEvents()
        costs.append((perf_counter() - started) * 1000)
    cost = median(costs[5:])
    assert cost < most_ms


@pytest.mark.bench
def test_an_equal_view_is_nearly_free(canvas: Canvas) -> None:
    canvas.set_view(wide_view())
    same = [wide_view() for _ in range(50)]
    costs = []
    for view in same:
        started = perf_counter()
        canvas.set_view(view)
        costs.append((perf_counter() - started) * 1000)
    assert median(costs) < 0.5
