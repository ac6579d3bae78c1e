"""Whether a reader catches up, and the small curves of the navigator: read from levels on the grid."""

from __future__ import annotations

from tests.figures.recount.flows import GRID_NS, Flow
from tests.figures.recount.session import Recount

TREND_NS = 2_000_000_000
SPARK_NS = 500_000_000
SPARKS = 30


def levels_of(recount: Recount, level: Flow, now_ns: int) -> list[float]:
    """At each line of the last two seconds, as far back as it is known without a gap."""
    recount.settle(now_ns)
    end = now_ns // GRID_NS
    known: list[float] = []
    for line in range(max(0, end - TREND_NS // GRID_NS), end + 1):
        found = recount.levels[line].get(level)
        known = [] if found is None else [*known, found]
    return known


def trend_of(recount: Recount, level: Flow, now_ns: int) -> tuple[str, int | None]:
    """Rising, falling or steady, and in how many seconds nothing is left; None where it does not fall.

    A lag that moves by no more than a tenth, or by two messages, is steady, unless the later half of the looks lies
    further from the earlier one than ten messages and than twice its swing.
    """
    known = levels_of(recount, level, now_ns)
    if not known:
        return "steady", None
    old, new = known[0], known[-1]
    moved = new - old
    if abs(moved) <= max(2, old // 10):
        half = len(known) // 2
        early, late = known[:half], known[len(known) - half :]
        drift = (sum(late) - sum(early)) / half if half else 0
        swings = [abs(known[at + 1] - known[at]) for at in range(len(known) - 1)]
        enough = half >= 4 and abs(drift) > max(10, 2 * sum(swings) / len(swings))
        moved = drift if enough else 0
    word = "steady" if moved == 0 else "rising" if moved > 0 else "falling"
    if new == 0:
        return word, 0
    if word != "falling" or new >= old:
        return word, None
    passed_s = (len(known) - 1) * GRID_NS / 1e9
    return word, max(1, round(new * passed_s / (old - new)))


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
