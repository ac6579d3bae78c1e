"""The plots of one session's page, drawn once more for paper, from the same data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from resources.colours import HUES, LIGHT_HUES
from resources.units import KIB
from spark_reports import text
from spark_reports.page.charts import HEAT_STEPS_PER_DECADE, OTHERS

Data = Mapping[str, Any]

# Data, title, and unit; durations carry theirs on each tick.
_OVER_TIME = (
    ("published", "Published, messages per second", "messages/s"),
    ("delivered", "Delivered, messages per second", "messages/s"),
    ("p50", "Publish to first delivery, p50", ""),
    ("p99", "Publish to first delivery, p99", ""),
    ("lag", "Messages behind, all groups", "messages"),
    ("waiting", "Messages waiting in queues", "messages"),
)


def comparison_plots(data: Data) -> Iterator[Plot]:
    for name, title, unit in _OVER_TIME:
        lines = [(one["name"], one[name]) for one in data["sessions"] if one[name]]
        if lines:
            yield Plot(f"compared-{name}", title, partial(_sessions, data=data, lines=lines, unit=unit))


def _sessions(ax: Axes, data: Data, lines: Sequence[tuple[str, Any]], unit: str) -> None:
    over_time(ax, data)
    for place, (name, points) in enumerate(lines):
        _line(ax, np.array(points, dtype=np.float64).T, plain(name), place)
    _upwards(ax, short if unit else milliseconds, unit)
    draw_legend(ax)


def history_plots(data: Data) -> Iterator[Plot]:
    for name, trend in data["trends"].items():
        draw = partial(_runs, trend=trend, together=data["runs_a_point"])
        yield Plot(f"trend-{name.removesuffix('_ns')}", trend["label"], draw)


def _runs(ax: Axes, trend: Data, together: int) -> None:
    for place, line in enumerate(trend["lines"]):
        points = np.array(line["points"], dtype=np.float64)
        numbers = points[:, 0] * together + (together + 1) / 2  # from 1, in the middle of those that are one point
        if together > 1:
            ax.fill_between(numbers, points[:, 2], points[:, 3], color=_colour(place), alpha=0.16, linewidth=0)
        marker = "" if together > 1 else "o"
        _line(ax, (numbers, points[:, 1]), plain(line["name"], 24), place, marker=marker, markersize=2.5)
    each = f"; median, minimum and maximum of {together} at a time" if together > 1 else ""
    ax.set_xlabel(f"run, in the order in which they started{each}")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    _upwards(ax, partial(_with_unit, unit=trend["unit"]))
    draw_legend(ax)


def _with_unit(value: float, _place: object = None, *, unit: str) -> str:
    return text.FILTERS[unit](value) if unit in ("duration", "size") else short(value)


GREY, BAND, BAD, ACTION = "#8a93a1", "#f0b445", "#b42624", "#2857c4"
MIN_POINTS = 9.0  # of type, as printed
SERIES_MAX = 8  # lines that an eye can tell apart on paper
LEGEND_CHARS = {False: 18, True: 24}  # of a name in a legend, by whether the plot has the whole width
LABELS_MAX = 40
FEW_DECADES = 2.0
# The page's; one message must be seen on white paper.
_HEAT = LinearSegmentedColormap.from_list("heat", ["#c9d6f8", "#8aa5ee", "#3b4fb8", "#1c1f5c"])


Floats = np.ndarray[Any, np.dtype[np.float64]]


class Plot(NamedTuple):
    """A plot with its file name; `inches` is its printed height, `whole` gives it the whole width of a page."""

    name: str
    title: str
    draw: Callable[[Axes], None]
    inches: float = 2.36
    whole: bool = False


def plots(data: Data) -> list[Plot]:
    return list(_all(data))


def overview(data: Data) -> Plot | None:
    """The session on one time axis, as the page begins; None if nothing of it was made."""
    shown = any(data["overview"].values())
    return Plot("overview", "The session over time", partial(_overview, data=data), 2.1, True) if shown else None


def _overview(ax: Axes, data: Data) -> None:
    """Published messages a second; how far readers were behind, on an axis of its own; deaths at the upper edge."""
    over_time(ax, data)
    told, times = data["overview"], _times(data)
    drawn: list[Any] = []
    if told["published"]:
        rate = _values(told["published"])
        ax.fill_between(times, rate, color=LIGHT_HUES[0], alpha=0.14, linewidth=0)
        drawn += _line(ax, (times, rate), "Published a second", 0)
    _upwards(ax, short, "messages/s")
    behind = [
        (name, told[value], colour)
        for name, value, colour in (("Lag", "lag", "#8a5200"), ("Waiting in queues", "waiting", "#6b4fbb"))
        if any(told[value])
    ]
    if behind:
        right = ax.twinx()
        for name, values, colour in behind:
            drawn += right.plot(times, _values(values), label=name, color=colour, linewidth=1.1)
        _upwards(right, short, "messages behind")
        right.grid(visible=False)
        right.spines["right"].set_visible(True)
    deaths = [at for at, count in zip(times, told["dead"], strict=False) if count]
    if deaths:
        drawn += ax.plot(
            deaths, [1.0] * len(deaths), "v", color=BAD, markersize=4, clip_on=False, label="Dead letters",
            transform=ax.get_xaxis_transform(),
        )  # fmt: skip
    drawn += [Patch(color=BAND, alpha=0.4, label="Rebalances")] if data["rebalances"] else []
    for label, colour, users in (("Faults", BAD, False), ("Actions", ACTION, True)):
        if any((one["kind"] == "user_action") is users for one in data["markers"]):
            drawn.append(Line2D([], [], color=colour, linewidth=0.8, alpha=0.7, label=label))
    draw_legend(ax, drawn)


def _all(data: Data) -> Iterator[Plot]:
    for what, series in data["throughput"].items():
        if series:
            yield _over(
                data, f"throughput-by-{what}", f"Messages per second by {what}", series, "messages", "messages/s"
            )
    if topics := data["throughput"]["topic"]:
        yield _over(data, "bytes-by-topic", "Bytes per second by topic", topics, "bytes", "KiB/s", KIB)
    for measure, lines in data["latency_over_time"].items():
        title = f"Publish to {measure}: percentiles over time"
        yield Plot(f"latency-over-time-{measure}", title, partial(_latency, data=data, lines=lines))
    if curves := data["latency_curve"]:
        yield Plot("latency-by-percentile", "Latency by percentile", partial(_curve, curves=curves))
    for measure, heat in data["latency_heat"].items():
        title = f"Publish to {measure}: how many messages took how long"
        yield Plot(f"latency-heat-{measure}", title, partial(_heat, data=data, heat=heat))
    lag, busy = (partial(_rows_of_time, data=data, name=name) for name in ("lag", "busy"))
    yield from _by_rows("lag", "Consumer lag by partition", data["lag"], lag)
    yield from _by_rows(
        "ownership", "Who owned which partition", data["ownership"]["rows"], partial(_ownership, data=data)
    )
    yield from _by_rows("consumers", "How busy each consumer was", data["busy"], busy)
    if queues := data["queues"]:
        yield _over(data, "queues", "Messages waiting in queues", queues, "waiting", "messages")
        yield _over(data, "in-flight", "Messages in flight", queues, "in_flight", "messages")
    attempts, dead = data["attempts"], data["dead_letters"]
    yield from _by_rows("attempts", "How deliveries ended, by attempt", attempts, partial(_attempts, rows=attempts))
    yield from _by_rows("dead-letters", "Dead letters by cause", dead, partial(_dead, rows=dead))
    if held := data["backpressure"]:
        yield _over(data, "backpressure", "Producers held back", held, "blocked", "producers, on average")
    for topic in data["partitions"]:
        title = f"Messages by partition of {topic['name']}"
        yield Plot(f"partitions-{topic['name']}", title, partial(_partitions, topic=topic))


def _by_rows(name: str, title: str, rows: Sequence[Any], draw: Callable[[Axes], None]) -> Iterator[Plot]:
    if rows:
        yield Plot(name, title, draw, 1.4 + 0.165 * min(len(rows), LABELS_MAX), True)


def _over(data: Data, name: str, title: str, series: Sequence[Data], value: str, unit: str, of_unit: int = 1) -> Plot:
    return Plot(name, title, partial(_lines, data=data, series=series, value=value, unit=unit, of_unit=of_unit))


def short(value: float, _place: object = None) -> str:
    """12.3k for 12,300."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"


