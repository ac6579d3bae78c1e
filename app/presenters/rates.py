"""Rates and trends at the shown time, all computed from the series of the session."""

from __future__ import annotations

import math

from app.sessions.history.series import ALL_PUBLISHED, WINDOW_NS, Key, SessionSeries, committed
from broker_core.clock import NS_PER_S
from widgets.formats import duration
from widgets.i18n import tr

SPARKS = 30
SPARK_NS = NS_PER_S // 2
TREND_NS = 5 * NS_PER_S


class Rates:
    """Each figure depends on the session and the time only; nothing is remembered between calls."""

    def __init__(self) -> None:
        self.series = SessionSeries()
        # Drawn at every look, other at every line of the grid only.
        self._sparks: dict[tuple[Key, bool], tuple[int, tuple[float, ...]]] = {}

    def attach(self, series: SessionSeries) -> None:
        self.series = series
        self._sparks.clear()

    def of(self, key: Key, time_ns: int) -> float:
        """How many a second, as the mean of `window_words`; NaN while a recording has not been read so far."""
        return self.series.rate(key, time_ns)

    def spark(self, key: Key, time_ns: int, *, level: bool = False) -> tuple[float, ...]:
        """The rates, or the levels, of the fifteen seconds before; those that are known."""
        every = max(1, SPARK_NS // self.series.grid_ns)
        line = self.series.line(time_ns)
        kept_line, kept = self._sparks.get((key, level), (-1, ()))
        if kept_line == line:
            return kept
        lines = [at for at in range(line - (SPARKS - 1) * every, line + 1, every) if at >= 0]
        values = self.series.values(key, lines) if level else self.series.rates(key, lines)
        found = tuple(value for value in values if not math.isnan(value))
        if values and not math.isnan(values[-1]):
            self._sparks[key, level] = (line, found)
        return found

    def levels(self, key: Key, time_ns: int) -> list[tuple[int, float]]:
        """(ns, level) over the last `TREND_NS`, of a group that commits seldom over its last commits; oldest first, as
        far back as it is known without a gap.
        """
        line, grid_ns = self.series.line(time_ns), self.series.grid_ns
        start_ns, end_ns = self.series.window_ns(time_ns, committed(key[1]))
        over_ns = max(TREND_NS, (end_ns - start_ns) * TREND_NS // WINDOW_NS)
        lines = range(max(0, line - over_ns // grid_ns), line + 1)
        known: list[tuple[int, float]] = []
        for at, value in zip(lines, self.series.values(key, lines), strict=True):
            known = [*known, (at * grid_ns, value)] if not math.isnan(value) else []
        return known

    def window_words(self, time_ns: int, key: Key = ALL_PUBLISHED) -> str:
        start_ns, end_ns = self.series.window_ns(time_ns, key)
        return tr("Rates are the mean of the last {time}.", time=duration(end_ns - start_ns))
