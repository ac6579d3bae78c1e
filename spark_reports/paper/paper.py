"""What a report says, on pages of A4 and as pictures."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from spark_reports.findings.finding import BAD, GOOD, WARN, Finding
from spark_reports.paper.cells import PrintedTable
from spark_reports.paper.plots import LEGEND_COLUMNS, Plot, plain, printable

A4_INCHES = (8.27, 11.69)
PICTURE_INCHES = 10.0
PICTURE_DPI = 144
WIDTH_CHARS = 100
FINDINGS_ON_A_PAGE = 16
TOP, BOTTOM, LINE = 0.95, 0.06, 0.0165
ROWS_MAX = 400
CELL_CHARS = 60
LINE_CHARS = 165  # of a table: what is set smaller, nobody reads
MARKS = {BAD: ("#b42624", "!"), WARN: ("#855200", "!"), GOOD: ("#17703f", "+")}

_STYLE: dict[str, Any] = {
    "font.size": 7.5,
    "font.family": ["Inter", "DejaVu Sans"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.4,
    "axes.linewidth": 0.6,
    "pdf.fonttype": 3,  # Inter is OpenType with PostScript outlines, which matplotlib cannot embed as TrueType
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


def write_pdf(paper: Paper, path: Path, said: Callable[[str], object] = lambda _text: None) -> None:
    """One PDF: findings first, then plots and tables. Raises OSError."""
    with _styled(), PdfPages(path, metadata={"Title": paper.title, "Creator": "Brokerscope"}) as pages:
        for sheet in _findings_sheets(paper):
            pages.savefig(sheet)
        if paper.tables_first:
            _save(pages, _tables_sheets(paper.tables))
        for pair in _in_twos(paper.plots):
            said(pair[0][1].title)
            pages.savefig(_plots_sheet(pair))
        if not paper.tables_first:
            _save(pages, _tables_sheets(paper.tables))


def _save(pages: Any, sheets: Iterable[Figure]) -> None:
    for sheet in sheets:
        pages.savefig(sheet)


def write_pictures(paper: Paper, folder: Path, said: Callable[[str], object] = lambda _text: None) -> list[Path]:
    """A PNG of each plot, and their paths. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    taken: set[str] = set()
    with _styled():
        for heading, plot in paper.plots:
            said(plot.title)
            figure = Figure(figsize=(PICTURE_INCHES, PICTURE_INCHES * max(0.3, plot.height)), layout="constrained")
            FigureCanvasAgg(figure)
            _draw(figure.subplots(), heading, plot)
            path = folder / f"{_file_name(heading, plot, taken)}.png"
            figure.savefig(path, dpi=PICTURE_DPI)
            written.append(path)
    return written


def _styled() -> Any:
    """Our look, and the fonts that we ship."""
    from matplotlib import font_manager

    import resources

    for path in sorted(resources.path("fonts").glob("*.[ot]tf")):
        font_manager.fontManager.addfont(str(path))
    return mpl.rc_context(cast(Any, _STYLE))


def _sheet() -> Figure:
    figure = Figure(figsize=A4_INCHES)
    FigureCanvasAgg(figure)
    return figure


def _write(figure: Figure, y: float, text: str, **look: Any) -> None:
    figure.text(look.pop("x", 0.08), y, printable(text), parse_math=False, va="top", **look)


