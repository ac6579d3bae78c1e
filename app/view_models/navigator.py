"""The rows of the navigator: what there is, in which state, with its latest values."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from app.view_models.formats import count, rate
from app.view_models.gauges import gate_state
from app.view_models.rates import Rates
from broker_core.clock import NS_PER_S
from broker_core.snapshots import ActorView, GroupView, QueueView, Snapshot
from widgets.navigator import NavRow, NavSection
from widgets.words import tr

SAMPLES = 30
SAMPLE_NS = NS_PER_S // 2
# Actors in these states are not as the scenario means them to be.
BROKEN = frozenset({"crashed", "paused"})


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
    """Snapshots in, sections out. `more` gives further sections, such as bookmarks."""

    def __init__(self, more: Callable[[], Sequence[NavSection]] = tuple) -> None:
        self._rates = Rates()
        self._sparks = Sparks()
        self._more = more

    def meet(self, snapshot: Snapshot) -> tuple[NavSection, ...]:
        """The sections at the time of a snapshot."""
        self._sparks.begin(snapshot.time_ns)
        queues = {queue.name for queue in snapshot.queues}
        topics = tuple(
            self._flowing(f"topic:{topic.name}", topic.name, gate_state(topic.gate), snapshot.time_ns, topic.published)
            for topic in snapshot.topics
            if topic.name not in queues
        )
        producers = tuple(self._actor(actor) for actor in snapshot.actors if actor.role == "producer")
        consumers = tuple(self._actor(actor) for actor in snapshot.actors if actor.role != "producer")
        broken = tuple(
            NavRow(row.id, row.name, row.state) for row in (*producers, *consumers) if row.state.lower() in BROKEN
        )
        return (
            NavSection("topics", tr("Topics"), "topic", topics, tr("No topic yet.")),
            NavSection("groups", tr("Groups"), "group", tuple(map(self._group, snapshot.groups)), tr("No group yet.")),
            NavSection("queues", tr("Queues"), "queue", tuple(map(self._queue, snapshot.queues)), tr("No queue.")),
            NavSection("dead", tr("Dead letters"), "dead-letter", tuple(map(self._bin, snapshot.queues)), ""),
            NavSection("producers", tr("Producers"), "producer", producers, tr("Nobody publishes.")),
            NavSection("consumers", tr("Consumers"), "consumer", consumers, tr("Nobody reads.")),
            NavSection("faults", tr("Faults"), "crashed", broken, tr("All clients are well.")),
            *self._more(),
        )

    def _flowing(self, item_id: str, name: str, state: str, now_ns: int, counter: int) -> NavRow:
        per_s = self._rates.meet(item_id, now_ns, counter)
        return NavRow(item_id, name, state, f"{rate(per_s)}/s", self._sparks.meet(item_id, per_s))

    def _actor(self, actor: ActorView) -> NavRow:
        kind = actor.role if actor.role in {"producer", "consumer"} else "worker"
        item_id = f"{kind}:{actor.name}"
        series = self._sparks.meet(item_id, actor.rate_per_s)
        return NavRow(item_id, actor.name, actor.state, f"{rate(actor.rate_per_s)}/s", series, tip=actor.target)

    def _group(self, group: GroupView) -> NavRow:
        known = [one.lag for one in group.offsets if one.lag is not None]
        lag = sum(known) if known else None
        item_id = f"group:{group.name}"
        series = self._sparks.meet(item_id, lag or 0)
        return NavRow(item_id, group.name, group.state, tr("lag {lag}", lag=count(lag)), series)

    def _queue(self, queue: QueueView) -> NavRow:
        item_id = f"queue:{queue.name}"
        depth = queue.ready + queue.delayed
        state = gate_state(queue.gate)
        return NavRow(
            item_id, queue.name, state, tr("{count} ready", count=f"{depth:,}"), self._sparks.meet(item_id, depth)
        )

    def _bin(self, queue: QueueView) -> NavRow:
        item_id = f"dlq:{queue.name}"
        state = "Dead letter" if queue.dead else ""
        return NavRow(item_id, queue.name, state, f"{queue.dead:,}", self._sparks.meet(item_id, queue.dead))
