from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from app.presenters.active_faults import DISK_FULL, lost_ns, marks, reader_state, state_of
from app.presenters.backpressure import gate_detail, gate_of, gate_state, only_rate, turned_away, turned_away_words
from app.presenters.brokers import BrokerRow, broker_facts, broker_rows, placed_words
from app.presenters.clients import Client, producers
from app.presenters.excerpt import DRAWN_MAX, Excerpt, Excerpts
from app.presenters.owners import Owners
from app.presenters.status import window_words
from app.sessions.history.lag_trend import lag_trend
from app.sessions.history.series import (
    Key,
    SessionSeries,
    dead_lettered,
    delivered,
    of_actor,
    of_member,
    of_reading,
    published,
    received,
    sent,
)
from broker_core.groups.states import REBALANCING
from broker_core.messages import grouped
from broker_core.queues.subscription import subscription_name
from broker_core.snapshots import (
    LEADERLESS,
    NOT_SEEN,
    SHARE,
    UNDER,
    ActorView,
    GateView,
    GroupView,
    MemberView,
    OffsetView,
    QueueView,
    Snapshot,
    TopicView,
    counts_removed,
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

GroupOffsets = tuple[GroupView, dict[int, OffsetView]]  # of one topic, by partition


def _groups_by_topic(groups: Iterable[GroupView]) -> dict[str, list[GroupOffsets]]:
    found: dict[str, list[GroupOffsets]] = {}
    for group in groups:
        offsets_by_topic: dict[str, dict[int, OffsetView]] = {name: {} for name in group.topics}
        for offset in group.offsets:
            offsets_by_topic.setdefault(offset.topic, {})[offset.partition] = offset
        for topic, offsets in offsets_by_topic.items():
            found.setdefault(topic, []).append((group, offsets))
    return found


class CanvasModel:
    """Makes what the canvas draws of a snapshot; rates and trends are those at its time."""

    def __init__(self, owners: Owners, series: SessionSeries) -> None:
        self._owners = owners
        self.series = series
        self._excerpts = Excerpts(DRAWN_MAX, has_map=True)

    def view(
        self, snapshot: Snapshot, running: bool = True, selected: str = "", dimmed: frozenset[str] = frozenset()
    ) -> CanvasView:
        """What the canvas draws; `running` while session time advances. At most `DRAWN_MAX` things of a kind are drawn,
        the `selected` one among them, and the `dimmed` of a cluster last; the view says how many are left out.
        """
        self._owners.update_all(snapshot)
        excerpt = self._excerpts.of(snapshot, selected, dimmed)
        nodes = tuple(map(_node, broker_rows(snapshot)))
        return _Frame(self._owners, self.series, excerpt, snapshot.partition_counts).view(running, nodes)


class _Frame:
    """Makes one view, of the things of `excerpt` alone; `partition_counts` are those of all topics."""

    def __init__(
        self, owners: Owners, series: SessionSeries, excerpt: Excerpt, partition_counts: Mapping[str, int]
    ) -> None:
        snapshot = excerpt.snapshot
        self._owners, self._series, self._excerpt, self._snapshot = owners, series, excerpt, snapshot
        self._partition_counts = partition_counts
        self._now_ns = snapshot.time_ns
        self._window = f"\n{window_words(series, snapshot.time_ns)}"
        self._marks = marks(snapshot)
        self._failing = {fault.client for fault in snapshot.faults if fault.is_rule}
        self._disk_full = any(state_of(fault) == DISK_FULL for fault in snapshot.faults)

    def view(self, running: bool, nodes: tuple[NodeCard, ...]) -> CanvasView:
        snapshot = self._snapshot
        publishing = producers(snapshot, self._series)
        consumers = [actor for actor in snapshot.actors if actor.role == "consumer"]
        queue_names = {queue.name for queue in snapshot.queues}
        seated = {member.client for group in snapshot.groups for member in group.members}
        bench = [actor for actor in consumers if not actor.target and actor.name not in seated]
        groups_by_topic = _groups_by_topic(snapshot.groups)
        topics = [topic for topic in snapshot.topics if topic.name not in queue_names]
        return CanvasView(
            producers=tuple(map(self._producer, publishing[:PRODUCERS_MAX])),
            topics=tuple(self._topic(topic, groups_by_topic.get(topic.name, ())) for topic in topics),
            groups=tuple(self._group(group, consumers) for group in snapshot.groups),
            bench=tuple(self._consumer(actor.name, actor, 0) for actor in bench),
            has_bench=self._series.deliveries,
            queues=tuple(self._queue(queue, snapshot.actors) for queue in snapshot.queues),
            links=self._links(publishing, queue_names),
            rests=_rests(self._excerpt, len(publishing) - PRODUCERS_MAX),
            running=running,
            nodes=nodes,
            notice=tr("This broker is empty: create a topic or a queue (menu Broker), or open another scenario."),
        )

    def _rate(self, key: Key) -> float:
        return self._series.rate(key, self._now_ns)

    def _producer(self, client: Client) -> ProducerCard:
        actor, away = client.actor, ""
        if actor is None:
            note = _since(client.ended_ns)
            detail = tr("Another program, publishes to {target}", target=client.target)
        else:
            note = "" if client.state == actor.state else count(turned_away(actor)[actor.outcome])
            detail = tr("{processed:,} published to {target}", processed=actor.processed, target=actor.target)
            away = turned_away_words(actor)
        return ProducerCard(
            client.name,
            client.state,
            self._rate(client.rate),
            turned_away=away,
            note=note,
            detail=detail + self._window,
        )

    def _topic(self, topic: TopicView, groups: Sequence[GroupOffsets]) -> TopicBox:
        lanes = tuple(
            Lane(
                part.partition,
                part.start_offset,
                part.end_offset,
                tuple(self._lane_group(group, offsets.get(part.partition)) for group, offsets in groups),
                replication(part, topic.min_in_sync, self._snapshot.nodes_gone),
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
            + gate_detail(topic.gate)
            + (tr("\nValues must match the schema {schema}.", schema=topic.schema) if topic.schema else "")
            + self._window,
            schema=topic.schema,
        )

    def _lane_group(self, group: GroupView, offset: OffsetView | None) -> LaneGroup:
        if offset is None:
            return LaneGroup(group.name)
        return LaneGroup(
            group.name,
            None if group.state == NOT_SEEN else offset.committed,
            offset.lag,
            offset.owner,
            max(0, self._owners.hue(offset.owner)),
            self._owners.letter(offset.owner),
            revoked=not offset.owner and group.state in REBALANCING,
            is_at_most=counts_removed((offset,), self._snapshot.compacted),
        )

    def _group(self, group: GroupView, consumers: list[ActorView]) -> GroupBox:
        actors = {actor.name: actor for actor in consumers}
        counts = {member.client: self._partitions_of(member, group) for member in group.members}
        # An actor that is on its way into the group is shown there before the coordinator knows it.
        names = [actor.name for actor in consumers if actor.target == group.name or actor.name in counts]
        names += [name for name in counts if name not in actors]
        return GroupBox(
            group.name,
            group.state,
            group.generation,
            group.lag,
            lag_trend(self._series, self._now_ns, group.name).word,
            tuple(self._consumer(name, actors.get(name), counts.get(name, 0), group) for name in names),
            detail=tr(
                "{assignor} assignor, reads {topics}",
                assignor=group.assignor,
                topics=", ".join(group.topics) or tr("nothing"),
            ),
            unknown=group.lag_unknown,
            is_at_most=counts_removed(group.offsets, self._snapshot.compacted),
            takes_members=self._series.deliveries,
        )

    def _partitions_of(self, member: MemberView, group: GroupView) -> int:
        """A member of a cluster's share group may take from all partitions of its topics."""
        if group.kind == SHARE:
            return sum(self._partition_counts.get(topic, 0) for topic in member.topics)
        return len(member.partitions)

    def _consumer(
        self, name: str, actor: ActorView | None, partitions: int, group: GroupView | None = None
    ) -> ConsumerCard:
        fetched = self._rate(received(name) if group is None else of_reading(group, name))
        key = of_actor(actor) if actor is not None else received(name) if group is None else of_member(group, name)
        told = tr("{rate}/s fetched", rate=per_second(fetched))
        if key == received(name):
            told = tr("{rate}/s fetched: its group keeps its offsets elsewhere", rate=per_second(fetched))
        if group is not None and group.kind == SHARE:
            told = tr("{rate}/s acknowledged in its group", rate=per_second(fetched))
        if actor is not None:
            failed = tr(", {failed:,} failed", failed=actor.failed) if actor.failed else ""
            told = tr("{processed:,} acknowledged", processed=actor.processed) + f"\n{told}{failed}"
        return ConsumerCard(
            name,
            reader_state(self._snapshot.faults, name, fetched, group) if actor is None else actor.state,
            max(0, self._owners.hue(name)),
            self._owners.letter(name),
            self._rate(key),
            partitions=partitions,
            note=_since(lost_ns(group, name)) or self._marks.get(name, ""),
            detail=f"{told}\n{window_words(self._series, self._now_ns, key)}",
        )

    def _queue(self, queue: QueueView, actors: tuple[ActorView, ...]) -> QueueBox:
        held = grouped((lease.holder, lease.offset) for lease in queue.leases)
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
            ready=queue.ready,
            delayed=queue.delayed,
            in_flight=queue.in_flight,
            dead=queue.dead,
            leases=tuple(
                LeaseRing(
                    f"{queue.name}/{lease.partition}/{lease.offset}",
                    self._left(lease.acquired_ns, lease.deadline_ns),
                    max(0, self._owners.hue(lease.holder)),
                    lease.attempt,
                    lease.holder,
                )
                for lease in urgent
            ),
            workers=workers,
            rate_per_s=self._rate(delivered(queue.name)),
            gate=self._place_state(queue.name, queue.gate),
            detail=tr(
                "{acknowledged:,} acknowledged, {redelivered:,} redelivered",
                acknowledged=queue.acknowledged,
                redelivered=queue.redelivered,
            )
            + gate_detail(queue.gate)
            + self._window,
            reads=queue.reads,
            taken_by=_taken_by(queue.name, actors),
        )

    def _place_state(self, name: str, gate: GateView | None) -> str:
        if self._disk_full:
            return DISK_FULL
        state = gate_state(gate)
        return "Failing" if name in self._failing and state in {"", "Open"} else state

    def _left(self, acquired_ns: int, deadline_ns: int) -> float:
        whole = deadline_ns - acquired_ns
        # Hundredths are enough for a ring, and let an unchanged ring be recognised.
        return round(min(1.0, max(0.0, (deadline_ns - self._now_ns) / whole)), 2) if whole > 0 else 0.0

    def _links(self, publishing: Sequence[Client], queue_names: set[str]) -> tuple[Link, ...]:
        snapshot = self._snapshot
        links = [self._publish_link(client, name, queue_names) for client in publishing for name in client.targets]
        stopped = _stopped(snapshot.actors)
        for group in snapshot.groups:
            for name in group.topics:
                if name in queue_names:
                    continue
                rate = self._rate(delivered(group.name, name))
                # Cooperative members, and those of the consumer protocol, read on what does not move.
                owned = any(offset.owner for offset in group.offsets if offset.topic == name)
                blocked = group.state in REBALANCING and not owned
                reason = tr("{name} is rebalancing", name=group.name) if blocked else ""
                ends = f"topic:{name}", f"group:{group.name}"
                is_stopped = group.name in stopped
                links.append(Link(*ends, "consume", rate, blocked=blocked, reason=reason, is_stopped=is_stopped))
        for queue in snapshot.queues:
            name, is_stopped = queue.name, queue.name in stopped
            taken, died = self._rate(delivered(name)), self._rate(dead_lettered(name))
            if topic := queue.reads:
                links.append(Link(f"topic:{topic}", f"queue:{name}", "consume", taken, is_stopped=is_stopped))
            links.append(Link(f"queue:{name}", f"workers:{name}", "queue", taken, is_stopped=is_stopped))
            links.append(Link(f"queue:{name}", f"dlq:{name}", "dead-letter", died, is_stopped=is_stopped))
        return tuple(links)

    def _publish_link(self, client: Client, target: str, queue_names: set[str]) -> Link:
        state, key = ("", sent(client.name, target)) if client.actor is None else (client.actor.state, client.rate)
        gate = gate_of(self._snapshot, target)
        waits = gate is not None and any(name == client.name for name, _since in gate.blocked)
        blocked = state == "blocked" or waits
        reason = tr("{target} is full", target=target)
        if gate is not None and only_rate(gate):
            reason = tr("{target} is limited to a number of messages per second", target=target)
        elif gate is not None and gate.slowest:
            reason += tr(": {slowest} is behind", slowest=gate.slowest)
        reason = reason if blocked else ""
        ends = f"producer:{client.name}", f"{'queue' if target in queue_names else 'topic'}:{target}"
        is_stopped = state == "stopped"
        return Link(*ends, "publish", self._rate(key), blocked=blocked, reason=reason, is_stopped=is_stopped)


def _node(row: BrokerRow) -> NodeCard:
    behind = row.replicas - row.in_sync
    note = tr("{count:,} behind", count=behind) if behind else tr("leads {count:,}", count=row.leads)
    detail = "\n".join(f"{label}: {value}" for label, value in broker_facts(row))
    return NodeCard(str(row.view.node), row.state, note=note, detail=detail)


def _since(time_ns: int | None) -> str:
    return "" if time_ns is None else tr("since {time}", time=session_time(time_ns))


def _stopped(actors: tuple[ActorView, ...]) -> set[str]:
    """The groups and queues all of whose consumers or workers are stopped."""
    takers = [actor for actor in actors if actor.role != "producer"]
    return {actor.target for actor in takers} - {actor.target for actor in takers if actor.state != "stopped"}


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
    if len(offsets) == 1:
        return tr("at {offset:,}", offset=offsets[0])
    return tr("on {count:,} messages", count=len(offsets)) if offsets else ""


def _taken_by(queue: str, actors: tuple[ActorView, ...]) -> tuple[str, ...]:
    return tuple(
        actor.name
        for actor in actors
        if actor.role == "worker"
        and actor.target != queue
        and queue in {subscription_name(actor.name, at) for at in actor.topics}
    )
