"""The rows of the navigator: what there is, in which state, with its latest values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.history.series import Key, dead, depth, of_actor, published
from app.history.series import lag as lag_key
from app.view_models.formats import count
from app.view_models.gauges import gate_state, producer_state
from app.view_models.group_lag import lag_of
from app.view_models.lasting import lasting_words, left_of, state_of
from app.view_models.rates import Rates
from broker_core.snapshots import ActorView, FaultView, GroupView, QueueView, Snapshot, TopicView
from filter_language import Field, Fields, FilterError, parse
from resources.units import per_second
from widgets.navigator import NavRow, NavSection
from widgets.words import tr

# Of a topic or queue that nothing limits.
OPEN = "Open"
# Who stands still because of a message that it works at is no fault; a pause that is one lasts, and is told so.
BROKEN = frozenset({"crashed"})
FIELDS = Fields(
    (
        Field("kind", "text", "topic, group, queue, dlq, producer, consumer or worker."),
        Field("name", "text", "What it is called."),
        Field("state", "text", "The word beside its icon."),
        Field("target", "text", "The topic, group or queue of a client."),
        Field("rate", "number", "Messages a second of a client."),
        Field("lag", "number", "Messages that a group is behind."),
        Field("depth", "number", "Messages that wait in a queue."),
        Field("dead", "number", "Dead letters of a queue."),
    )
)


class NavigatorModel:
    """Snapshots in, sections out. `more` gives further sections, such as bookmarks.

    `dimmed` are the ids of what does not fit the filter.
    """

    def __init__(self, rates: Rates, more: Callable[[], Sequence[NavSection]] = tuple) -> None:
        self._rates = rates
        self._now_ns = 0
        self._more = more
        self._filter = parse("")
        self.dimmed: frozenset[str] = frozenset()

    def set_filter(self, text: str) -> str:
        """Show only what fits; the sentence of what is wrong with `text`, where the filter before stays."""
        try:
            self._filter = parse(text, FIELDS)
        except FilterError as error:
            return error.words(tr)
        return ""

    def meet(self, snapshot: Snapshot) -> tuple[NavSection, ...]:
        """The sections at the time of a snapshot."""
        self._now_ns = snapshot.time_ns
        queues = {queue.name for queue in snapshot.queues}
        fits = self._fits
        topics = tuple(fits(self._topic(topic), lag=None) for topic in snapshot.topics if topic.name not in queues)
        groups = tuple(fits(self._group(group), lag=lag_of(group)) for group in snapshot.groups)
        waiting = tuple(fits(self._queue(queue), depth=queue.ready + queue.delayed) for queue in snapshot.queues)
        bins = tuple(fits(self._bin(queue), dead=queue.dead) for queue in snapshot.queues)
        producers = tuple(self._client(actor) for actor in snapshot.actors if actor.role == "producer")
        consumers = tuple(self._client(actor) for actor in snapshot.actors if actor.role != "producer")
        lasting = {fault.client for fault in snapshot.faults}
        broken = tuple(
            row
            for row in (*producers, *consumers)
            if row.state.lower() in BROKEN and row.id.partition(":")[2] not in lasting
        )
        broken = (*(_lasting(fault, snapshot) for fault in snapshot.faults), *broken)
        known = (topics, groups, waiting, bins, producers, consumers)
        hidden = frozenset(row.id for rows in known for row in rows if row.hidden)
        self.dimmed = hidden | _boxes_of_workers(snapshot, hidden)
        return (
            NavSection("topics", tr("Topics"), "topic", topics, tr("No topic yet.")),
            NavSection("groups", tr("Groups"), "group", groups, tr("No group yet.")),
            NavSection("queues", tr("Queues"), "queue", waiting, tr("No queue.")),
            NavSection("dead", tr("Dead letters"), "dead-letter", bins, ""),
            NavSection("producers", tr("Producers"), "producer", producers, tr("Nobody publishes.")),
            NavSection("consumers", tr("Consumers"), "consumer", consumers, tr("Nobody reads.")),
            NavSection("faults", tr("Faults"), "crashed", broken, tr("Nothing is wrong.")),
            *self._more(),
        )

    def _fits(self, row: NavRow, **facts: object) -> NavRow:
        """The row, hidden where it does not fit the filter."""
        if self._filter.takes_all:
            return row
        kind = row.id.partition(":")[0]
        asked = {"kind": kind, "name": row.name, "state": row.state, "target": "", **facts}
        return row if self._filter.matches(asked) else replace(row, hidden=True)

    def _topic(self, topic: TopicView) -> NavRow:
        key, now_ns = published(topic.name), self._now_ns
        figure = f"{per_second(self._rates.of(key, now_ns))}/s"
        series = self._rates.spark(key, now_ns)
        state = gate_state(topic.gate) or OPEN
        return NavRow(f"topic:{topic.name}", topic.name, state, figure, series, tip=self._rates.window_words(now_ns))

    def _client(self, actor: ActorView) -> NavRow:
        kind = actor.role if actor.role in {"producer", "consumer"} else "worker"
        key, now_ns = of_actor(actor), self._now_ns
        per_s = self._rates.of(key, now_ns)
        row = NavRow(
            f"{kind}:{actor.name}",
            actor.name,
            producer_state(actor),
            f"{per_second(per_s)}/s",
            self._rates.spark(key, now_ns),
            tip="\n".join(part for part in (actor.target, self._rates.window_words(now_ns)) if part),
        )
        return self._fits(row, rate=per_s, target=actor.target)

    def _level(self, key: Key) -> tuple[float, ...]:
        return self._rates.spark(key, self._now_ns, level=True)

    def _group(self, group: GroupView) -> NavRow:
        figure = tr("lag {lag}", lag=count(lag_of(group)))
        return NavRow(f"group:{group.name}", group.name, group.state, figure, self._level(lag_key(group.name)))

    def _queue(self, queue: QueueView) -> NavRow:
        state = gate_state(queue.gate) or OPEN
        ready = tr("{count} ready", count=f"{queue.ready:,}")
        return NavRow(f"queue:{queue.name}", queue.name, state, ready, self._level(depth(queue.name)))

    def _bin(self, queue: QueueView) -> NavRow:
        state = "Dead letter" if queue.dead else "Empty"
        return NavRow(f"dlq:{queue.name}", queue.name, state, f"{queue.dead:,}", self._level(dead(queue.name)))


def _boxes_of_workers(snapshot: Snapshot, hidden: frozenset[str]) -> frozenset[str]:
    """The ids of the boxes in which neither their queue nor any worker fits the filter."""
    workers = (actor for actor in snapshot.actors if actor.role not in {"producer", "consumer"})
    shown = {actor.target for actor in workers if f"worker:{actor.name}" not in hidden}
    return frozenset(
        f"workers:{queue.name}"
        for queue in snapshot.queues
        if f"queue:{queue.name}" in hidden and queue.name not in shown
    )


def _lasting(fault: FaultView, snapshot: Snapshot) -> NavRow:
    role = next((actor.role for actor in snapshot.actors if actor.name == fault.client), "")
    kind = role or next((kind for kind, names in _places(snapshot) if fault.client in names), "fault")
    name = fault.client or tr("the disk")
    left = left_of(fault, snapshot.time_ns)
    return NavRow(f"{kind}:{fault.client}", name, state_of(fault), left, tip=lasting_words(fault, snapshot.time_ns))


def _places(snapshot: Snapshot) -> tuple[tuple[str, set[str]], ...]:
    return (
        ("queue", {queue.name for queue in snapshot.queues}),
        ("group", {group.name for group in snapshot.groups}),
        ("topic", {topic.name for topic in snapshot.topics}),
    )
