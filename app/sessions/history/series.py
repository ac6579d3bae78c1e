"""Flows and levels at any moment: every rate and trend in the window is read here.

Counted from the event stream on a grid of session time, so a figure is a function of the events and the moment alone:
the same live, in the past, in a branch, after the end, and in a session that was recorded or not.
"""

from __future__ import annotations

import math
import threading
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.recording.fold import FoldedBroker
from broker_core.simulation.context import USER
from broker_core.snapshots import SHARE, ActorView, GroupView, Snapshot, total_lag

GRID_NS = NS_PER_S // 4
#: A rate is the mean over this long, up to the last line of the grid.
WINDOW_NS = 2 * NS_PER_S
TREND_NS = 5 * NS_PER_S
SPARKS, SPARK_NS = 30, NS_PER_S // 2
#: If a reader commits less often, it is the mean between its last two commits, which may be so far apart.
COMMITS_NS = 60 * NS_PER_S
#: A program that has not published for so long is not among the producers any more.
SEEN_NS = 10 * NS_PER_S
#: Of a session that is longer the grid is made coarser: 40,000 are 2 h 46 min.
STEPS_MAX = 40_000

Key = tuple[str, ...]
LEVELS = frozenset({"lag", "depth", "dead"})
ALL_PUBLISHED: Key = ("published",)
NOT_TOLD: Key = ("not told",)  # that nobody tells how many: a rate of NaN
BLOCKED: Key = ("blocked",)  # nanoseconds that producers were held back, all together


