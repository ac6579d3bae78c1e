"""Charts and the timeline: what has happened over the time of the session, up to where it has come."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.figures.expected.wording import Alike, length
from tests.figures.recount.flows import GRID_NS, WINDOW_NS, Flow
from tests.figures.recount.session import Recount

Figures = dict[tuple[str, str, str], Any]
POINTS_MAX = 600
MARKS_MAX = 300
_RATES = {"published": ("published", 1.0), "bytes": ("bytes", 1 / 1024), "delivered": ("delivered", 1.0)}
_TICKS = {"dead_lettered": "dead letter", "redriven": "redrive", "user_action": "action", "fault": "fault"}


def curve_figures(recount: Recount, end_ns: int) -> Figures:
    """Of a session that has come to `end_ns`, by what was counted up to there."""
    recount.settle(end_ns)
    lines = _lines(end_ns)
    window_ns = max(WINDOW_NS, (lines[1] - lines[0]) * GRID_NS if len(lines) > 1 else 0)
    times_s = [line * GRID_NS / 1e9 for line in lines]
    found: Figures = {}
    for kind, name in list(recount.flows):
        if name and kind in _RATES:
            chart, scale = _RATES[kind]
            rates = [recount.rate((kind, name), line * GRID_NS, window_ns) * scale for line in lines]
            found["charts", chart, name] = Alike(tuple(zip(times_s, rates, strict=True)))
    for kind in ("lag", "depth"):
        names = {flow[1] for levels in recount.levels for flow in levels if flow[0] == kind and " " not in flow[1]}
        for name in names:
            levels = [recount.levels[line].get((kind, name), math.nan) for line in lines]
            found["charts", kind, name] = Alike(tuple(zip(times_s, levels, strict=True)))
    blocked = [_held_back(recount, line, window_ns // GRID_NS) for line in lines]
    if sum(blocked):
        found["charts", "blocked", "producers"] = Alike(tuple(zip(times_s, blocked, strict=True)))
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)) if recount.latencies else ():
        seconds = range(max(recount.latencies) + 1)
        found["charts", "latency", name] = Roughly(
            tuple((at + 0.5, _percentile_ms(recount.latencies.get(at, []), share)) for at in seconds)
        )
    found.update(_strip(recount, end_ns, lines, window_ns))
    return found


def _lines(end_ns: int) -> list[int]:
    end = end_ns // GRID_NS
    return list(range(0, end + 1, max(1, math.ceil(end / POINTS_MAX))))


def _held_back(recount: Recount, line: int, window: int) -> float:
    """How many producers waited, on average."""
    start = max(0, line - window)
    if not line:
        return 0.0
    return (recount.levels[line]["blocked", ""] - recount.levels[start]["blocked", ""]) / ((line - start) * GRID_NS)


def _percentile_ms(latencies: list[tuple[int, int]], share: float) -> float:
    total = sum(count for _ns, count in latencies)
    below = 0
    for ns, count in sorted(latencies):
        below += count
        if below >= share * total - 1e-9:
            return max(ns, 1_000) / 1e6
    return math.nan


@dataclass(frozen=True)
class Roughly:
    """Points whose heights may be off by the width of half a bucket, which is said to be 2.2 %."""

    points: tuple[tuple[float, float], ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple) or len(other) != len(self.points):
            return False
        return all(
            mine[0] == theirs[0]
            and (math.isnan(mine[1]) if math.isnan(theirs[1]) else abs(theirs[1] / mine[1] - 1) <= 0.0225)
            for mine, theirs in zip(self.points, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]


# -- the strip


def _strip(recount: Recount, end_ns: int, lines: list[int], window_ns: int) -> Figures:
    flow: Flow = ("published", "")
    samples = [(line * GRID_NS, recount.rate(flow, line * GRID_NS, window_ns)) for line in lines]
    figures = {
        "start_ns": 0,
        "now_ns": end_ns,
        "samples": Alike(tuple(samples)),
        "peak_per_s": round(max(per_s for _ns, per_s in samples)),
        "bands": Bands(tuple(recount.spans), end_ns),
        "ticks": Ticks(tuple((row["time_ns"], _TICKS[row["kind"]], max(1, row["count"])) for row in recount.moments)),
        "scenario_end_ns": None,
    }
    return {("timeline", "strip", figure): value for figure, value in figures.items()}


@dataclass(frozen=True)
class Bands:
    """What lasts: (start, end or None, lane). Where there are more than the strip can show, it puts some together."""

    spans: tuple[tuple[int, int | None, str], ...]
    now_ns: int

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, tuple)
        lanes = {lane for _, _, lane in self.spans} | {band.lane for band in other}
        return all(self._lane(lane, [band for band in other if band.lane == lane]) for lane in lanes)

    def _lane(self, lane: str, bands: list[Any]) -> bool:
        mine = [(start, end) for start, end, each in self.spans if each == lane]
        if len(mine) > MARKS_MAX:
            return all(
                any(band.start_ns <= start and self._end(band.end_ns) >= self._end(end) for band in bands)
                for start, end in mine
            )
        said = [length((self.now_ns if end is None else end) - start) for start, end in sorted(mine, key=_begun)]
        bands.sort(key=lambda band: _begun((band.start_ns, band.end_ns)))
        return [(band.start_ns, band.end_ns) for band in bands] == sorted(mine, key=_begun) and all(
            words in band.label for words, band in zip(said, bands, strict=True)
        )

    def _end(self, end_ns: int | None) -> int:
        return self.now_ns if end_ns is None else end_ns

    __hash__ = None  # type: ignore[assignment]


def _begun(span: tuple[int, int | None]) -> tuple[int, float]:
    return span[0], math.inf if span[1] is None else span[1]


@dataclass(frozen=True)
class Ticks:
    """What is marked: (time, kind, how many). Messages of one time are one mark; where there are too many, more are."""

    marks: tuple[tuple[int, str, int], ...]

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, tuple)
        one_by_one = [(time_ns, kind) for time_ns, kind, _ in self.marks if kind in {"action", "fault"}]
        counted: Counter[tuple[int, str]] = Counter()
        for time_ns, kind, count in self.marks:
            if kind not in {"action", "fault"}:
                counted[time_ns, kind] += count
        if len(one_by_one) + len(counted) > MARKS_MAX:
            return {tick.kind for tick in other} == {kind for _, kind, _ in self.marks}
        shown = [(tick.time_ns, tick.kind) for tick in other if tick.kind in {"action", "fault"}]
        letters = {(tick.time_ns, tick.kind): tick.label for tick in other if tick.kind in {"dead letter", "redrive"}}
        return (
            sorted(shown) == sorted(one_by_one)
            and letters.keys() == counted.keys()
            and all(label.startswith(f"{counted[key]:,} ") for key, label in letters.items())
        )

    __hash__ = None  # type: ignore[assignment]
