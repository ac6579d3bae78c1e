from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from app.presenters.active_faults import fault_text, left_of, state_of
from app.presenters.backpressure import gate_state
from app.presenters.clients import Client, producers, readers
from app.presenters.filters import parsed
from app.presenters.inspector import target_of
from app.presenters.lag_trend import counts_removed, lag_words
from app.presenters.message_facts import client_id
from app.presenters.rates import Rates
from app.presenters.transactions import transaction_section
from app.sessions.history.series import Key, dead, depth, published
from app.sessions.history.series import lag as lag_key
from broker_core.filters import Field, Fields, parse
from broker_core.snapshots import FaultView, GroupView, QueueView, Snapshot, TopicView
from widgets.formats import at_most, count, per_second
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
FIELDS = Fields(
    (
        Field("kind", "text", "topic, group, queue, dlq, producer, consumer or worker."),
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

    def __init__(self, rates: Rates, more: Callable[[], Sequence[NavSection]] = tuple) -> None:
        self._rates = rates
        self._now_ns = 0
        self._compacted: frozenset[str] = frozenset()
        self._more = more
        self.dead_by_topic: Callable[[Snapshot], Mapping[str, int]] = lambda _snapshot: {}
        self.programs = True  # whether the session knows of programs that are no members
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
        publishing, reading = producers(snapshot, self._rates), readers(snapshot, self._rates)
        no_producer, no_consumer = tr("No producer publishes."), tr("No consumer reads.")
        if not self.programs:
            no_producer, no_consumer = tr("Not known from outside."), tr("No group has a member.")
        sections = (
            self._section(
                NavSection("topics", tr("Topics"), "topic", (), tr("No topic yet.")),
                own,
                lambda one: self._fits("topic", one.name, gate_state(one.gate) or OPEN, lag=None),
                self._topic,
            ),
            self._section(
                NavSection("groups", tr("Groups"), "group", (), tr("No group yet.")),
                snapshot.groups,
                lambda one: self._fits("group", one.name, one.state, lag=one.lag),
                self._group,
            ),
            self._section(
                NavSection("queues", tr("Queues"), "queue", (), tr("No queue.")),
                snapshot.queues,
                lambda one: self._fits("queue", one.name, gate_state(one.gate) or OPEN, depth=one.ready + one.delayed),
                self._queue,
            ),
            self._section(
                NavSection("dead", tr("Dead letters"), "dead-letter", (), ""),
                bins,
                lambda one: self._fits("dlq", one.name, _bin_state(one), dead=one.dead),
                self._bin,
            ),
            self._section(
                NavSection("producers", tr("Producers"), "producer", (), no_producer),
                publishing,
                self._fits_client,
                self._client,
            ),
            self._section(
                NavSection("consumers", tr("Consumers"), "consumer", (), no_consumer),
                reading,
                self._fits_client,
                self._client,
            ),
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
        self, section: NavSection, things: Sequence[T], fits: Callable[[T], bool], row: Callable[[T], NavRow]
    ) -> NavSection:
        found = list(things) if self._filter.takes_all else [thing for thing in things if fits(thing)]
        rows = tuple(map(row, found[:ROWS_MAX]))
        return replace(section, rows=rows, more=len(found) - len(rows))

    def _fits(self, kind: str, name: str, state: str, **facts: object) -> bool:
        if self._filter.takes_all:
            return True
        fits = self._filter.matches({"kind": kind, "name": name, "state": state, "target": "", **facts})
        if not fits:
            self._dimmed.append(f"{kind}:{name}")
        return fits

    def _fits_client(self, client: Client) -> bool:
        rate = self._rates.of(client.rate, self._now_ns)
        return self._fits(client.kind, client.name, client.state, rate=rate, target=client.target)

    def _topic(self, topic: TopicView) -> NavRow:
        key, now_ns = published(topic.name), self._now_ns
        figure = f"{per_second(self._rates.of(key, now_ns))}/s"
        series = self._rates.spark(key, now_ns)
        state = gate_state(topic.gate) or OPEN
        return NavRow(f"topic:{topic.name}", topic.name, state, figure, series, tip=self._rates.window_words(now_ns))

    def _client(self, client: Client) -> NavRow:
        now_ns = self._now_ns
        return NavRow(
            f"{client.kind}:{client.name}",
            client.name,
            client.state,
            f"{per_second(self._rates.of(client.rate, now_ns))}/s",
            self._rates.spark(client.rate, now_ns),
            tip="\n".join(part for part in (client.target, self._rates.window_words(now_ns, client.rate)) if part),
        )

    def _level(self, key: Key) -> tuple[float, ...]:
        return self._rates.spark(key, self._now_ns, level=True)

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
    return NavRow(place, fault.client or tr("the disk"), state_of(fault), left, tip=tip)
