"""Derives events from the difference between two polls of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from broker_core.events import COMMITTED_BACKWARDS, FIRST_COMMIT, Event, EventKind
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
_NOT_SEEN_LOOKS: Final = 2
_SETTLED: Final = frozenset({GroupState.STABLE, GroupState.EMPTY, GroupState.DEAD})


class _Rebalance(NamedTuple):
    started_ns: int
    before: list[list[Any]]
    why: str = ""  # if that was told when it began


class ClusterDiff:
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
        self._failures: dict[str, bool] = {}  # whether an event of it was published
        self._unlisted: set[str] = set()  # groups missed once, at the last look at which all brokers answered
        self._looks_without_answer: dict[str, int] = {}  # in turn, by group
        self._last_ns = 0
        self.cluster = ClusterChanges()
        #: Set by who hears more of groups: why a member is gone, and its last sign of life; None if it does not know.
        self.silence: Callable[[str, MemberSeen], tuple[str, int] | None] = lambda _group, _member: None
        self.committed: dict[str, dict[TopicPartition, int]] = {}
        self._taken: dict[str, dict[TopicPartition, int]] = {}  # what was told last of it
        self.all_told = False  # whether one look has found the offsets of all groups

    @property
    def rebalancing(self) -> bool:
        """Whether a group was seen in a rebalance that has not ended."""
        return bool(self._running)

    @property
    def has_unlisted_groups(self) -> bool:
        """Whether a group was not listed at the last look: it is gone, or another broker becomes its coordinator."""
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
        out = [*self._failure_events(sweep, now_ns), *self._diff_topics(sweep, now_ns), *self._diff_ends(sweep, now_ns)]
        for name, seen in sweep.groups.items():
            out += self.group_events(name, seen, now_ns)
        for diff in (self._diff_committed, self._diff_not_seen, self._diff_gone):
            out += diff(sweep, now_ns)
        self._last_ns = now_ns
        out.sort(key=lambda event: event.time_ns)
        return out

    def _failure_events(self, sweep: Sweep, now_ns: int) -> Iterator[Event]:
        """One event for each API with new failures: denied requests at once, others when they fail twice."""
        published = {what for what, was_published in self._failures.items() if was_published and what in sweep.failures}
        fresh: dict[str, list[str]] = {}
        for what, sentence in sweep.failures.items():
            if what not in published and (what in self._failures or "is denied" in sentence):
                published.add(what)
                fresh.setdefault(what.partition(" ")[0], []).append(sentence)
        for sentences in fresh.values():
            more = f" So it is of {len(sentences) - 1:,} more." if len(sentences) > 1 else ""
            yield Event(0, now_ns, EventKind.GAP, cause=sentences[0] + more)
        self._failures = {what: what in published for what in sweep.failures}

    # -- topics

    def _diff_topics(self, sweep: Sweep, now_ns: int) -> Iterator[Event]:
        back = {place[0] for place, end in sweep.ends.items() if end < self.ends.get(place, 0)}
        for name in [name for name in self.topics if name not in sweep.topics]:
            if f"Metadata {name}" not in sweep.failures:
                yield self._forget(name, now_ns)
        for name, seen in sweep.topics.items():
            old = self.topics.get(name)
            if old is not None and _is_new(old, seen, name in back):
                yield self._forget(name, now_ns)
            yield from self.topic_events(name, seen, now_ns, compacted=sweep.compacted.get(name, False))

    def topic_events(self, name: str, seen: TopicSeen, now_ns: int, *, compacted: bool = False) -> Iterator[Event]:
        """Events of a topic that was seen, or that a client was told of."""
        old = self.topics.get(name)
        self.topics[name] = seen
        if old is None:
            detail = {"cleanup": "compact"} if compacted else None
            yield Event(0, now_ns, EventKind.TOPIC_CREATED, topic=name, count=seen.partitions, detail=detail)
        elif seen.partitions > old.partitions:
            yield Event(0, now_ns, EventKind.PARTITIONS_ADDED, topic=name, count=seen.partitions)
        for place in ((name, number) for number in range(0 if old is None else old.partitions, seen.partitions)):
            # A partition that was made since the first look began empty, then.
            if self._last_ns and place not in self.ends:
                self.ends[place] = self._starts[place] = 0
                self._arrivals.note_end(place, 0, self._last_ns)

    def _forget(self, name: str, now_ns: int) -> Event:
        del self.topics[name]
        self._taken.clear()
        for kept in (self.ends, self._starts, *self.committed.values()):
            for place in [place for place in kept if place[0] == name]:
                del kept[place]
                self._arrivals.forget(place)
        return Event(0, now_ns, EventKind.TOPIC_DELETED, topic=name)

    def _diff_ends(self, sweep: Sweep, now_ns: int) -> Iterator[Event]:
        for place, end in sweep.ends.items():
            old = self.ends.get(place)
            if end == old:
                self._arrivals.note_same_end(place, end, now_ns)
                continue
            since_ns = self._arrivals.note_end(place, end, now_ns)
            self.ends[place] = end
            if old is None or end > old:  # if its leader was away until now, how much was published is not known
                offset, count, since_ns = (end, 0, None) if old is None else (old, end - old, since_ns)
                yield _at(EventKind.PUBLISHED, now_ns, place, offset=offset, count=count, published_ns=since_ns)
        for place, start in sweep.starts.items():
            old_start = self._starts.get(place, 0)
            if start > old_start and place in self.ends:
                self._starts[place] = start
                cause = "retention, compaction or an administrator"
                kind, count = EventKind.RECORDS_DELETED, start - old_start
                yield _at(kind, now_ns, place, offset=old_start, count=count, cause=cause)

    # -- groups

    def group_events(
        self, name: str, seen: GroupSeen, now_ns: int, why: str = "", left: Mapping[str, str] | None = None
    ) -> Iterator[Event]:
        """Events of a group. If its requests and answers show what happens in it, `why` tells the cause, and `left` why
        members have left, by their ids; else the members show causes.
        """
        has_generation = seen.generation is not None
        old = self.groups.get(name, GroupSeen(GroupState.EMPTY, 0 if has_generation else None, "", ()))
        is_settled = seen.state in _SETTLED
        if not is_settled and not has_generation:  # while a classic group rebalances, nobody is told who has what
            seen = seen._replace(members=old.members, assignor=seen.assignor or old.assignor)
        passed = 0 if old.generation is None else (seen.generation or 0) - old.generation
        moved = seen.members != old.members
        causes = _causes(old.members, seen.members) if moved else "its subscription or assignor has changed"
        if name not in self._running and (moved or passed > 0 or not is_settled):
            started_ns = now_ns
            if is_settled and not why:
                started_ns = self._last_ns + 1
                causes = f"{SEEN_LATE}, {f'{passed} generations at once' if passed > 1 else 'at least one'}: {causes}"
            self._running[name] = _Rebalance(started_ns, _owned(old.members), why)
            cause = why or (causes if is_settled else f"seen in the state {seen.state}")
            detail: dict[str, Any] = {"before": _owned(old.members)}
            yield _of_group(EventKind.REBALANCE_STARTED, started_ns, name, old, cause=cause, detail=detail)
        if moved:
            yield from self._member_events(name, old, seen, now_ns, left or {})
        if (seen.state, seen.assignor) != (old.state, old.assignor) or name not in self.groups:
            detail = {"assignor": seen.assignor, "kind": seen.kind}
            yield _of_group(EventKind.GROUP_STATE, now_ns, name, seen, cause=str(seen.state), detail=detail)
        if is_settled and name in self._running:
            yield self._rebalance_completed(name, seen, now_ns, self._running[name].why or causes)
        self._update_owners(name, old, seen)
        self.groups[name] = seen

    def _rebalance_completed(self, name: str, seen: GroupSeen, now_ns: int, cause: str) -> Event:
        done = self._running.pop(name)
        detail = {"before": done.before, "after": _owned(seen.members), "started_ns": done.started_ns}
        return _of_group(EventKind.REBALANCE_COMPLETED, now_ns, name, seen, cause=cause, detail=detail)

    def _update_owners(self, name: str, old: GroupSeen, seen: GroupSeen) -> None:
        """Note which member had a partition at the last two looks: commits between them are attributed to it."""
        if seen.members != old.members or name not in self.groups:
            was = {place: member.member_id for member in old.members for place in member.partitions}
            self._owners[name] = {
                place: member
                for member in seen.members
                for place in member.partitions
                if was.get(place) == member.member_id
            }
        elif len(self._owners[name]) < sum(len(member.partitions) for member in seen.members):
            self._owners[name] = {place: member for member in seen.members for place in member.partitions}

    def _member_events(
        self, name: str, old: GroupSeen, seen: GroupSeen, now_ns: int, left: Mapping[str, str]
    ) -> Iterator[Event]:
        was = {member.member_id: member for member in old.members}
        there = {member.member_id for member in seen.members}
        back = {member.instance_id for member in seen.members if member.instance_id}
        static = {member.instance_id: member for member in old.members if member.instance_id}
        gone, revoked, assigned = EventKind.MEMBER_LEFT, EventKind.PARTITIONS_REVOKED, EventKind.PARTITIONS_ASSIGNED

        def moved(kind: EventKind, member: MemberSeen, places: set[TopicPartition]) -> Iterator[Event]:
            if places:
                detail = {"member_id": member.member_id, "partitions": [list(place) for place in sorted(places)]}
                yield _of_group(kind, now_ns, name, seen, client=member.client, detail=detail)

        for member in old.members:
            if member.member_id not in there and member.instance_id not in back:
                detail: dict[str, Any] = {"member_id": member.member_id, "instance_id": member.instance_id}
                why = left.get(member.member_id)
                if why is None and (silence := self.silence(name, member)) is not None:
                    why, detail["heard_ns"] = silence
                why = why or "no longer seen"
                yield _of_group(gone, now_ns, name, seen, client=member.client, cause=why, detail=detail)
                yield from moved(revoked, member, {*member.partitions})
        pairs = [(was.get(each.member_id) or static.get(each.instance_id), each) for each in seen.members]
        for before, member in pairs:
            if before is not None and before.member_id == member.member_id:
                yield from moved(revoked, member, set(before.partitions) - {*member.partitions})
        for before, member in pairs:
            if before is None or (before.member_id, before.topics) != (member.member_id, member.topics):
                joined = {
                    "member_id": member.member_id,
                    "instance_id": member.instance_id,
                    "topics": list(member.topics),
                    "replaces": "" if before is None else before.member_id,
                }
                yield _of_group(EventKind.MEMBER_JOINED, now_ns, name, seen, client=member.client, detail=joined)
                if before is not None and before.member_id != member.member_id:
                    yield from moved(revoked, member, set(before.partitions) - {*member.partitions})
        for before, member in pairs:
            yield from moved(assigned, member, {*member.partitions} - set(() if before is None else before.partitions))

    def _diff_committed(self, sweep: Sweep, now_ns: int) -> Iterator[Event]:
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
                    who = {} if owner is None else {"client": owner.client, "member": owner.member_id}
                    yield _at(EventKind.ACKNOWLEDGED, now_ns, place, offset=old, count=at - old, group=name, **who)
            for changes, cause in ((first, FIRST_COMMIT), (back, COMMITTED_BACKWARDS)):
                if changes:
                    kind, detail = EventKind.OFFSETS_RESET, {"changes": changes}
                    yield Event(0, now_ns, kind, group=name, count=len(changes), cause=cause, detail=detail)

    def _diff_not_seen(self, sweep: Sweep, now_ns: int) -> Iterator[Event]:
        """A group of which two looks in turn were told nothing is no longer seen, until one is."""
        for name, group in self.groups.items():
            if name in sweep.committed and name in sweep.groups:
                if self._looks_without_answer.pop(name, 0) >= _NOT_SEEN_LOOKS:
                    yield _of_group(EventKind.GROUP_STATE, now_ns, name, group, cause=str(group.state))
            elif name not in sweep.late and (name in sweep.listed or not sweep.all_groups):
                self._looks_without_answer[name] = looks = self._looks_without_answer.get(name, 0) + 1
                if looks == _NOT_SEEN_LOOKS:
                    yield _of_group(EventKind.GROUP_STATE, now_ns, name, group, cause=NOT_SEEN)

    def _diff_gone(self, sweep: Sweep, now_ns: int) -> Iterator[Event]:
        """A group is gone that nobody lists twice in turn: once is a group whose coordinator moves."""
        if not sweep.all_groups:
            return
        unlisted = {*self.groups, *self.committed} - sweep.listed.keys()
        gone, self._unlisted = unlisted & self._unlisted, unlisted - self._unlisted
        for name in sorted(gone):
            old = self.groups.pop(name, None)
            dead = GroupSeen(GroupState.DEAD, None if old is None else old.generation, "", ())
            if old is not None:
                yield from self._member_events(name, old, dead, now_ns, {})
            if name in self._running:
                yield self._rebalance_completed(name, dead, now_ns, "the group is gone")
            yield _of_group(EventKind.GROUP_STATE, now_ns, name, dead, cause=str(GroupState.DEAD))
            for kept in (self.committed, self._owners, self._looks_without_answer, self._taken):
                kept.pop(name, None)


def _at(kind: EventKind, now_ns: int, place: TopicPartition, **fields: Any) -> Event:
    return Event(0, now_ns, kind, topic=place[0], partition=place[1], **fields)


def _of_group(kind: EventKind, now_ns: int, name: str, seen: GroupSeen, **fields: Any) -> Event:
    return Event(0, now_ns, kind, group=name, generation=_generation(seen), **fields)


def _is_new(old: TopicSeen, seen: TopicSeen, went_back: bool) -> bool:
    """Whether a topic was deleted and made anew meanwhile; `went_back`: one of its ends did."""
    has_other_id = len({old.topic_id, seen.topic_id} - {None}) == 2
    return has_other_id or went_back or seen.partitions < old.partitions


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
