from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from app.presenters.active_faults import left_of, lost_ns, reader_state, state_of
from app.presenters.backpressure import gate_of, gate_state, gauge_facts, only_rate, producer_state, turned_away
from app.presenters.brokers import broker_facts, broker_rows, placed_words
from app.presenters.clients import Client, other_producers
from app.presenters.in_flight import attempt_words
from app.presenters.lag_trend import counts_removed, lag_words
from app.presenters.rates import Rates
from app.presenters.transactions import transaction_facts
from app.sessions.event_text import kind_word, rule_text
from app.sessions.history.series import Key, delivered, of_actor, of_member, of_reading, published, sent
from broker_core.clock import ns_from_ms
from broker_core.events import EventKind
from broker_core.recording.ownership import Ownership
from broker_core.snapshots import (
    SHARE,
    ActorView,
    GateView,
    GroupView,
    MemberView,
    OffsetView,
    PartitionView,
    Snapshot,
    TopicView,
    may_be_marker,
    total_lag,
)
from widgets.facts import Fact
from widgets.formats import NOT_APPLICABLE, byte_size, count, duration, messages, per_second, session_time
from widgets.i18n import tr
from widgets.panels.inspector import MOMENT, InspectorFacts
from widgets.theme import state_style

Facts = tuple[Fact, ...]
Section = tuple[str, Facts]
LISTED = 50


def inspector_facts(
    snapshot: Snapshot, selected: str, rates: Rates, ownership: Ownership | None = None
) -> InspectorFacts | None:
    """Facts of the thing with an id of the canvas ("consumer:indexer-1"); None if it is not there (any more).

    Since when what is owned, `ownership` knows.
    """
    kind, _, name = selected.partition(":")
    if selected == "bench":
        return _bench(snapshot)
    if kind == "consumer":
        facts = _consumer(snapshot, name, rates, ownership or Ownership())
    else:
        maker = _MAKERS.get(kind)
        facts = maker(snapshot, name, rates) if maker is not None else None
    lasting = tuple(
        (
            state_style(state_of(fault)).word,
            f"{rule_text(fault.what)} ({left_of(fault, snapshot.time_ns)})",
            _at(fault.since_ns),
        )
        for fault in snapshot.faults
        if fault.client == name
    )
    return replace(facts, sections=((tr("Active fault"), lasting), *facts.sections)) if facts and lasting else facts


def _actor(snapshot: Snapshot, name: str) -> ActorView | None:
    return next((actor for actor in snapshot.actors if actor.name == name), None)


def _work(actor: ActorView, now_ns: int, rates: Rates) -> Facts:
    if actor.role == "producer":
        counts = {tr("Published"): actor.processed}
        counts |= {tr(kind_word(EventKind(kind))): number for kind, number in turned_away(actor).items()}
    else:
        counts = {tr("Acknowledged"): actor.processed}
        counts |= {tr("Failed"): actor.failed} if actor.role == "worker" else {}
    return (
        *((word, messages(number)) for word, number in counts.items()),
        _rate(tr("Rate"), of_actor(actor), now_ns, rates),
        _since(actor.since_ns, now_ns),
    )


def _rate(label: str, key: Key, now_ns: int, rates: Rates) -> Fact:
    start_ns, end_ns = rates.series.window_ns(now_ns, key)
    words = tr(
        "{rate} messages/s, mean of {time}", rate=per_second(rates.of(key, now_ns)), time=duration(end_ns - start_ns)
    )
    return (label, words)


def _since(time_ns: int, now_ns: int) -> Fact:
    words = tr("{time}, since {since}", time=duration(now_ns - time_ns), since=session_time(time_ns))
    return (tr("In this state"), words, _at(time_ns))


def _at(time_ns: int) -> str:
    return f"{MOMENT}{time_ns}"


def target_of(snapshot: Snapshot, name: str) -> str:
    """The id of a topic, queue or group of that name; "" if there is none."""
    if any(queue.name == name for queue in snapshot.queues):
        return f"queue:{name}"
    if any(topic.name == name for topic in snapshot.topics):
        return f"topic:{name}"
    return f"group:{name}" if any(group.name == name for group in snapshot.groups) else ""


