"""Facts that are not in a snapshot: queries to the broker and the history, shown as their answers arrive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace
from textwrap import shorten

from PySide6.QtCore import QObject, Signal

from app.presenters.inspector import LISTED, inspector_facts
from app.presenters.message_facts import client_id, message_facts, request_of
from app.presenters.panel_presenter import Sources
from app.presenters.rebalances import RebalanceCards
from app.sessions.core_sentences import cause_text
from app.sessions.event_text import cause_of, details, event_word, place_text
from app.sessions.history.keys import KeyCounts, partition_keys
from app.sessions.history.life import Life, Place, life_in, place_of, touching
from app.sessions.queries import Answers
from broker_core.clock import NS_PER_S
from broker_core.events import Event
from broker_core.operations.browse import BatchKeys, CountKeys, Present
from broker_core.snapshots import RebalanceView, Snapshot
from widgets.facts import Fact, Facts, with_rows, with_values
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

    def __init__(self) -> None:
        super().__init__()
        self.restart()

    def facts(self, snapshot: Snapshot, name: str) -> InspectorFacts | None:
        return None

    def restart(self) -> None:
        """Forget what is known: another session begins, or another thing is shown."""
        self._thing: Hashable = None
        self._asked_ns = -1

    def _turn_to(self, thing: Hashable) -> bool:
        """Whether it is another thing than before."""
        if thing == self._thing:
            return False
        self.restart()
        self._thing = thing
        return True

    def _is_due(self, now_ns: int) -> bool:
        return self._asked_ns < 0 or abs(now_ns - self._asked_ns) >= REFRESH_NS


class MessageLookup(Lookup):
    def __init__(self, answers: Answers, sources: Sources) -> None:
        self._answers, self._history, self._times = answers, sources.history, sources.times
        super().__init__()

    def restart(self) -> None:
        super().restart()
        self._life: Life | None = None
        self._present: Present | None = None
        self._seen_seq = 0

    def facts(self, snapshot: Snapshot, name: str) -> InspectorFacts | None:
        """The facts that have arrived; events that are new in the stream are queried."""
        place = place_of(name)
        if place is None:
            return None
        if self._turn_to(place) or (self._life is not None and self._is_touched(self._life)):
            self._ask_life(place)
            self._query(place, snapshot.time_ns)
        elif self._is_due(snapshot.time_ns):
            self._query(place, snapshot.time_ns)
        return message_facts(place, snapshot, self._times, self._life, self._present)

    def _is_touched(self, life: Life) -> bool:
        ring, seen = self._history.ring, self._seen_seq
        self._seen_seq = ring.end_seq
        return bool(touching(ring.since(seen), life.places))

    def _ask_life(self, place: Place) -> None:
        self._seen_seq = self._history.ring.end_seq

        def answered(found: Life) -> None:
            if found.place == self._thing:
                self._life = found
                self.changed.emit()

        self._history.ask(lambda past: life_in(past, place), answered)

    def _query(self, place: Place, now_ns: int) -> None:
        self._asked_ns = now_ns

        def answered(present: Present) -> None:
            if place == self._thing and present != self._present:
                self._present = present
                self.changed.emit()

        self._answers.ask(request_of(place), answered, lambda why: answered(Present(why=why)))


class LaneLookup(Lookup):
    """A partition: what the snapshot says, and which of its keys are hot."""

    def __init__(self, answers: Answers, sources: Sources) -> None:
        self._answers, self._sources = answers, sources
        super().__init__()

    def restart(self) -> None:
        super().restart()
        self._counts: KeyCounts | None = None
        self._read: dict[int, Counter[bytes | None] | None] = {}  # keys of batches, by first offset
        self._reads = False

    def facts(self, snapshot: Snapshot, name: str) -> InspectorFacts | None:
        facts = inspector_facts(snapshot, f"lane:{name}", self._sources.series)
        topic, _, number = name.rpartition("/")
        if facts is None or not number.isdecimal():
            return facts
        self._turn_to(name)
        if self._is_due(snapshot.time_ns):
            self._asked_ns = snapshot.time_ns
            self._sources.history.ask(
                lambda past: partition_keys(past, topic, int(number), snapshot.events),
                lambda counts: self._answered(name, counts),
            )
        browse: Facts = ((tr("Messages"), tr("browse them"), f"browse:{name}"),)
        hot: Facts = (("", tr("Counting...")),)
        if self._counts is not None:
            hot = key_facts(self._counts.with_read(self._read))
        first, *others = facts.sections
        return replace(facts, sections=(first, ("", browse), (tr("Hot keys"), hot), *others))

    def _answered(self, name: str, counts: KeyCounts) -> None:
        if name == self._thing and counts != self._counts:
            self._counts = counts
            self.changed.emit()
            self._read_more(name)

    def _read_more(self, name: str) -> None:
        """Read keys of batches from the log while somebody looks, the newest first, some at a time."""
        if self._reads or name != self._thing or self._counts is None:
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
            if name == self._thing and found:
                self._read.update({one.first: None if one.keys is None else Counter(dict(one.keys)) for one in found})
                self.changed.emit()
                self._read_more(name)

        def failed(_sentence: str) -> None:
            self._reads = False

        self._reads = True
        request = CountKeys(topic=place.topic, partition=place.partition, batches=wanted)
        self._answers.ask(request, answered, failed)


def key_facts(counts: KeyCounts) -> Facts:
    if not counts.total:
        return (("", tr("Nothing has been published to it yet.")),)
    rows: list[Fact] = []
    for key, number in counts.keys[:KEYS_SHOWN]:
        figures = {"share": f"{number / counts.total:.1%}", "count": f"{number:,}", "total": f"{counts.total:,}"}
        words = tr("{share}, {count} of {total} messages", **figures)
        rows.append((tr("no key") if key is None else plain_text(key, 40), words))
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
    def __init__(self, sources: Sources) -> None:
        self._history, self._times = sources.history, sources.times
        super().__init__()

    def restart(self) -> None:
        super().restart()
        self._event: Event | None = None
        self._lost = ""  # says why it is not found

    def facts(self, snapshot: Snapshot, name: str) -> InspectorFacts | None:
        if not name.isdecimal():
            return None
        seq = int(name)
        if self._turn_to(seq):
            self._history.ask(
                lambda past: (past.between(seq, seq + 1), past.whole), lambda found: self._answered(seq, *found)
            )
        if self._event is None:
            return InspectorFacts(tr("Event"), f"#{count(seq)}", note=self._lost or tr("Searching..."))
        return event_facts(self._event, snapshot, self._times)

    def _answered(self, seq: int, found: list[Event], whole: bool) -> None:
        if seq == self._thing:
            self._event = next(iter(found), None)
            unrecorded = tr("This session is not recorded, and its first events are no longer in memory.")
            self._lost = "" if found else tr("This session has no such event.") if whole else unrecorded
            self.changed.emit()


def event_facts(event: Event, snapshot: Snapshot, times: Times) -> InspectorFacts:
    where, to = f"topic:{event.topic}", None
    if event.partition is not None and event.offset is not None:
        where = Place(event.topic, event.partition, event.offset).id
    elif event.partition is not None:
        where = f"lane:{event.topic}/{event.partition}"
    if event.to_topic and event.to_partition is not None and event.to_offset is not None:
        to = Place(event.to_topic, event.to_partition, event.to_offset)
    kind = "queue" if snapshot.queue(event.group) else "group" if snapshot.group(event.group) else ""
    is_known = (event.generation or 0) >= 0
    facts = with_values(
        (tr("Time"), session_time(event.time_ns), f"{MOMENT}{event.time_ns}"),
        (tr("Wall time"), times.wall(event.time_ns)),
        (tr("Where"), place_text(event) if event.topic else "", where),
        (tr("To"), "" if to is None else str(to), "" if to is None else to.id),
        (tr("Client"), event.client, client_id(event.client, snapshot)),
        (tr("Group"), event.group, kind and f"{kind}:{event.group}"),
        (tr("Messages"), count(event.count) if event.count else ""),
        (tr("Bytes"), count(event.size_bytes) if event.size_bytes else ""),
        (tr("Attempt"), "" if event.attempt is None else str(event.attempt)),
        (tr("Generation"), "" if event.generation is None else str(event.generation) if is_known else tr("not known")),
        (tr("Key"), "" if event.key is None else plain_text(event.key, 400)),
        (tr("Cause"), cause_of(event)),
        (tr("Published"), "" if event.published_ns is None else session_time(event.published_ns)),
    )
    detail: list[Fact] = []
    for each in details(event.detail):
        label = each.label[:1].upper() + each.label[1:]
        link = () if each.time_ns is None else (f"{MOMENT}{each.time_ns}",)
        detail += [("" if place else label, words, *link) for place, words in enumerate(each.words[:LISTED])]
        if (rest := len(each.words) - LISTED) > 0:
            detail.append(("", tr("and {count:,} more", count=rest)))
    # All of it stands below.
    what = shorten(cause_of(event) or place_text(event), HEADING_CHARS, placeholder=" …")
    heading = f"#{count(event.seq)}  {what}".rstrip()
    return InspectorFacts(
        tr("Event"), heading, event_word(event), with_rows(("", facts), (tr("Detail"), tuple(detail)))
    )


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
    generations = f"{view.generation_before} → {view.generation_after or '…'}"
    facts = with_values(
        (tr("Group"), view.group, f"group:{view.group}"),
        (tr("Cause"), cause_text(view.cause)),
        (tr("Generation"), generations if (view.generation_after or 0) >= 0 else tr("not known")),
        (tr("Started"), session_time(view.started_ns), f"{MOMENT}{view.started_ns}"),
        (tr("Ended"), session_time(view.ended_ns) if view.ended_ns else "", f"{MOMENT}{view.ended_ns}"),
        (tr("Moved"), f"{len(view.moved):,}"),
        (tr("Kept"), f"{len(view.kept):,}"),
        (tr("Reading"), no_reader),
    )
    place = of_group.index(view)
    earlier_ns = of_group[place - 1].started_ns if place else 0
    later_ns = str(of_group[place + 1].started_ns) if place + 1 < len(of_group) else ""
    between: Facts = (
        (tr("Since the previous one"), tr("what was published"), f"published:{earlier_ns}-{view.started_ns}"),
        (tr("Until the next one"), tr("what was published"), f"published:{view.started_ns}-{later_ns}"),
    )
    moves = tuple(
        (f"{topic}/{part}", f"{old or tr('nobody')} → {new or tr('nobody')}") for topic, part, old, new in view.moved
    )
    return InspectorFacts(
        tr("Rebalance"),
        tr("{group}: {cause}", group=view.group, cause=cause_text(view.cause)),
        "Rebalancing" if view.ended_ns is None else "Stable",
        with_rows(("", facts), (tr("Published"), between), (tr("Moves"), moves[:200])),
    )