def milliseconds(value: float, _place: object = None) -> str:
    """12.3 s for 12,300; never minutes: beside 10 s, 100 s is read at once and 1 min 40 s is not."""
    return f"{value / 1e3:,.0f} s" if value >= 99_950 else printable(text.duration(value * 1e6))


def over_time(ax: Axes, data: Data) -> None:
    """Time below, rebalances as bands, faults and actions as lines."""
    ax.set_xlim(data["from_s"], max(data["to_s"], data["from_s"] + 1e-9))
    # With the digits that tell one tick from the next.
    digits = max(0, math.ceil(-math.log10(max(data["to_s"] - data["from_s"], 1e-9) / 8) - 1e-9))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _place: text.clock(seconds * 1e9, digits)))
    ax.xaxis.set_major_locator(MaxNLocator(9 if is_whole(ax) else 4, steps=[1, 1.5, 2, 3, 5, 6, 10]))
    ax.set_xlabel("session time")
    for band in data["rebalances"]:
        end = data["to_s"] if band["to"] is None else band["to"]
        ax.axvspan(band["from"], end, color=BAND, alpha=0.25, linewidth=0, zorder=0)
    for marker in data["markers"]:
        ax.axvline(
            marker["at"], color=BAD if marker["kind"] != "user_action" else ACTION, linewidth=0.6, alpha=0.45, zorder=0
        )


