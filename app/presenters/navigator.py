from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from app.presenters.active_faults import fault_text, left_of, state_of, whom
from app.presenters.backpressure import gate_state
from app.presenters.clients import Client, producers, readers
from app.presenters.filters import parsed
from app.presenters.inspector import target_of
from app.presenters.message_facts import client_id
from app.presenters.status import window_words
from app.presenters.transactions import transaction_section
from app.sessions.history.series import Key, SessionSeries, dead, depth, published
from app.sessions.history.series import lag as lag_key
from broker_core.filters import Field, Fields, parse
from broker_core.snapshots import FaultView, GroupView, QueueView, Snapshot, TopicView, counts_removed
from widgets.formats import at_most, count, lag_words, per_second
from widgets.i18n import localized, tr
from widgets.navigator import ROWS_MAX, NavRow, NavSection

T = TypeVar("T")


class _Bin(NamedTuple):
    id: str
    name: str
    dead: int


# Of a topic or queue that nothing limits.
OPEN = "Open"
# A client that stands still while it works at a message is no fault; a pause by a fault lasts, and is shown.
BROKEN = frozenset({"crashed"})
_KINDS = ("topic", "group", "queue", "dlq", "producer", "consumer", "worker")
FIELDS = Fields(
    (
        Field("kind", "text", "topic, group, queue, dlq, producer, consumer or worker.", words=_KINDS),
        Field("name", "text", "The name."),
        Field("state", "text", "The word next to its icon."),
        Field("target", "text", "The topic, group or queue of a client."),
        Field("rate", "number", "Messages a second of a client."),
        Field("lag", "number", "Messages by which the group is behind."),
        Field("depth", "number", "Messages that wait in a queue."),
        Field("dead", "number", "Dead letters of a queue or in a topic."),
    )
)


