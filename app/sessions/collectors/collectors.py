from __future__ import annotations

from collections.abc import Iterator

from app.sessions.collectors.alerts import AlertCollector
from app.sessions.collectors.hues import HueCollector
from app.sessions.collectors.latency import LatencyCollector
from app.sessions.collectors.lesson import LessonCollector
from app.sessions.collectors.schemas import RefusalCollector, SchemaCollector
from app.sessions.collectors.timeline import TimelineCollector
from app.sessions.history.event_ring import EventRing
from app.sessions.history.series import SessionSeries
from broker_core.events import Event, EventKind, Sink
from broker_core.recording.ownership import Ownership
from broker_core.simulation.scenario import Scenario
from broker_core.snapshots import Snapshot


def _assigned(snapshot: Snapshot) -> Iterator[Event]:
    for group in snapshot.groups:
        for member in group.members:
            detail = {"partitions": member.partitions, "member_id": member.member_id}
            at_ns, kind = group.state_since_ns, EventKind.PARTITIONS_ASSIGNED
            yield Event(-1, at_ns, kind, group=group.name, client=member.client, detail=detail)


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
