from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from broker_core.clock import NS_PER_S
from broker_core.snapshots import WORST_FIRST, GroupView, QueueView, Snapshot, TopicView, replication, total_lag
from widgets.canvas.view import RestCell

DRAWN_MAX = 32  # of a kind, on the canvas; more would be dust
MAPPED_FROM = 12  # topics of a cluster: those that are not drawn as cards are cells of a map
LISTED_MAX = 500  # of a kind, in the tables

T = TypeVar("T", TopicView, GroupView, QueueView)


class Excerpt(NamedTuple):
    """A snapshot with a part of its topics, groups and queues, and how many of each it leaves out; `cells` are the
    topics that are left out, if there is a map of them.
    """

    snapshot: Snapshot
    topics: int = 0
    groups: int = 0
    queues: int = 0
    cells: tuple[RestCell, ...] = ()

    @property
    def is_whole(self) -> bool:
        return not (self.topics or self.groups or self.queues)


def thinned(snapshot: Snapshot, most: int, selected: str = "") -> Excerpt:
    """An excerpt with at most `most` of each kind, in their order: what is `selected` and where clients work come
    first.

    `selected` is an id of the canvas. Topics that are the logs of queues are counted as queues.
    """
    if all(len(getattr(snapshot, kind)) <= most for kind in _KINDS):
        return Excerpt(snapshot)
    kind, _, name = selected.partition(":")
    wanted = {name.rpartition("/")[0] if kind == "lane" else name}
    for actor in snapshot.actors:
        wanted.update((actor.target, *actor.topics))
    manned = [group for group in snapshot.groups if group.members]
    wanted.update(topic for group in manned for topic in group.topics)
    firsts = {"topics": wanted, "groups": wanted | {group.name for group in manned}, "queues": wanted}
    return _part(snapshot, **{kind: _first(getattr(snapshot, kind), most, firsts[kind]) for kind in _KINDS})


_KINDS: Final = ("topics", "groups", "queues")


def _part(snapshot: Snapshot, cells: tuple[RestCell, ...] = (), **parts: tuple[Any, ...]) -> Excerpt:
    left = {kind: len(getattr(snapshot, kind)) - len(those) for kind, those in parts.items()}
    return Excerpt(msgspec.structs.replace(snapshot, **parts), cells=cells, **left)


_ROOM: Final = 700.0  # of the canvas' units of height, for cards that can be read
_TOPIC_H, _LANE_H, _LANES_MAX = 72.0, 26.0, 24
_GROUP_H, _MEMBER_H = 88.0, 52.0
_CALM_NS: Final = 10 * NS_PER_S  # what is drawn stays so long, unless something breaks
_CALM: Final = frozenset({"Stable", "Empty"})
_SEVERITY: Final = {word: at for at, word in enumerate((*WORST_FIRST, ""))}


