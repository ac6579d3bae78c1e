from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from app.presenters.active_faults import DISK_FULL, lost_ns, marks, reader_state, state_of
from app.presenters.backpressure import (
    gate_of,
    gate_state,
    gate_turned_away,
    only_rate,
    producer_state,
    turned_away,
    turned_away_words,
)
from app.presenters.brokers import BrokerRow, broker_facts, broker_rows, placed_words
from app.presenters.clients import Client, other_producers
from app.presenters.excerpt import DRAWN_MAX, Excerpt, Excerpts
from app.presenters.lag_trend import counts_removed, lag_trend
from app.presenters.owners import Owners
from app.presenters.rates import Rates
from app.sessions.history.series import (
    Key,
    dead_lettered,
    delivered,
    of_actor,
    of_member,
    of_reading,
    published,
    received,
    sent,
)
from broker_core.snapshots import (
    LEADERLESS,
    NOT_SEEN,
    SHARE,
    UNDER,
    ActorView,
    FaultView,
    GateView,
    GroupView,
    MemberView,
    OffsetView,
    QueueView,
    Snapshot,
    TopicView,
    replication,
)
from widgets.canvas.view import (
    CanvasView,
    ConsumerCard,
    GroupBox,
    Lane,
    LaneGroup,
    LeaseRing,
    Link,
    NodeCard,
    ProducerCard,
    QueueBox,
    Rest,
    TopicBox,
    WorkerCard,
)
from widgets.formats import count, per_second, session_time
from widgets.i18n import tr

RINGS_MAX = 24
PRODUCERS_MAX = 96
REBALANCING = frozenset({"Preparing rebalance", "Completing rebalance", "Reconciling"})


Reader = tuple[GroupView, dict[int, OffsetView]]


def _readers(groups: Iterable[GroupView]) -> dict[str, list[Reader]]:
    found: dict[str, list[Reader]] = {}
    for group in groups:
        stands: dict[str, dict[int, OffsetView]] = {name: {} for name in group.topics}
        for at in group.offsets:
            stands.setdefault(at.topic, {})[at.partition] = at
        for topic, ats in stands.items():
            found.setdefault(topic, []).append((group, ats))
    return found


