"""What flowed: how many messages of each kind of event, over time."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import Any

Row = dict[str, Any]
Flow = tuple[str, str]

#: What the window says of its rates when it is pointed at: the mean of so long, up to a line of this grid.
WINDOW_NS = 2_000_000_000
GRID_NS = 250_000_000
#: Whoever commits less often than that has stopped.
COMMITS_NS = 60_000_000_000
_COMMITTED = ("acknowledged", "acknowledged by")

_OF_CLIENTS = ("published by", "acknowledged by", "nacked", "lease_expired", "rejected", "dropped", "dead-lettered of")


class Flows:
    """Counts by (what, of whom), and what lasted from when to when."""

    def __init__(self) -> None:
        self.flows: dict[Flow, list[tuple[int, int]]] = defaultdict(list)  # (time in ns, how many up to then)
        self.counts: dict[Flow, int] = defaultdict(int)
        self.began: dict[str, dict[str, int]] = {}  # by client: its counts when it was there for the last time anew
        self.spans: list[tuple[int, int | None, str]] = []  # what lasts or has lasted: (start, end or None, lane)
        self._open: dict[tuple[str, str], int] = {}  # where it stands in `spans`

    def _begin(self, key: tuple[str, str], time_ns: int, lane: str) -> None:
        self._open[key] = len(self.spans)
        self.spans.append((time_ns, None, lane))

    def _end(self, key: tuple[str, str], time_ns: int) -> None:
        place = self._open.pop(key)
        start_ns, _, lane = self.spans[place]
        self.spans[place] = (start_ns, time_ns, lane)

    def before(self, flow: Flow, time_ns: int) -> int:
        """How many there were before that time."""
        counted = self.flows.get(flow, [])
        place = bisect_left(counted, (time_ns, -1))
        return counted[place - 1][1] if place else 0

    def over_ns(self, flow: Flow, now_ns: int, window_ns: int = WINDOW_NS) -> tuple[int, int]:
        """From when to when a rate is counted: over the window that ends at the last line of the grid; of who commits
        less often, as its last two commits and the one before them tell, between those two.
        """
        end_ns = now_ns // GRID_NS * GRID_NS
        if flow[0] in _COMMITTED:
            last = self._changed_ns(flow, end_ns)
            before = self._changed_ns(flow, last - window_ns)
            earlier = self._changed_ns(flow, before - window_ns)
            every_ns = last - before
            seldom = window_ns < every_ns <= COMMITS_NS and (earlier < 0 or before - earlier > window_ns)
            if before >= 0 and seldom and end_ns - last <= every_ns + window_ns:
                return before, last
        return max(0, end_ns - window_ns), end_ns

    def _changed_ns(self, flow: Flow, line_ns: int) -> int:
        """The line of the grid at which the last change up to a line is seen; below 0 for none."""
        counted = self.flows.get(flow, [])
        place = bisect_left(counted, (line_ns, -1))
        return (counted[place - 1][0] // GRID_NS + 1) * GRID_NS if place else -GRID_NS

    def rate(self, flow: Flow, now_ns: int, window_ns: int = WINDOW_NS) -> float:
        """Messages a second: the mean over `over_ns`."""
        start_ns, end_ns = self.over_ns(flow, now_ns, window_ns)
        if not end_ns:
            return 0.0
        return (self.before(flow, end_ns) - self.before(flow, start_ns)) * 1e9 / (end_ns - start_ns)

    def begin_anew(self, client: str) -> None:
        """A client of that name is there, perhaps not the first: its counts begin at nothing."""
        self.began[client] = {kind: self.counts[kind, client] for kind in _OF_CLIENTS}

    def done(self, kind: str, client: str) -> int:
        """How many messages of that kind of event since the client was started."""
        return self.counts[kind, client] - self.began.get(client, {}).get(kind, 0)

    def _flow(self, kind: str, name: str, row: Row, count: int | None = None) -> None:
        count = row["count"] if count is None else count
        self.counts[kind, name] += count
        self.flows[kind, name].append((row["time_ns"], self.counts[kind, name]))
