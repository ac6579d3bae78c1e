"""Plots of several sessions in one: beside each other, or from run to run; from the data of their pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from resources.colours import HUES, LIGHT_HUES
from spark_reports.page import text
from spark_reports.paper.plots import Plot, draw_legend, milliseconds, over_time, plain, short

# Data, title, and unit; durations carry theirs on each tick.
_OVER_TIME = (
    ("published", "Published, messages a second", "messages/s"),
    ("delivered", "Delivered, messages a second", "messages/s"),
    ("p50", "Publish to first delivery, p50", ""),
    ("p99", "Publish to first delivery, p99", ""),
    ("lag", "Messages behind, all groups", "messages"),
    ("waiting", "Messages waiting in queues", "messages"),
)


def comparison_plots(data: Mapping[str, Any]) -> Iterator[Plot]:
    """One line a session, from the data of the comparison's page."""
    for name, title, unit in _OVER_TIME:
        lines = [(one["name"], one[name]) for one in data["sessions"] if one[name]]
        if lines:
            draw = partial(_sessions, data=data, lines=lines, unit=unit)
            yield Plot(f"compared-{name}", title, draw)


def _sessions(ax: Axes, data: Mapping[str, Any], lines: Sequence[tuple[str, Any]], unit: str) -> None:
    over_time(ax, data)
    for place, (name, points) in enumerate(lines):
        table = np.array(points, dtype=np.float64)
        ax.plot(table[:, 0], table[:, 1], label=plain(name), color=LIGHT_HUES[place % HUES], linewidth=0.9)
    ax.set_ylabel(unit)
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(FuncFormatter(short if unit else milliseconds))
    draw_legend(ax)


def history_plots(data: Mapping[str, Any]) -> Iterator[Plot]:
    """One plot a figure, one line a scenario, from the data of the history's page."""
    together = data["runs_a_point"]
    for name, trend in data["trends"].items():
        draw = partial(_runs, trend=trend, together=together)
        yield Plot(f"trend-{name.removesuffix('_ns')}", trend["label"], draw)


def _runs(ax: Axes, trend: Mapping[str, Any], together: int) -> None:
    for place, line in enumerate(trend["lines"]):
        points = np.array(line["points"], dtype=np.float64)
        numbers = points[:, 0] * together + (together + 1) / 2  # from 1, in the middle of those that are one point
        colour = LIGHT_HUES[place % HUES]
        if together > 1:
            ax.fill_between(numbers, points[:, 2], points[:, 3], color=colour, alpha=0.16, linewidth=0)
        ax.plot(
            numbers, points[:, 1], label=plain(line["name"], 24), color=colour, marker="" if together > 1 else "o",
            markersize=2.5, linewidth=0.9,
        )  # fmt: skip
    each = f"; median, least and most of {together} at a time" if together > 1 else ""
    ax.set_xlabel(f"run, in the order of their beginning{each}")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(FuncFormatter(partial(_with_unit, unit=trend["unit"])))
    draw_legend(ax)


def _with_unit(value: float, _place: object = None, *, unit: str) -> str:
    return text.FILTERS[unit](value) if unit in ("duration", "size") else short(value)
