"""The report on paper: every plot that the page has, names shown as they are, one file each, one PDF."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from spark_reports.findings.finding import BAD, GOOD, Finding
from spark_reports.findings.verdict import Summary
from spark_reports.paper import paper
from spark_reports.paper.cells import printed
from spark_reports.paper.paper import (
    HALF_INCHES,
    ROWS_MAX,
    WHOLE_INCHES,
    Paper,
    _draw,
    _styled,
    write_pdf,
    write_pictures,
)
from spark_reports.paper.plots import Plot, few, overview, plain, plots, printable

HOSTILE = "$\\frac{1}{0}$ <b>\u202eevil</b>\x00\n../../etc"


def page_data(name: str = "orders") -> dict[str, Any]:
    series = [{"name": name, "messages": [1.0, 2.0, 3.0], "bytes": [10.0, 20.0, 30.0]}]
    return {
        "width_s": 1.0,
        "buckets": 3,
        "from_s": 0.0,
        "to_s": 3.0,
        "rebalances": [{"from": 0.5, "to": None, "group": name, "cause": "joined", "stopped": 1}],
        "markers": [{"at": 1.0, "kind": "fault", "text": name}],
        "overview": {"published": [1, 2, 3], "lag": [None, 3, 4], "waiting": [0, 0, 0], "dead": [0, 2, 0]},
        "throughput": {"topic": series, "partition": series, "producer": [], "consumer": series},
        "latency_over_time": {"delivered": [[0.5, 0.0, 1, 2, 3, 4], [1.5, 1, 2, 3, 4, 5]]},
        "latency_curve": {"delivered": [[1, 0.0], [2, 1.0], [100, 9.0]]},
        "latency_heat": {
            "delivered": {"cells": [[0, 0, 5], [1, 2, 7]], "labels": [0.001, 0.01, 0.1], "has_zero": True}
        },
        "lag": [{"name": f"{name}/0", "lag": [None, 3, 4]}],
        "ownership": {
            "rows": [f"{name}/0"],
            "groups": ["g"],
            "clients": [name],
            "hues": [0],
            "spans": [[0, 0.5, 3.0, 0, 1]],
        },
        "busy": [{"name": name, "busy": [0.1, 0.5, 1.0], "in_hand": [1, 2, 3]}],
        "queues": [{"name": name, "waiting": [1, 2, 3], "in_flight": [0, 1, 0]}],
        "attempts": [{"name": name, "acknowledged": 5, "nacked": 1, "released": 0, "lease_expired": 2}],
        "dead_letters": [{"cause": name, "group": name, "dead": 3, "redriven": 1}],
        "backpressure": [{"name": name, "blocked": [0, 0.5, 1], "rejected": [0, 0, 0], "dropped": [0, 0, 0]}],
        "partitions": [{"name": name, "partitions": [0, 1], "messages": [5, 6], "share": [0.4, 0.6]}],
    }


def empty_data() -> dict[str, Any]:
    blank = {key: type(value)() for key, value in page_data().items() if isinstance(value, dict | list)}
    blank["throughput"] = {"topic": [], "partition": [], "producer": [], "consumer": []}
    blank["ownership"] = {"rows": [], "groups": [], "clients": [], "hues": [], "spans": []}
    return {**page_data(), **blank}


def only(*names: str) -> dict[str, Any]:
    """The data of some plots: drawing one takes a quarter of a second."""
    return empty_data() | {name: page_data()[name] for name in names}


def paper_of(data: dict[str, Any], rows: int = 3) -> Paper:
    findings = [Finding(BAD, f"Lost {HOSTILE}", "A " * 200, "audit", 5), Finding(GOOD, "All is well", "", "audit")]
    tables = [printed("Totals", [{"name": HOSTILE, "pause_ns": 2_500_000, "ok": True} for _ in range(rows)])]
    return Paper(
        "First session", "seed 7", [("Published", "7,687")], findings * 12, tables, [("", p) for p in plots(data)]
    )


def test_every_kind_of_plot_is_drawn_and_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "PICTURE_DPI", 48)
    written = write_pictures(paper_of(page_data()), tmp_path / "pictures")
    names = [path.stem for path in written]
    assert len(set(names)) == len(names) == 16
    assert {"lag", "ownership", "latency-heat-delivered", "partitions-orders", "throughput-by-topic"} <= set(names)
    for path in written:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 4_000


def test_names_are_data_in_files_and_on_paper(tmp_path: Path) -> None:
    """A name is never a formula, never a path, never more than its place."""
    hostile = paper_of(only() | {"partitions": page_data(HOSTILE)["partitions"]})
    (path,) = write_pictures(hostile, tmp_path / "pictures")
    assert path.parent == tmp_path / "pictures"
    assert write_pdf(paper_of(page_data(HOSTILE)), tmp_path / "report.pdf") == []
    assert plain("a\nb\x00" + "c" * 100, 10) == "a?b?ccccc…"


def words_of(path: Path) -> str:
    """What a reader of the PDF can copy out of it."""
    told = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True)
    return told.stdout


needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="reads the PDF with poppler")


def test_the_pdf_is_tagged(tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    write_pdf(paper_of(only("lag"), rows=ROWS_MAX + 5), path)
    data = path.read_bytes()
    assert data.startswith(b"%PDF") and b"/StructTreeRoot" in data and b"/Marked true" in data


@needs_poppler
def test_the_pdf_has_findings_plots_and_tables_in_words(tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    write_pdf(paper_of(page_data(HOSTILE), rows=3), path)
    words = words_of(path)
    assert "Lost $\\frac{1}{0}$ <b>" in words, "a name is no markup"
    assert "All is well" in words and "Totals" in words and "2.5 ms" in words
    assert "mathdefault" not in words and words.count("\f") <= 8


@needs_poppler
def test_a_table_is_on_one_page_unless_it_is_long(tmp_path: Path) -> None:
    tables = [printed(f"Table {each}", [{"row": f"{each}.{row}"} for row in range(25)]) for each in "abcdef"]
    write_pdf(replace(paper_of(only()), tables=tables), tmp_path / "report.pdf")
    pages = words_of(tmp_path / "report.pdf").split("\f")
    for each in "abcdef":
        assert [f"{each}.24" in page for page in pages] == [f"Table {each}" in page for page in pages]


@needs_poppler
def test_the_pdf_begins_with_its_verdict_and_the_session_over_time(tmp_path: Path) -> None:
    def fail(_axes: object) -> None:
        raise ValueError("no axis")

    answer = Summary(BAD, f"3 messages were lost in {HOSTILE}.")
    first = replace(paper_of(only()), verdict=answer, overview=Plot("overview", "The session over time", fail))
    assert write_pdf(first, tmp_path / "report.pdf") == [
        "The session over time: This plot could not be drawn: no axis."
    ]
    words = words_of(tmp_path / "report.pdf")
    places = [words.index(each) for each in ("3 messages were lost in", "Published", "no axis", "Findings")]
    assert places == sorted(places)
    assert write_pdf(replace(first, overview=overview(page_data())), tmp_path / "report.pdf") == []


def test_the_session_over_time_names_what_it_shows_and_nothing_else() -> None:
    def legend(data: dict[str, Any]) -> list[str]:
        shown = overview(data)
        assert shown is not None
        found = drawn(shown).axes[0].get_legend()
        return [] if found is None else [text.get_text() for text in found.get_texts()]

    assert legend(page_data()) == ["Published a second", "Lag", "Dead letters", "Rebalances", "Faults"]
    quiet = page_data() | {"rebalances": [], "markers": [{"at": 1.0, "kind": "user_action", "text": ""}]}
    quiet["overview"] = {"published": [1, 2, 3], "lag": [], "waiting": [0, 4, 0], "dead": [0, 0, 0]}
    assert legend(quiet) == ["Published a second", "Waiting in queues", "Actions"]
    nothing: dict[str, Any] = {"published": [], "lag": [], "waiting": [], "dead": []}
    assert overview(page_data() | {"overview": nothing}) is None


def drawn(plot: Plot) -> Figure:
    """As on paper."""
    with _styled():
        figure = Figure(figsize=(WHOLE_INCHES if plot.whole else HALF_INCHES, plot.inches))
        canvas = FigureCanvasAgg(figure)
        _draw(figure.subplots(), "", plot)
        canvas.draw()
    return figure


def _texts(plot: Plot) -> list[str]:
    return [text.get_text() for text in drawn(plot).findobj(Text)]


@pytest.mark.parametrize("lines", [[[0.5, 60_000.0, 61_000, 70_000, 80_000, 81_000]], [[0.5, 1, 20, 300, 4000, 5000]]])
def test_no_tick_is_a_formula(lines: list[list[float]]) -> None:
    """Where an axis spans less than a decade, and where it spans many."""
    data = only() | {"latency_over_time": {"delivered": lines}}
    data["latency_curve"] = {"delivered": [[1, lines[0][1]], [2, lines[0][2]], [100, lines[0][5]]]}
    for plot in plots(data):
        words = _texts(plot)
        assert not [word for word in words if "$" in word or "math" in word], plot.name
        if plot.name.startswith("latency-over"):
            assert len([word for word in words if word.endswith((" s", " ms"))]) >= 2


def test_colours_are_told_with_their_unit() -> None:
    said = {plot.name: _texts(plot) for plot in plots(only("latency_heat", "lag", "busy"))}
    assert "messages, logarithmic" in said["latency-heat-delivered"]
    assert "messages behind" in said["lag"] and "share of the time" in said["consumers"]


def test_a_session_in_which_nothing_happened_still_prints(tmp_path: Path) -> None:
    assert plots(empty_data()) == []
    write_pdf(paper_of(empty_data(), rows=0), tmp_path / "report.pdf")
    assert write_pictures(paper_of(empty_data()), tmp_path / "pictures") == []


def test_what_took_no_time_leaves_a_gap_on_a_logarithmic_axis() -> None:
    plot = next(plot for plot in plots(page_data()) if plot.name == "latency-over-time-delivered")
    figure = Figure()
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    plot.draw(axes)
    p50: Any = axes.get_lines()[1].get_ydata()  # the first line is the marker of the fault
    assert str(p50[0]) == "nan"
    assert p50[1] == 1


def ticks_of_heat(first: int, last: int, *, has_zero: bool) -> tuple[list[float], list[str]]:
    """Places and names on the axis of a heat map whose rows begin at 10 to the eighths from `first` to `last` ns."""
    empty = [0.0, 0.0] if has_zero else []
    heat = {
        "cells": [[0, 0, 5], [1, last - first, 7]],
        "labels": [*empty, *(10 ** (row / 8) / 1e6 for row in range(first, last + 1))],
        "has_zero": has_zero,
    }
    plot = next(plot for plot in plots(page_data() | {"latency_heat": {"delivered": heat}}) if "heat" in plot.name)
    figure = Figure()
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    plot.draw(axes)
    return [float(place) for place in axes.get_yticks()], [label.get_text() for label in axes.get_yticklabels()]


@pytest.mark.parametrize("first", range(40, 48))
def test_a_heat_map_names_each_power_of_ten_and_nothing_between(first: int) -> None:
    """At even distances, wherever its rows begin, and the place is where that duration begins."""
    places, names = ticks_of_heat(first, first + 40, has_zero=False)
    decades = ["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"]
    assert names == decades[first > 40 : 7 if first == 47 else 6]
    assert [round(after - before, 6) for before, after in pairwise(places)] == [8.0] * (len(places) - 1)
    assert places[-1] == pytest.approx((88 if first == 47 else 80) - first - 0.5)


def test_a_heat_map_of_few_decades_counts_one_two_five() -> None:
    _places, names = ticks_of_heat(48, 59, has_zero=False)
    assert names == ["1 ms", "2 ms", "5 ms", "10 ms", "20 ms"]


def test_what_took_no_time_has_a_row_of_its_own_on_the_heat_map() -> None:
    places, names = ticks_of_heat(48, 80, has_zero=True)
    assert names == ["at once", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]
    assert places[:2] == [0.0, pytest.approx(1.5)]


def test_durations_on_paper_have_their_units() -> None:
    for name in ("latency-over-time-delivered", "latency-by-percentile"):
        plot = next(plot for plot in plots(page_data()) if plot.name == name)
        axes = Figure().subplots()
        plot.draw(axes)
        assert [axes.yaxis.get_major_formatter()(value) for value in (0.25, 10_000, 1e6)] == [
            "250 µs", "10 s", "1,000 s",
        ]  # fmt: skip


def test_what_ties_a_number_to_its_unit_is_a_space_on_paper() -> None:
    """The fonts of paper need no sign for it, and a reader sees no question mark."""
    assert printable("118\u00a0ms\x00") == plain("118\u00a0ms\x00") == "118 ms?"


@pytest.mark.parametrize("count", [1, 60])
def test_many_rows_keep_to_the_sheet(count: int, tmp_path: Path) -> None:
    data = page_data()
    data["lag"] = [{"name": f"orders/{number}", "lag": [1, 2, 3]} for number in range(count)]
    plot = next(plot for plot in plots(data) if plot.name == "lag")
    assert 1.5 < plot.inches <= 8.0


def test_on_paper_type_is_at_least_nine_points_and_a_legend_has_at_most_eight_lines() -> None:
    series = 11
    lines = [{"name": f"topic-{n}", "hue": n, "messages": [n, 2.0, 3.0], "bytes": [n, 1, 1]} for n in range(series)]
    data = only("lag", "backpressure", "latency_heat")
    data["throughput"] = {"topic": lines, "partition": [], "producer": [], "consumer": []}
    data["ownership"] = page_data()["ownership"] | {
        "clients": [f"client-{n}" for n in range(series)],
        "hues": list(range(series)),
    }
    for plot in plots(data):
        figure = drawn(plot)
        sizes = {round(float(text.get_fontsize()), 1) for text in figure.findobj(Text) if text.get_text()}
        assert min(sizes) >= 9, plot.name
        legend = figure.axes[0].get_legend()
        entries = [] if legend is None else [text.get_text() for text in legend.get_texts()]
        assert len(entries) <= 8, plot.name
        if plot.name == "throughput-by-topic":
            assert len(entries) == 8 and "4 others" in entries


def test_what_others_are_is_their_sum() -> None:
    lines = [{"name": str(n), "hue": n, "messages": [float(n), 1.0]} for n in range(10)]
    kept = few(lines, "messages")
    assert [one["name"] for one in kept] == [*"9876543", "3 others"]
    assert kept[-1]["messages"] == [0 + 1 + 2, 3]


@needs_poppler
def test_a_plot_that_cannot_be_drawn_costs_only_itself(tmp_path: Path) -> None:
    def fail(_axes: object) -> None:
        raise ValueError("math domain error")

    broken = replace(paper_of(only()), plots=[("", Plot("lag", "Consumer lag", fail))])
    failed = write_pdf(broken, tmp_path / "report.pdf")
    assert failed == ["Consumer lag: This plot could not be drawn: math domain error."]
    words = words_of(tmp_path / "report.pdf")
    assert "This plot could not be drawn: math domain error." in words
    assert "All is well" in words
