"""Whether a reader catches up, and the small curves of the navigator: read from levels on the grid."""

from __future__ import annotations

from tests.figures.recount.flows import GRID_NS, WINDOW_NS, Flow
from tests.figures.recount.session import Recount

TREND_NS = 5_000_000_000
SPARK_NS = 500_000_000
SPARKS = 30


def levels_of(recount: Recount, level: Flow, now_ns: int) -> list[float]:
    """At each line of the last five seconds, of a group that commits seldom of two and a half times as long as between
    its commits; as far back as it is known without a gap.
    """
    recount.settle(now_ns)
    end = now_ns // GRID_NS
    group = level[1].split(" ")[0]
    from_ns, to_ns = recount.over_ns(("acknowledged", group), now_ns)
    lines = max(TREND_NS, (to_ns - from_ns) * TREND_NS // WINDOW_NS) // GRID_NS
    known: list[float] = []
    for line in range(max(0, end - lines), end + 1):
        found = recount.levels[line].get(level)
        known = [] if found is None else [*known, found]
    return known


def trend_of(recount: Recount, level: Flow, now_ns: int) -> tuple[str, float, float, int | None]:
    """Rising, falling or steady; by how many messages a second, over how many seconds; and in how many seconds nothing
    is left, None where it does not fall.

    The slope is that of the line of least squares, from the sums over all pairs. Steady is what moves by less than two
    messages, or than three standard deviations around that line.
    """
    known = levels_of(recount, level, now_ns)
    step_s, count = GRID_NS / 1e9, len(known)
    over_s = max(0, count - 1) * step_s
    nothing = 0 if known and not known[-1] else None
    if count < 4:
        return "steady", 0.0, over_s, nothing
    pairs = [(before, after) for after in range(count) for before in range(after)]
    slope = sum((known[after] - known[before]) * (after - before) for before, after in pairs)
    slope /= sum((after - before) ** 2 for before, after in pairs)
    at_start = sum(value - slope * at for at, value in enumerate(known)) / count
    swing = (sum((value - slope * at - at_start) ** 2 for at, value in enumerate(known)) / count) ** 0.5
    if abs(slope) * (count - 1) < max(2, 3 * swing):
        return "steady", 0.0, over_s, nothing
    per_s = slope / step_s
    if slope > 0:
        return "rising", per_s, over_s, nothing
    return "falling", -per_s, over_s, max(1, round(known[-1] / -per_s)) if known[-1] else 0


def spark_lines(now_ns: int) -> list[int]:
    """The lines of the grid that a small curve has points at: every half second of the last fifteen."""
    every = SPARK_NS // GRID_NS
    end = now_ns // GRID_NS
    return [line for line in range(end - (SPARKS - 1) * every, end + 1, every) if line >= 0]


def level_spark(recount: Recount, level: Flow, now_ns: int) -> tuple[float, ...]:
    """The known levels at these lines."""
    recount.settle(now_ns)
    found = (recount.levels[line].get(level) for line in spark_lines(now_ns))
    return tuple(value for value in found if value is not None)


def rate_spark(recount: Recount, flow: Flow, now_ns: int) -> tuple[float, ...]:
    """The rates at these lines."""
    return tuple(recount.rate(flow, line * GRID_NS) for line in spark_lines(now_ns))
