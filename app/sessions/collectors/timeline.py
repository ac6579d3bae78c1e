"""What the timeline shows, collected from the event stream: the same at every speed, halved when it grows too fine."""

from __future__ import annotations

from app.sessions.collectors.timeline_spans import TimelineSpans
from app.sessions.event_text import KINDS
from broker_core.events import Event, EventKind, is_users
from widgets.i18n import tr
from widgets.timeline import Tick

TICKS_MAX = 300


class _Mark:
    __slots__ = ("count", "first", "kind", "last_ns")

    def __init__(self, kind: EventKind, first: Event, count: int) -> None:
        self.kind = kind
        self.first = first
        self.last_ns = first.time_ns
        self.count = count

    def tick(self) -> Tick:
        _word, _choice, lane, words = KINDS[self.kind]
        label = tr(words).format(count=self.count, who=self.first.client or self.first.topic, cause=self.first.cause)
        if self.kind is EventKind.USER_ACTION and not is_users(self.first):
            label = tr("Scheduled: {what}", what=label)
        many = self.count > 1 and "{count" not in words
        return Tick(
            self.first.time_ns,
            lane,
            tr("{label}, and {count:,} more", label=label, count=self.count - 1) if many else label,
        )


class TimelineCollector:
    """A sink of the event stream. It is called by the engine's thread and read by the window's, and only grows."""

    kinds = frozenset({kind for kind, info in KINDS.items() if info.lane} | TimelineSpans.kinds)

    def __init__(self) -> None:
        self._marks: list[_Mark] = []
        self._newest: dict[EventKind, _Mark] = {}
        self._gap_ns = 0
        self.spans = TimelineSpans()

    def __call__(self, event: Event) -> None:
        info = KINDS.get(event.kind)
        if info is not None and info.lane:
            self._mark(event)
        else:
            self.spans(event)

    def _mark(self, event: Event) -> None:
        count = max(1, event.count)
        newest = self._newest.get(event.kind)
        apart = event.kind in {EventKind.USER_ACTION, EventKind.FAULT, EventKind.GAP, EventKind.ALERT_RAISED}
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
        return tuple(mark.tick() for mark in tuple(self._marks))