class _Keys:
    """Keys of a kind: of a thing by its name, or of what is about one topic or queue of it."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __call__(self, name: str, topic: str = "") -> Key:
        return (self._kind, name, topic) if topic else (self._kind, name)


published = _Keys("published")
stored_bytes = _Keys("bytes")
#: Messages of a client that were stored; of a program that is no actor, those of one topic or queue.
sent = _Keys("sent")
#: When the last connection of a program ended by which it published; 0 while it publishes.
_ended = _Keys("ended")
#: Messages that were handed to a client, another program's too.
received = _Keys("received")
#: Messages that a member of a group has acknowledged.
acknowledged = _Keys("acknowledged")
#: Messages that a group has acknowledged.
committed = _Keys("committed")
#: Messages handed out by a group or queue; to a group, of one topic.
delivered = _Keys("delivered")
#: Messages of a queue that became dead letters.
dead_lettered = _Keys("dead-lettered")
#: Messages that wait in a queue, delayed ones too.
depth = _Keys("depth")
dead = _Keys("dead")


def of_actor(actor: ActorView) -> Key:
    """Messages of a producer that were stored, that a consumer acknowledged, or that were handed to a worker."""
    keys = {"producer": sent, "consumer": acknowledged}
    return keys.get(actor.role, received)(actor.name)


def of_member(group: GroupView, client: str) -> Key:
    """The series for the progress of another program's consumer: acknowledged messages, or received ones if the group
    keeps its offsets elsewhere. A cluster does not tell which of several members of a share group has acknowledged.
    """
    if group.kind == SHARE and len(group.members) > 1:
        return NOT_TOLD
    commits = any(at.committed is not None for at in group.offsets)
    return acknowledged(client) if commits else received(client)


def of_reading(group: GroupView, client: str) -> Key:
    """The series that shows whether another program's consumer reads: what it received; for a share group of a cluster,
    what the group has acknowledged.
    """
    return delivered(group.name) if group.kind == SHARE else received(client)


def lag(group: str, topic: str = "", partition: int = 0) -> Key:
    """The lag of a group; with a topic, in one partition of it. NaN for "n/a"."""
    return ("lag", group, topic, str(partition)) if topic else ("lag", group)


class Points:
    """A value over time: `values[i]` from `lines[i]` of a grid on, up to the next."""

    __slots__ = ("lines", "values")

    def __init__(self) -> None:
        self.lines = array("q")
        self.values = array("d")

    def set(self, line: int, value: float) -> None:
        if self.lines and self.lines[-1] == line:
            self.values[-1] = value
        else:
            self.lines.append(line)
            self.values.append(value)

    def add(self, line: int, by: float) -> None:
        lines, values = self.lines, self.values
        if lines and lines[-1] == line:
            values[-1] += by
        else:
            # The value first: another thread may read it as soon as its line is there.
            values.append(values[-1] + by if values else by)
            lines.append(line)

    def changed(self, line: int) -> int:
        """The line of the last change up to `line`; -1 for none."""
        place = bisect_right(self.lines, line) - 1
        return self.lines[place] if place >= 0 else -1

    def at(self, line: int, before: float) -> float:
        place = bisect_right(self.lines, line) - 1
        return self.values[place] if place >= 0 else before

    def halved(self) -> Points:
        half = Points()
        for line, value in zip(self.lines, self.values, strict=True):
            half.set((line + 1) // 2, value)
        return half


class SessionSeries:
    """A sink of the event stream: called by the engine's thread, read by the window's.

    Line n of the grid holds what was true right before n * `grid_ns`: later events do not change it. Where `deliveries`
    are not known, what groups and clients have committed stands for what they were handed, and nobody is a producer.
    """

    def __init__(self, *, deliveries: bool = True) -> None:
        self.deliveries = deliveries
        self._handed = EventKind.DELIVERED if deliveries else EventKind.ACKNOWLEDGED
        self._committed = {"acknowledged", "committed"} | (set() if deliveries else {"delivered", "received"})
        self.grid_ns = GRID_NS
        self._lock = threading.Lock()
        self._points = defaultdict[Key, Points](Points)
        self._broker = FoldedBroker(Snapshot(0, 0))
        self._levels: dict[Key, float] = {}
        self._own = {USER}  # producers of the session, those that are gone too
        self._others: dict[str, list[str]] = {}
        self._blocked: dict[tuple[str, str], int] = {}
        self._blocked_ns = 0
        self._line = 0  # the last one that is settled; events since are behind it
        # Messages and bytes since then: added up by what they have in common, and to the series before these are read.
        self._published: dict[tuple[str, str], tuple[int, int]] = {}
        self._delivered: dict[tuple[str, str, str], int] = {}
        self._acknowledged: dict[tuple[str, str], int] = {}  # by group and client
        self._changed = False
        self._is_read = False
        self._ended_ns: int | None = None
        # Drawn at every look, other at every line of the grid only.
        self._sparks: dict[tuple[Key, bool], tuple[int, tuple[float, ...]]] = {}

    def __call__(self, event: Event) -> None:
        with self._lock:
            line = event.time_ns // self.grid_ns
            if line > self._line:
                self._settle(line)
            self._count(event)
            self._broker.add(event)
            self._changed = True
            # A session that goes on after its end has none yet.
            self._ended_ns = event.time_ns if event.kind is EventKind.SESSION_ENDED else None

    def keyframe(self, snapshot: Snapshot) -> None:
        """Go on from the state at a moment, of which no events tell."""
        with self._lock:
            self._settle(snapshot.time_ns // self.grid_ns)
            self._broker, self._changed = FoldedBroker(snapshot), True

    def read_from_file(self) -> None:
        """The session is read beside the window: what has not been read yet is not known. `read_whole` ends this."""
        self._is_read = True

    def read_whole(self) -> None:
        self._is_read = False

    def names(self, kind: str) -> list[str]:
        with self._lock:
            self._add_up()
            return sorted(key[1] for key in self._points if key[0] == kind and len(key) == 2)

    def line(self, time_ns: int) -> int:
        return time_ns // self.grid_ns

    def window_ns(self, time_ns: int, key: Key = ALL_PUBLISHED) -> tuple[int, int]:
        """The (start, end) of the time over which the rate shown at `time_ns` is averaged."""
        with self._lock:
            self._read_up_to(self.line(time_ns))
            start, end = self._span(key, self.line(time_ns), self._window())
        return start * self.grid_ns, end * self.grid_ns

    def rate(self, key: Key, time_ns: int) -> float:
        """A second, at a moment; NaN if that is not read yet."""
        return self.rates(key, (self.line(time_ns),))[0]

    def rates(self, key: Key, lines: Sequence[int], least: int = 1) -> list[float]:
        """A second, at lines of the grid in order: means over `WINDOW_NS`, or over `least` lines if those are longer.
        If a reader commits less often, it is between its last two commits.
        """
        window = max(least, self._window())
        counts = self.values(key, lines)
        with self._lock:
            spans = [self._span(key, line, window) for line in lines]
        before = self.values(key, [start for start, _end in spans])
        return [
            (count - old) * NS_PER_S / ((end - start) * self.grid_ns) if end else 0.0
            for count, old, (start, end) in zip(counts, before, spans, strict=True)
        ]

    def values(self, key: Key, lines: Sequence[int]) -> list[float]:
        """Counts or levels at lines of the grid, in order; NaN if not known."""
        nothing = math.nan if key[0] in LEVELS or key == NOT_TOLD else 0.0
        with self._lock:
            self._read_up_to(max(lines, default=0))
            points = self._points.get(key)
            known = self._line if self._is_read else math.inf
            return [
                math.nan if line > known else nothing if points is None else points.at(line, nothing) for line in lines
            ]

    def spark(self, key: Key, time_ns: int, *, level: bool = False) -> tuple[float, ...]:
        """The rates, or the levels, of the fifteen seconds before; those that are known."""
        every = max(1, SPARK_NS // self.grid_ns)
        line = self.line(time_ns)
        kept_line, kept = self._sparks.get((key, level), (-1, ()))
        if kept_line == line:
            return kept
        lines = [at for at in range(line - (SPARKS - 1) * every, line + 1, every) if at >= 0]
        values = self.values(key, lines) if level else self.rates(key, lines)
        found = tuple(value for value in values if not math.isnan(value))
        if values and not math.isnan(values[-1]):
            self._sparks[key, level] = (line, found)
        return found

    def levels(self, key: Key, time_ns: int) -> list[tuple[int, float]]:
        """(ns, level) over the last `TREND_NS`, of a group that commits seldom over its last commits; oldest first, as
        far back as it is known without a gap.
        """
        start_ns, end_ns = self.window_ns(time_ns, committed(key[1]))
        over_ns = max(TREND_NS, (end_ns - start_ns) * TREND_NS // WINDOW_NS)
        line = self.line(time_ns)
        lines = range(max(0, line - over_ns // self.grid_ns), line + 1)
        known: list[tuple[int, float]] = []
        for at, value in zip(lines, self.values(key, lines), strict=True):
            known = [*known, (at * self.grid_ns, value)] if not math.isnan(value) else []
        return known

    def has_ended(self, time_ns: int) -> bool:
        return self._ended_ns is not None and time_ns >= self._ended_ns

    def ended_ns(self, client: str, time_ns: int) -> int | None:
        """Since when another program that has published has no connection; None if it has one, or that is not known."""
        (since_ns,) = self.values(_ended(client), (self.line(time_ns),))
        return int(since_ns) if since_ns > 0 else None

    def is_own(self, client: str) -> bool:
        return client in self._own

    def other_producers(self, time_ns: int) -> dict[str, tuple[str, ...]]:
        """Other programs that published within `SEEN_NS` before a moment: what they published to, by client.

        In the order of their first messages; none while a recording has not been read so far.
        """
        end, found = self.line(time_ns), {}
        start = end - max(1, SEEN_NS // self.grid_ns)
        with self._lock:
            if self._is_read and end > self._line:
                return {}
            self._add_up()
            for client, topics in self._others.items():
                points = ((topic, self._points[sent(client, topic)]) for topic in topics)
                if recent := tuple(topic for topic, each in points if each.at(end, 0) > each.at(start, 0)):
                    found[client] = recent
        return found

    def _read_up_to(self, line: int) -> None:
        if line > self._line and not self._is_read:
            self._settle(line)
        self._add_up()

    def _span(self, key: Key, line: int, window: int) -> tuple[int, int]:
        """The (first, last) line of the grid over which the rate at `line` is averaged."""
        points = self._points.get(key) if key[0] in self._committed else None
        if points is None:
            return max(0, line - window), line
        last = points.changed(line)
        before = points.changed(last - window)
        earlier = points.changed(before - window)
        seldom = window < last - before <= COMMITS_NS // self.grid_ns and (earlier < 0 or before - earlier > window)
        # The next commit may be a little late; after that it commits no more.
        if before >= 0 and seldom and line - last <= last - before + window:
            return before, last
        return max(0, line - window), line

    def _window(self) -> int:
        return max(1, WINDOW_NS // self.grid_ns)

    def _count(self, event: Event) -> None:
        kind = event.kind
        if kind is EventKind.PUBLISHED:
            place = (event.topic, event.client)
            count, size = self._published.get(place, (0, 0))
            self._published[place] = (count + event.count, size + event.size_bytes)
        elif kind is self._handed:
            way = (event.group, event.topic, event.client)
            self._delivered[way] = self._delivered.get(way, 0) + event.count
        if kind is EventKind.ACKNOWLEDGED:
            who = (event.group, event.client)
            self._acknowledged[who] = self._acknowledged.get(who, 0) + event.count
        elif kind is EventKind.CLIENT_STARTED:
            if (event.detail or {}).get("role") == "producer":
                self._add_up()
                self._own.add(event.client)
        elif kind is EventKind.CONNECTION_ENDED and not event.group:
            self._add_up()
            self._set(_ended(event.client), self._line + 1, event.time_ns)
        elif kind is EventKind.DEAD_LETTERED:
            self._add(dead_lettered(event.group), event.count)
        elif kind is EventKind.PRODUCER_BLOCKED:
            self._blocked[event.topic, event.client] = event.time_ns
        elif kind is EventKind.PRODUCER_UNBLOCKED:
            self._blocked_ns += event.time_ns - self._blocked.pop((event.topic, event.client), event.time_ns)

    def _add_up(self) -> None:
        for (topic, client), (count, size) in self._published.items():
            self._add(ALL_PUBLISHED, count)
            self._add(published(topic), count)
            self._add(stored_bytes(topic), size)
            self._add(sent(client), count)
            if _ended(client) in self._points:
                self._set(_ended(client), self._line + 1, 0)
            if client not in self._own and (client or self._handed is EventKind.DELIVERED):
                key = sent(client, topic)
                if key not in self._points:
                    self._others.setdefault(client, []).append(topic)
                self._add(key, count)
        for (group, topic, client), count in self._delivered.items():
            self._add(delivered(group), count)
            self._add(delivered(group, topic), count)
            self._add(received(client), count)
        for (group, client), count in self._acknowledged.items():
            self._add(committed(group), count)
            self._add(acknowledged(client), count)
        self._published, self._delivered, self._acknowledged = {}, {}, {}

    def _add(self, key: Key, by: float) -> None:
        self._points[key].add(self._line + 1, by)

    def _settle(self, line: int) -> None:
        """Set the values up to `line`, before which no more events come."""
        self._add_up()
        if self._changed:
            self._changed = False
            levels = self._read_levels()
            for key in self._levels.keys() | levels.keys():
                if self._levels.get(key) != levels.get(key):
                    self._set(key, self._line + 1, levels.get(key, math.nan))
            self._levels = levels
        # Blocked time goes on by itself, without events.
        for each in range(self._line + 1, line + 1 if self._blocked else self._line + 2):
            waiting_ns = sum(each * self.grid_ns - since_ns for since_ns in self._blocked.values())
            if self._blocked_ns + waiting_ns:
                self._set(BLOCKED, each, self._blocked_ns + waiting_ns)
        self._line = line
        while self._line >= STEPS_MAX:
            self.grid_ns *= 2
            self._line //= 2
            self._points.update({key: points.halved() for key, points in self._points.items()})

    def _set(self, key: Key, line: int, value: float) -> None:
        points = self._points[key]
        if not points.lines or points.values[-1] != value:
            points.set(line, value)

    def _read_levels(self) -> dict[Key, float]:
        broker, levels = self._broker, dict[Key, float]()
        for name, group in broker.groups.by_name.items():
            lags = list(group.lags())
            levels.update({lag(name, *place): behind for place, behind, _ in lags if behind is not None})
            whole = total_lag(behind for _place, behind, _ in lags)
            # Part of a sum is no level: it would leap as soon as the rest is known.
            if whole is not None and not any(behind is None and wanted for _place, behind, wanted in lags):
                levels[lag(name)] = whole
        for name, queue in broker.queues.by_name.items():
            levels[depth(name)], levels[dead(name)] = queue.waiting, queue.dead
        return levels
