from __future__ import annotations

import json
import re
import shutil
import tempfile
import textwrap
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import resources
from spark_reports.findings.finding import Finding
from spark_reports.findings.remedies import remedy_of
from spark_reports.findings.verdict import Summary
from spark_reports.output.delivery import PICTURE_MARK
from spark_reports.paper.cells import PrintedTable
from spark_reports.paper.plots import MIN_POINTS, Plot, legend_rows, plain, printable

PICTURE_INCHES = 10.0
PICTURE_DPI = 144
PRINT_DPI = 300
HALF_INCHES, WHOLE_INCHES = 3.44, 7.08  # a column of two, and both, of A4 with `paper.typ`'s margins: drawn as printed
ROWS_MAX = 400
CELL_CHARS = 80
TITLE_CHARS = 40  # in half of the width
LONG_CHARS = 24  # longer words break their line

_STYLE: dict[str, Any] = {
    "font.size": MIN_POINTS,
    "legend.fontsize": MIN_POINTS,
    "font.family": ["Inter", "DejaVu Sans"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.4,
    "axes.linewidth": 0.6,
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Paper:
    """Everything that is printed. `figures` are (label, value) pairs, `plots` are made when they are drawn."""

    title: str
    about: str
    figures: Sequence[tuple[str, str]]
    findings: Sequence[Finding]
    tables: Sequence[PrintedTable]
    plots: Sequence[tuple[str, Plot]]
    """(heading, plot); the heading names the session where there are several."""
    tables_first: bool = False
    verdict: Summary | None = None
    overview: Plot | None = None


def write_pdf(paper: Paper, path: Path) -> list[str]:
    """Write one tagged PDF. Returns a sentence for each plot that could not be drawn. Raises OSError."""
    import typst

    with tempfile.TemporaryDirectory(prefix="brokerscope-paper-") as folder:
        work = Path(folder)
        shutil.copy(resources.path("report") / "paper.typ", work)
        with _styled():
            plots = [_written(one, work / f"plot-{number}.svg") for number, one in enumerate(paper.plots)]
            first = [_written(("", one), work / "overview.svg") for one in (paper.overview,) if one is not None]
        (work / "paper.json").write_text(json.dumps(_told(paper, plots) | {"overview": first}), encoding="utf-8")
        fonts = [resources.path("fonts"), Path(mpl.get_data_path()) / "fonts" / "ttf"]
        path.write_bytes(typst.compile(work / "paper.typ", root=work, font_paths=fonts, format="pdf"))
    return [f"{plot['title']}: {plot['failed']}" for plot in (*first, *plots) if plot["failed"]]


def _written(one: tuple[str, Plot], path: Path) -> dict[str, Any]:
    """A plot as SVG, with the words that describe it; a sentence in its place if it cannot be drawn."""
    heading, plot = one
    told = {"title": printable(_title(heading, plot)), "file": "", "failed": "", "whole": plot.whole}
    try:
        width = WHOLE_INCHES if plot.whole else HALF_INCHES
        figure = Figure(figsize=(width, plot.inches), layout="constrained")
        _draw(figure.subplots(), heading, plot)
        figure.savefig(path, format="svg", dpi=PRINT_DPI, metadata={"Date": None})
    except Exception as error:
        traceback.print_exc()  # into the report's log
        return told | {"failed": printable(f"This plot could not be drawn: {error}.")}
    return told | {"file": path.name}


def _told(paper: Paper, plots: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "title": printable(paper.title),
        "about": printable(paper.about),
        "verdict": None if paper.verdict is None else [paper.verdict.level, printable(paper.verdict.sentence)],
        "figures": [[label, printable(value)] for label, value in paper.figures],
        "findings": [_finding(one) for one in paper.findings],
        "tables": [_table(one) for one in paper.tables if one.rows],
        "plots": plots,
        "tables_first": paper.tables_first,
    }


def _finding(one: Finding) -> dict[str, str]:
    remedy = remedy_of(one)
    settings = (remedy.here, remedy.kafka, remedy.rabbitmq, remedy.sqs) if remedy else ("",) * len(_ELSEWHERE)
    return {
        "level": one.level,
        "headline": printable(one.headline),
        "detail": printable(f"{one.detail} {one.why}".strip()),
        "harm": printable(one.harm.words()),
        "advice": printable(remedy.advice if remedy else ""),
        "settings": "   ".join(f"{place}: {told}" for place, told in zip(_ELSEWHERE, settings, strict=True) if told),
    }


_ELSEWHERE = ("Here", "Kafka", "RabbitMQ", "SQS")


def _table(table: PrintedTable) -> dict[str, Any]:
    """Numbers end below each other; a column of long words takes what the others leave, as many times as it is long."""
    rows = [[plain(cell, CELL_CHARS) for cell in row] for row in table.rows[:ROWS_MAX]]
    columns = [plain(name, CELL_CHARS) for name in table.columns]
    longest = [max(len(line[place]) for line in (columns, *rows)) for place in range(len(columns))]
    more = len(table.rows) > ROWS_MAX
    return {
        "title": table.title,
        "note": f"The first {ROWS_MAX} of {len(table.rows):,} rows; all are in the tables." if more else "",
        "columns": columns,
        "rows": rows,
        "right": [are_numbers([row[place] for row in rows]) for place in range(len(columns))],
        "widths": [length if length > LONG_CHARS else 0 for length in longest],
    }


def write_pictures(paper: Paper, folder: Path) -> list[Path]:
    """A PNG of each plot, and their paths. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    taken: set[str] = set()
    with _styled():
        for heading, plot in paper.plots:
            figure = Figure(figsize=(PICTURE_INCHES, 1.3 * plot.inches), layout="constrained")
            FigureCanvasAgg(figure)
            _draw(figure.subplots(), heading, plot)
            path = folder / f"{_file_name(heading, plot, taken)}.png"
            figure.savefig(path, dpi=PICTURE_DPI, metadata={"Software": PICTURE_MARK})
            written.append(path)
    return written


def _styled() -> Any:
    from matplotlib import font_manager

    for path in sorted(resources.path("fonts").glob("*.[ot]tf")):
        font_manager.fontManager.addfont(str(path))
    return mpl.rc_context(cast(Any, _STYLE))


def _title(heading: str, plot: Plot) -> str:
    return f"{heading}: {plot.title}" if heading else plot.title


def _draw(axes: Any, heading: str, plot: Plot) -> None:
    title = _title(heading, plot)
    plot.draw(axes)
    # Room for the legend, which stands between the title and the plot.
    axes.set_title(
        "\n".join(textwrap.wrap(plain(title, 110), TITLE_CHARS * (2 if plot.whole else 1))),
        loc="left",
        fontsize=MIN_POINTS + 0.5,
        fontweight="bold",
        pad=7 + 14 * legend_rows(axes),
    )


def are_numbers(cells: Iterable[str]) -> bool:
    """Whether all of them are numbers with their units, or stand where one is missing."""
    told = [cell for cell in cells if cell not in _NO_NUMBERS]
    return bool(told) and all(_NUMBER.fullmatch(cell) for cell in told)


_NO_NUMBERS = frozenset({"", "-", "n/a", "same"})
_UNIT = r" (?:[a-zA-Zµ%][a-zA-Zµ%/]*)"
_NUMBER = re.compile(rf"[-+×]?\d[\d,.]*(?:{_UNIT}(?: \d+{_UNIT})?)?(?:, \w+)?|below [\d.]+ %")


def _file_name(heading: str, plot: Plot, taken: set[str]) -> str:
    base = (
        re.sub(r"[^A-Za-z0-9._-]+", "-", f"{heading}-{plot.name}" if heading else plot.name).strip("-.")[:100] or "plot"
    )
    name, number = base, 2
    while name.lower() in taken:
        name, number = f"{base}-{number}", number + 1
    taken.add(name.lower())
    return name