def _findings_sheets(paper: Paper) -> Iterable[Figure]:
    findings = list(paper.findings)
    first = True
    while first or findings:
        figure = _sheet()
        y = 0.95
        if first:
            _write(figure, y, paper.title, fontsize=18, fontweight="bold")
            _write(figure, y - 0.035, "\n".join(textwrap.wrap(paper.about, WIDTH_CHARS)), color="#556073")
            y -= 0.075
            for place, (label, value) in enumerate(paper.figures[:12]):
                x, row = 0.08 + 0.29 * (place % 3), y - 0.045 * (place // 3)
                _write(figure, row, value, x=x, fontsize=12, fontweight="bold")
                _write(figure, row - 0.018, label, x=x, color="#556073")
            y -= 0.045 * -(-min(len(paper.figures), 12) // 3) + 0.02
        _write(figure, y, "Findings", fontsize=12, fontweight="bold")
        y -= 0.03
        if not paper.findings:
            _write(figure, y, "Nothing in this report stands out.", color="#556073")
        shown = 0
        while findings and y > 0.08 and shown < FINDINGS_ON_A_PAGE:
            finding = findings.pop(0)
            colour, sign = MARKS.get(finding.level, ("#2857c4", "·"))
            head = textwrap.wrap(finding.headline, WIDTH_CHARS - 10) or [""]
            detail = textwrap.wrap(finding.detail, WIDTH_CHARS)[:4]
            _write(figure, y, sign, color=colour, fontweight="bold")
            _write(figure, y, "\n".join(head), x=0.1, fontsize=8.5, fontweight="bold", color=colour)
            y -= 0.0145 * len(head)
            _write(figure, y, "\n".join(detail), x=0.1, color="#333333")
            y -= 0.0125 * len(detail) + 0.012
            shown += 1
        yield figure
        first = False


def _in_twos(plots: Sequence[tuple[str, Plot]]) -> Iterable[list[tuple[str, Plot]]]:
    """Plots that share a page: two or three low ones, or a high one alone."""
    page: list[tuple[str, Plot]] = []
    used = 0.0
    for one in plots:
        height = max(0.3, one[1].height)
        if page and used + height > 1.15:
            yield page
            page, used = [], 0.0
        page.append(one)
        used += height
    if page:
        yield page


def _plots_sheet(page: Sequence[tuple[str, Plot]]) -> Figure:
    figure = Figure(figsize=A4_INCHES, layout=ConstrainedLayoutEngine(rect=(0.05, 0.03, 0.9, 0.94)))
    FigureCanvasAgg(figure)
    heights = [max(0.3, plot.height) for _heading, plot in page]
    spare = max(0.0, 1.2 - sum(heights))
    grid = figure.add_gridspec(len(page) + bool(spare), 1, height_ratios=[*heights, spare][: len(page) + bool(spare)])
    for place, (heading, plot) in enumerate(page):
        _draw(figure.add_subplot(grid[place]), heading, plot)
    return figure


def _draw(axes: Any, heading: str, plot: Plot) -> None:
    title = f"{heading}: {plot.title}" if heading else plot.title
    plot.draw(axes)
    legend = axes.get_legend()
    rows = 0 if legend is None else -(-len(legend.get_texts()) // LEGEND_COLUMNS)
    # Room for the legend, which stands between the title and the plot.
    axes.set_title(plain(title, 110), loc="left", fontsize=9, fontweight="bold", pad=8 + 11 * rows)


def _tables_sheets(tables: Sequence[PrintedTable]) -> Iterable[Figure]:
    """Tables below each other; one that finds no room for a few rows begins a new page."""
    figure, y = _sheet(), TOP
    drawn = False
    for table in tables:
        if not table.rows:
            continue
        lines = _fitting([table.columns, *table.rows[:ROWS_MAX]])
        columns = _columns(lines)
        if drawn and y - LINE * min(len(lines) + 2, 8) < BOTTOM:
            yield figure
            figure, y = _sheet(), TOP
        y = _write_head(figure, y, table)
        for number, cells in enumerate(lines):
            if y < BOTTOM:
                yield figure
                figure, y = _sheet(), TOP
                y = _write_head(figure, y, table)
            for (x, side), cell in zip(columns, cells, strict=True):
                _write(figure, y, cell, x=x, ha=side, fontsize=5.5, fontweight="bold" if number == 0 else "normal")
            y -= LINE
        y -= LINE
        drawn = True
    if drawn:
        yield figure


def _write_head(figure: Figure, y: float, table: PrintedTable) -> float:
    _write(figure, y, table.title, fontsize=11, fontweight="bold")
    more = len(table.rows) > ROWS_MAX
    if more:
        note = f"The first {ROWS_MAX} of {len(table.rows):,} rows; all are in the tables."
        _write(figure, y - 0.02, note, color="#556073")
    return y - (0.045 if more else 0.028)


def _fitting(lines: Sequence[Sequence[str]]) -> list[list[str]]:
    """Cells cut so far that a line keeps to the sheet, the longest first."""
    longest = [max(len(line[place]) for line in lines) + 2 for place in range(len(lines[0]))]
    most = CELL_CHARS
    while most > 6 and sum(min(length, most) for length in longest) > LINE_CHARS:
        most -= 2
    return [[plain(text, most - 2) for text in line] for line in lines]


def _columns(lines: Sequence[Sequence[str]]) -> list[tuple[float, str]]:
    """Where each column stands and at which side, by the length of its longest cell: numbers end below each other."""
    widths = [max(len(line[place]) for line in lines) + 2 for place in range(len(lines[0]))]
    step = min(0.86 / max(1, sum(widths)), 0.0085)
    found = []
    for place, width in enumerate(widths):
        begin = 0.08 + step * sum(widths[:place])
        right = are_numbers([line[place] for line in lines[1:]])
        found.append((begin + step * (width - 2), "right") if right else (begin, "left"))
    return found


def are_numbers(cells: Iterable[str]) -> bool:
    """Whether all of them are numbers with their units, or stand where one is missing."""
    told = [cell for cell in cells if cell not in _NO_NUMBERS]
    return bool(told) and all(_NUMBER.fullmatch(cell) for cell in told)


_NO_NUMBERS = frozenset({"", "-", "n/a", "same"})
_UNIT = r" (?:[a-zA-Zµ%][a-zA-Zµ%/]*)"
_NUMBER = re.compile(rf"[-+×]?\d[\d,.]*(?:{_UNIT}(?: \d+{_UNIT})?)?(?:, \w+)?|below [\d.]+ %")


def _file_name(heading: str, plot: Plot, taken: set[str]) -> str:
    """A name that any file system takes, and that no other plot has."""
    base = (
        re.sub(r"[^A-Za-z0-9._-]+", "-", f"{heading}-{plot.name}" if heading else plot.name).strip("-.")[:100] or "plot"
    )
    name, number = base, 2
    while name.lower() in taken:
        name, number = f"{base}-{number}", number + 1
    taken.add(name.lower())
    return name