class CanvasModel:
    """Makes what the canvas draws of a snapshot; rates and trends are those at its time."""

    def __init__(self, owners: Owners, rates: Rates) -> None:
        self._owners = owners
        self._rates = rates
        self.has_bench = True
        self._drawn = Excerpts(DRAWN_MAX, has_map=True)
        self._now_ns = -1
        self._compacted: frozenset[str] = frozenset()
        self._window = ""
        self._marks: dict[str, str] = {}
        self._disk_full = False
        self._faults: tuple[FaultView, ...] = ()
        self._gone: frozenset[int] = frozenset()

    def view(
        self, snapshot: Snapshot, running: bool = True, selected: str = "", dimmed: frozenset[str] = frozenset()
    ) -> CanvasView:
        """What the canvas draws; `running` while session time advances. At most `DRAWN_MAX` things of a kind are drawn,
        the `selected` one among them, and the `dimmed` of a cluster last; the view says how many are left out.
        """
        self._owners.update_all(snapshot)
        self._sizes = {topic.name: len(topic.partitions) for topic in snapshot.topics}
        nodes = tuple(map(_node, broker_rows(snapshot)))
        excerpt = self._drawn.of(snapshot, selected, dimmed)
        snapshot = excerpt.snapshot
        self._now_ns = snapshot.time_ns
        self._compacted = snapshot.compacted
        self._window = f"\n{self._rates.window_words(snapshot.time_ns)}"
        self._marks = marks(snapshot)
        self._faults = snapshot.faults
        self._gone = snapshot.nodes_gone
        self._disk_full = any(state_of(fault) == DISK_FULL for fault in snapshot.faults)
        others = other_producers(snapshot, self._rates)
        readers = [actor for actor in snapshot.actors if actor.role == "consumer"]
        queue_names = {queue.name for queue in snapshot.queues}
        seated = {member.client for group in snapshot.groups for member in group.members}
        bench = [actor for actor in readers if not actor.target and actor.name not in seated]
        read = _readers(snapshot.groups)
        topics = tuple(
            self._topic(topic, read.get(topic.name, ())) for topic in snapshot.topics if topic.name not in queue_names
        )
        groups = tuple(self._group(group, readers) for group in snapshot.groups)
        queues = tuple(self._queue(queue, snapshot.actors) for queue in snapshot.queues)
        producers = [self._producer(actor) for actor in snapshot.actors if actor.role == "producer"]
        producers += [self._other_producer(other) for other in others]
        return CanvasView(
            producers=tuple(producers[:PRODUCERS_MAX]),
            topics=topics,
            groups=groups,
            bench=tuple(self._consumer(actor.name, actor, 0) for actor in bench),
            has_bench=self.has_bench,
            queues=queues,
            links=self._links(snapshot, others, queue_names),
            rests=_rests(excerpt, len(producers) - PRODUCERS_MAX),
            running=running,
            nodes=nodes,
            notice=tr("This broker is empty: create a topic or a queue (menu Broker), or open another scenario."),
        )

    def _rate(self, key: Key) -> float:
        return self._rates.of(key, self._now_ns)

    def _producer(self, actor: ActorView) -> ProducerCard:
        state = producer_state(actor)
        return ProducerCard(
            actor.name,
            state,
            self._rate(of_actor(actor)),
            turned_away=turned_away_words(actor),
            note="" if state == actor.state else count(turned_away(actor)[actor.outcome]),
            detail=tr("{processed:,} published to {target}", processed=actor.processed, target=actor.target)
            + self._window,
        )

    def _other_producer(self, other: Client) -> ProducerCard:
        return ProducerCard(
            other.name,
            other.state,
            self._rate(other.rate),
            note=_since(other.ended_ns),
            detail=tr("Another program, publishes to {target}", target=other.target) + self._window,
        )

    def _topic(self, topic: TopicView, read: Sequence[Reader]) -> TopicBox:
        lanes = tuple(
            Lane(
                part.partition,
                part.start_offset,
                part.end_offset,
                tuple(self._standing(group, ats.get(part.partition)) for group, ats in read),
                replication(part, topic.min_in_sync, self._gone),
                placed_words(part, topic.min_in_sync),
            )
            for part in topic.partitions
        )
        return TopicBox(
            topic.name,
            lanes,
            self._rate(published(topic.name)),
            self._place_state(topic.name, topic.gate),
            detail=tr("{published:,} messages", published=topic.published)
            + _gate_detail(topic.gate)
            + (tr("\nValues must match the schema {schema}.", schema=topic.schema) if topic.schema else "")
            + self._window,
            schema=topic.schema,
        )

    def _standing(self, group: GroupView, at: OffsetView | None) -> LaneGroup:
        if at is None:
            return LaneGroup(group.name)
        return LaneGroup(
            group.name,
            None if group.state == NOT_SEEN else at.committed,
            at.lag,
            at.owner,
            max(0, self._owners.hue(at.owner)),
            self._owners.letter(at.owner),
            revoked=not at.owner and group.state in REBALANCING,
            is_at_most=counts_removed((at,), self._compacted),
        )

    def _group(self, group: GroupView, readers: list[ActorView]) -> GroupBox:
        actors = {actor.name: actor for actor in readers}
        counts = {member.client: self._partitions_of(member, group) for member in group.members}
        # An actor that is on its way into the group is shown there before the coordinator knows it.
        names = [actor.name for actor in readers if actor.target == group.name or actor.name in counts]
        names += [name for name in counts if name not in actors]
        return GroupBox(
            group.name,
            group.state,
            group.generation,
            group.lag,
            lag_trend(self._rates, self._now_ns, group.name).word,
            tuple(self._consumer(name, actors.get(name), counts.get(name, 0), group) for name in names),
            detail=tr(
                "{assignor} assignor, reads {topics}",
                assignor=group.assignor,
                topics=", ".join(group.topics) or tr("nothing"),
            ),
            unknown=group.lag_unknown,
            is_at_most=counts_removed(group.offsets, self._compacted),
            takes_members=self.has_bench,
        )

    def _partitions_of(self, member: MemberView, group: GroupView) -> int:
        """A member of a cluster's share group may take from all partitions of its topics."""
        if group.kind == SHARE:
            return sum(self._sizes.get(topic, 0) for topic in member.topics)
        return len(member.partitions)

    def _consumer(
        self, name: str, actor: ActorView | None, partitions: int, group: GroupView | None = None
    ) -> ConsumerCard:
        processed = actor.processed if actor is not None else 0
        fetched = self._rate(received(name) if group is None else of_reading(group, name))
        key = of_actor(actor) if actor is not None else received(name) if group is None else of_member(group, name)
        told = tr("{rate}/s fetched", rate=per_second(fetched))
        if key == received(name):
            told = tr("{rate}/s fetched: its group keeps its offsets elsewhere", rate=per_second(fetched))
        if group is not None and group.kind == SHARE:
            told = tr("{rate}/s acknowledged in its group", rate=per_second(fetched))
        return ConsumerCard(
            name,
            reader_state(self._faults, name, fetched, group) if actor is None else actor.state,
            max(0, self._owners.hue(name)),
            self._owners.letter(name),
            self._rate(key),
            partitions=partitions,
            note=_since(lost_ns(group, name)) or self._marks.get(name, ""),
            detail=(tr("{processed:,} acknowledged", processed=processed) if actor is not None else "")
            + ("\n" if actor is not None else "")
            + told
            + (tr(", {failed:,} failed", failed=actor.failed) if actor is not None and actor.failed else "")
            + f"\n{self._rates.window_words(self._now_ns, key)}",
        )

    def _queue(self, queue: QueueView, actors: tuple[ActorView, ...]) -> QueueBox:
        held: dict[str, list[int]] = {}
        for lease in queue.leases:
            held.setdefault(lease.holder, []).append(lease.offset)
        urgent = sorted(queue.leases, key=lambda lease: lease.deadline_ns)[:RINGS_MAX]
        workers = tuple(
            WorkerCard(
                actor.name,
                actor.state,
                max(0, self._owners.hue(actor.name)),
                self._owners.letter(actor.name),
                self._rate(of_actor(actor)),
                note=self._marks.get(actor.name) or _holding(held.get(actor.name, [])),
                detail=tr(
                    "{processed:,} acknowledged, {failed:,} failed", processed=actor.processed, failed=actor.failed
                )
                + self._window,
            )
            for actor in actors
            if actor.role == "worker" and actor.target == queue.name
        )
        return QueueBox(
            queue.name,
            queue.ready,
            queue.delayed,
            queue.in_flight,
            queue.dead,
            tuple(
                LeaseRing(
                    f"{queue.name}/{lease.partition}/{lease.offset}",
                    self._left(lease.acquired_ns, lease.deadline_ns),
                    max(0, self._owners.hue(lease.holder)),
                    lease.attempt,
                    lease.holder,
                )
                for lease in urgent
            ),
            workers,
            self._rate(delivered(queue.name)),
            self._place_state(queue.name, queue.gate),
            detail=tr(
                "{acknowledged:,} acknowledged, {redelivered:,} redelivered",
                acknowledged=queue.acknowledged,
                redelivered=queue.redelivered,
            )
            + _gate_detail(queue.gate)
            + self._window,
            reads=queue.reads,
            taken_by=_taken_by(queue.name, actors),
        )

    def _place_state(self, name: str, gate: GateView | None) -> str:
        if self._disk_full:
            return DISK_FULL
        state = gate_state(gate)
        return "Failing" if name in self._marks and state in {"", "Open"} else state

    def _left(self, acquired_ns: int, deadline_ns: int) -> float:
        whole = deadline_ns - acquired_ns
        # Hundredths are enough for a ring, and let an unchanged ring be recognised.
        return round(min(1.0, max(0.0, (deadline_ns - self._now_ns) / whole)), 2) if whole > 0 else 0.0

    def _links(self, snapshot: Snapshot, others: tuple[Client, ...], queue_names: set[str]) -> tuple[Link, ...]:
        links = [
            self._publish_link(actor.name, actor.state, actor.target, of_actor(actor), snapshot, queue_names)
            for actor in snapshot.actors
            if actor.role == "producer"
        ]
        links += [
            self._publish_link(other.name, "", topic, sent(other.name, topic), snapshot, queue_names)
            for other in others
            for topic in other.targets
        ]
        over = _stopped(snapshot.actors)
        for group in snapshot.groups:
            for name in group.topics:
                if name in queue_names:
                    continue
                rate = self._rate(delivered(group.name, name))
                # Cooperative members, and those of the consumer protocol, read on what does not move.
                owned = any(at.owner for at in group.offsets if at.topic == name)
                stopped = group.state in REBALANCING and not owned
                reason = tr("{name} is rebalancing", name=group.name) if stopped else ""
                links.append(
                    Link(f"topic:{name}", f"group:{group.name}", "consume", rate, stopped, reason, group.name in over)
                )
        for queue in snapshot.queues:
            taken = self._rate(delivered(queue.name))
            if topic := queue.reads:
                links.append(Link(f"topic:{topic}", f"queue:{queue.name}", "consume", taken, over=queue.name in over))
            links.append(Link(f"queue:{queue.name}", f"workers:{queue.name}", "queue", taken, over=queue.name in over))
            died = self._rate(dead_lettered(queue.name))
            links.append(Link(f"queue:{queue.name}", f"dlq:{queue.name}", "dead-letter", died, over=queue.name in over))
        return tuple(links)

    def _publish_link(
        self, producer: str, state: str, target: str, key: Key, snapshot: Snapshot, queue_names: set[str]
    ) -> Link:
        into = "queue" if target in queue_names else "topic"
        gate = gate_of(snapshot, target)
        waits = gate is not None and any(name == producer for name, _since in gate.blocked)
        blocked = state == "blocked" or waits
        reason = tr("{target} is full", target=target)
        if gate is not None and only_rate(gate):
            reason = tr("{target} is limited to a number of messages per second", target=target)
        elif gate is not None and gate.slowest:
            reason += tr(": {slowest} is behind", slowest=gate.slowest)
        reason = reason if blocked else ""
        ends = f"producer:{producer}", f"{into}:{target}"
        return Link(*ends, "publish", self._rate(key), blocked, reason, state == "stopped")


