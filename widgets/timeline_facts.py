from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from widgets.i18n import mark

#: Lane: its name on the screen.
LANES = {
    "rebalances": mark("Rebalances"),
    "brokers": mark("Brokers"),
    "faults": mark("Faults, alerts"),
    "dead letters": mark("Dead letters"),
    "backpressure": mark("Backpressure"),
    "actions": mark("Actions"),
    "bookmarks": mark("Bookmarks"),
}
# Kind of tick: its lane, and its colour token.
TICKS = {
    "action": ("actions", "accent"),
    "fault": ("faults", "text"),
    "node gone": ("brokers", "failure"),
    "node back": ("brokers", "stable"),
    "leaders": ("brokers", "accent"),
    "incident": ("brokers", "text"),
    "alert": ("faults", "failure"),
    "dead letter": ("dead letters", "failure"),
    "redrive": ("dead letters", "stable"),
    "bookmark": ("bookmarks", "branch"),
}


@dataclass(frozen=True, slots=True)
class Band:
    """A span of time in a lane; `end_ns` None while it lasts."""

    start_ns: int
    end_ns: int | None
    label: str
    lane: str = "rebalances"

    def end(self, now_ns: int) -> int:
        return now_ns if self.end_ns is None else self.end_ns


@dataclass(frozen=True, slots=True)
class Tick:
    """A moment. `kind` is a key of `TICKS`."""

    time_ns: int
    kind: str
    label: str

    @property
    def lane(self) -> str:
        return TICKS.get(self.kind, ("", ""))[0]


@dataclass(frozen=True)
class TimelineFacts:
    """The contents of the strip from `start_ns` to `now_ns`; `samples` are (time_ns, messages per second), in order.

    `peak_per_s` is the highest of them. `head_ns` is the moment of the past that the window shows; None if it shows the
    present. `branch_ns` is where the session left another one, and `scenario_end_ns` where its scenario ends, once it
    has gone on past that.
    """

    start_ns: int = 0
    now_ns: int = 0
    samples: tuple[tuple[int, float], ...] = ()
    bands: tuple[Band, ...] = ()
    ticks: tuple[Tick, ...] = ()
    peak_per_s: int = 0
    head_ns: int | None = None
    branch_ns: int | None = None
    scenario_end_ns: int | None = None

    @cached_property
    def lanes(self) -> tuple[str, ...]:
        """Those that hold anything, in order."""
        held = {band.lane for band in self.bands} | {tick.lane for tick in self.ticks}
        return tuple(lane for lane in LANES if lane in held)


def united(bands: Sequence[Band], now_ns: int) -> list[tuple[int, int]]:
    """The times in which any group rebalances, as (start, end) in ns, in order; an open one lasts until `now_ns`."""
    found: list[tuple[int, int]] = []
    rebalances = (band for band in bands if band.lane == "rebalances")
    for start, end in sorted((band.start_ns, band.end(now_ns)) for band in rebalances):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
