"""Data of the timeline, collected from the event stream: the same at every speed, halved when it grows too fine."""

from __future__ import annotations

from app.sessions.core_sentences import cause_text
from app.sessions.event_text import KINDS, cause_of
from broker_core.events import Event, EventKind, is_users
from broker_core.snapshots import SEEN_LATE
from widgets.formats import duration
from widgets.i18n import tr
from widgets.timeline_facts import Band, Tick

SPANS_MAX = 300  # of a lane


class _Span:
    __slots__ = ("count", "end_ns", "label", "start_ns", "sum_ns")

    def __init__(self, start_ns: int, label: str) -> None:
        self.start_ns = start_ns
        self.end_ns: int | None = None
        self.label = label
        self.count = 1
        self.sum_ns = 0  # of what is over


class Spans:
    """The spans of one lane. `many` says what several are, with {count} and {time}, the sum of their times."""

    def __init__(self, lane: str, many: str) -> None:
        self._lane = lane
        self._many = many
        self._spans: list[_Span] = []
        self._open: dict[tuple[str, str], tuple[_Span, int]] = {}
        self._gap_ns = 0

    def begin(self, key: tuple[str, str], time_ns: int, label: str) -> None:
        newest = self._spans[-1] if self._spans else None
        if newest is not None and newest.end_ns is not None and time_ns - newest.end_ns < self._gap_ns:
            newest.count += 1
            newest.end_ns = None
            self._open[key] = newest, time_ns
            return
        span = _Span(time_ns, label)
        self._open[key] = span, time_ns
        self._spans.append(span)
        if len(self._spans) > SPANS_MAX:
            self._thin(time_ns)

    def end(self, key: tuple[str, str], time_ns: int, label: str = "") -> None:
        """End the span of `key`; `label` replaces the one of its beginning."""
        span, began_ns = self._open.pop(key, (None, 0))
        if span is None:
            return
        span.sum_ns += time_ns - began_ns
        if all(other is not span for other, _began_ns in self._open.values()):
            span.end_ns = time_ns
            span.label = label or span.label

    def _thin(self, now_ns: int) -> None:
        gap_ns = max(self._gap_ns * 2, now_ns // SPANS_MAX)
        kept: list[_Span] = []
        for span in self._spans:
            last = kept[-1] if kept else None
            if last and last.end_ns is not None and span.end_ns is not None and span.start_ns - last.end_ns < gap_ns:
                self._gap_ns = gap_ns  # only if it joins any: those that are open would double it with each new one
                last.end_ns = max(last.end_ns, span.end_ns)
                last.count += span.count
                last.sum_ns += span.sum_ns
            else:
                kept.append(span)
        self._spans = kept

    def bands(self, now_ns: int) -> tuple[Band, ...]:
        found = []
        for span in tuple(self._spans):
            end_ns = span.end_ns
            lasted = duration((now_ns if end_ns is None else end_ns) - span.start_ns)
            label = (
                self._many.format(count=span.count, time=duration(span.sum_ns))
                if span.count > 1
                else span.label.replace("{lasted}", lasted)
            )
            found.append(Band(span.start_ns, end_ns, label, self._lane))
        return tuple(found)


TICKS_MAX = 300
_SPANNING = frozenset(
    {
        EventKind.REBALANCE_STARTED,
        EventKind.REBALANCE_COMPLETED,
        EventKind.PRODUCER_BLOCKED,
        EventKind.PRODUCER_UNBLOCKED,
    }
)


class _Mark:
    __slots__ = ("count", "first", "kind", "last_ns")

    def __init__(self, kind: EventKind, first: Event, count: int) -> None:
        self.kind = kind
        self.first = first
        self.last_ns = first.time_ns
        self.count = count

    def tick(self) -> Tick:
        _word, _choice, lane, words = KINDS[self.kind]
        label = tr(words).format(
            count=self.count, who=self.first.client or self.first.topic, cause=cause_of(self.first)
        )
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

    kinds = _SPANNING | {kind for kind, info in KINDS.items() if info.lane}

    def __init__(self) -> None:
        self._marks: list[_Mark] = []
        self._newest: dict[EventKind, _Mark] = {}
        self._gap_ns = 0
        self._late: dict[tuple[str, str], str] = {}  # rebalances that were seen after they were over
        self._rebalances = Spans("rebalances", tr("{count:,} rebalances"))
        self._blocked = Spans("backpressure", tr("Producers were blocked {count:,} times, {time} in all"))

    def __call__(self, event: Event) -> None:
        group, client = (event.group, ""), (event.topic, event.client)
        match event.kind:
            case EventKind.REBALANCE_STARTED if event.cause.startswith(SEEN_LATE):
                label = tr("{group} rebalanced, some time before: {cause}", group=event.group, cause=event.cause)
                self._late[group] = label
            case EventKind.REBALANCE_COMPLETED if group in self._late:
                label = self._late.pop(group)
                self._rebalances.begin(group, event.time_ns, label)
                self._rebalances.end(group, event.time_ns, label)
            case EventKind.REBALANCE_STARTED:
                label = tr("{group} rebalances, {{lasted}}: {cause}", group=event.group, cause=cause_text(event.cause))
                self._rebalances.begin(group, event.time_ns, label)
            case EventKind.REBALANCE_COMPLETED:
                label = tr("{group} rebalanced, {{lasted}}: {cause}", group=event.group, cause=cause_text(event.cause))
                self._rebalances.end(group, event.time_ns, label)
            case EventKind.PRODUCER_BLOCKED:
                label = tr("{client} blocked by {topic}, {{lasted}}", client=event.client, topic=event.topic)
                self._blocked.begin(client, event.time_ns, label)
            case EventKind.PRODUCER_UNBLOCKED:
                self._blocked.end(client, event.time_ns)
            case kind if kind in self.kinds:
                self._mark(event)

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

    def bands(self, now_ns: int) -> tuple[Band, ...]:
        return (*self._rebalances.bands(now_ns), *self._blocked.bands(now_ns))

    def ticks(self) -> tuple[Tick, ...]:
        return tuple(mark.tick() for mark in tuple(self._marks))
