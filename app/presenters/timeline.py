"""What the timeline shows, gathered from the event stream: the same at every speed, halved when it grows too fine."""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.presenters.rates import Rates
from app.presenters.timeline_spans import TimelineSpans
from app.sessions.history.series import ALL_PUBLISHED
from broker_core.events import Event, EventKind
from broker_core.snapshots import Snapshot
from widgets.i18n import mark, tr
from widgets.timeline import Tick, TimelineFacts

SAMPLES_MAX = 600
TICKS_MAX = 300

# Kind of event: kind of tick, and what the tick says of `count` of them.
_TICKS: dict[EventKind, tuple[str, str]] = {
    EventKind.DEAD_LETTERED: ("dead letter", mark("{count:,} dead-lettered")),
    EventKind.REDRIVEN: ("redrive", mark("{count:,} redriven")),
    EventKind.USER_ACTION: ("action", "{cause}"),
    EventKind.FAULT: ("fault", "{who}: {cause}"),
}


class _Mark:
    """Events of one kind that lie too near to be told apart."""

    __slots__ = ("count", "first", "kind", "last_ns")

    def __init__(self, kind: EventKind, first: Event, count: int) -> None:
        self.kind = kind
        self.first = first
        self.last_ns = first.time_ns
        self.count = count

    def tick(self) -> Tick:
        kind, words = _TICKS[self.kind]
        label = tr(words).format(count=self.count, who=self.first.client or self.first.topic, cause=self.first.cause)
        many = self.count > 1 and "{count" not in words
        return Tick(
            self.first.time_ns,
            kind,
            tr("{label}, and {count:,} more", label=label, count=self.count - 1) if many else label,
        )


class TimelineFeed:
    """A sink of the event stream. It is called by the engine's thread and read by the window's, and only grows."""

    def __init__(self) -> None:
        self.last: Event | None = None
        self._marks: list[_Mark] = []
        self._newest: dict[EventKind, _Mark] = {}
        self._gap_ns = 0
        self.spans = TimelineSpans()

    def __call__(self, event: Event) -> None:
        """Take one event."""
        self.last = event
        if event.kind in _TICKS:
            self._mark(event)
        else:
            self.spans(event)

    def _mark(self, event: Event) -> None:
        count = max(1, event.count)
        newest = self._newest.get(event.kind)
        apart = event.kind in {EventKind.USER_ACTION, EventKind.FAULT}
        if newest is not None and not apart and event.time_ns - newest.last_ns <= self._gap_ns:
            newest.count += count
            newest.last_ns = event.time_ns
            return
        mark = self._newest[event.kind] = _Mark(event.kind, event, count)
        self._marks.append(mark)
        if len(self._marks) > TICKS_MAX:
            self._thin(event.time_ns)

    def _thin(self, now_ns: int) -> None:
        """Put together what lies near: the oldest stay as well as the newest, only less fine."""
        self._gap_ns = max(self._gap_ns * 2, now_ns // TICKS_MAX)
        kept: list[_Mark] = []
        newest: dict[EventKind, _Mark] = {}
        for each in self._marks:
            before = newest.get(each.kind)
            if before is not None and each.first.time_ns - before.last_ns <= self._gap_ns:
                before.count += each.count
                before.last_ns = each.last_ns
            else:
                newest[each.kind] = each
                kept.append(each)
        self._marks, self._newest = kept, newest

    def ticks(self) -> tuple[Tick, ...]:
        """The marks, in order."""
        return tuple(mark.tick() for mark in tuple(self._marks))


class TimelineModel:
    """A feed, and where in the session the window looks, as the strip shows them."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self._feed = TimelineFeed()
        self._end_ns: int | None = None
        self._looking_back = False
        self.bookmarks: Sequence[tuple[int, str]] = ()
        self.branch_ns: int | None = None

    def follow(self, feed: TimelineFeed) -> None:
        """Another session begins, and `feed` hears of it."""
        self._feed = feed
        self._end_ns, self._looking_back = None, False
        self.branch_ns = None

    def look(self, end_ns: int | None, *, looking_back: bool) -> None:
        """The session has come to `end_ns` (None: to what is shown), and its past is shown, or its present."""
        self._end_ns, self._looking_back = end_ns, looking_back

    def meet(self, snapshot: Snapshot) -> TimelineFacts:
        """The facts while `snapshot` is shown."""
        feed = self._feed
        end_ns = max(self._end_ns or 0, snapshot.time_ns)
        marks = tuple(Tick(time_ns, "bookmark", name) for time_ns, name in self.bookmarks)
        return TimelineFacts(
            start_ns=0,
            now_ns=end_ns,
            samples=(samples := self._samples(end_ns)),
            peak_per_s=round(max((per_s for _ns, per_s in samples), default=0)),
            bands=feed.spans.bands(end_ns),
            ticks=(*feed.ticks(), *marks),
            head_ns=snapshot.time_ns if self._looking_back else None,
            branch_ns=self.branch_ns,
        )

    def _samples(self, end_ns: int) -> tuple[tuple[int, float], ...]:
        """(ns, messages published a second), where it is known."""
        series = self._rates.series
        end = series.line(end_ns)
        step = max(1, -(-end // SAMPLES_MAX))
        lines = range(0, end + 1, step)
        rates = series.rates(ALL_PUBLISHED, lines, step)
        return tuple(
            (line * series.grid_ns, per_s) for line, per_s in zip(lines, rates, strict=True) if not math.isnan(per_s)
        )