def _linked(label: str, value: str, target: str) -> Fact:
    return (label, value, target) if target else (label, value)


def _gate(gate: GateView | None, kind: str, now_ns: int) -> tuple[Section, ...]:
    if gate is None:
        return ()
    facts = gauge_facts(gate, kind, now_ns)
    rows = [
        (tr("State"), facts.state),
        (tr("Depth"), tr("{depth}, no limit", depth=count(gate.depth)) if only_rate(gate) else facts.depth),
        (tr("When full"), facts.policy),
        (tr("Rate limit"), facts.rate),
        *([(tr("Slowest"), gate.slowest or tr("no reader is behind"))] if kind == "topic" else ()),
        (tr("Rejected"), messages(gate.rejected)),
        (tr("Dropped"), messages(gate.dropped)),
        (tr("Evicted"), messages(gate.evicted)),
        (tr("Blocked"), tr("{count} in all", count=duration(gate.blocked_ns_total))),
    ]
    rows += [(tr("Waiting"), sentence) for sentence in facts.blocked[:8]]
    return ((tr("Backpressure"), tuple(rows)),)


def _producer(snapshot: Snapshot, name: str, rates: Rates) -> InspectorFacts | None:
    other = next((other for other in other_producers(snapshot, rates) if other.name == name), None)
    if other is not None:
        return _other_producer(snapshot, other, rates)
    actor = _actor(snapshot, name)
    if actor is None:
        return None
    waits = _waits(snapshot, name, actor.target)
    to = _linked(tr("Publishes to"), actor.target or tr("nothing"), target_of(snapshot, actor.target))
    linger = tr("{time} for more to send together", time=duration(ns_from_ms(actor.linger_ms)))
    waits += [(tr("Lingers"), linger)] if actor.linger_ms else []
    rows = (to, *waits, *_work(actor, snapshot.time_ns, rates))
    return InspectorFacts(tr("Producer"), name, producer_state(actor), (("", rows),))


def _waits(snapshot: Snapshot, producer: str, target: str) -> list[Fact]:
    gate = gate_of(snapshot, target)
    return [
        (
            tr("Blocked"),
            tr("{time} by {target}; ", time=duration(snapshot.time_ns - since_ns), target=gate.target)
            + (
                tr("it waits for tokens")
                if only_rate(gate)
                else tr("slowest reader: {name}", name=gate.slowest or tr("nobody"))
            ),
        )
        for blocked, since_ns in (gate.blocked if gate is not None else ())
        if gate is not None and blocked == producer
    ]


def _other_producer(snapshot: Snapshot, other: Client, rates: Rates) -> InspectorFacts:
    rows: list[Fact] = []
    for topic in other.targets:
        rate = per_second(rates.of(sent(other.name, topic), snapshot.time_ns))
        words = tr("{topic}, {rate} messages/s", topic=topic, rate=rate)
        rows += [_linked(tr("Publishes to"), words, target_of(snapshot, topic)), *_waits(snapshot, other.name, topic)]
    published = NOT_APPLICABLE if other.published is None else messages(other.published)
    rows += [(tr("Published"), published), _rate(tr("Rate"), other.rate, snapshot.time_ns, rates)]
    rows += [] if other.ended_ns is None else [_since(other.ended_ns, snapshot.time_ns)]
    rows.append((tr("Program"), tr("another program; see its requests in the panels Connections and Requests")))
    return InspectorFacts(tr("Producer"), other.name, other.state, (("", tuple(rows)),))


