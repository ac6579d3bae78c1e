"""The facts of the thing that is selected on the canvas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.view_models.formats import NOT_APPLICABLE, byte_size, count, duration, rate, session_time
from app.view_models.gauges import gate_of, gate_state, gauge_facts, only_rate
from app.view_models.lasting import left_of, state_of
from broker_core.lab.scenario import Scenario
from broker_core.snapshots import ActorView, GateView, GroupView, Snapshot
from widgets.facts import Fact
from widgets.panels.inspector import MOMENT, InspectorFacts
from widgets.words import tr

Facts = tuple[Fact, ...]
Section = tuple[str, Facts]
LISTED = 50


def inspector_facts(snapshot: Snapshot, selected: str) -> InspectorFacts | None:
    """Facts of the thing with an id of the canvas ("consumer:indexer-1"); None where it is not there (any more)."""
    kind, _, name = selected.partition(":")
    if selected == "bench":
        return _bench(snapshot)
    maker = _MAKERS.get(kind)
    facts = maker(snapshot, name) if maker is not None else None
    lasting = tuple(
        (state_of(fault), f"{fault.what} ({left_of(fault, snapshot.time_ns)})", _at(fault.since_ns))
        for fault in snapshot.faults
        if fault.client == name
    )
    return replace(facts, sections=((tr("What lasts"), lasting), *facts.sections)) if facts and lasting else facts


def _actor(snapshot: Snapshot, name: str) -> ActorView | None:
    return next((actor for actor in snapshot.actors if actor.name == name), None)


def _work(actor: ActorView, verb: str, now_ns: int) -> Facts:
    return (
        (verb, f"{count(actor.processed)} messages"),
        ("Failed", f"{count(actor.failed)} messages"),
        ("Rate", f"{rate(actor.rate_per_s)} messages/s"),
        (
            "In this state",
            f"{duration(now_ns - actor.since_ns)}, since {session_time(actor.since_ns)}",
            _at(actor.since_ns),
        ),
    )


def _at(time_ns: int) -> str:
    """The target of a link to a moment."""
    return f"{MOMENT}{time_ns}"


def _target(snapshot: Snapshot, name: str) -> str:
    """The id of a topic, queue or group of that name; "" where there is none."""
    kinds = (
        ("queue", [one.name for one in snapshot.queues]),
        ("topic", [one.name for one in snapshot.topics]),
        ("group", [one.name for one in snapshot.groups]),
    )
    return next((f"{kind}:{name}" for kind, things in kinds for one in things if one == name), "")


def _linked(label: str, value: str, target: str) -> Fact:
    return (label, value, target) if target else (label, value)


def _gate(gate: GateView | None, kind: str, now_ns: int) -> tuple[Section, ...]:
    if gate is None:
        return ()
    facts = gauge_facts(gate, kind, now_ns)
    rows = [
        ("State", facts.state),
        ("Depth", f"{count(gate.depth)}, no limit" if only_rate(gate) else facts.depth),
        ("When full", facts.policy),
        ("Rate limit", facts.rate),
        ("Slowest", gate.slowest or "nobody is behind"),
        ("Rejected", f"{facts.rejected} messages"),
        ("Dropped", f"{facts.dropped} messages"),
        ("Blocked", f"{facts.blocked_total} in all"),
    ]
    rows += [("Waiting", sentence) for sentence in facts.blocked[:8]]
    return (("Backpressure", tuple(rows)),)


def _producer(snapshot: Snapshot, name: str) -> InspectorFacts | None:
    actor = _actor(snapshot, name)
    if actor is None:
        return None
    gate = gate_of(snapshot, actor.target)
    waits = [
        (
            "Blocked",
            f"{duration(snapshot.time_ns - since_ns)} by {gate.target}; "
            + ("it waits for tokens" if only_rate(gate) else f"slowest reader: {gate.slowest or 'nobody'}"),
        )
        for blocked, since_ns in (gate.blocked if gate is not None else ())
        if gate is not None and blocked == name
    ]
    to = _linked("Publishes to", actor.target or "nothing", _target(snapshot, actor.target))
    rows = (to, *waits, *_work(actor, "Published", snapshot.time_ns))
    return InspectorFacts("Producer", name, actor.state, (("", rows),))


def _consumer(snapshot: Snapshot, name: str) -> InspectorFacts | None:
    actor = _actor(snapshot, name)
    seats = [(group, member) for group in snapshot.groups for member in group.members if member.client == name]
    if actor is None and not seats:
        return None
    sections: list[Section] = []
    if actor is not None:
        sections.append(
            (
                "",
                (
                    _linked("Group", actor.target or "none, on the bench", _target(snapshot, actor.target)),
                    *_work(actor, "Processed", snapshot.time_ns),
                ),
            )
        )
    for group, member in seats:
        places = [f"{topic}/{partition}" for topic, partition in member.partitions]
        owned: Facts = tuple(
            ("Owns" if not at else "", place, f"lane:{place}") for at, place in enumerate(places[:LISTED])
        )
        if not places:
            owned = (("Owns", "nothing"),)
        elif len(places) > LISTED:
            owned = (*owned, ("", f"and {len(places) - LISTED:,} more"))
        since: Fact = ("Since", NOT_APPLICABLE)
        if member.owned_since_ns is not None:
            since = ("Since", session_time(member.owned_since_ns), _at(member.owned_since_ns))
        lags = [at.lag for at in group.offsets if at.owner == name and at.lag is not None]
        sections.append(
            (
                f"Member of {group.name}",
                (
                    *owned,
                    since,
                    ("Lag", f"{sum(lags):,} messages" if lags else NOT_APPLICABLE),
                    ("Joined", session_time(member.joined_ns), _at(member.joined_ns)),
                    ("Heartbeat", f"{duration(snapshot.time_ns - member.last_heartbeat_ns)} ago"),
                    ("Member id", member.member_id),
                ),
            )
        )
    return InspectorFacts("Consumer", name, actor.state if actor is not None else "", tuple(sections))


def _worker(snapshot: Snapshot, name: str) -> InspectorFacts | None:
    actor = _actor(snapshot, name)
    if actor is None:
        return None
    held = [lease for queue in snapshot.queues for lease in queue.leases if lease.holder == name]
    holds = tuple(
        (
            f"{lease.queue} {lease.offset:,}",
            f"attempt {lease.attempt} of {lease.max_attempts}, {duration(lease.deadline_ns - snapshot.time_ns)} left",
            f"message:{lease.queue}/{lease.partition}/{lease.offset}",
        )
        for lease in held[:12]
    )
    sections: list[Section] = [
        (
            "",
            (
                _linked("Queue", actor.target or "none", _target(snapshot, actor.target)),
                *_work(actor, "Processed", snapshot.time_ns),
            ),
        )
    ]
    if holds:
        sections.append(("Holds", holds))
    return InspectorFacts("Worker", name, actor.state, tuple(sections))


def _topic(snapshot: Snapshot, name: str) -> InspectorFacts | None:
    topic = next((one for one in snapshot.topics if one.name == name), None)
    if topic is None:
        return None
    readers: Facts = tuple(
        ("Read by" if not at else "", group.name, f"group:{group.name}")
        for at, group in enumerate(group for group in snapshot.groups if name in group.topics)
    ) or (("Read by", "no group"),)
    rows: Facts = (
        ("Partitions", str(len(topic.partitions))),
        ("Published", f"{count(topic.published)} messages, {byte_size(topic.published_bytes)}"),
        ("Stored", byte_size(sum(part.size_bytes for part in topic.partitions))),
        *readers,
    )
    lanes: Section = (
        "Partitions",
        tuple(
            (str(part.partition), f"{part.start_offset:,} to {part.end_offset:,}", f"lane:{name}/{part.partition}")
            for part in topic.partitions[:LISTED]
        ),
    )
    sections = (("", rows), *_gate(topic.gate, "topic", snapshot.time_ns), lanes)
    return InspectorFacts("Topic", name, gate_state(topic.gate), sections)


def _lane(snapshot: Snapshot, name: str) -> InspectorFacts | None:
    topic_name, _, number = name.rpartition("/")
    parts = [
        part
        for topic in snapshot.topics
        if topic.name == topic_name
        for part in topic.partitions
        if str(part.partition) == number
    ]
    if not parts:
        return None
    part = parts[0]
    sections: list[Section] = [
        (
            "",
            (
                ("Offsets", f"{part.start_offset:,} to {part.end_offset:,}"),
                ("Stored", f"{part.end_offset - part.start_offset:,} messages, {byte_size(part.size_bytes)}"),
            ),
        )
    ]
    for group in snapshot.groups:
        for at in group.offsets:
            if (at.topic, str(at.partition)) == (topic_name, number):
                lag = NOT_APPLICABLE if at.lag is None else f"{at.lag:,} messages"
                if at.lag_ns:
                    lag += f", {duration(at.lag_ns)} behind"
                sections.append(
                    (
                        f"In {group.name}",
                        (
                            _linked("Owner", at.owner or "nobody", f"consumer:{at.owner}" if at.owner else ""),
                            ("Position", count(at.position)),
                            ("Committed", count(at.committed)),
                            ("Lag", lag),
                        ),
                    )
                )
    return InspectorFacts("Partition", name, "", tuple(sections))


def _group(snapshot: Snapshot, name: str) -> InspectorFacts | None:
    group = next((one for one in snapshot.groups if one.name == name), None)
    if group is None:
        return None
    return InspectorFacts("Group", name, group.state, (("", _group_rows(group, snapshot.time_ns)), _members(group)))


def _group_rows(group: GroupView, now_ns: int) -> Facts:
    lags = [at.lag for at in group.offsets if at.lag is not None]
    return (
        ("Generation", str(group.generation)),
        (
            "In this state",
            f"{duration(now_ns - group.state_since_ns)}, since {session_time(group.state_since_ns)}",
            _at(group.state_since_ns),
        ),
        ("Assignor", group.assignor),
        ("Leader", group.leader or "none"),
        ("Reads", ", ".join(group.topics) or "nothing"),
        ("Lag", f"{sum(lags):,} messages" if lags else NOT_APPLICABLE),
    )


def _members(group: GroupView) -> Section:
    rows = tuple(
        (
            member.client,
            f"{len(member.partitions)} partition{'' if len(member.partitions) == 1 else 's'}",
            f"consumer:{member.client}",
        )
        for member in group.members[:LISTED]
    )
    return (f"Members ({len(group.members)})", rows)


def _queue(snapshot: Snapshot, name: str) -> InspectorFacts | None:
    queue = next((one for one in snapshot.queues if one.name == name), None)
    if queue is None:
        return None
    now = (
        ("Ready", f"{queue.ready:,} messages"),
        ("Delayed", f"{queue.delayed:,} messages"),
        ("In flight", f"{queue.in_flight:,} messages"),
        ("Dead letters", f"{queue.dead:,} messages"),
    )
    so_far = (
        ("Acknowledged", f"{queue.acknowledged:,} messages"),
        ("Redelivered", f"{queue.redelivered:,} times"),
        ("Dead-lettered", f"{queue.dead_lettered:,} messages"),
        ("Redriven", f"{queue.redriven:,} messages"),
    )
    rules = (
        ("Lease", f"{queue.lease_ms:,} ms"),
        ("Attempts", f"at most {queue.max_attempts}"),
        ("Priorities", str(queue.priorities)),
        ("Takers waiting", str(queue.waiting_takers)),
    )
    sections = (("Now", now), ("So far", so_far), ("Rules", rules), *_gate(queue.gate, "queue", snapshot.time_ns))
    return InspectorFacts("Queue", name, gate_state(queue.gate), sections)


def _bench(snapshot: Snapshot) -> InspectorFacts:
    names = [actor.name for actor in snapshot.actors if actor.role == "consumer" and not actor.target]
    rows: Facts = tuple(("", name, f"consumer:{name}") for name in names) or (
        ("", "Nobody sits here. Drag a consumer here to take it out of its group."),
    )
    return InspectorFacts("Bench", "Bench", "", (("Consumers", rows),))


_MAKERS: dict[str, Callable[[Snapshot, str], InspectorFacts | None]] = {
    "producer": _producer,
    "consumer": _consumer,
    "worker": _worker,
    "topic": _topic,
    "lane": _lane,
    "group": _group,
    "queue": _queue,
    "dlq": _queue,
    "workers": _queue,
}


def scenario_facts(scenario: Scenario) -> InspectorFacts:
    """What the scenario is about, what to watch and what to try: shown while nothing is selected."""
    sections: list[Section] = [("", (("", " ".join(scenario.about.split())),))]
    for title, lines in (("Try", scenario.try_), ("Watch", scenario.watch)):
        if lines:
            sections.append((title, tuple((f"{number}.", line) for number, line in enumerate(lines, start=1))))
    return InspectorFacts("Scenario", scenario.title, "", tuple(sections))
