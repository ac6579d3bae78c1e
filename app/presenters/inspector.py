from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.presenters.active_faults import left_of, lost_ns, reader_state, state_of
from app.presenters.backpressure import gate_of, gate_state, gauge_facts, only_rate, producer_state, turned_away
from app.presenters.brokers import broker_facts, broker_rows, placed_words
from app.presenters.clients import Client, other_producers
from app.presenters.in_flight import attempt_words
from app.presenters.transactions import transaction_facts
from app.sessions.core_sentences import rule_text
from app.sessions.event_text import kind_word
from app.sessions.history.series import Key, SessionSeries, delivered, of_actor, of_member, of_reading, published, sent
from broker_core.clock import ns_from_ms
from broker_core.events import EventKind
from broker_core.recording.ownership import Ownership
from broker_core.simulation.scenario import Scenario
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
    counts_removed,
    may_be_marker,
    total_lag,
)
from widgets.facts import Fact, Facts, TitledFacts, with_rows, with_values
from widgets.formats import NOT_APPLICABLE, byte_size, count, duration, lag_words, messages, per_second, session_time
from widgets.i18n import tr
from widgets.panels.inspector import MOMENT, InspectorFacts
from widgets.theme import state_style

LISTED = 50


def about_scenario(scenario: Scenario, kind: str) -> InspectorFacts:
    def numbered(lines: Sequence[str]) -> Facts:
        return tuple((f"{number}.", tr(" ".join(line.split()))) for number, line in enumerate(lines, start=1))

    about: TitledFacts = ("", (("", tr(" ".join(scenario.about.split()))),))
    others = with_rows((tr("Try"), numbered(scenario.try_)), (tr("Watch"), numbered(scenario.watch)))
    return InspectorFacts(kind, tr(scenario.title), "", (about, *others))


def inspector_facts(
    snapshot: Snapshot, selected: str, series: SessionSeries, ownership: Ownership | None = None
) -> InspectorFacts | None:
    """Facts of the thing with an id of the canvas ("consumer:indexer-1"); None if it is not there (any more).

    Since when what is owned, `ownership` knows.
    """
    return Inspector(snapshot, series, ownership or Ownership()).facts(selected)


def target_of(snapshot: Snapshot, name: str) -> str:
    """The id of a topic, queue or group of that name; "" if there is none."""
    kinds = {"queue": snapshot.queue(name), "topic": snapshot.topic(name), "group": snapshot.group(name)}
    return next((f"{kind}:{name}" for kind, found in kinds.items() if found is not None), "")


