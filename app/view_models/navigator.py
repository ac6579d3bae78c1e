"""The rows of the navigator: what there is, in which state, with its latest values."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.view_models.formats import count, rate
from app.view_models.gauges import gate_state, producer_state
from app.view_models.group_lag import lag_of
from app.view_models.lasting import lasting_words, left_of, state_of
from app.view_models.rates import Rates
from broker_core.clock import NS_PER_S
from broker_core.snapshots import ActorView, FaultView, GroupView, QueueView, Snapshot, TopicView
from filter_language import Field, Fields, FilterError, parse
from widgets.navigator import NavRow, NavSection
from widgets.words import tr

SAMPLES = 30
SAMPLE_NS = NS_PER_S // 2
# Of a topic or queue that nothing limits.
OPEN = "Open"
# Actors in these states are not as the scenario means them to be.
BROKEN = frozenset({"crashed", "paused"})
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


class Sparks:
    """The latest values of many names, one every half second of session time."""

    def __init__(self) -> None:
        self._series: dict[str, deque[float]] = {}
        self._sampled_ns = -SAMPLE_NS
        self._due = False

    def begin(self, now_ns: int) -> None:
        """A look at `now_ns` begins; a clock that ran back starts anew."""
        if now_ns < self._sampled_ns:
            self._series.clear()
            self._sampled_ns = -SAMPLE_NS
        self._due = now_ns - self._sampled_ns >= SAMPLE_NS
        if self._due:
            self._sampled_ns = now_ns

    def meet(self, name: str, value: float) -> tuple[float, ...]:
        """The values so far, with `value` where one is due."""
        series = self._series.setdefault(name, deque(maxlen=SAMPLES))
        if self._due:
            series.append(value)
        return tuple(series)


class NavigatorModel:
    """Snapshots in, sections out. `more` gives further sections, such as bookmarks.

    `dimmed` are the ids of what does not fit the filter.
    """

    def __init__(self, more: Callable[[], Sequence[NavSection]] = tuple) -> None:
        self._rates = Rates()
        self._sparks = Sparks()
        self._more = more
        self._filter = parse("")
        self.dimmed: frozenset[str] = frozenset()

    def restart(self) -> None:
        """Another session begins; the filter stays."""
        self._rates, self._sparks = Rates(), Sparks()

    def set_filter(self, text: str) -> str:
        """Show only what fits; the sentence of what is wrong with `text`, where the filter before stays."""
        try:
            self._filter = parse(text, FIELDS)
        except FilterError as error:
            return error.words(tr)
        return ""

    def meet(self, snapshot: Snapshot) -> tuple[NavSection, ...]:
        """The sections at the time of a snapshot."""
        self._sparks.begin(snapshot.time_ns)
        queues = {queue.name for queue in snapshot.queues}
        fits = self._fits
        topics = tuple(
            fits(self._topic(topic, snapshot.time_ns), lag=None)
            for topic in snapshot.topics
            if topic.name not in queues
        )
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
        self.dimmed = frozenset(row.id for rows in known for row in rows if row.hidden)
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
        asked = {"kind": kind, "name": row.name, "state": row.state, "target": row.tip, **facts}
        return row if self._filter.matches(asked) else replace(row, hidden=True)

    def _topic(self, topic: TopicView, now_ns: int) -> NavRow:
        return self._flowing(f"topic:{topic.name}", topic.name, gate_state(topic.gate) or OPEN, now_ns, topic.published)

    def _client(self, actor: ActorView) -> NavRow:
        return self._fits(self._actor(actor), rate=actor.rate_per_s)

    def _flowing(self, item_id: str, name: str, state: str, now_ns: int, counter: int) -> NavRow:
        per_s = self._rates.meet(item_id, now_ns, counter)
        return NavRow(item_id, name, state, f"{rate(per_s)}/s", self._sparks.meet(item_id, per_s))

    def _actor(self, actor: ActorView) -> NavRow:
        kind = actor.role if actor.role in {"producer", "consumer"} else "worker"
        item_id = f"{kind}:{actor.name}"
        series = self._sparks.meet(item_id, actor.rate_per_s)
        state = producer_state(actor)
        return NavRow(item_id, actor.name, state, f"{rate(actor.rate_per_s)}/s", series, tip=actor.target)

    def _group(self, group: GroupView) -> NavRow:
        lag = lag_of(group)
        item_id = f"group:{group.name}"
        series = self._sparks.meet(item_id, lag or 0)
        return NavRow(item_id, group.name, group.state, tr("lag {lag}", lag=count(lag)), series)

    def _queue(self, queue: QueueView) -> NavRow:
        item_id = f"queue:{queue.name}"
        depth = queue.ready + queue.delayed
        state = gate_state(queue.gate) or OPEN
        return NavRow(
            item_id, queue.name, state, tr("{count} ready", count=f"{queue.ready:,}"), self._sparks.meet(item_id, depth)
        )

    def _bin(self, queue: QueueView) -> NavRow:
        item_id = f"dlq:{queue.name}"
        state = "Dead letter" if queue.dead else "Empty"
        return NavRow(item_id, queue.name, state, f"{queue.dead:,}", self._sparks.meet(item_id, queue.dead))


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