def _times(data: Data) -> Floats:
    return data["from_s"] + (np.arange(data["buckets"]) + 0.5) * data["width_s"]


def _values(series: Sequence[float | None]) -> Floats:
    return np.array(series, dtype=np.float64)


def _colour(hue: int) -> str:
    return GREY if hue == OTHERS else LIGHT_HUES[hue % HUES]


def _line(ax: Axes, points: Sequence[Floats] | Floats, label: str, hue: int, **more: Any) -> list[Line2D]:
    style: dict[str, Any] = {"color": _colour(hue), "linewidth": 0.9, **more}
    return ax.plot(*points, label=label, **style)


def _upwards(ax: Axes, form: Callable[..., str], unit: str | None = None) -> None:
    if unit is not None:
        ax.set_ylabel(unit)
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(FuncFormatter(form))


def _logarithmic(ax: Axes) -> None:
    """Milliseconds upwards, with names of our own at powers of ten, and between them if there are few."""
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    few = low > 0 and math.log10(high / low) < FEW_DECADES
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    ax.yaxis.set_major_formatter(FuncFormatter(milliseconds))
    ax.yaxis.set_minor_formatter(NullFormatter())


def is_whole(ax: Axes) -> bool:
    return bool(ax.get_figure(root=True).get_figwidth() > 4)  # type: ignore[union-attr]


def draw_legend(ax: Axes, handles: Sequence[Artist] | None = None) -> None:
    """Draws the legend above the plot: one line has room for two names, or four."""
    shown = {"handles": handles} if handles is not None else {}
    columns = 4 if is_whole(ax) else 2
    ax.legend(
        **shown,
        frameon=False,
        ncols=columns,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        borderaxespad=0.1,
        labelspacing=0.25,
        columnspacing=1.2,
        handlelength=1.2,
        handletextpad=0.5,
    )