class Inspector:
    def __init__(self, snapshot: Snapshot, series: SessionSeries, ownership: Ownership) -> None:
        self._at, self._now_ns = snapshot, snapshot.time_ns
        self._series, self._ownership = series, ownership

    def facts(self, selected: str) -> InspectorFacts | None:
        kind, _, name = selected.partition(":")
        makers = {
            "bench": self._bench,
            "consumer": self._consumer,
            "dlq": self._queue,
            "group": self._group,
            "lane": self._lane,
            "node": self._node,
            "producer": self._producer,
            "queue": self._queue,
            "topic": self._topic,
            "transaction": lambda name: transaction_facts(self._at, name),
            "worker": self._worker,
            "workers": self._queue,
        }
        facts = makers[kind](name) if kind in makers else None
        lasting = tuple(
            (
                state_style(state_of(fault)).word,
                f"{rule_text(fault.what)} ({left_of(fault, self._now_ns)})",
                f"{MOMENT}{fault.since_ns}",
            )
            for fault in self._at.faults
            if name and fault.client == name and (fault.is_rule or kind in {"consumer", "producer", "worker"})
        )
        return facts and replace(facts, sections=(*with_rows((tr("Active fault"), lasting)), *facts.sections))

    def _work(self, actor: ActorView) -> Facts:
        if actor.role == "producer":
            counts = {tr("Published"): actor.processed}
            counts |= {tr(kind_word(EventKind(kind))): number for kind, number in turned_away(actor).items()}
        else:
            counts = {tr("Acknowledged"): actor.processed}
            counts |= {tr("Failed"): actor.failed} if actor.role == "worker" else {}
        counted = ((word, messages(number)) for word, number in counts.items())
        rate = () if actor.state == "stopped" else (self._rate(tr("Rate"), of_actor(actor)),)
        return *counted, *rate, self._since(actor.since_ns)

    def _rate(self, label: str, key: Key) -> Fact:
        start_ns, end_ns = self._series.window_ns(self._now_ns, key)
        rate = per_second(self._series.rate(key, self._now_ns))
        return label, tr("{rate} messages/s, mean of {time}", rate=rate, time=duration(end_ns - start_ns))

    def _since(self, time_ns: int) -> Fact:
        words = tr("{time}, since {since}", time=duration(self._now_ns - time_ns), since=session_time(time_ns))
        return tr("In this state"), words, f"{MOMENT}{time_ns}"

    def _gate(self, gate: GateView | None, kind: str) -> TitledFacts:
        if gate is None:
            return "", ()
        facts = gauge_facts(gate, kind, self._now_ns)
        depth = tr("{depth}, no limit", depth=count(gate.depth)) if only_rate(gate) else facts.depth
        slowest = (gate.slowest or tr("no reader is behind")) if kind == "topic" else ""
        rows = with_values(
            (tr("State"), facts.state),
            (tr("Depth"), depth),
            (tr("When full"), facts.policy),
            (tr("Rate limit"), facts.rate),
            (tr("Slowest"), slowest),
            (tr("Rejected"), messages(gate.rejected)),
            (tr("Dropped"), messages(gate.dropped)),
            (tr("Evicted"), messages(gate.evicted)),
            (tr("Blocked"), tr("{time} in all", time=duration(gate.blocked_ns_total))),
            *((tr("Waiting"), sentence) for sentence in facts.blocked[:8]),
            *_left_out(facts.blocked, 8),
        )
        return tr("Backpressure"), rows

    def _producer(self, name: str) -> InspectorFacts | None:
        for other in other_producers(self._at, self._series):
            if other.name == name:
                return self._other_producer(other)
        actor = self._at.actor(name)
        if actor is None:
            return None
        linger = tr("{time} for more to send together", time=duration(ns_from_ms(actor.linger_ms)))
        rows = with_values(
            (tr("Publishes to"), actor.target or tr("nothing"), target_of(self._at, actor.target)),
            *self._waits(name, actor.target),
            (tr("Lingers"), linger if actor.linger_ms else ""),
            *self._work(actor),
        )
        return InspectorFacts(tr("Producer"), name, producer_state(actor), (("", rows),))

    def _waits(self, producer: str, target: str) -> Facts:
        gate = gate_of(self._at, target)
        if gate is None:
            return ()
        slowest = tr("slowest reader: {name}", name=gate.slowest or tr("nobody"))
        why = tr("it waits for tokens") if only_rate(gate) else slowest
        waited_ns = [self._now_ns - since_ns for blocked, since_ns in gate.blocked if blocked == producer]
        words = (tr("{time} by {target}; ", time=duration(each), target=gate.target) for each in waited_ns)
        return tuple((tr("Blocked"), each + why) for each in words)

    def _other_producer(self, other: Client) -> InspectorFacts:
        rows: list[Fact] = []
        for topic in other.targets:
            rate = per_second(self._series.rate(sent(other.name, topic), self._now_ns))
            words = tr("{topic}, {rate} messages/s", topic=topic, rate=rate)
            rows += [(tr("Publishes to"), words, target_of(self._at, topic)), *self._waits(other.name, topic)]
        published = NOT_APPLICABLE if other.published is None else messages(other.published)
        its_rate = () if other.state == "stopped" else (self._rate(tr("Rate"), other.rate),)
        rows += [(tr("Published"), published), *its_rate]
        rows += [] if other.ended_ns is None else [self._since(other.ended_ns)]
        rows.append((tr("Program"), tr("another program; see its requests in the panels Connections and Requests")))
        return InspectorFacts(tr("Producer"), other.name, other.state, (("", tuple(rows)),))

    def _consumer(self, name: str) -> InspectorFacts | None:
        actor, seats = self._at.actor(name), self._at.seats(name)
        if actor is not None:
            state = actor.state
            group_id = f"group:{actor.target}" if actor.target else ""
            first: Facts = ((tr("Group"), actor.target or tr("none, on the bench"), group_id), *self._work(actor))
        elif seats:  # another program's
            group = seats[0][0]
            per_s = self._series.rate(of_reading(group, name), self._now_ns)
            state, ended_ns = reader_state(self._at.faults, name, per_s, group), lost_ns(group, name)
            since = () if ended_ns is None else (self._since(ended_ns),)
            first = (*since, self._rate(tr("Rate"), of_member(group, name)))
        else:
            return None
        sections = [(tr("Member of {name}", name=group.name), self._seat(group, member)) for group, member in seats]
        return InspectorFacts(tr("Consumer"), name, state, (("", first), *sections))

    def _seat(self, group: GroupView, member: MemberView) -> Facts:
        if group.kind == SHARE:  # of a cluster
            topics = ", ".join(member.topics) or tr("nothing")
            reads: Facts = ((tr("Reads"), tr("{topics}, with the others of its group", topics=topics)),)
        else:
            places = set(member.partitions)
            owned = [at for at in group.offsets if (at.topic, at.partition) in places]
            unknown, is_at_most = sum(at.lag is None for at in owned), counts_removed(owned, self._at.compacted)
            lag = lag_words(total_lag(at.lag for at in owned), unknown, is_at_most)
            reads = (*self._owned(group.name, member), (tr("Lag"), lag))
        return (
            *reads,
            (tr("Joined"), session_time(member.joined_ns), f"{MOMENT}{member.joined_ns}"),
            (tr("Heartbeat"), tr("{time} ago", time=duration(self._now_ns - member.last_heartbeat_ns))),
            (tr("Member id"), member.member_id),
        )

    def _owned(self, group: str, member: MemberView) -> Facts:
        rows: list[Fact] = []
        for topic, partition in member.partitions[:LISTED]:
            place = f"{topic}/{partition}"
            since_ns = self._ownership.since_ns((group, topic, partition), member.client, self._now_ns, self._at.events)
            since = "" if since_ns is None else tr(", since {time}", time=session_time(since_ns))
            rows.append((tr("Owns") if not rows else "", place + since, f"lane:{place}"))
        rows += _left_out(member.partitions, LISTED)
        return tuple(rows) or ((tr("Owns"), tr("nothing")),)

    def _worker(self, name: str) -> InspectorFacts | None:
        actor = self._at.actor(name)
        if actor is None:
            return None
        held = [lease for queue in self._at.queues for lease in queue.leases if lease.holder == name]
        holds: list[Fact] = []
        for lease in held[:12]:
            left = duration(lease.deadline_ns - self._now_ns) if lease.has_limits else NOT_APPLICABLE
            words = tr("attempt {attempt}, {time} left", attempt=attempt_words(lease), time=left)
            target = f"message:{lease.queue}/{lease.partition}/{lease.offset}"
            holds.append((f"{lease.queue} {lease.offset:,}", words, target))
        queue = (tr("Queue"), actor.target or tr("none"), target_of(self._at, actor.target))
        holds += _left_out(held, 12)
        sections = with_rows(("", (queue, *self._work(actor))), (tr("Holds"), tuple(holds)))
        return InspectorFacts(tr("Worker"), name, actor.state, sections)

    def _topic(self, name: str) -> InspectorFacts | None:
        topic = self._at.topic(name)
        if topic is None:
            return None
        groups = [group.name for group in self._at.groups if name in group.topics]
        readers: Facts = tuple(("" if at else tr("Read by"), each, f"group:{each}") for at, each in enumerate(groups))
        rows: Facts = (
            (tr("Partitions"), str(len(topic.partitions))),
            (tr("Published"), f"{messages(topic.published)}, {byte_size(topic.published_bytes)}"),
            self._rate(tr("Rate"), published(name)),
            (tr("Stored"), _size(topic.partitions)),
            *(readers or ((tr("Read by"), tr("no group")),)),
        )
        lanes: Facts = tuple(
            (str(part.partition), _offsets(part), f"lane:{name}/{part.partition}") for part in topic.partitions[:LISTED]
        )
        lanes += _left_out(topic.partitions, LISTED)
        sections = with_rows(("", rows), self._gate(topic.gate, "topic"), (tr("Partitions"), lanes))
        return InspectorFacts(tr("Topic"), name, gate_state(topic.gate), sections)

    def _lane(self, name: str) -> InspectorFacts | None:
        topic_name, _, number = name.rpartition("/")
        topic = self._at.topic(topic_name)
        part = next((part for part in topic.partitions if str(part.partition) == number), None) if topic else None
        if topic is None or part is None:
            return None
        offsets = ((group.name, at) for group in self._at.groups for at in group.offsets)
        read = [each for each in offsets if (each[1].partition, each[1].topic) == (part.partition, topic_name)]
        return self.lane(topic, part, read)

    def lane(self, topic: TopicView, part: PartitionView, read: Iterable[tuple[str, OffsetView]]) -> InspectorFacts:
        """The facts of a partition; `read` has the name of each group that reads it, with its offsets."""
        first = with_values(
            (tr("Offsets"), _offsets(part)),
            *self._open_transactions(part),
            (tr("Replicas"), placed_words(part, topic.min_in_sync)),
            (tr("Stored"), f"{messages(part.messages_count)}, {_size((part,))}"),
        )
        sections: list[TitledFacts] = [("", first)]
        for group, at in read:
            rows = with_values(
                (tr("Owner"), at.owner or tr("nobody"), f"consumer:{at.owner}" if at.owner else ""),
                (tr("Position"), count(at.position) if self._series.deliveries else ""),
                (tr("Committed"), count(at.committed)),
                (tr("Lag"), lag_told(topic, at)),
            )
            sections.append((tr("In {name}", name=group), rows))
        return InspectorFacts(tr("Partition"), f"{topic.name}/{part.partition}", "", tuple(sections))

    def _open_transactions(self, part: PartitionView) -> Facts:
        """Where readers of committed messages wait, and for what; nothing if no transaction is open."""
        if not part.transactions:
            return ()
        stable, producer_ids = part.last_stable_offset, dict(part.transactions)
        waits = tr("{offset:,}, {behind:,} before the end", offset=stable, behind=part.end_offset - stable)
        names = [each.transactional_id for each in self._at.transactions if each.producer_id in producer_ids]
        open_ones = ((tr("Open transaction"), name, f"transaction:{name}") for name in names)
        return ((tr("Last stable offset"), waits), *open_ones)

    def _group(self, name: str) -> InspectorFacts | None:
        group = self._at.group(name)
        if group is None:
            return None
        is_known = group.generation >= 0
        rows = (
            (tr("Generation"), str(group.generation) if is_known else tr("not known")),
            self._since(group.state_since_ns),
            (tr("Assignor"), group.assignor or NOT_APPLICABLE),
            (tr("Leader"), group.leader or (tr("none") if is_known else tr("not known"))),
            (tr("Reads"), ", ".join(group.topics) or tr("nothing")),
            (tr("Lag"), lag_words(group.lag, group.lag_unknown, counts_removed(group.offsets, self._at.compacted))),
        )
        shown = group.members[:LISTED]
        members: Facts = tuple((each.client, _reads(group, each), f"consumer:{each.client}") for each in shown)
        members += _left_out(group.members, LISTED)
        title = tr("Members ({count})", count=len(group.members))
        return InspectorFacts(tr("Group"), name, group.state, (("", rows), (title, members)))

    def _queue(self, name: str) -> InspectorFacts | None:
        queue = self._at.queue(name)
        if queue is None:
            return None
        now = (
            (tr("Ready"), messages(queue.ready)),
            (tr("Delayed"), messages(queue.delayed)),
            (tr("In flight"), messages(queue.in_flight)),
            (tr("Dead letters"), messages(queue.dead)),
        )
        so_far = (
            self._rate(tr("Delivered"), delivered(name)),
            (tr("Acknowledged"), messages(queue.acknowledged)),
            (tr("Redelivered"), tr("{count:,} times", count=queue.redelivered)),
            (tr("Dead-lettered"), messages(queue.dead_lettered)),
            (tr("Redriven"), messages(queue.redriven)),
        )
        lease, attempts = (tr("not known"),) * 2
        if queue.lease_ms:
            lease = tr("{count:,} ms", count=queue.lease_ms)
            attempts = tr("at most {count}", count=queue.max_attempts or "∞")
        rules = with_values(
            (tr("Lease"), lease),
            (tr("Attempts"), attempts),
            (tr("Reads"), queue.reads, f"topic:{queue.reads}"),
            (tr("Priorities"), "" if queue.reads else str(queue.priorities)),
            (tr("Consumers waiting"), str(queue.waiting_takers)),
        )
        titled = (tr("Now"), now), (tr("So far"), so_far), (tr("Rules"), rules)
        return InspectorFacts(
            tr("Queue"), name, gate_state(queue.gate), with_rows(*titled, self._gate(queue.gate, "queue"))
        )

    def _bench(self, _name: str) -> InspectorFacts:
        names = [actor.name for actor in self._at.actors if actor.role == "consumer" and not actor.target]
        rows: Facts = tuple(("", name, f"consumer:{name}") for name in names) or (
            ("", tr("No consumer is on the bench. Drag one here to take it out of its group.")),
        )
        return InspectorFacts(tr("Bench"), tr("Bench"), "", ((tr("Consumers"), rows),))

    def _node(self, name: str) -> InspectorFacts | None:
        for row in broker_rows(self._at):
            if str(row.view.node) == name:
                return InspectorFacts(tr("Broker"), f"{tr('Broker')} {name}", row.state, (("", broker_facts(row)),))
        return None


