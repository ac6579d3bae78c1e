"""Derives events from the difference between two polls of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from broker_core.events import Event, EventKind
from broker_core.groups.states import GroupState
from broker_core.messages import TopicPartition
from broker_core.observation.kafka.arrivals import Arrivals
from broker_core.observation.kafka.cluster_changes import ClusterChanges
from broker_core.observation.kafka.seen import GroupSeen, MemberSeen, TopicSeen
from broker_core.observation.kafka.sweep import Sweep
from broker_core.snapshots import (
    NOT_SEEN,
    SEEN_LATE,
    SHARE,
    GroupView,
    MemberView,
    OffsetView,
    PartitionView,
    RebalanceView,
    Snapshot,
    TopicView,
)

NOT_KNOWN: Final = -1  # the generation of a group of which no API tells it
_MISSED: Final = 2  # looks
FIRST_COMMIT: Final = "the first commit that was seen"  # of how many messages is not known
_SETTLED: Final = frozenset({GroupState.STABLE, GroupState.EMPTY, GroupState.DEAD})


class _Rebalance(NamedTuple):
    started_ns: int
    before: list[list[Any]]
    why: str = ""  # if that was told when it began


class Changes:
    """The cluster as it was seen last: `first` makes the keyframe of it, `events` tell of each later sweep.

    What a sweep has not found stays as it was.
    """

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self.topics: dict[str, TopicSeen] = {}
        self.ends: dict[TopicPartition, int] = {}
        self._starts: dict[TopicPartition, int] = {}
        self.groups: dict[str, GroupSeen] = {}  # with the members and assignments of the last settled state
        self._owners: dict[str, dict[TopicPartition, MemberSeen]] = {}  # who has had a partition at the last two looks
        self._running: dict[str, _Rebalance] = {}
        self._failures: dict[str, bool] = {}  # whether it was told
        self._unlisted: set[str] = set()  # groups missed once, at the last look at which all brokers answered
        self._missed: dict[str, int] = {}  # at how many looks in turn nothing was told of a group
        self._last_ns = 0
        self._now_ns = 0
        self._out: list[Event] = []
        self.cluster = ClusterChanges()
        self._left: Mapping[str, str] = {}  # why members have left, by their ids
        #: Where somebody hears more: why a member is gone, and its last sign of life.
        self.silence: Callable[[str, MemberSeen], tuple[str, int] | None] = lambda _group, _member: None
        self.committed: dict[str, dict[TopicPartition, int]] = {}
        self._taken: dict[str, dict[TopicPartition, int]] = {}  # what was told last of it
        self.all_told = False  # at one look at least, the offsets of all groups

    @property
    def rebalancing(self) -> bool:
        """Whether a group was seen to."""
        return bool(self._running)

    @property
    def misses(self) -> bool:
        """Whether nobody listed a group at the last look. Its coordinator may be about to have it: it takes time."""
        return bool(self._unlisted)

    def first(self, sweep: Sweep, ended_ns: int) -> Snapshot:
        """The state at time 0, though it was asked up to `ended_ns`. Nothing of it counts as published."""
        self._events(sweep, ended_ns)
        nodes = self.cluster.first(sweep)
        self._failures.clear()  # they are told with the next sweep, if they last
        topics = tuple(
            self.cluster.placed(
                TopicView(
                    name,
                    tuple(
                        PartitionView(number, self._starts.get((name, number), 0), self.ends.get((name, number), 0), 0)
                        for number in range(topic.partitions)
                    ),
                    0,
                    0,
                    None,
                    compacted=sweep.compacted.get(name, False),
                )
            )
            for name, topic in self.topics.items()
        )
        cause = "was running when the observation began"
        rebalances = tuple(
            RebalanceView(name, cause, 0, None, _generation(self.groups[name]), None, (), ()) for name in self._running
        )
        groups = tuple(map(self._view, sorted({*self.groups, *self.committed})))
        return Snapshot(0, 0, topics, groups, rebalances=rebalances, nodes=nodes)

    def _view(self, name: str) -> GroupView:
        seen = self.groups.get(name, GroupSeen(GroupState.EMPTY, None, "", ()))
        members = tuple(
            MemberView(each.client, each.member_id, each.instance_id, each.topics, each.partitions, 0, 0)
            for each in seen.members
        )
        ends = self.ends
        offsets = tuple(
            OffsetView(*place, "", None, at, ends.get(place, at), max(0, ends.get(place, at) - at), None)
            for place, at in sorted(self.committed.get(name, {}).items())
        )
        topics = tuple(sorted({topic for each in seen.members for topic in each.topics}))
        return GroupView(name, seen.state, _generation(seen), seen.assignor, "", topics, members, offsets, 0, seen.kind)

    def events(self, sweep: Sweep, now_ns: int) -> list[Event]:
        """Events since the last sweep, whose end offsets were requested at `now_ns`."""
        out = self._events(sweep, now_ns)
        for event in out:
            if event.kind is EventKind.TOPIC_DELETED:
                self.cluster.forget(event.topic)
        return out + self.cluster.events(sweep, now_ns)

    def _events(self, sweep: Sweep, now_ns: int) -> list[Event]:
        self._out, self._now_ns = [], now_ns
        self._tell_failures(sweep)
        self._take_topics(sweep)
        self._take_ends(sweep)
        for name, seen in sweep.groups.items():
            self._take_group(name, seen)
        self._take_committed(sweep)
        self._take_missed(sweep)
        self._take_gone(sweep)
        self._last_ns = now_ns
        self._out.sort(key=lambda event: event.time_ns)
        return self._out

    def told(
        self, name: str, seen: GroupSeen, now_ns: int, cause: str = "", left: Mapping[str, str] | None = None
    ) -> list[Event]:
        """Events of a group whose own requests tell of it, at the moment at which it happens.

        `left` is why members have left, by their ids.
        """
        self._out, self._now_ns, self._left = [], now_ns, left or {}
        self._take_group(name, seen, cause or "its members have joined and synchronized")
        self._left = {}
        return self._out

    def topic_told(self, name: str, seen: TopicSeen, now_ns: int) -> list[Event]:
        """Events of a topic that a client was told of."""
        self._out, self._now_ns = [], now_ns
        self._take_topic(name, seen, compacted=False)
        return self._out

    def _emit(self, kind: EventKind, time_ns: int | None = None, **fields: Any) -> None:
        self._out.append(Event(0, self._now_ns if time_ns is None else time_ns, kind, **fields))

    def _tell_failures(self, sweep: Sweep) -> None:
        """Each once, those of an API together: at once what was denied, else what has failed twice."""
        told = {what: True for what, was_told in self._failures.items() if was_told and what in sweep.failures}
        fresh: dict[str, list[str]] = {}
        for what, sentence in sweep.failures.items():
            if what not in told and (what in self._failures or "is denied" in sentence):
                told[what] = True
                fresh.setdefault(what.partition(" ")[0], []).append(sentence)
        for sentences in fresh.values():
            more = f" So it is of {len(sentences) - 1:,} more." if len(sentences) > 1 else ""
            self._emit(EventKind.GAP, cause=sentences[0] + more)
        self._failures = {what: what in told for what in sweep.failures}

    # -- topics

    def _take_topics(self, sweep: Sweep) -> None:
        back = {place[0] for place, end in sweep.ends.items() if end < self.ends.get(place, 0)}
        for name in [name for name in self.topics if name not in sweep.topics]:
            if f"Metadata {name}" not in sweep.failures:
                self._forget(name)
        for name, seen in sweep.topics.items():
            old = self.topics.get(name)
            if old is not None and _is_new(old, seen, name in back):
                self._forget(name)
            self._take_topic(name, seen, compacted=sweep.compacted.get(name, False))

    def _take_topic(self, name: str, seen: TopicSeen, *, compacted: bool) -> None:
        old = self.topics.get(name)
        self.topics[name] = seen
        if old is None:
            detail = {"cleanup": "compact"} if compacted else None
            self._emit(EventKind.TOPIC_CREATED, topic=name, count=seen.partitions, detail=detail)
        elif seen.partitions > old.partitions:
            self._emit(EventKind.PARTITIONS_ADDED, topic=name, count=seen.partitions)
        for place in ((name, number) for number in range(0 if old is None else old.partitions, seen.partitions)):
            # A partition that was made since the first look began empty, then.
            if self._last_ns and place not in self.ends:
                self.ends[place] = self._starts[place] = 0
                self._arrivals.seen(place, 0, self._last_ns)

    def _forget(self, name: str) -> None:
        del self.topics[name]
        self._taken.clear()
        self._emit(EventKind.TOPIC_DELETED, topic=name)
        for kept in (self.ends, self._starts, *self.committed.values()):
            for place in [place for place in kept if place[0] == name]:
                del kept[place]
                self._arrivals.forget(place)

    def _take_ends(self, sweep: Sweep) -> None:
        for place, end in sweep.ends.items():
            old = self.ends.get(place)
            if end == old:
                self._arrivals.still(place, end, self._now_ns)
                continue
            since_ns = self._arrivals.seen(place, end, self._now_ns)
            self.ends[place] = end
            if old is None:  # its leader was away until now: how much was published is not known
                self._published(place, end, 0, None)
            elif end > old:
                self._published(place, old, end - old, since_ns)
        for place, start in sweep.starts.items():
            old = self._starts.get(place, 0)
            if start > old and place in self.ends:
                self._starts[place] = start
                self._emit(
                    EventKind.RECORDS_DELETED,
                    topic=place[0],
                    partition=place[1],
                    offset=old,
                    count=start - old,
                    cause="retention, compaction or an administrator",
                )

    def _published(self, place: TopicPartition, offset: int, count: int, since_ns: int | None) -> None:
        self._emit(
            EventKind.PUBLISHED, topic=place[0], partition=place[1], offset=offset, count=count, published_ns=since_ns
        )

    # -- groups

    def _take_group(self, name: str, seen: GroupSeen, why: str = "") -> None:
        """`why` is said of what is told as it happens; otherwise it is inferred from the members."""
        told = seen.generation is not None
        old = self.groups.get(name, GroupSeen(GroupState.EMPTY, 0 if told else None, "", ()))
        is_settled = seen.state in _SETTLED
        if not is_settled and not told:  # while a classic group rebalances, nobody is told who has what
            seen = seen._replace(members=old.members, assignor=seen.assignor or old.assignor)
        passed = (seen.generation or 0) - (old.generation or 0)
        moved = seen.members != old.members
        causes = _causes(old.members, seen.members) if moved else "its subscription or assignor has changed"
        if name not in self._running and (moved or passed > 0 or not is_settled):
            before = _owned(old.members)
            started_ns = self._last_ns + 1 if is_settled and not why else self._now_ns
            if is_settled and not why:
                causes = f"{SEEN_LATE}, {f'{passed} generations at once' if passed > 1 else 'at least one'}: {causes}"
            cause = why or (causes if is_settled else f"seen in the state {seen.state}")
            self._running[name] = _Rebalance(started_ns, before, why)
            self._of_group(
                EventKind.REBALANCE_STARTED, name, old, time_ns=started_ns, cause=cause, detail={"before": before}
            )
        if moved:
            self._take_members(name, old, seen)
        if (seen.state, seen.assignor) != (old.state, old.assignor) or name not in self.groups:
            self._of_group(
                EventKind.GROUP_STATE,
                name,
                seen,
                cause=str(seen.state),
                detail={"assignor": seen.assignor, "kind": seen.kind},
            )
        if is_settled and name in self._running:
            done = self._running.pop(name)
            detail = {"before": done.before, "after": _owned(seen.members), "started_ns": done.started_ns}
            self._of_group(EventKind.REBALANCE_COMPLETED, name, seen, cause=done.why or causes, detail=detail)
        if moved or name not in self.groups:
            was = {place: member.member_id for member in old.members for place in member.partitions}
            self._owners[name] = {
                place: member
                for member in seen.members
                for place in member.partitions
                if was.get(place) == member.member_id
            }
        elif len(self._owners[name]) < sum(len(member.partitions) for member in seen.members):
            self._owners[name] = {place: member for member in seen.members for place in member.partitions}
        self.groups[name] = seen

    def _take_members(self, name: str, old: GroupSeen, seen: GroupSeen) -> None:
        was = {member.member_id: member for member in old.members}
        there = {member.member_id for member in seen.members}
        back = {member.instance_id for member in seen.members if member.instance_id}
        static = {member.instance_id: member for member in old.members if member.instance_id}
        for member in old.members:
            if member.member_id not in there and member.instance_id not in back:
                detail: dict[str, Any] = {"member_id": member.member_id, "instance_id": member.instance_id}
                why = self._left.get(member.member_id)
                if why is None and (silence := self.silence(name, member)) is not None:
                    why, detail["heard_ns"] = silence
                why = why or "no longer seen"
                self._of_group(EventKind.MEMBER_LEFT, name, seen, client=member.client, cause=why, detail=detail)
                self._moved(EventKind.PARTITIONS_REVOKED, name, seen, member, {*member.partitions})
        pairs = [(was.get(each.member_id) or static.get(each.instance_id), each) for each in seen.members]
        for before, member in pairs:
            if before is not None and before.member_id == member.member_id:
                self._moved(
                    EventKind.PARTITIONS_REVOKED, name, seen, member, set(before.partitions) - {*member.partitions}
                )
        for before, member in pairs:
            if before is None or (before.member_id, before.topics) != (member.member_id, member.topics):
                joined = {
                    "member_id": member.member_id,
                    "instance_id": member.instance_id,
                    "topics": list(member.topics),
                    "replaces": "" if before is None else before.member_id,
                }
                self._of_group(EventKind.MEMBER_JOINED, name, seen, client=member.client, detail=joined)
                if before is not None and before.member_id != member.member_id:
                    lost = set(before.partitions) - {*member.partitions}
                    self._moved(EventKind.PARTITIONS_REVOKED, name, seen, member, lost)
        for before, member in pairs:
            gained = {*member.partitions} - set(() if before is None else before.partitions)
            self._moved(EventKind.PARTITIONS_ASSIGNED, name, seen, member, gained)

    def _moved(
        self, kind: EventKind, name: str, seen: GroupSeen, member: MemberSeen, places: set[TopicPartition]
    ) -> None:
        if places:
            detail = {"member_id": member.member_id, "partitions": [list(place) for place in sorted(places)]}
            self._of_group(kind, name, seen, client=member.client, detail=detail)

    def _of_group(self, kind: EventKind, name: str, seen: GroupSeen, **fields: Any) -> None:
        self._emit(kind, group=name, generation=_generation(seen), **fields)

    def _take_committed(self, sweep: Sweep) -> None:
        wanted = {name for name, kind in sweep.listed.items() if kind != SHARE}
        self.all_told = self.all_told or (sweep.all_groups and wanted <= sweep.committed.keys())
        for name, found in sweep.committed.items():
            if self._taken.get(name) is found:  # not even read anew
                continue
            self._taken[name] = found
            known, owners = self.committed.setdefault(name, {}), self._owners.get(name, {})
            group = self.groups.get(name)
            only = group.members[0] if group is not None and group.kind == SHARE and len(group.members) == 1 else None
            first: list[list[Any]] = []
            back: list[list[Any]] = []
            for place, at in found.items():
                old = known.get(place)
                known[place] = at
                if old is None or at < old:
                    (first if old is None else back).append([*place, old, at])
                elif at > old:
                    owner = owners.get(place, only)
                    self._emit(
                        EventKind.ACKNOWLEDGED,
                        topic=place[0],
                        partition=place[1],
                        offset=old,
                        count=at - old,
                        group=name,
                        client="" if owner is None else owner.client,
                        member="" if owner is None else owner.member_id,
                    )
            for changes, cause in ((first, FIRST_COMMIT), (back, "committed backwards")):
                if changes:
                    detail = {"changes": changes}
                    self._emit(EventKind.OFFSETS_RESET, group=name, count=len(changes), cause=cause, detail=detail)

    def _take_missed(self, sweep: Sweep) -> None:
        """A group of which two looks in turn were told nothing is no longer seen, until one is."""
        for name, group in self.groups.items():
            if name in sweep.committed and name in sweep.groups:
                if self._missed.pop(name, 0) >= _MISSED:
                    self._of_group(EventKind.GROUP_STATE, name, group, cause=str(group.state))
            elif name not in sweep.late and (name in sweep.listed or not sweep.all_groups):
                self._missed[name] = missed = self._missed.get(name, 0) + 1
                if missed == _MISSED:
                    self._of_group(EventKind.GROUP_STATE, name, group, cause=NOT_SEEN)

    def _take_gone(self, sweep: Sweep) -> None:
        """A group is gone that nobody lists twice in turn: once is a group whose coordinator moves."""
        if not sweep.all_groups:
            return
        unlisted = {*self.groups, *self.committed} - sweep.listed.keys()
        gone, self._unlisted = unlisted & self._unlisted, unlisted - self._unlisted
        for name in sorted(gone):
            old = self.groups.pop(name, None)
            dead = GroupSeen(GroupState.DEAD, None if old is None else old.generation, "", ())
            if old is not None:
                self._take_members(name, old, dead)
            if done := self._running.pop(name, None):
                detail = {"before": done.before, "after": [], "started_ns": done.started_ns}
                self._of_group(EventKind.REBALANCE_COMPLETED, name, dead, cause="the group is gone", detail=detail)
            self._of_group(EventKind.GROUP_STATE, name, dead, cause=str(GroupState.DEAD))
            for kept in (self.committed, self._owners, self._missed, self._taken):
                kept.pop(name, None)


def _is_new(old: TopicSeen, seen: TopicSeen, went_back: bool) -> bool:
    """Whether a topic was deleted and made anew meanwhile; `went_back`: one of its ends did."""
    if old.topic_id is not None and seen.topic_id is not None and old.topic_id != seen.topic_id:
        return True
    return went_back or seen.partitions < old.partitions


def _generation(seen: GroupSeen) -> int:
    return NOT_KNOWN if seen.generation is None else seen.generation


def _owned(members: Iterable[MemberSeen]) -> list[list[Any]]:
    """Rows as a rebalance has them: topic, partition, client."""
    return sorted([*place, member.client] for member in members for place in member.partitions)


def _causes(old: Iterable[MemberSeen], new: Iterable[MemberSeen]) -> str:
    """Why a group has rebalanced, as far as its members before and after tell."""
    was, there = ({member.member_id: member for member in members} for members in (old, new))
    causes = [f"{member.client} joined" for each, member in there.items() if each not in was]
    causes += [f"{member.client} left" for each, member in was.items() if each not in there]
    more = [f"and {len(causes) - 5} more"] if len(causes) > 5 else []
    return "; ".join([*causes[:5], *more]) or "partitions moved"
