"""Derives events from the difference between two polls of a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from broker_core.events import Event, EventKind
from broker_core.groups.states import GroupState
from broker_core.messages import TopicPartition
from broker_core.observation.kafka.arrivals import Arrivals
from broker_core.observation.kafka.sweep import GroupSeen, MemberSeen, Sweep, TopicSeen
from broker_core.snapshots import (
    NOT_SEEN,
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
SEEN_LATE: Final = "seen after it was over"
_SETTLED: Final = frozenset({GroupState.STABLE, GroupState.EMPTY, GroupState.DEAD})


class _Rebalance(NamedTuple):
    started_ns: int
    before: list[list[Any]]


class Changes:
    """The cluster as it was seen last: `first` makes the keyframe of it, `events` tell of each later sweep.

    What a sweep has not found stays as it was.
    """

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._topics: dict[str, TopicSeen] = {}
        self._ends: dict[TopicPartition, int] = {}
        self._starts: dict[TopicPartition, int] = {}
        self._groups: dict[str, GroupSeen] = {}  # with the members and assignments of the last settled state
        self._owners: dict[str, dict[TopicPartition, MemberSeen]] = {}  # who has had a partition at the last two looks
        self._running: dict[str, _Rebalance] = {}
        self._failures: dict[str, bool] = {}  # whether it was told
        self._missed: dict[str, int] = {}  # at how many looks in turn nothing was told of a group
        self._last_ns = 0
        self._now_ns = 0
        self._out: list[Event] = []
        self.committed: dict[str, dict[TopicPartition, int]] = {}

    @property
    def rebalancing(self) -> bool:
        """Whether a group was seen to."""
        return bool(self._running)

    @property
    def ends(self) -> dict[TopicPartition, int]:
        return self._ends

    def first(self, sweep: Sweep, ended_ns: int) -> Snapshot:
        """The state at time 0, though it was asked up to `ended_ns`. Nothing of it counts as published."""
        self.events(sweep, ended_ns)
        self._failures.clear()  # they are told with the next sweep, if they last
        topics = tuple(
            TopicView(
                name,
                tuple(
                    PartitionView(number, self._starts.get((name, number), 0), self._ends.get((name, number), 0), 0)
                    for number in range(topic.partitions)
                ),
                0,
                0,
                None,
                compacted=sweep.compacted.get(name, False),
            )
            for name, topic in self._topics.items()
        )
        cause = "was running when the observation began"
        rebalances = tuple(
            RebalanceView(name, cause, 0, None, _generation(self._groups[name]), None, (), ()) for name in self._running
        )
        groups = tuple(map(self._view, sorted({*self._groups, *self.committed})))
        return Snapshot(0, 0, topics, groups, rebalances=rebalances)

    def _view(self, name: str) -> GroupView:
        seen = self._groups.get(name, GroupSeen(GroupState.EMPTY, None, "", ()))
        members = tuple(
            MemberView(each.client, each.member_id, each.instance_id, each.topics, each.partitions, 0, 0)
            for each in seen.members
        )
        ends = self._ends
        offsets = tuple(
            OffsetView(*place, "", None, at, ends.get(place, at), max(0, ends.get(place, at) - at), None)
            for place, at in sorted(self.committed.get(name, {}).items())
        )
        topics = tuple(sorted({topic for each in seen.members for topic in each.topics}))
        return GroupView(name, seen.state, _generation(seen), seen.assignor, "", topics, members, offsets, 0)

    def events(self, sweep: Sweep, now_ns: int) -> list[Event]:
        """Events since the last sweep, whose end offsets were requested at `now_ns`."""
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
        for name in [name for name in self._topics if name not in sweep.topics]:
            if f"Metadata {name}" not in sweep.failures:
                self._forget(name)
        for name, seen in sweep.topics.items():
            old = self._topics.get(name)
            if old is not None and self._is_new(name, old, seen, sweep):
                self._forget(name)
                old = None
            self._topics[name] = seen
            if old is None:
                detail = {"cleanup": "compact"} if sweep.compacted.get(name) else None
                self._emit(EventKind.TOPIC_CREATED, topic=name, count=seen.partitions, detail=detail)
            elif seen.partitions > old.partitions:
                self._emit(EventKind.PARTITIONS_ADDED, topic=name, count=seen.partitions)
            for place in ((name, number) for number in range(0 if old is None else old.partitions, seen.partitions)):
                # A partition that was made since the first look began empty, then.
                if self._last_ns and place not in self._ends:
                    self._ends[place] = self._starts[place] = 0
                    self._arrivals.seen(place, 0, self._last_ns)

    def _is_new(self, name: str, old: TopicSeen, seen: TopicSeen, sweep: Sweep) -> bool:
        """Whether it was deleted and made anew meanwhile."""
        if old.topic_id is not None and seen.topic_id is not None and old.topic_id != seen.topic_id:
            return True
        places = [(name, number) for number in range(seen.partitions)]
        went_back = any(sweep.ends.get(place, 1 << 62) < self._ends.get(place, 0) for place in places)
        return went_back or seen.partitions < old.partitions

    def _forget(self, name: str) -> None:
        del self._topics[name]
        self._emit(EventKind.TOPIC_DELETED, topic=name)
        for kept in (self._ends, self._starts, *self.committed.values()):
            for place in [place for place in kept if place[0] == name]:
                del kept[place]
                self._arrivals.forget(place)

    def _take_ends(self, sweep: Sweep) -> None:
        for place, end in sweep.ends.items():
            old = self._ends.get(place)
            since_ns = self._arrivals.seen(place, end, self._now_ns)
            self._ends[place] = end
            if old is None:  # its leader was away until now: how much was published is not known
                self._published(place, end, 0, None)
            elif end > old:
                self._published(place, old, end - old, since_ns)
        for place, start in sweep.starts.items():
            old = self._starts.get(place, 0)
            if start > old and place in self._ends:
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
            EventKind.PUBLISHED,
            topic=place[0],
            partition=place[1],
            offset=offset,
            count=count,
            published_ns=since_ns,
        )

    # -- groups

    def _take_group(self, name: str, seen: GroupSeen) -> None:
        told = seen.generation is not None
        old = self._groups.get(name, GroupSeen(GroupState.EMPTY, 0 if told else None, "", ()))
        is_settled = seen.state in _SETTLED
        if not is_settled and not told:  # while a classic group rebalances, nobody is told who has what
            seen = seen._replace(members=old.members, assignor=seen.assignor or old.assignor)
        passed = (seen.generation or 0) - (old.generation or 0)
        moved = seen.members != old.members
        causes = _causes(old.members, seen.members) if moved else "its subscription or assignor has changed"
        if name not in self._running and (moved or passed > 0 or not is_settled):
            before = _owned(old.members)
            started_ns = self._last_ns + 1 if is_settled else self._now_ns
            if is_settled:
                causes = f"{SEEN_LATE}, {f'{passed} generations at once' if passed > 1 else 'at least one'}: {causes}"
            cause = causes if is_settled else f"seen in the state {seen.state}"
            self._running[name] = _Rebalance(started_ns, before)
            self._of_group(
                EventKind.REBALANCE_STARTED, name, old, time_ns=started_ns, cause=cause, detail={"before": before}
            )
        if moved:
            self._take_members(name, old, seen)
        if (seen.state, seen.assignor) != (old.state, old.assignor) or name not in self._groups:
            self._of_group(EventKind.GROUP_STATE, name, seen, cause=str(seen.state), detail={"assignor": seen.assignor})
        if is_settled and name in self._running:
            done = self._running.pop(name)
            detail = {"before": done.before, "after": _owned(seen.members), "started_ns": done.started_ns}
            self._of_group(EventKind.REBALANCE_COMPLETED, name, seen, cause=causes, detail=detail)
        if moved or name not in self._groups:
            was = {place: member.member_id for member in old.members for place in member.partitions}
            self._owners[name] = {
                place: member
                for member in seen.members
                for place in member.partitions
                if was.get(place) == member.member_id
            }
        elif len(self._owners[name]) < sum(len(member.partitions) for member in seen.members):
            self._owners[name] = {place: member for member in seen.members for place in member.partitions}
        self._groups[name] = seen

    def _take_members(self, name: str, old: GroupSeen, seen: GroupSeen) -> None:
        was = {member.member_id: member for member in old.members}
        there = {member.member_id for member in seen.members}
        back = {member.instance_id for member in seen.members if member.instance_id}
        static = {member.instance_id: member for member in old.members if member.instance_id}
        for member in old.members:
            if member.member_id not in there and member.instance_id not in back:
                detail = {"member_id": member.member_id, "instance_id": member.instance_id}
                self._of_group(
                    EventKind.MEMBER_LEFT, name, seen, client=member.client, cause="no longer seen", detail=detail
                )
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
        for name, found in sweep.committed.items():
            known, owners = self.committed.setdefault(name, {}), self._owners.get(name, {})
            first: list[list[Any]] = []
            back: list[list[Any]] = []
            for place, at in found.items():
                old = known.get(place)
                known[place] = at
                if old is None or at < old:
                    (first if old is None else back).append([*place, old, at])
                elif at > old:
                    owner = owners.get(place)
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
        for name, group in self._groups.items():
            if name in sweep.committed and name in sweep.groups:
                if self._missed.pop(name, 0) >= _MISSED:
                    self._of_group(EventKind.GROUP_STATE, name, group, cause=str(group.state))
            elif name in sweep.listed or not sweep.all_groups:
                self._missed[name] = missed = self._missed.get(name, 0) + 1
                if missed == _MISSED:
                    self._of_group(EventKind.GROUP_STATE, name, group, cause=NOT_SEEN)

    def _take_gone(self, sweep: Sweep) -> None:
        if not sweep.all_groups:
            return
        for name in sorted({*self._groups, *self.committed} - sweep.listed.keys()):
            old = self._groups.pop(name, None)
            dead = GroupSeen(GroupState.DEAD, None if old is None else old.generation, "", ())
            if old is not None:
                self._take_members(name, old, dead)
            self._of_group(EventKind.GROUP_STATE, name, dead, cause=str(GroupState.DEAD))
            for kept in (self._running, self.committed, self._owners, self._missed):
                kept.pop(name, None)


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