def legend_rows(ax: Axes) -> int:
    legend = ax.get_legend()
    return 0 if legend is None else -(-len(legend.get_texts()) // (4 if is_whole(ax) else 2))


def few(series: Sequence[Data], value: str) -> list[Data]:
    """The largest, and the others as their sum if there are more than `SERIES_MAX`."""
    if len(series) <= SERIES_MAX:
        return list(series)
    order = sorted(series, key=lambda one: (one.get("hue") == OTHERS, -sum(filter(None, one[value]))))
    rest = order[SERIES_MAX - 1 :]
    summed = [sum(filter(None, values)) for values in zip(*(one[value] for one in rest), strict=True)]
    return [*order[: SERIES_MAX - 1], {"name": f"{len(rest)} others", "hue": OTHERS, value: summed}]


def _lines(ax: Axes, data: Data, series: Sequence[Data], value: str, unit: str, of_unit: int) -> None:
    over_time(ax, data)
    times = _times(data)
    for place, one in enumerate(few(series, value)):
        name = plain(one["name"], LEGEND_CHARS[is_whole(ax)])
        _line(ax, (times, _values(one[value]) / of_unit), name, one.get("hue", place))
    _upwards(ax, short, unit)
    draw_legend(ax)


def _above_0(values: Floats) -> Floats:
    """A duration of 0, possible in virtual time, has no place on a logarithmic axis: a gap is drawn."""
    return np.where(values > 0, values, np.nan)


def _latency(ax: Axes, data: Data, lines: Sequence[Sequence[float]]) -> None:
    over_time(ax, data)
    times, *percentiles = np.array(lines, dtype=np.float64).T
    for place, name in enumerate(("p50", "p90", "p99", "p99.9", "max")):
        _line(ax, (times, _above_0(percentiles[place])), name, place)
    _logarithmic(ax)
    draw_legend(ax)


def _curve(ax: Axes, curves: Mapping[str, Sequence[Sequence[float]]]) -> None:
    for place, (name, points) in enumerate(curves.items()):
        rarer, durations = np.array(points, dtype=np.float64).T
        _line(ax, (rarer, _above_0(durations)), plain(name, LEGEND_CHARS[False]), place, linewidth=1.0)
    ax.set_xscale("log")
    _logarithmic(ax)
    ax.set_xticks([1, 10, 100, 1_000, 10_000], ["0", "90", "99", "99.9", "99.99"])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("percentile of messages")
    draw_legend(ax)


def _heat(ax: Axes, data: Data, heat: Data) -> None:
    over_time(ax, data)
    rows = len(heat["labels"])
    grid = np.full((rows, data["buckets"]), np.nan)
    for at, level, messages in heat["cells"]:
        grid[level, at] = messages
    image = ax.imshow(
        grid,
        origin="lower",
        interpolation="nearest",
        aspect="auto",
        cmap=_HEAT,
        norm="log",
        extent=(data["from_s"], data["from_s"] + data["buckets"] * data["width_s"], -0.5, rows - 0.5),
    )
    _name_durations(ax, heat["labels"], bool(heat["has_zero"]))
    _colour_scale(ax, image, "messages, logarithmic")


def _name_durations(ax: Axes, labels: Sequence[float], has_zero: bool) -> None:
    """Ticks at powers of ten, or 1, 2 and 5 if they are few. Row r begins at `labels[r]` milliseconds and at r - 0.5 on
    the axis. What took no time is in the row at the bottom, below an empty one.
    """
    first = 2 if has_zero else 0
    places, names = ([0.0], ["at once"]) if has_zero else ([], [])
    if len(labels) > first:
        low, high = (math.log10(labels[row]) for row in (first, -1))
        steps = (1, 2, 5) if high - low < FEW_DECADES else (1,)
        for decade in range(math.floor(low), math.ceil(high) + 1):
            for step in steps:
                place = (decade + math.log10(step) - low) * HEAT_STEPS_PER_DECADE + first - 0.5
                if first - 0.6 < place < len(labels) - 0.4:
                    places.append(place)
                    names.append(milliseconds(step * 10.0**decade))
    ax.set_yticks(places, names)


def _rows_of_time(ax: Axes, data: Data, name: str) -> None:
    """Lag, or how busy consumers were: colours in a row for each."""
    over_time(ax, data)
    names, grid = [row["name"] for row in data[name]], np.array([_values(row[name]) for row in data[name]])
    most, colours, unit = 1.0, "Greens", "share of the time"
    if name == "lag":
        most, colours, unit = float(np.nanmax(grid)) if np.isfinite(grid).any() else 1.0, "Oranges", "messages behind"
    end_s = data["from_s"] + data["buckets"] * data["width_s"]
    extent = (data["from_s"], end_s, len(names) - 0.5, -0.5)
    image = ax.imshow(grid, aspect="auto", cmap=colours, vmin=0, vmax=most or 1, extent=extent, interpolation="nearest")
    _name_rows(ax, names)
    _colour_scale(ax, image, unit)


def _colour_scale(ax: Axes, image: AxesImage, unit: str) -> None:
    scale = ax.figure.colorbar(image, ax=ax, pad=0.01, format=FuncFormatter(short))
    scale.ax.yaxis.set_minor_formatter(NullFormatter())
    scale.set_label(unit)


def _name_rows(ax: Axes, names: Sequence[str]) -> None:
    step = max(1, -(-len(names) // LABELS_MAX))
    ax.set_yticks(range(0, len(names), step), [plain(name, 28) for name in names[::step]])


def _ownership(ax: Axes, data: Data) -> None:
    over_time(ax, data)
    found = data["ownership"]
    boxes = [Rectangle((start, row - 0.4), end - start, 0.8) for row, start, end, *_ in found["spans"]]
    colours = [_colour(found["hues"][client]) for _row, _start, _end, client, _generation in found["spans"]]
    ax.add_collection(PatchCollection(boxes, facecolors=colours, edgecolors="white", linewidths=0.3))
    ax.set_ylim(len(found["rows"]) - 0.5, -0.5)
    _name_rows(ax, found["rows"])
    clients = list(zip(found["clients"], found["hues"], strict=True))
    shown = clients if len(clients) <= SERIES_MAX else clients[: SERIES_MAX - 1]
    handles = [Patch(color=_colour(hue), label=plain(name, LEGEND_CHARS[True])) for name, hue in shown]
    if len(shown) < len(clients):
        handles.append(Patch(color="none", label=f"{len(clients) - len(shown)} more owners"))
    draw_legend(ax, handles)


def _bars(ax: Axes, names: Sequence[str], parts: Sequence[tuple[str, Sequence[float], str]]) -> None:
    left = np.zeros(len(names))
    for name, values, colour in parts:
        ax.barh(range(len(names)), values, left=left, label=name, color=colour, height=0.7)
        left += np.array(values, dtype=np.float64)
    ax.invert_yaxis()
    ax.set_yticks(range(len(names)), [plain(name, 44) for name in names])
    ax.xaxis.set_major_formatter(FuncFormatter(short))
    ax.set_xlabel("messages")
    draw_legend(ax)


def _attempts(ax: Axes, rows: Sequence[Data]) -> None:
    kinds = (("acknowledged", "#17703f"), ("nacked", "#b42624"), ("released", "#475569"), ("lease_expired", "#b45309"))
    parts = [(kind.replace("_", " "), [row[kind] for row in rows], colour) for kind, colour in kinds]
    _bars(ax, [row["name"] for row in rows], parts)


def _dead(ax: Axes, rows: Sequence[Data]) -> None:
    left = [max(0, row["dead"] - row["redriven"]) for row in rows]
    parts = [("redriven", [row["redriven"] for row in rows], "#17703f"), ("still dead", left, "#b42624")]
    _bars(ax, [f"{row['group']}: {row['cause']}" for row in rows], parts)


def _partitions(ax: Axes, topic: Data) -> None:
    ax.bar(range(len(topic["partitions"])), topic["messages"], color=LIGHT_HUES[0])
    step = max(1, len(topic["partitions"]) // 12)
    shown = range(0, len(topic["partitions"]), step)
    ax.set_xticks(list(shown), [str(topic["partitions"][place]) for place in shown])
    ax.set_xlabel("partition")
    _upwards(ax, short, "messages")


def printable(words: str) -> str:
    """Without anything that no font has."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text.bare(words))


def plain(words: str, most: int = 60) -> str:
    """Data on one short line, without anything that cannot be printed."""
    shown = printable(str(words)).replace("\n", "?")
    return shown if len(shown) <= most else shown[: most - 1] + "…"