def _node(row: BrokerRow) -> NodeCard:
    behind = row.replicas - row.in_sync
    note = tr("{count:,} behind", count=behind) if behind else tr("leads {count:,}", count=row.leads)
    detail = "\n".join(f"{label}: {value}" for label, value in broker_facts(row))
    return NodeCard(str(row.view.node), row.state, note=note, detail=detail)


def _since(time_ns: int | None) -> str:
    return "" if time_ns is None else tr("since {time}", time=session_time(time_ns))


def _stopped(actors: tuple[ActorView, ...]) -> set[str]:
    readers = [actor for actor in actors if actor.role != "producer"]
    return {actor.target for actor in readers} - {actor.target for actor in readers if actor.state != "stopped"}


def _rests(excerpt: Excerpt, producers: int) -> tuple[Rest, ...]:
    hint = tr("The filter of the navigator finds each of them.")
    rests = (
        Rest("producers", tr("{count:,} more producers", count=producers), hint) if producers > 0 else None,
        _topics_left(excerpt, hint) if excerpt.topics else None,
        Rest("groups", tr("{count:,} more groups", count=excerpt.groups), hint) if excerpt.groups else None,
        Rest("queues", tr("{count:,} more queues", count=excerpt.queues), hint) if excerpt.queues else None,
    )
    return tuple(rest for rest in rests if rest is not None)