def _consumer(snapshot: Snapshot, name: str, rates: Rates, ownership: Ownership) -> InspectorFacts | None:
    actor = _actor(snapshot, name)
    seats = [(group, member) for group in snapshot.groups for member in group.members if member.client == name]
    if actor is None and not seats:
        return None
    if actor is not None:
        state = actor.state
        group_of = _linked(tr("Group"), actor.target or tr("none, on the bench"), target_of(snapshot, actor.target))
        first: Facts = (group_of, *_work(actor, snapshot.time_ns, rates))
    else:  # another program's
        per_s = rates.of(of_reading(seats[0][0], name), snapshot.time_ns)
        state = reader_state(snapshot.faults, name, per_s, seats[0][0])
        ended_ns = lost_ns(seats[0][0], name)
        first = (
            *(() if ended_ns is None else (_since(ended_ns, snapshot.time_ns),)),
            _rate(tr("Rate"), of_member(seats[0][0], name), snapshot.time_ns, rates),
        )
    sections: list[Section] = [("", first)]
    for group, member in seats:
        places = set(member.partitions)
        owned = [at for at in group.offsets if (at.topic, at.partition) in places]
        unknown, is_at_most = sum(at.lag is None for at in owned), counts_removed(owned, snapshot.compacted)
        lag = lag_words(total_lag(at.lag for at in owned), unknown, is_at_most)
        owns = (*_owned(group.name, member, ownership, snapshot), (tr("Lag"), lag))
        rows = (
            *(_shared(member) if group.kind == SHARE else owns),
            (tr("Joined"), session_time(member.joined_ns), _at(member.joined_ns)),
            (tr("Heartbeat"), tr("{time} ago", time=duration(snapshot.time_ns - member.last_heartbeat_ns))),
            (tr("Member id"), member.member_id),
        )
        sections.append((tr("Member of {name}", name=group.name), rows))
    return InspectorFacts(tr("Consumer"), name, state, tuple(sections))


def _shared(member: MemberView) -> Facts:
    """Of a member of a cluster's share group."""
    return (
        (tr("Reads"), tr("{topics}, with the others of its group", topics=", ".join(member.topics) or tr("nothing"))),
    )


def _owned(group: str, member: MemberView, ownership: Ownership, at: Snapshot) -> Facts:
    rows: list[Fact] = []
    for topic, partition in member.partitions[:LISTED]:
        place = f"{topic}/{partition}"
        since_ns = ownership.since_ns((group, topic, partition), member.client, at.time_ns, at.events)
        since = "" if since_ns is None else tr(", since {time}", time=session_time(since_ns))
        rows.append((tr("Owns") if not rows else "", place + since, f"lane:{place}"))
    if len(member.partitions) > LISTED:
        rows.append(("", tr("and {count:,} more", count=len(member.partitions) - LISTED)))
    return tuple(rows) or ((tr("Owns"), tr("nothing")),)


def _worker(snapshot: Snapshot, name: str, rates: Rates) -> InspectorFacts | None:
    actor = _actor(snapshot, name)
    if actor is None:
        return None
    held = [lease for queue in snapshot.queues for lease in queue.leases if lease.holder == name]
    holds = tuple(
        (
            f"{lease.queue} {lease.offset:,}",
            tr(
                "attempt {attempt}, {time} left",
                attempt=attempt_words(lease),
                time=duration(lease.deadline_ns - snapshot.time_ns) if lease.has_limits else NOT_APPLICABLE,
            ),
            f"message:{lease.queue}/{lease.partition}/{lease.offset}",
        )
        for lease in held[:12]
    )
    queue = _linked(tr("Queue"), actor.target or tr("none"), target_of(snapshot, actor.target))
    sections: list[Section] = [("", (queue, *_work(actor, snapshot.time_ns, rates)))]
    if holds:
        sections.append((tr("Holds"), holds))
    return InspectorFacts(tr("Worker"), name, actor.state, tuple(sections))