class NavigatorModel:
    """Snapshots in, sections out. `more` gives further sections, such as bookmarks; `dead_by_topic` counts the
    dead letters in topics.

    `dimmed` are the ids of what does not fit the filter.
    """

    def __init__(self, series: SessionSeries, more: Callable[[], Sequence[NavSection]] = tuple) -> None:
        self.series = series
        self._now_ns = 0
        self._compacted: frozenset[str] = frozenset()
        self._more = more
        self.dead_by_topic: Callable[[Snapshot], Mapping[str, int]] = lambda _snapshot: {}
        self._filter = parse("")
        self.dimmed: frozenset[str] = frozenset()
        self._dimmed: list[str] = []

    def set_filter(self, text: str) -> str:
        """Show only rows that pass the filter; all if it cannot be read, and the sentence that says why, else ""."""
        self._filter, problem = parsed(text, FIELDS)
        return problem

    def update(self, snapshot: Snapshot) -> tuple[NavSection, ...]:
        """The sections at the time of a snapshot, of each kind the first `ROWS_MAX` rows that fit the filter."""
        self._now_ns = snapshot.time_ns
        self._compacted = snapshot.compacted
        self._dimmed = []
        queues = {queue.name for queue in snapshot.queues}
        bins = [
            *(_Bin(f"dlq:{queue.name}", queue.name, queue.dead) for queue in snapshot.queues),
            *(_Bin(f"topic:{topic}", topic, letters) for topic, letters in self.dead_by_topic(snapshot).items()),
        ]
        own = [topic for topic in snapshot.topics if topic.name not in queues]
        publishing, reading = producers(snapshot, self.series), readers(snapshot, self.series)
        no_producer, no_consumer = tr("No producer publishes."), tr("No consumer reads.")
        if not self.series.deliveries:
            no_producer, no_consumer = tr("Not known from outside."), tr("No group has a member.")
        section = self._section
        sections = (
            section("topics", tr("Topics"), "topic", tr("No topic yet."), own, self._fits_topic, self._topic),
            section(
                "groups", tr("Groups"), "group", tr("No group yet."), snapshot.groups, self._fits_group, self._group
            ),
            section("queues", tr("Queues"), "queue", tr("No queue."), snapshot.queues, self._fits_queue, self._queue),
            section("dead", tr("Dead letters"), "dead-letter", "", bins, self._fits_bin, self._bin),
            section("producers", tr("Producers"), "producer", no_producer, publishing, self._fits_client, self._client),
            section("consumers", tr("Consumers"), "consumer", no_consumer, reading, self._fits_client, self._client),
        )
        hidden = frozenset(self._dimmed)
        self.dimmed = hidden | _boxes_of_workers(snapshot, hidden)
        lasting = {fault.client for fault in snapshot.faults}
        broken = tuple(
            self._client(each)
            for each in (*publishing, *reading)
            if each.actor and each.state.lower() in BROKEN and each.name not in lasting and self._fits_client(each)
        )
        broken = (*(_lasting(fault, snapshot) for fault in snapshot.faults), *broken)
        return (
            *sections,
            *transaction_section(snapshot),
            NavSection("faults", tr("Faults"), "crashed", broken, tr("No fault is active.")),
            *self._more(),
        )

    def _section(
        self,
        key: str,
        title: str,
        icon: str,
        empty: str,
        things: Sequence[T],
        fits: Callable[[T], bool],
        row: Callable[[T], NavRow],
    ) -> NavSection:
        found = list(things) if self._filter.takes_all else [thing for thing in things if fits(thing)]
        rows = tuple(map(row, found[:ROWS_MAX]))
        return NavSection(key, title, icon, rows, empty, len(found) - len(rows))

    def _fits(self, kind: str, name: str, state: str, **facts: object) -> bool:
        if self._filter.takes_all:
            return True
        fits = self._filter.matches({"kind": kind, "name": name, "state": state, "target": "", **facts})
        if not fits:
            self._dimmed.append(f"{kind}:{name}")
        return fits

    def _fits_topic(self, topic: TopicView) -> bool:
        return self._fits("topic", topic.name, gate_state(topic.gate) or OPEN, lag=None)

    def _fits_group(self, group: GroupView) -> bool:
        return self._fits("group", group.name, group.state, lag=group.lag)

    def _fits_queue(self, queue: QueueView) -> bool:
        return self._fits("queue", queue.name, gate_state(queue.gate) or OPEN, depth=queue.ready + queue.delayed)

    def _fits_bin(self, one: _Bin) -> bool:
        return self._fits("dlq", one.name, _bin_state(one), dead=one.dead)

    def _fits_client(self, client: Client) -> bool:
        rate = self.series.rate(client.rate, self._now_ns)
        return self._fits(client.kind, client.name, client.state, rate=rate, target=client.target)

    def _topic(self, topic: TopicView) -> NavRow:
        key, now_ns = published(topic.name), self._now_ns
        figure = f"{per_second(self.series.rate(key, now_ns))}/s"
        series = self.series.spark(key, now_ns)
        state = gate_state(topic.gate) or OPEN
        return NavRow(f"topic:{topic.name}", topic.name, state, figure, series, tip=window_words(self.series, now_ns))

    def _client(self, client: Client) -> NavRow:
        now_ns = self._now_ns
        return NavRow(
            f"{client.kind}:{client.name}",
            client.name,
            client.state,
            "" if client.state == "stopped" else f"{per_second(self.series.rate(client.rate, now_ns))}/s",
            self.series.spark(client.rate, now_ns),
            tip="\n".join(part for part in (client.target, window_words(self.series, now_ns, client.rate)) if part),
        )

    def _level(self, key: Key) -> tuple[float, ...]:
        return self.series.spark(key, self._now_ns, level=True)

    def _group(self, group: GroupView) -> NavRow:
        is_at_most = counts_removed(group.offsets, self._compacted)
        figure = tr("lag {lag}", lag=at_most(count(group.lag), is_at_most)) + (" + ?" if group.lag_unknown else "")
        tip = lag_words(group.lag, group.lag_unknown, is_at_most) if group.lag_unknown or is_at_most else ""
        return NavRow(f"group:{group.name}", group.name, group.state, figure, self._level(lag_key(group.name)), tip)

    def _queue(self, queue: QueueView) -> NavRow:
        state = gate_state(queue.gate) or OPEN
        ready = tr("{count} ready", count=f"{queue.ready:,}")
        return NavRow(f"queue:{queue.name}", queue.name, state, ready, self._level(depth(queue.name)))

    def _bin(self, one: _Bin) -> NavRow:
        level = self._level(dead(one.name)) if one.id.startswith("dlq:") else ()
        return NavRow(one.id, one.name, _bin_state(one), localized(f"{one.dead:,}"), level)


def _bin_state(one: _Bin) -> str:
    return "Dead letter" if one.dead else "Empty"


def _boxes_of_workers(snapshot: Snapshot, hidden: frozenset[str]) -> frozenset[str]:
    workers = (actor for actor in snapshot.actors if actor.role not in {"producer", "consumer"})
    shown = {actor.target for actor in workers if f"worker:{actor.name}" not in hidden}
    return frozenset(
        f"workers:{queue.name}"
        for queue in snapshot.queues
        if f"queue:{queue.name}" in hidden and queue.name not in shown
    )


def _lasting(fault: FaultView, snapshot: Snapshot) -> NavRow:
    place = client_id(fault.client, snapshot) or target_of(snapshot, fault.client) or f"fault:{fault.client}"
    left, tip = left_of(fault, snapshot.time_ns), fault_text(fault, snapshot.time_ns)
    return NavRow(place, whom(fault), state_of(fault), left, tip=tip)