def _topics_left(excerpt: Excerpt, hint: str) -> Rest:
    if not excerpt.cells:
        return Rest("topics", tr("{count:,} more topics", count=excerpt.topics), hint)
    states = Counter(cell.state for cell in excerpt.cells)
    leaderless, under = states[LEADERLESS], sum(states[word] for word in UNDER)
    behind = sum(bool(cell.lag) for cell in excerpt.cells)
    parts = [tr("{count:,} leaderless", count=leaderless)] if leaderless else []
    parts += [tr("{count:,} under-replicated", count=under)] if under else []
    words = tr("{count:,} more topics", count=excerpt.topics) if parts else ""
    if behind:
        words = tr("{count:,} more topics, {behind:,} behind", count=excerpt.topics, behind=behind)
    quiet = tr("{count:,} quiet topics", count=excerpt.topics)
    return Rest("topics", words or quiet, ", ".join(parts), excerpt.cells)


def _holding(offsets: list[int]) -> str:
    if not offsets:
        return ""
    return (
        tr("at {offset:,}", offset=offsets[0]) if len(offsets) == 1 else tr("on {count:,} messages", count=len(offsets))
    )


def _taken_by(queue: str, actors: tuple[ActorView, ...]) -> tuple[str, ...]:
    return tuple(
        actor.name
        for actor in actors
        if actor.role == "worker" and actor.target != queue and queue in {f"{actor.name}.{at}" for at in actor.topics}
    )


def _gate_detail(gate: GateView | None) -> str:
    if gate is None or not gate.limit:
        return ""
    depth = tr(", depth {depth} of {limit}", depth=count(gate.depth), limit=count(gate.limit))
    return f"{depth}\n{gate_turned_away(gate)}"