def _topic(snapshot: Snapshot, name: str, rates: Rates) -> InspectorFacts | None:
    topic = next((one for one in snapshot.topics if one.name == name), None)
    if topic is None:
        return None
    readers: Facts = tuple(
        (tr("Read by") if not at else "", group.name, f"group:{group.name}")
        for at, group in enumerate(group for group in snapshot.groups if name in group.topics)
    ) or ((tr("Read by"), tr("no group")),)
    rows: Facts = (
        (tr("Partitions"), str(len(topic.partitions))),
        (tr("Published"), f"{messages(topic.published)}, {byte_size(topic.published_bytes)}"),
        _rate(tr("Rate"), published(name), snapshot.time_ns, rates),
        (tr("Stored"), _size(topic.partitions)),
        *readers,
    )
    lanes: Section = (
        tr("Partitions"),
        tuple(
            (
                str(part.partition),
                tr("{first:,} to {end:,}", first=part.start_offset, end=part.end_offset),
                f"lane:{name}/{part.partition}",
            )
            for part in topic.partitions[:LISTED]
        ),
    )
    sections = (("", rows), *_gate(topic.gate, "topic", snapshot.time_ns), lanes)
    return InspectorFacts(tr("Topic"), name, gate_state(topic.gate), sections)


def _size(parts: Sequence[PartitionView]) -> str:
    """What partitions take; events do not tell it, so it is not known where a recording has no keyframe."""
    if any(part.messages_count and not part.size_bytes for part in parts):
        return tr("size not recorded")
    return byte_size(sum(part.size_bytes for part in parts))


def _transactions_of(part: PartitionView, snapshot: Snapshot) -> tuple[Fact, ...]:
    """Where readers of committed messages wait, and for what; nothing if no transaction is open."""
    if not part.transactions:
        return ()
    stable, producer_ids = part.last_stable_offset, dict(part.transactions)
    waits = tr("{offset:,}, {behind:,} before the end", offset=stable, behind=part.end_offset - stable)
    names = [each.transactional_id for each in snapshot.transactions if each.producer_id in producer_ids]
    return (
        (tr("Last stable offset"), waits),
        *(_linked(tr("Open transaction"), name, f"transaction:{name}") for name in names),
    )


def _lane(snapshot: Snapshot, name: str, rates: Rates) -> InspectorFacts | None:
    topic_name, _, number = name.rpartition("/")
    topic = next((topic for topic in snapshot.topics if topic.name == topic_name), None)
    part = next((part for part in topic.partitions if str(part.partition) == number), None) if topic else None
    if topic is None or part is None:
        return None
    read = [
        (group.name, at)
        for group in snapshot.groups
        for at in group.offsets
        if at.partition == part.partition and at.topic == topic_name
    ]
    return lane_facts(snapshot, topic, part, read, rates)


def lane_facts(
    snapshot: Snapshot, topic: TopicView, part: PartitionView, read: Iterable[tuple[str, OffsetView]], rates: Rates
) -> InspectorFacts:
    """Of a partition; `read` has the name of each group that reads it, with where it stands."""
    first: Facts = (
        (tr("Offsets"), tr("{first:,} to {end:,}", first=part.start_offset, end=part.end_offset)),
        *_transactions_of(part, snapshot),
        *(((tr("Replicas"), placed),) if (placed := placed_words(part, topic.min_in_sync)) else ()),
        (tr("Stored"), f"{messages(part.messages_count)}, {_size((part,))}"),
    )
    sections: list[Section] = [("", first)]
    for group, at in read:
        rows = (
            _linked(tr("Owner"), at.owner or tr("nobody"), f"consumer:{at.owner}" if at.owner else ""),
            *(((tr("Position"), count(at.position)),) if rates.series.deliveries else ()),
            (tr("Committed"), count(at.committed)),
            (tr("Lag"), lag_told(topic, at)),
        )
        sections.append((tr("In {name}", name=group), rows))
    return InspectorFacts(tr("Partition"), f"{topic.name}/{part.partition}", "", tuple(sections))


def lag_told(topic: TopicView, at: OffsetView) -> str:
    """The lag of a group in a partition, and how far behind it is in time."""
    lag = lag_words(at.lag, 0, bool(at.lag) and topic.compacted)
    if topic.partitions[0].leader is not None and may_be_marker(at):
        lag += tr(" (a transaction's marker may count)")
    return lag + tr(", {time} behind", time=duration(at.lag_ns)) if at.lag_ns else lag


