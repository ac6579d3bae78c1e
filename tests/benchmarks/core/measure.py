"""Figures side by side: every contestant once a round, ratios within the round, medians over the rounds."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Sequence

import msgspec
from rich.console import Console
from rich.table import Table

ROUNDS = 5


class Case(msgspec.Struct, frozen=True):
    """`run(count)` does something `count` times; the seconds that took. `goal` is a ratio to the peer's rate."""

    name: str
    count: int
    run: Callable[[int], float]
    goal: float | None = None
    peer: str = ""  # the case that it is measured against; the first one where none is named


class Figure(msgspec.Struct, frozen=True):
    """Medians: nanoseconds for one message, and how many times the rate of its peer that is."""

    case: Case
    ns: float
    ratio: float

    @property
    def verdict(self) -> str:
        """Whether the goal is met."""
        if self.case.goal is None:
            return ""
        return "met" if self.ratio >= self.case.goal else "missed"


def side_by_side(cases: Sequence[Case], rounds: int = ROUNDS) -> list[Figure]:
    """Run all `cases` once a round."""
    seconds: dict[str, list[float]] = {case.name: [] for case in cases}
    for _ in range(rounds):
        for case in cases:
            gc.collect()
            seconds[case.name].append(case.run(case.count) / case.count)
    figures = []
    for case in cases:
        own, peers = seconds[case.name], seconds[case.peer or cases[0].name]
        ratio = statistics.median(peer / mine for peer, mine in zip(peers, own, strict=True))
        figures.append(Figure(case, statistics.median(own) * 1e9, ratio))
    return figures


def show(title: str, figures: Sequence[Figure]) -> None:
    """Print a table of them."""
    rows = []
    for each in figures:
        goal = "" if each.case.goal is None else f"{each.case.goal:g}"
        rows.append(
            (each.case.name, f"{1e9 / each.ns:,.0f}", f"{each.ns:,.0f}", f"{each.ratio:.2f}", goal, each.verdict)
        )
    show_rows(f"{title}, medians of {ROUNDS}", ("messages/s", "ns each", "ratio", "goal", ""), rows)


def show_rows(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; `headings` are those of all columns but the first."""
    table = Table()
    table.add_column("")
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*row)
    console = Console(width=120)
    console.print(f"\n{title}; load {os.getloadavg()[0]:.1f}")
    console.print(table)


def timed(action: Callable[[], object]) -> float:
    """Seconds that `action` takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started
