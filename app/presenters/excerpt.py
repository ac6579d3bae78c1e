from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from broker_core.snapshots import GroupView, QueueView, Snapshot, TopicView

DRAWN_MAX = 32  # of a kind, on the canvas; more would be dust
LISTED_MAX = 500  # of a kind, in the tables

T = TypeVar("T", TopicView, GroupView, QueueView)


class Excerpt(NamedTuple):
    """A snapshot with a part of its topics, groups and queues, and how many of each it leaves out."""

    snapshot: Snapshot
    topics: int = 0
    groups: int = 0
    queues: int = 0

    @property
    def is_whole(self) -> bool:
        return not (self.topics or self.groups or self.queues)


def thinned(snapshot: Snapshot, most: int, selected: str = "") -> Excerpt:
    """At most `most` of each kind: what is `selected`, and where clients work, before the rest; each in its place.

    `selected` is an id of the canvas. Topics that are the logs of queues are counted as queues.
    """
    kinds = (snapshot.topics, snapshot.groups, snapshot.queues)
    if all(len(things) <= most for things in kinds):
        return Excerpt(snapshot)
    kind, _, name = selected.partition(":")
    wanted = {name.rpartition("/")[0] if kind == "lane" else name}
    for actor in snapshot.actors:
        wanted.update((actor.target, *actor.topics))
    manned = [group for group in snapshot.groups if group.members]
    wanted.update(topic for group in manned for topic in group.topics)
    topics = _first(snapshot.topics, most, wanted)
    groups = _first(snapshot.groups, most, wanted | {group.name for group in manned})
    queues = _first(snapshot.queues, most, wanted)
    return Excerpt(
        msgspec.structs.replace(snapshot, topics=topics, groups=groups, queues=queues),
        len(snapshot.topics) - len(topics),
        len(snapshot.groups) - len(groups),
        len(snapshot.queues) - len(queues),
    )


class Excerpts:
    def __init__(self, most: int) -> None:
        self._most = most
        self._last = (Snapshot(0, 0), "", Excerpt(Snapshot(0, 0)))

    def of(self, snapshot: Snapshot, selected: str) -> Excerpt:
        known, chosen, excerpt = self._last
        if snapshot is not known or selected != chosen:
            excerpt = thinned(snapshot, self._most, selected)
            self._last = (snapshot, selected, excerpt)
        return excerpt


def _first(things: Sequence[T], most: int, wanted: Iterable[str]) -> tuple[T, ...]:
    if len(things) <= most:
        return tuple(things)
    first = frozenset(wanted)
    # A stable sort: those that are wanted, then the others, each in the order in which they came.
    chosen = {thing.name for thing in sorted(things, key=lambda thing: thing.name not in first)[:most]}
    return tuple(thing for thing in things if thing.name in chosen)