def _group(snapshot: Snapshot, name: str, _rates: Rates) -> InspectorFacts | None:
    group = next((one for one in snapshot.groups if one.name == name), None)
    if group is None:
        return None
    return InspectorFacts(tr("Group"), name, group.state, (("", _group_rows(group, snapshot)), _members(group)))


def _group_rows(group: GroupView, at: Snapshot) -> Facts:
    return (
        (tr("Generation"), str(group.generation) if group.generation >= 0 else tr("not known")),
        _since(group.state_since_ns, at.time_ns),
        (tr("Assignor"), group.assignor or NOT_APPLICABLE),
        (tr("Leader"), group.leader or (tr("not known") if group.generation < 0 else tr("none"))),
        (tr("Reads"), ", ".join(group.topics) or tr("nothing")),
        (tr("Lag"), lag_words(group.lag, group.lag_unknown, counts_removed(group.offsets, at.compacted))),
    )


def _members(group: GroupView) -> Section:
    rows = tuple(
        (
            member.client,
            ", ".join(member.topics)
            if group.kind == SHARE
            else tr("1 partition")
            if len(member.partitions) == 1
            else tr("{count} partitions", count=len(member.partitions)),
            f"consumer:{member.client}",
        )
        for member in group.members[:LISTED]
    )
    return (tr("Members ({count})", count=len(group.members)), rows)


def _queue(snapshot: Snapshot, name: str, rates: Rates) -> InspectorFacts | None:
    queue = next((one for one in snapshot.queues if one.name == name), None)
    if queue is None:
        return None
    now = (
        (tr("Ready"), messages(queue.ready)),
        (tr("Delayed"), messages(queue.delayed)),
        (tr("In flight"), messages(queue.in_flight)),
        (tr("Dead letters"), messages(queue.dead)),
    )
    so_far = (
        _rate(tr("Delivered"), delivered(name), snapshot.time_ns, rates),
        (tr("Acknowledged"), messages(queue.acknowledged)),
        (tr("Redelivered"), tr("{count:,} times", count=queue.redelivered)),
        (tr("Dead-lettered"), messages(queue.dead_lettered)),
        (tr("Redriven"), messages(queue.redriven)),
    )
    rules = (
        (tr("Lease"), tr("{count:,} ms", count=queue.lease_ms) if queue.lease_ms else tr("not known")),
        (tr("Attempts"), tr("at most {count}", count=queue.max_attempts or "∞") if queue.lease_ms else tr("not known")),
        (tr("Reads"), queue.reads, f"topic:{queue.reads}")
        if queue.reads
        else (tr("Priorities"), str(queue.priorities)),
        (tr("Consumers waiting"), str(queue.waiting_takers)),
    )
    sections = (
        (tr("Now"), now),
        (tr("So far"), so_far),
        (tr("Rules"), rules),
        *_gate(queue.gate, "queue", snapshot.time_ns),
    )
    return InspectorFacts(tr("Queue"), name, gate_state(queue.gate), sections)


def _bench(snapshot: Snapshot) -> InspectorFacts:
    names = [actor.name for actor in snapshot.actors if actor.role == "consumer" and not actor.target]
    rows: Facts = tuple(("", name, f"consumer:{name}") for name in names) or (
        ("", tr("No consumer is on the bench. Drag one here to take it out of its group.")),
    )
    return InspectorFacts(tr("Bench"), tr("Bench"), "", ((tr("Consumers"), rows),))


def _node(snapshot: Snapshot, name: str, _rates: Rates) -> InspectorFacts | None:
    row = next((row for row in broker_rows(snapshot) if str(row.view.node) == name), None)
    if row is None:
        return None
    return InspectorFacts(tr("Broker"), f"{tr('Broker')} {name}", row.state, (("", broker_facts(row)),))


_MAKERS: dict[str, Callable[[Snapshot, str, Rates], InspectorFacts | None]] = {
    "node": _node,
    "producer": _producer,
    "worker": _worker,
    "topic": _topic,
    "lane": _lane,
    "group": _group,
    "queue": _queue,
    "dlq": _queue,
    "workers": _queue,
    "transaction": transaction_facts,
}