class Urgency:
    """Chooses which parts of a cluster are drawn: what is broken, rebalances, moves or lags. A choice lasts for a
    while, unless something else breaks.
    """

    def __init__(self) -> None:
        self._published: dict[str, tuple[int, int]] = {}  # how many, and when that changed
        self._topics: frozenset[str] = frozenset()
        self._groups: frozenset[str] = frozenset()
        self._broken: frozenset[tuple[str, str]] = frozenset()
        self._dimmed: frozenset[str] = frozenset()
        self._chosen_ns = 0

    def excerpt(self, snapshot: Snapshot, selected: str, dimmed: frozenset[str] = frozenset()) -> Excerpt:
        now_ns, gone = snapshot.time_ns, snapshot.nodes_gone
        kind, _, name = selected.partition(":")
        wanted = name.rpartition("/")[0] if kind == "lane" else name if kind == "topic" else ""
        lags: dict[str, list[int | None]] = {}
        busy: set[str] = set()
        for group in snapshot.groups:
            if group.state not in _CALM:
                busy.update(group.topics)
            for at in group.offsets:
                lags.setdefault(at.topic, []).append(at.lag)
        cells, moved_ns = {}, {}
        for topic in snapshot.topics:
            count, since_ns = self._published.get(topic.name, (topic.published, -_CALM_NS))
            moved_ns[topic.name] = since_ns if count == topic.published else now_ns
            words = [replication(part, topic.min_in_sync, gone) for part in topic.partitions]
            worst = min(words, key=_SEVERITY.__getitem__, default="")
            mark = 1 - _SEVERITY[worst] / len(WORST_FIRST)
            cells[topic.name] = RestCell(topic.name, total_lag(lags.get(topic.name, ())), worst, mark)
        self._published = {topic.name: (topic.published, moved_ns[topic.name]) for topic in snapshot.topics}

        def rank(topic: TopicView) -> tuple[object, ...]:
            _, lag, _, mark = cells[topic.name]
            moves = now_ns - moved_ns[topic.name] < _CALM_NS
            return (
                topic.name != wanted,
                f"topic:{topic.name}" in dimmed,
                -mark,
                topic.name not in busy,
                not moves,
                -(lag or 0),
            )

        broken = frozenset((name, cell.state) for name, cell in cells.items() if cell.state)
        same = (broken, dimmed) == (self._broken, self._dimmed)
        fresh = 0 <= now_ns - self._chosen_ns < _CALM_NS and same and cells.keys() >= self._topics
        if not self._topics or not fresh or (wanted in cells and wanted not in self._topics):
            first = sorted(snapshot.topics, key=rank)
            heights = {each.name: _TOPIC_H + _LANE_H * min(_LANES_MAX, len(each.partitions)) for each in first}
            self._topics, self._groups = _fitting(heights), frozenset()
            self._broken, self._dimmed, self._chosen_ns = broken, dimmed, now_ns
        drawn = self._topics

        def group_rank(group: GroupView) -> tuple[object, ...]:
            reads = not drawn.isdisjoint((*group.topics, *(at.topic for at in group.offsets if at.lag)))
            usual = (
                f"group:{group.name}" in dimmed,
                group.name not in self._groups,
                group.state in _CALM,
                -(group.lag or 0),
                not group.members,
            )
            return kind != "group" or group.name != name, not reads, *usual

        manned = sorted(snapshot.groups, key=group_rank)
        self._groups = _fitting({each.name: _GROUP_H + _MEMBER_H * len(each.members) for each in manned})
        topics = tuple(topic for topic in snapshot.topics if topic.name in drawn)
        groups = tuple(group for group in snapshot.groups if group.name in self._groups)
        left = tuple(cell for name, cell in cells.items() if name not in drawn)
        return _part(snapshot, left, topics=topics, groups=groups)


def _fitting(heights: Mapping[str, float]) -> frozenset[str]:
    """The names that fit into `_ROOM` by their heights, in their order; at least the first two."""
    ends = accumulate(heights.values())
    return frozenset(name for at, (name, end) in enumerate(zip(heights, ends, strict=True)) if at < 2 or end <= _ROOM)


class Excerpts:
    """Excerpts with at most `most` of a kind; with a map, topics of a cluster that do not fit are its cells."""

    def __init__(self, most: int, *, has_map: bool = False) -> None:
        self._most, self._has_map = most, has_map
        self._urgency = Urgency()
        self._last = (Snapshot(0, 0), "", frozenset[str](), Excerpt(Snapshot(0, 0)))

    def of(self, snapshot: Snapshot, selected: str, dimmed: frozenset[str] = frozenset()) -> Excerpt:
        """The excerpt of `snapshot`; in a cluster, what is `dimmed` comes last."""
        known, *asked, excerpt = self._last
        if snapshot is not known or [selected, dimmed] != asked:
            if self._has_map and snapshot.nodes and len(snapshot.topics) > MAPPED_FROM:
                excerpt = self._urgency.excerpt(snapshot, selected, dimmed)
            else:
                excerpt = thinned(snapshot, self._most, selected)
            self._last = (snapshot, selected, dimmed, excerpt)
        return excerpt


def _first(things: Sequence[T], most: int, first: Container[str]) -> tuple[T, ...]:
    # A stable sort: those that are wanted, then the others, each in the order in which they came.
    chosen = {thing.name for thing in sorted(things, key=lambda thing: thing.name not in first)[:most]}
    return tuple(thing for thing in things if thing.name in chosen)
