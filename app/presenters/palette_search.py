from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from PySide6.QtGui import QIcon

from app.presenters.clients import producers, readers
from app.sessions.core_sentences import cause_text
from app.sessions.history.keys import Published
from app.sessions.history.life import Place
from app.sessions.history.series import SessionSeries
from broker_core.filters import quoted
from broker_core.snapshots import Snapshot
from widgets.formats import plain_text, session_time, time_of
from widgets.i18n import mark, tr
from widgets.icons import icon
from widgets.name_search import NAMES
from widgets.palette import PaletteEntry
from widgets.theme import current_theme
from widgets.timeline_facts import Tick

MOMENTS_MOST, REBALANCES_MOST = 300, 60  # the newest ones


def things(snapshot: Snapshot, series: SessionSeries, ticks: Sequence[Tick]) -> list[PaletteEntry]:
    """Topics, partitions, queues, groups and clients, with their ids on the canvas; rebalances, and what was published
    between them; bookmarks, faults and actions, which are `ticks` of the timeline.
    """
    made = _Entries()

    def of_kind(kind: str, name: str, category: str, picture: str = "") -> PaletteEntry:
        return made(f"{kind}:{name}", name, category, picture or kind)

    return [
        *(of_kind("topic", topic.name, tr("Topic")) for topic in snapshot.topics),
        *(
            of_kind("lane", f"{topic.name}/{part.partition}", tr("Partition"), "layers")
            for topic in snapshot.topics
            for part in topic.partitions
        ),
        *_hot_keys(snapshot, made),
        *(of_kind("queue", queue.name, tr("Queue")) for queue in snapshot.queues),
        *(of_kind("dlq", queue.name, tr("Dead letters"), "dead-letter") for queue in snapshot.queues if queue.dead),
        *(of_kind("group", group.name, tr("Group")) for group in snapshot.groups),
        *(of_kind(kind, name, category) for kind, name, category in _clients(snapshot, series)),
        *_rebalances(snapshot, made),
        *_moments(ticks, made),
    ]


class _Entries:
    def __init__(self) -> None:
        self._icons: dict[str, QIcon] = {}

    def __call__(
        self, target: str, title: str, about: str, picture: str, enter: str = "", rank: int | None = None
    ) -> PaletteEntry:
        if picture not in self._icons:
            self._icons[picture] = icon(picture, current_theme(), "muted")
        return PaletteEntry(
            target, title, about, icon=self._icons[picture], is_thing=True, enter=tr(enter), fixed_rank=rank
        )


def _hot_keys(snapshot: Snapshot, entry: _Entries) -> Iterator[PaletteEntry]:
    for topic in snapshot.topics:
        if topic.partitions:
            busiest = max(topic.partitions, key=lambda part: part.end_offset).partition
            lane = f"{topic.name}/{busiest}"
            yield entry(f"lane:{lane}", tr("Hot keys of {topic}", topic=topic.name), lane, "layers")


def _rebalances(snapshot: Snapshot, entry: _Entries) -> Iterator[PaletteEntry]:
    for group in snapshot.groups:
        of_group = (one for one in snapshot.rebalances if one.group == group.name)
        found = sorted(of_group, key=lambda one: one.started_ns)[-REBALANCES_MOST:]
        for before, one in zip([None, *found], found, strict=False):
            at = session_time(one.started_ns)
            title = tr("Rebalance of {group} at {time}", group=one.group, time=at)
            yield entry(f"rebalance:{one.group}/{one.started_ns}", title, cause_text(one.cause), "rebalancing")
            if before is not None:
                target = f"published:{before.started_ns}-{one.started_ns}"
                title = tr("Published between the rebalances of {group}", group=one.group)
                yield entry(target, title, f"{session_time(before.started_ns)} - {at}", "message", _LIST)


def _moments(ticks: Sequence[Tick], entry: _Entries) -> Iterator[PaletteEntry]:
    words = {
        "bookmark": ("bookmark", tr("Bookmark"), "bookmark"),
        "fault": ("moment", tr("Fault"), "warning"),
        "action": ("moment", tr("My action"), "command"),
    }
    for tick in [one for one in ticks if one.kind in words][-MOMENTS_MOST:]:
        target, category, picture = words[tick.kind]
        about = f"{category}, {session_time(tick.time_ns)}"
        yield entry(f"{target}:{tick.time_ns}", tick.label, about, picture, GO_THERE)


def _clients(snapshot: Snapshot, series: SessionSeries) -> Iterator[tuple[str, str, str]]:
    names = {"producer": tr("Producer"), "consumer": tr("Consumer"), "worker": tr("Worker")}
    for each in (*producers(snapshot, series), *readers(snapshot, series)):
        yield each.kind, each.name, ", ".join((names[each.kind], *each.targets))


