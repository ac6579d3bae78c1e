"""Facts that are not in a snapshot: queries to the broker and the history, shown as their answers arrive."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from textwrap import shorten

from PySide6.QtCore import QObject, Signal

from app.presenters.inspector import LISTED, inspector_facts
from app.presenters.message_facts import client_id, message_facts, request_of
from app.presenters.rates import Rates
from app.presenters.rebalances import RebalanceCards
from app.sessions.event_text import cause_text, details, event_word, place_text
from app.sessions.history.keys import KeyCounts, partition_keys
from app.sessions.history.life import Life, Place, life_in, place_of, touching
from app.sessions.history.past import History
from app.sessions.queries import Answers
from broker_core.clock import NS_PER_S
from broker_core.events import Event
from broker_core.operations.browse import BatchKeys, CountKeys, Present
from broker_core.snapshots import RebalanceView, Snapshot
from widgets.facts import Fact
from widgets.formats import Times, count, plain_text, session_time
from widgets.i18n import tr
from widgets.panels.inspector import MOMENT, InspectorFacts

REFRESH_NS = NS_PER_S
HEADING_CHARS = 80
KEYS_SHOWN = 12
KEYS_READ_AT_ONCE, BATCHES_READ = 2_000, 5_000


class Lookup(QObject):
    """`facts` of a thing are what is known of it; None if it is not there. `changed` when more is known."""

    changed = Signal()

    def facts(self, snapshot: Snapshot, name: str) -> InspectorFacts | None:
        return None

    def restart(self) -> None:
        """Another session begins."""


class MessageLookup(Lookup):
    def __init__(self, answers: Answers, history: History, times: Times, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._answers, self._history, self._times = answers, history, times
        self.restart()

    def restart(self) -> None:
        self._place: Place | None = None
        self._life: Life | None = None
        self._present: Present | None = None
        self._seen_seq = 0
        self._asked_ns = -1

    def facts(self, snapshot: Snapshot, name: str) -> InspectorFacts | None:
        """The facts that have arrived; events that are new in the stream are queried."""
        place = place_of(name)
        if place is None:
            return None
        if place != self._place:
            self.restart()
            self._place = place
            self._ask_life(place)
            self._query(place, snapshot.time_ns)
        elif self._life is not None and self._is_touched():
            self._ask_life(place)
            self._query(place, snapshot.time_ns)
        elif snapshot.time_ns >= self._asked_ns + REFRESH_NS:
            self._query(place, snapshot.time_ns)
        return message_facts(place, snapshot, self._times, self._life, self._present)

    def _is_touched(self) -> bool:
        ring, seen = self._history.ring, self._seen_seq
        self._seen_seq = ring.end_seq
        places = self._life.places if self._life is not None else ()
        return bool(touching(ring.since(seen), places))

    def _ask_life(self, place: Place) -> None:
        self._seen_seq = self._history.ring.end_seq

        def answered(found: Life) -> None:
            if found.place == self._place:
                self._life = found
                self.changed.emit()

        self._history.ask(lambda past: life_in(past, place), answered)

    def _query(self, place: Place, now_ns: int) -> None:
        self._asked_ns = now_ns

        def answered(present: Present) -> None:
            if place == self._place and present != self._present:
                self._present = present
                self.changed.emit()

        self._answers.ask(request_of(place), answered, lambda why: answered(Present(why=why)))


class LaneLookup(Lookup):
    """A partition: what the snapshot says, and which of its keys are hot."""

    def __init__(self, answers: Answers, history: History, rates: Rates, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._answers, self._history, self._rates = answers, history, rates
        self.restart()

    def restart(self) -> None:
        self._name = ""
        self._counts: KeyCounts | None = None
        self._read: dict[int, Counter[bytes | None] | None] = {}  # keys of batches, by first offset
        self._reads = False
        self._asked_ns = -1

    def facts(self, snapshot: Snapshot, name: str) -> InspectorFacts | None:
        facts = inspector_facts(snapshot, f"lane:{name}", self._rates)
        topic, _, number = name.rpartition("/")
        if facts is None or not number.isdecimal():
            return facts
        if name != self._name:
            self.restart()
            self._name = name
        if self._asked_ns < 0 or abs(snapshot.time_ns - self._asked_ns) >= REFRESH_NS:
            self._asked_ns = snapshot.time_ns
            self._history.ask(
                lambda past: partition_keys(past, topic, int(number), snapshot.events),
                lambda counts: self._answered(name, counts),
            )
        title = tr("Hot keys")
        browse: tuple[str, tuple[Fact, ...]] = ("", ((tr("Messages"), tr("browse them"), f"browse:{name}"),))
        if self._counts is None:
            rows: tuple[Fact, ...] = (("", tr("Counting...")),)
        else:
            rows = key_facts(self._counts.with_read(self._read))
        return replace(facts, sections=(facts.sections[0], browse, (title, rows), *facts.sections[1:]))

    def _answered(self, name: str, counts: KeyCounts) -> None:
        if name == self._name and counts != self._counts:
            self._counts = counts
            self.changed.emit()
            self._read_more(name)

    def _read_more(self, name: str) -> None:
        """Read keys of batches from the log while somebody looks, the newest first, some at a time."""
        if self._reads or name != self._name or self._counts is None:
            return
        place = place_of(f"{name}/0")
        newest = (batch for batch in reversed(self._counts.batches) if batch[0] not in self._read)
        wanted, most = [], KEYS_READ_AT_ONCE
        for batch in newest:
            if most <= 0 or len(self._read) >= BATCHES_READ:
                break
            wanted.append(batch)
            most -= batch[1]
        if place is None or not wanted:
            return

        def answered(found: list[BatchKeys]) -> None:
            self._reads = False
            if name == self._name and found:
                self._read.update({one.first: None if one.keys is None else Counter(dict(one.keys)) for one in found})
                self.changed.emit()
                self._read_more(name)

        def failed(_sentence: str) -> None:
            self._reads = False

        self._reads = True
        request = CountKeys(topic=place.topic, partition=place.partition, batches=wanted)
        self._answers.ask(request, answered, failed)


def key_facts(counts: KeyCounts) -> tuple[Fact, ...]:
    if not counts.total:
        return (("", tr("Nothing has been published to it yet.")),)
    rows: list[Fact] = [
        (
            tr("no key") if key is None else plain_text(key, 40),
            tr(
                "{share}, {count} of {total} messages",
                share=f"{number / counts.total:.1%}",
                count=f"{number:,}",
                total=f"{counts.total:,}",
            ),
        )
        for key, number in counts.keys[:KEYS_SHOWN]
    ]
    more = len(counts.keys) - KEYS_SHOWN
    if more > 0:
        rest = sum(number for _key, number in counts.keys[KEYS_SHOWN:])
        rows.append((tr("{count} more keys", count=f"{more:,}"), tr("{count} messages", count=f"{rest:,}")))
    if counts.batches:
        unread = f"{sum(count for _, count in counts.batches):,}"
        rows.append((tr("keys not read"), tr("{count} messages, published in batches", count=unread)))
    if not counts.whole:
        rows.append(("", tr("Only the most recent events are counted: this session is not recorded.")))
    return tuple(rows)


class EventLookup(Lookup):
    def __init__(self, history: History, times: Times, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._history, self._times = history, times
        self.restart()

    def restart(self) -> None:
        self._seq = -1
        self._event: Event | None = None

    def facts(self, snapshot: Snapshot, name: str) -> InspectorFacts | None:
        if not name.isdecimal():
            return None
        seq = int(name)
        if seq != self._seq:
            self._seq, self._event = seq, None
            self._history.ask(lambda past: past.between(seq, seq + 1), lambda found: self._answered(seq, found))
        if self._event is None:
            return InspectorFacts(tr("Event"), f"#{count(seq)}", note=tr("Searching..."))
        return event_facts(self._event, snapshot, self._times)

    def _answered(self, seq: int, found: list[Event]) -> None:
        if seq == self._seq and found:
            self._event = found[0]
            self.changed.emit()


def event_facts(event: Event, snapshot: Snapshot, times: Times) -> InspectorFacts:
    facts: list[Fact] = [(tr("Time"), session_time(event.time_ns), f"{MOMENT}{event.time_ns}")]
    if wall := times.wall(event.time_ns):
        facts.append((tr("Wall time"), wall))
    if event.topic:
        if event.partition is not None and event.offset is not None:
            target = Place(event.topic, event.partition, event.offset).id
        elif event.partition is not None:
            target = f"lane:{event.topic}/{event.partition}"
        else:
            target = f"topic:{event.topic}"
        facts.append((tr("Where"), place_text(event), target))
    if event.to_topic and event.to_partition is not None and event.to_offset is not None:
        to = Place(event.to_topic, event.to_partition, event.to_offset)
        facts.append((tr("To"), str(to), to.id))
    if event.client:
        target = client_id(event.client, snapshot)
        facts.append((tr("Client"), event.client, target) if target else (tr("Client"), event.client))
    if event.group:
        kinds = {group.name: "group" for group in snapshot.groups} | {queue.name: "queue" for queue in snapshot.queues}
        found = kinds.get(event.group)
        facts.append((tr("Group"), event.group, f"{found}:{event.group}") if found else (tr("Group"), event.group))
    more: tuple[tuple[str, object], ...] = (
        (tr("Messages"), count(event.count) if event.count else None),
        (tr("Bytes"), count(event.size_bytes) if event.size_bytes else None),
        (tr("Attempt"), event.attempt),
        (tr("Generation"), event.generation if (event.generation or 0) >= 0 else tr("not known")),
        (tr("Key"), None if event.key is None else plain_text(event.key, 400)),
        (tr("Cause"), cause_text(event.cause) or None),
        (tr("Published"), None if event.published_ns is None else session_time(event.published_ns)),
    )
    facts += [(name, str(value)) for name, value in more if value is not None]
    detail: list[Fact] = []
    for each in details(event.detail):
        label = each.label[:1].upper() + each.label[1:]
        link = () if each.time_ns is None else (f"{MOMENT}{each.time_ns}",)
        detail += [("" if place else label, words, *link) for place, words in enumerate(each.words[:LISTED])]
        if (rest := len(each.words) - LISTED) > 0:
            detail.append(("", tr("and {count:,} more", count=rest)))
    sections: tuple[tuple[str, tuple[Fact, ...]], ...] = (("", tuple(facts)),)
    if detail:
        sections = (*sections, (tr("Detail"), tuple(detail)))
    # All of it stands below.
    what = shorten(cause_text(event.cause) or place_text(event), HEADING_CHARS, placeholder=" …")
    return InspectorFacts(tr("Event"), f"#{count(event.seq)}  {what}".rstrip(), event_word(event), sections)


class RebalanceLookup(Lookup):
    """A rebalance, by group/started_ns. `cards` has the time without a reader."""

    def __init__(self, cards: RebalanceCards) -> None:
        super().__init__()
        self._cards = cards

    def facts(self, snapshot: Snapshot, name: str) -> InspectorFacts | None:
        group, _, started = name.rpartition("/")
        of_group = sorted((one for one in snapshot.rebalances if one.group == group), key=lambda one: one.started_ns)
        view = next((one for one in of_group if str(one.started_ns) == started), None)
        return None if view is None else rebalance_facts(view, of_group, self._cards.no_reader(view, snapshot))


def rebalance_facts(view: RebalanceView, of_group: list[RebalanceView], no_reader: str) -> InspectorFacts:
    place = of_group.index(view)
    ended = (tr("Ended"), session_time(view.ended_ns), f"{MOMENT}{view.ended_ns}") if view.ended_ns else None
    facts: list[Fact] = [
        (tr("Group"), view.group, f"group:{view.group}"),
        (tr("Cause"), cause_text(view.cause)),
        (
            tr("Generation"),
            f"{view.generation_before} → {view.generation_after or '…'}"
            if (view.generation_after or 0) >= 0
            else tr("not known"),
        ),
        (tr("Started"), session_time(view.started_ns), f"{MOMENT}{view.started_ns}"),
        *((ended,) if ended else ()),
        (tr("Moved"), f"{len(view.moved):,}"),
        (tr("Kept"), f"{len(view.kept):,}"),
        (tr("Reading"), no_reader),
    ]
    between: list[Fact] = []
    for title, first, last in (
        (tr("Since the previous one"), of_group[place - 1] if place else None, view),
        (tr("Until the next one"), view, of_group[place + 1] if place + 1 < len(of_group) else None),
    ):
        start_ns = 0 if first is None else first.started_ns
        end_ns = "" if last is None else str(last.started_ns)
        if first is not None or last is not view or place == 0:
            between.append((title, tr("what was published"), f"published:{start_ns}-{end_ns}"))
    moves = tuple(
        (f"{topic}/{part}", f"{old or tr('nobody')} → {new or tr('nobody')}") for topic, part, old, new in view.moved
    )
    sections = [("", tuple(facts)), (tr("Published"), tuple(between))]
    if moves:
        sections.append((tr("Moves"), moves[:200]))
    state = "Rebalancing" if view.ended_ns is None else "Stable"
    return InspectorFacts(
        tr("Rebalance"), tr("{group}: {cause}", group=view.group, cause=cause_text(view.cause)), state, tuple(sections)
    )