def _left_out(things: Sequence[object], listed: int) -> Facts:
    """A row that says how many `things` are not listed; none if all are."""
    return (("", tr("and {count:,} more", count=len(things) - listed)),) if len(things) > listed else ()


def _offsets(part: PartitionView) -> str:
    return tr("{first:,} to {end:,}", first=part.start_offset, end=part.end_offset)


def _size(parts: Sequence[PartitionView]) -> str:
    """The size of partitions. Events do not tell it, so a recording knows it only where it has a keyframe."""
    if any(part.messages_count and not part.size_bytes for part in parts):
        return tr("size not recorded")
    return byte_size(sum(part.size_bytes for part in parts))


def _reads(group: GroupView, member: MemberView) -> str:
    if group.kind == SHARE:
        return ", ".join(member.topics)
    partitions = len(member.partitions)
    return tr("1 partition") if partitions == 1 else tr("{count} partitions", count=partitions)


def lag_told(topic: TopicView, at: OffsetView) -> str:
    """The lag of a group in a partition, and how far behind it is in time."""
    lag = lag_words(at.lag, 0, bool(at.lag) and topic.compacted)
    if topic.partitions[0].leader is not None and may_be_marker(at):  # of a cluster
        lag += tr(" (a transaction's marker may count)")
    return lag + tr(", {time} behind", time=duration(at.lag_ns)) if at.lag_ns else lag
