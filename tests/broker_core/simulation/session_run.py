"""A scenario that was run whole, in virtual time, with every event at hand, and the sums that every run must keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import resources
from broker_core.events import Event, EventKind
from broker_core.recording.checker import Checker
from broker_core.recording.markers import markers_of
from broker_core.simulation import Scenario, Simulation, load_scenario
from broker_core.simulation.replay import EventDigest
from broker_core.snapshots import Snapshot

COUNTED = {
    EventKind.PUBLISHED: "published",
    EventKind.DELIVERED: "delivered",
    EventKind.ACKNOWLEDGED: "acknowledged",
    EventKind.DEAD_LETTERED: "dead_lettered",
    EventKind.REDRIVEN: "redriven",
    EventKind.REJECTED: "rejected",
    EventKind.DROPPED: "dropped",
    EventKind.EVICTED: "evicted",
    EventKind.EXPIRED: "expired",
    EventKind.PURGED: "purged",
    EventKind.REBALANCE_STARTED: "rebalances",
}


def shipped(name: str) -> Scenario:
    """The scenario that comes with the program."""
    return load_scenario(resources.path("scenarios", f"{name}.yaml"))[0]


class SessionRun:
    """Runs `scenario`; `look(simulation)` is called at each of `looks_s`."""

    def __init__(
        self,
        scenario: Scenario | str,
        *,
        until_s: float | None = None,
        looks_s: tuple[float, ...] = (),
        look: Callable[[Simulation], object] = lambda _simulation: None,
        checker: Checker | None = None,
    ) -> None:
        self.scenario = shipped(scenario) if isinstance(scenario, str) else scenario
        self.events: list[Event] = []
        self.simulation = Simulation(self.scenario, find_file=lambda name: resources.path("sample_data", name))
        self.simulation.events.attach(self.events.append)
        self.digest = EventDigest(self.simulation.events)
        if checker is not None:
            self.simulation.events.attach(checker)
        for at_s in looks_s:
            self.simulation.run(at_s)
            look(self.simulation)
        self.simulation.run(until_s)
        self.snapshot: Snapshot = self.simulation.snapshot()
        self._cleaned = {topic.name for topic in self.scenario.topics if topic.log is not None}
        self.check_sums()

    def of(self, kind: EventKind, **fields: object) -> Iterator[Event]:
        """The events of `kind` with these fields."""
        for event in self.events:
            if event.kind is kind and all(getattr(event, name) == wanted for name, wanted in fields.items()):
                yield event

    def count(self, kind: EventKind, **fields: object) -> int:
        """Messages in the events of `kind` with these fields."""
        return sum(event.count for event in self.of(kind, **fields))

    def processed(self, actor: str) -> int:
        """What the actor has finished."""
        return self.simulation.actors[actor].processed

    def lag(self, group: str) -> list[int | None]:
        """Of each partition."""
        (found,) = [view for view in self.snapshot.groups if view.name == group]
        return [offset.lag for offset in found.offsets]

    # -- C7: counters that add up

    def check_sums(self) -> None:
        """The events say what the counters say; nothing is lost between publishing and its end."""
        totals = self.snapshot.totals
        counted: Counter[str] = Counter()
        for event in self.events:
            if event.kind in COUNTED:
                counted[COUNTED[event.kind]] += event.count if event.kind is not EventKind.REBALANCE_STARTED else 1
        assert {name: getattr(totals, name) for name in COUNTED.values()} == {
            name: counted[name] for name in COUNTED.values()
        }
        self._check_groups()
        self._check_queues()
        self._check_gates()
        assert all(
            earlier.time_ns <= later.time_ns for earlier, later in zip(self.events, self.events[1:], strict=False)
        )

    def _markers(self, topic: str, partition: int, end: int) -> int:
        """The markers of transactions below `end`."""
        ended = [place for event in self.of(EventKind.TRANSACTION_ENDED) for place in markers_of(event)]
        return sum(place == (topic, partition) and offset < end for place, offset in ended)

    def _check_groups(self) -> None:
        for group in self.snapshot.groups:
            for topic in group.topics:
                published = sum(
                    view.end_offset - self._markers(topic, number, view.end_offset)
                    for topics in self.snapshot.topics
                    if topics.name == topic
                    for number, view in enumerate(topics.partitions)
                )
                mine = [offset for offset in group.offsets if offset.topic == topic]
                committed = sum(
                    (offset.committed or 0) - self._markers(topic, offset.partition, offset.committed or 0)
                    for offset in mine
                )
                assert published == committed + sum(
                    offset.end_offset if offset.lag is None else offset.lag for offset in mine
                )
                passed_over = {"topic": topic, "group": group.name, "cause": "acknowledged"}
                acknowledged = self.count(EventKind.ACKNOWLEDGED, topic=topic, group=group.name)
                acknowledged += self.count(EventKind.PASSED_OVER, **passed_over)
                # What was deleted or compacted away before anybody read it was committed, but nobody acknowledged it.
                assert acknowledged <= committed if topic in self._cleaned else acknowledged == committed

    def _check_queues(self) -> None:
        for queue in self.snapshot.queues:
            subscription = self.simulation.broker.queues.subscription(queue.name)
            topic = subscription.topic if subscription else queue.name
            came = self.count(EventKind.PUBLISHED, topic=topic)
            if subscription is None:
                came += queue.redriven
            waiting = queue.ready + queue.delayed + queue.in_flight
            ended = queue.acknowledged + queue.dead_lettered
            gone = sum(self.count(kind, group=queue.name) for kind in (EventKind.EVICTED, EventKind.EXPIRED))
            assert came == waiting + ended + gone, queue.name
            assert queue.dead == queue.dead_lettered - queue.redriven

    def _check_gates(self) -> None:
        for topic in self.simulation.broker.logs:
            if topic.gate is not None:
                counts = topic.gate.counts
                closed = counts.admitted + counts.rejected + counts.dropped + counts.failed
                assert counts.offered == closed + topic.gate.waiting
                assert counts.admitted == topic.published
        # A topic may hold more when its first reader comes, a subscription when a lease comes back to it.
        queues = {spec.name for spec in self.scenario.queues}
        for queue in self.snapshot.queues:
            if queue.name in queues and queue.gate is not None and queue.gate.limit is not None:
                # A redrive passes the gate by.
                assert queue.gate.depth <= queue.gate.limit + queue.redriven