GO_THERE = mark("Enter goes to this moment, Escape closes.")
_SHOW_MESSAGE = mark("Enter shows the message, Escape closes.")
_SHOW_EVENT = mark("Enter shows the event, Escape closes.")
_LIST = mark("Enter lists the messages, Escape closes.")

MESSAGES_MOST, KEYS_MOST, TOPICS_MOST = 60, 60, 8
_EVENT = re.compile(r"#\s*(\d[\d,]*)", re.ASCII)
_BETWEEN = re.compile(r"[\s/@:]+", re.ASCII)  # none of them is in the name of a topic
_FILLERS = frozenset({"at", "offset", "message", "partition"})
_EXACT, _FITS, _LAST = 0, NAMES - 1, 99  # ranks, as `fit` gives them to names


class PaletteSearch:
    """Searches the session as `snapshot` shows it, which has come to `end_ns`. Keys, and the messages of queues, are
    found once `published` is known."""

    def __init__(self, snapshot: Snapshot, end_ns: int) -> None:
        self._end_ns, self._events = end_ns, snapshot.events
        self._topics = [topic.name for topic in sorted(snapshot.topics, key=lambda one: -one.published)]
        self._bounds = {
            (topic.name, part.partition): (part.start_offset, part.end_offset)
            for topic in snapshot.topics
            for part in topic.partitions
        }
        self._published: Published | None = None
        self._entry = _Entries()

    def know(self, published: Published) -> None:
        self._published = published
        for place, end in published.ends.items():
            self._bounds.setdefault(place, (0, end))

    def found(self, text: str) -> list[PaletteEntry]:
        text = text.strip()
        if not text:
            return []
        return [*self._moments(text), *self._event(text), *self._messages(text), *self._keys(text), *self._search(text)]

    def _moments(self, text: str) -> Iterator[PaletteEntry]:
        time_ns = time_of(text)
        if time_ns is not None and time_ns <= self._end_ns:
            rank = _FITS if text.isdecimal() else _EXACT
            yield self._entry(f"moment:{time_ns}", session_time(time_ns), tr("Moment"), "clock", GO_THERE, rank)

    def _event(self, text: str) -> Iterator[PaletteEntry]:
        found = _EVENT.fullmatch(text)
        if found and (seq := _number(found[1])) is not None and seq < self._events:
            yield self._entry(f"event:{seq}", f"#{seq:,}", tr("Event"), "events", _SHOW_EVENT, _EXACT)

    def _messages(self, text: str) -> Iterator[PaletteEntry]:
        """Messages by id, `topic/partition/offset`; by topic and offset; or by offset, in any partition that has it."""
        words = [word for word in _BETWEEN.split(text) if word and word.casefold() not in _FILLERS]
        offset = _number(words[-1]) if words else None
        name, number = "", None
        match words[:-1]:
            case []:
                pass
            case [one]:
                number = _number(one)
                name = one.casefold() if number is None else ""
            case [name, one] if (number := _number(one)) is not None:
                name = name.casefold()
            case _:
                return
        if offset is None:
            return
        rank = _EXACT if len(words) == 3 else _FITS
        fitting = 0
        for (topic, partition), (start, end) in self._bounds.items():
            if not start <= offset < end or (number is not None and partition != number):
                continue
            if name and not topic.casefold().startswith(name):
                continue
            place = Place(topic, partition, offset)
            exact = rank if not name or topic.casefold() == name else _FITS
            target = f"browse:{place.name}"
            yield self._entry(target, str(place), tr("Message"), "message", _SHOW_MESSAGE, exact)
            fitting += 1
            if fitting >= MESSAGES_MOST:
                return

    def _keys(self, text: str) -> Iterator[PaletteEntry]:
        if self._published is None:
            return
        wanted = text.casefold()
        keys = self._published.keys
        exact = islice((one for one in keys if one.folded == wanted), KEYS_MOST)
        others = islice((one for one in keys if wanted in one.folded and one.folded != wanted), KEYS_MOST)
        for one in (*exact, *others):
            filtered = f"key = {quoted(one.key.decode(errors='replace'))}"
            about = tr(
                "Key in {topic}/{partition}, messages: {count:,}",
                topic=one.topic,
                partition=one.partition,
                count=one.messages,
            )
            target = f"filter:{one.topic}/{one.partition}/{filtered}"
            yield self._entry(target, plain_text(one.key, 60), about, "message", _LIST, None)

    def _search(self, text: str) -> Iterator[PaletteEntry]:
        for topic in self._topics[:TOPICS_MOST]:
            title = tr("Search the messages of {topic} for {what}", topic=topic, what=quoted(text))
            yield self._entry(f"filter:{topic}//{quoted(text)}", title, tr("Messages"), "filter", _LIST, _LAST)


def _number(word: str) -> int | None:
    digits = word.replace(",", "")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= 18 else None
