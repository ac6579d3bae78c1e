from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from threading import Lock
from typing import NamedTuple

from app.sessions.collectors.schemas import RefusalCollector, SchemaCollector
from app.sessions.collectors.timeline import TimelineCollector
from app.sessions.event_text import event_line
from app.sessions.history.past import EventRing
from app.sessions.history.series import SessionSeries
from broker_core.broker.occurrences import FIELDS, Occurrence, SnapshotState, occurrences, only_state, tester
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind, Sink
from broker_core.filters import parse
from broker_core.recording.ownership import Ownership
from broker_core.simulation.alert_watch import Alert
from broker_core.simulation.lesson import Lesson, Step
from broker_core.simulation.scenario import Scenario
from broker_core.snapshots import Snapshot

_FLOWS = frozenset({EventKind.TOPIC_CREATED, EventKind.QUEUE_CREATED})


class Numbers:
    """Numbers from 0 without end: a new name gets the next, and keeps it. Any thread may ask."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._lock = Lock()

    def of(self, name: str) -> int:
        number = self._known.get(name)
        if number is not None:
            return number
        with self._lock:
            return self._known.setdefault(name, len(self._known))

    def __contains__(self, name: str) -> bool:
        return name in self._known


class HueCollector:
    """Gives hues their numbers (see `resources.colours`); a name without an event gets one when it is asked for."""

    kinds = _FLOWS | {EventKind.MEMBER_JOINED, EventKind.CLIENT_STARTED}

    def __init__(self) -> None:
        self.flows = Numbers()
        self.readers = Numbers()

    def __call__(self, event: Event) -> None:
        if event.kind in _FLOWS:
            self.flows.of(event.topic)
        elif event.kind is EventKind.MEMBER_JOINED:
            self.flows.of(event.group)
            self.readers.of(event.client)
        elif event.kind is EventKind.CLIENT_STARTED and (event.detail or {}).get("role") != "producer":
            self.readers.of(event.client)


class Raised(NamedTuple):
    name: str
    when: str
    time_ns: int


class AlertCollector:
    """A sink of the event stream; called by the engine's thread, read by the window's."""

    def __init__(self, scenario: Scenario | None = None) -> None:
        alerts = () if scenario is None else scenario.alerts
        self.alerts: dict[str, Alert] = {alert.name: alert for alert in alerts}
        self.raised: list[Raised] = []
        self.lasting: frozenset[str] = frozenset()
        self.corrupt: list[Event] = []
        self.over_ns: dict[str, int] = {}  # when each was over for the last time

    kinds = frozenset({EventKind.ALERT_RAISED, EventKind.ALERT_OVER, EventKind.DAMAGE, EventKind.USER_ACTION})

    def __call__(self, event: Event) -> None:
        detail = event.detail or {}
        match event.kind:
            case EventKind.ALERT_RAISED:
                alert = Alert(name=event.cause, when=detail["when"], for_s=detail["for_s"])
                self.raised.append(Raised(event.cause, alert.condition, event.time_ns))
                self.lasting |= {event.cause}
            case EventKind.ALERT_OVER:
                self.over_ns[event.cause] = event.time_ns
                self.lasting -= {event.cause}
            case EventKind.DAMAGE:
                self.corrupt.append(event)
            case EventKind.USER_ACTION if detail.get("action") == "set_alert":
                self.alerts[detail["name"]] = Alert(
                    name=detail["name"], when=detail["when"], for_s=detail.get("for_s", 0.0)
                )
            case EventKind.USER_ACTION if detail.get("action") == "remove_alert":
                self.alerts.pop(detail["name"], None)
            case _:
                pass


def _assigned(snapshot: Snapshot) -> Iterator[Event]:
    for group in snapshot.groups:
        for member in group.members:
            detail = {"partitions": member.partitions, "member_id": member.member_id}
            yield Event(
                -1,
                group.state_since_ns,
                EventKind.PARTITIONS_ASSIGNED,
                group=group.name,
                client=member.client,
                detail=detail,
            )


BINS_MAX = 600
FIRST_BIN_NS = NS_PER_S
# Sixteen buckets for each doubling of a latency: 4.4 % wide, so a percentile is off by 2.2 % at most.
BUCKETS_PER_DOUBLING = 16
LEAST_LATENCY_NS = 1_000


#: How many first deliveries fell into each bucket.
Bin = dict[int, int]


def bucket_of(latency_ns: int) -> int:
    return int(math.log2(max(latency_ns, LEAST_LATENCY_NS)) * BUCKETS_PER_DOUBLING)


def latency_ns_of(bucket: int) -> float:
    return float(2 ** ((bucket + 0.5) / BUCKETS_PER_DOUBLING))


def percentile_ns(latencies: Bin, share: float) -> float | None:
    """The latency that `share` (0..1) of the messages stayed below; None without messages."""
    total = sum(latencies.values())
    if not total:
        return None
    left = share * total
    for bucket in sorted(latencies):
        left -= latencies[bucket]
        if left <= 0:
            return latency_ns_of(bucket)
    return latency_ns_of(max(latencies))


class LatencyCollector:
    """A sink of the event stream. The engine's thread calls it, the window's reads it; it only grows."""

    def __init__(self) -> None:
        # Both change at once, for a reader in another thread.
        self._series: tuple[int, list[Bin]] = (FIRST_BIN_NS, [])

    kinds = frozenset({EventKind.DELIVERED})

    def __call__(self, event: Event) -> None:
        if event.attempt == 1 and event.published_ns is not None:
            bucket = bucket_of(event.time_ns - event.published_ns)
            found = self._bin(event.time_ns)
            found[bucket] = found.get(bucket, 0) + event.count

    def _bin(self, time_ns: int) -> Bin:
        bin_ns, bins = self._series
        while time_ns // bin_ns >= BINS_MAX:
            bin_ns, bins = self._series = (bin_ns * 2, _halved(bins))
        place = time_ns // bin_ns
        while place >= len(bins):
            bins.append({})
        return bins[place]

    def copy(self) -> tuple[int, list[Bin]]:
        """(ns of a bin, the bins), safe to walk through while events come in; the newest bin may still grow."""
        bin_ns, bins = self._series
        return bin_ns, [dict(one) for one in list(bins)]


def _halved(bins: list[Bin]) -> list[Bin]:
    halved: list[Bin] = []
    for at in range(0, len(bins), 2):
        joined: Bin = {}
        for one in bins[at : at + 2]:
            for bucket, count in one.items():
                joined[bucket] = joined.get(bucket, 0) + count
        halved.append(joined)
    return halved


class Done(NamedTuple):
    """When a step was done, in session ns, and the event that did it; "" for a state or a command of the window."""

    time_ns: int
    by: str = ""


class LessonCollector:
    """A sink of the event stream and of keyframes; called by the engine's thread, read by the window's.

    Conditions on the state alone are asked of each keyframe, all others of each event with the last keyframe's state.
    """

    def __init__(self, lesson: Lesson | None = None) -> None:
        self.lesson = lesson
        steps = () if lesson is None else lesson.steps
        self.done: list[Done | None] = [None] * len(steps)
        self._of_events: dict[int, Callable[[Occurrence], bool]] = {}
        self._of_states: dict[int, Callable[[Occurrence], bool]] = {}
        for number, step in enumerate(steps):
            if step.when:
                condition = parse(step.when, FIELDS)
                (self._of_states if only_state(condition) else self._of_events)[number] = tester(condition)
        self._state = SnapshotState(Snapshot(0, 0))

    def __call__(self, event: Event) -> None:
        if not self._of_events:
            return
        asked = list(occurrences(event, self._state))
        met = [number for number, fits in self._of_events.items() if any(fits(each) for each in asked)]
        for number in met:
            del self._of_events[number]
            self.done[number] = self.done[number] or Done(event.time_ns, event_line(event))

    def keyframe(self, snapshot: Snapshot) -> None:
        """Take the state at a moment, after the events before it."""
        self._state = SnapshotState(snapshot)
        state = Occurrence(None, "", self._state)
        met = [number for number, fits in self._of_states.items() if fits(state)]
        for number in met:
            del self._of_states[number]
            self.done[number] = self.done[number] or Done(snapshot.time_ns)

    def did(self, command: str, time_ns: int) -> None:
        self._by_hand(lambda step: command in step.commands, time_ns)

    def selected(self, item_id: str, time_ns: int) -> None:
        kind = item_id.partition(":")[0]
        self._by_hand(lambda step: bool(step.select) and step.select in {item_id, kind}, time_ns)

    def _by_hand(self, fits: Callable[[Step], bool], time_ns: int) -> None:
        for number, step in enumerate(() if self.lesson is None else self.lesson.steps):
            if self.done[number] is None and fits(step):
                self.done[number] = Done(time_ns)


class Collectors:
    def __init__(self, scenario: Scenario | None = None, *, deliveries: bool = True) -> None:
        self.deliveries = deliveries
        self._began = False
        self.events = EventRing()
        self.timeline = TimelineCollector()
        self.ownership = Ownership()
        self.hues = HueCollector()
        self.latencies = LatencyCollector()
        self.series = SessionSeries(deliveries=deliveries)
        self.refusals = RefusalCollector()
        self.schemas = SchemaCollector(scenario)
        self.alerts = AlertCollector(scenario)
        self.lesson = LessonCollector(None if scenario is None else scenario.lesson)

    def all(self) -> tuple[Sink, ...]:
        return (self.events, *self.gathering())

    def keyframe(self, snapshot: Snapshot) -> None:
        """Take the state at a moment, after the events before it, of a session that began in the middle."""
        if not self._began:
            self._began = True
            for event in _assigned(snapshot):
                self.ownership(event)
        self.series.keyframe(snapshot)
        self.lesson.keyframe(snapshot)

    def gathering(self) -> tuple[Sink, ...]:
        """For a session that is read: its single events stay in its folder."""
        return (
            self.timeline,
            self.ownership,
            self.hues,
            self.latencies,
            self.refusals,
            self.schemas,
            self.alerts,
            self.lesson,
            self.series,
        )
