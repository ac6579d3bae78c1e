"""Groups, folded from events: members, owners, generations, committed offsets, rebalances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from broker_core.events import Event, EventKind
from broker_core.groups.commits import lag_behind
from broker_core.groups.history import REBALANCES_KEPT, RebalanceHistory
from broker_core.groups.states import GroupState
from broker_core.messages import TopicPartition
from broker_core.recording.fold_topics import Bounds, FoldedTopics
from broker_core.recording.markers import Markers
from broker_core.snapshots import NOT_SEEN, GroupView, MemberView, OffsetView, RebalanceView, Snapshot

#: When the message at an offset was published; None if not known.
PublishedNs = Callable[[TopicPartition, int], int | None]


class _Member:
    __slots__ = ("owned", "view")

    def __init__(self, view: MemberView) -> None:
        self.view = view
        self.owned = set(view.partitions)


class FoldedGroup:
    """One group while it is folded."""

    def __init__(self, view: GroupView, time_ns: int, topics: FoldedTopics, markers: Markers) -> None:
        self._view = view
        self.name = view.name
        self._logs = topics
        self._markers = markers  # those since the keyframe
        self._older_markers: dict[TopicPartition, int] = {}  # how many of the keyframe lie behind the committed offset
        self._members = {member.member_id: _Member(member) for member in view.members}
        self._read = frozenset(view.topics)  # of the generation of now
        self._committed: dict[TopicPartition, int] = {}
        self._positions: dict[TopicPartition, int] = {}
        # Where it began to read what it has not committed yet.
        self._starts: dict[TopicPartition, int] = {}
        # What its owner was handed since it was assigned the partition: from which offset on, up to which, and how
        # many of what it has not committed are markers older than the keyframe.
        self._held: dict[TopicPartition, tuple[int, int, int]] = {}
        # When the message at the committed offset was published, and for which offset that holds.
        self._oldest: dict[TopicPartition, tuple[int, int]] = {}
        for offset in view.offsets:
            place = (offset.topic, offset.partition)
            if offset.committed is not None:
                self._committed[place] = offset.committed
            elif offset.start is not None:
                self._starts[place] = offset.start
            begin = self.begin(place)
            if begin is not None:
                if offset.lag is not None:
                    self._older_markers[place] = max(0, offset.end_offset - begin - offset.lag)
                if offset.lag_ns is not None and offset.lag:
                    self._oldest[place] = (begin, time_ns - offset.lag_ns)
            first = offset.in_flight_from
            if first is not None and offset.position is not None:
                self._held[place] = (first, offset.position, max(0, offset.position - first - offset.in_flight))
            if offset.position is not None:
                self._positions[place] = offset.position

    def state(self, event: Event) -> None:
        leader = str(event.told.get("leader", self._view.leader))
        # The event of a leave comes before the events of its effects.
        there = any(member.view.client == leader for member in self._members.values())
        if event.cause in (GroupState.COMPLETING, GroupState.RECONCILING, GroupState.EMPTY):
            self._read = self._wanted()
        self._view = msgspec.structs.replace(
            self._view,
            state=event.cause,
            state_since_ns=event.time_ns,
            assignor=str(event.told.get("assignor", self._view.assignor)),
            leader=leader if there else "",
        )

    def generation(self, event: Event) -> None:
        """Every event of a group names its generation."""
        if event.generation is not None and event.generation != self._view.generation:
            self._view = msgspec.structs.replace(self._view, generation=event.generation)

    def joined(self, event: Event) -> None:
        member_id, topics = event.member_id, tuple(event.told.get("topics", ()))
        old = self._members.pop(str(event.told.get("replaces") or ""), None)
        if old is None:
            view = MemberView(
                client=event.client,
                member_id=member_id,
                instance_id=str(event.told.get("instance_id", "")),
                topics=topics,
                partitions=(),
                joined_ns=event.time_ns,
                last_heartbeat_ns=event.time_ns,
            )
            self._members[member_id] = _Member(view)
        else:
            old.view = msgspec.structs.replace(
                old.view, client=event.client, member_id=member_id, topics=topics, joined_ns=event.time_ns
            )
            self._members[member_id] = old
            for place in old.owned:  # it is back with nothing in memory
                self._held.pop(place, None)

    def left(self, event: Event) -> None:
        gone = self._members.pop(event.member_id, None)
        if gone is not None and gone.view.client == self._view.leader:
            self._view = msgspec.structs.replace(self._view, leader="")

    def ownership(self, event: Event) -> None:
        member = self._members.get(event.member_id)
        if member is None:
            return
        places = {(topic, partition) for _group, topic, partition in event.partitions}
        if event.kind is EventKind.PARTITIONS_REVOKED:
            member.owned -= places
        else:
            member.owned |= places
            for place in places:
                self._held.pop(place, None)
                if place in self._committed:
                    self._positions[place] = self._committed[place]

    def began(self, event: Event) -> None:
        place, start = event.place, event.offsets.start
        self._starts[place] = self._positions[place] = start
        self._older_markers[place] = self._markers.older(place, start)

    def delivered(self, event: Event) -> None:
        place, start, end = event.place, event.offsets.start, event.offsets.stop
        self._positions[place] = end
        first, known_end, older = self._held.get(place, (start, start, 0))
        if start > known_end and self._older(place):
            older += start - known_end - self._markers.between(place, known_end, start)
        self._held[place] = (first, max(known_end, end), older)

    def acknowledged(self, event: Event) -> None:
        place, end = event.place, event.offsets.stop
        old = self._committed.get(place)
        if old is None or end > old:
            self._committed[place] = end
        if old is None:
            old = self._starts.get(place, 0)
            self._older_markers[place] = self._markers.older(place, old)
        if self._older_markers.get(place):
            self._older_markers[place] = max(0, self._older_markers[place] - self._passed(event, old))
        first, known_end, older = self._held.get(place, (0, 0, 0))
        if older:
            self._held[place] = (first, known_end, max(0, older - self._passed(event, max(old, first))))

    def _passed(self, event: Event, start: int) -> int:
        """How many markers older than the keyframe a commit of `event` has passed from `start` on."""
        end = event.offsets.stop
        return max(0, end - start - event.count - self._markers.between(event.place, start, end))

    def _older(self, place: TopicPartition) -> int:
        known = self._older_markers.get(place)
        return self._markers.older(place, self._starts.get(place, 0)) if known is None else known

    def begin(self, place: TopicPartition) -> int | None:
        """The offset before which it has finished with everything; None if it has not begun."""
        return self._committed.get(place, self._starts.get(place))

    def markers_left(self, place: TopicPartition, end: int) -> int:
        begin = self.begin(place)
        return 0 if begin is None else self._older(place) + self._markers.between(place, begin, end)

    def reset(self, event: Event) -> None:
        for topic, partition, _old, new in event.told.get("changes", ()):
            place = (str(topic), int(partition))
            self._committed[place] = int(new)
            self._older_markers[place] = self._markers.older(place, int(new))

    def forget(self, topic: str) -> None:
        for kept in (self._committed, self._positions, self._starts, self._held, self._oldest, self._older_markers):
            for place in [place for place in kept if place[0] == topic]:
                del kept[place]

    def reads(self, topic: str) -> bool:
        """False if it never read it, or reads it no longer."""
        if not any(place[0] == topic for place in (*self._committed, *self._starts)):
            return False
        return not (self._members and self._read and topic not in self._read)

    def lags(self) -> Iterator[tuple[TopicPartition, int | None, bool]]:
        """The lag of each partition that it reads, None if not known, and whether its members subscribe to it."""
        wanted = self._wanted()
        for place in self._places():
            end = self._logs.end_offset(*place)
            lag, _ = lag_behind(0, end - self.markers_left(place, end), self.begin(place), lambda _offset: None)
            yield place, None if self._view.state == NOT_SEEN else lag, place[0] in wanted

    def _places(self) -> Iterator[TopicPartition]:
        for topic in sorted(self._wanted() | {topic for topic, _ in self._committed}):
            for number in range(self._logs.partition_count(topic)):
                yield topic, number

    def _wanted(self) -> frozenset[str]:
        return frozenset(topic for member in self._members.values() for topic in member.view.topics)

    def view(self, time_ns: int, published_ns: PublishedNs) -> GroupView:
        members = tuple(
            msgspec.structs.replace(member.view, partitions=tuple(sorted(member.owned)))
            for member in self._members.values()
        )
        owners = {place: member.client for member in members for place in member.partitions}
        return msgspec.structs.replace(
            self._view,
            topics=tuple(sorted(self._wanted())),
            members=members,
            offsets=tuple(
                self._offset(time_ns, place, owners.get(place, ""), published_ns) for place in self._places()
            ),
        )

    def _offset(self, time_ns: int, place: TopicPartition, owner: str, published_ns: PublishedNs) -> OffsetView:
        end, committed = self._logs.end_offset(*place), self._committed.get(place)
        shown_end, begin = end - self.markers_left(place, end), self.begin(place)
        published = partial(self._oldest_ns, place, published_ns)
        lag, lag_ns = lag_behind(time_ns, shown_end, begin, published)
        if self._view.state == NOT_SEEN:
            lag = lag_ns = None
        start = begin if committed is None else None
        position = self._positions.get(place, self._starts.get(place)) if owner else None
        held = self._held.get(place) if owner else None
        if held is None:
            return OffsetView(place[0], place[1], owner, position, committed, end, lag, lag_ns, start=start)
        first, held_end, older = max(committed or 0, held[0]), held[1], held[2]
        in_flight = max(0, held_end - first - older - self._markers.between(place, first, held_end))
        return OffsetView(place[0], place[1], owner, position, committed, end, lag, lag_ns, in_flight, first, start)

    def _oldest_ns(self, place: TopicPartition, published_ns: PublishedNs, begin: int) -> int | None:
        offset, known_ns = self._oldest.get(place, (-1, 0))
        return known_ns if offset == begin else published_ns(place, begin)


class FoldedGroups:
    """All groups, and the cards of their rebalances."""

    def __init__(self, keyframe: Snapshot, topics: FoldedTopics) -> None:
        self._topics = topics
        self._markers = Markers(keyframe.topics)
        self._early: dict[str, list[Event]] = {}
        self.by_name = {view.name: self._folded(view, keyframe.time_ns) for view in keyframe.groups}
        self._history = RebalanceHistory(max(REBALANCES_KEPT, len(keyframe.rebalances)), keyframe.rebalances)
        self.handlers: dict[EventKind, Callable[[Event], object]] = {
            EventKind.MEMBER_JOINED: lambda event: self.found(event).joined(event),
            EventKind.MEMBER_LEFT: lambda event: self.found(event).left(event),
            EventKind.GROUP_STATE: self._state,
            EventKind.PARTITIONS_REVOKED: lambda event: self.found(event).ownership(event),
            EventKind.PARTITIONS_ASSIGNED: lambda event: self.found(event).ownership(event),
            EventKind.READING_BEGAN: self._began,
            EventKind.OFFSETS_RESET: lambda event: self.found(event).reset(event),
            EventKind.TRANSACTION_ENDED: self._markers.add,
            EventKind.REBALANCE_STARTED: self._started,
            EventKind.REBALANCE_COMPLETED: self._completed,
        }

    def _folded(self, view: GroupView, time_ns: int) -> FoldedGroup:
        return FoldedGroup(view, time_ns, self._topics, self._markers)

    def found(self, event: Event) -> FoldedGroup:
        """The group of an event, made if it is not there: one without members may acknowledge, too."""
        group = self.by_name.get(event.group) or self.create(event.group, event.time_ns)
        group.generation(event)
        return group

    def create(self, name: str, time_ns: int) -> FoldedGroup:
        if name not in self.by_name:
            view = GroupView(name, "Empty", 0, "", "", (), (), (), time_ns)
            self.by_name[name] = self._folded(view, time_ns)
            for event in self._early.pop(name, ()):
                self.by_name[name].began(event)
        return self.by_name[name]

    def _began(self, event: Event) -> None:
        group = self.by_name.get(event.group)
        if group is not None:
            group.began(event)
        else:  # a reader that assigned its partitions itself: its first commit makes the group
            self._early.setdefault(event.group, []).append(event)

    def _state(self, event: Event) -> None:
        self.found(event).state(event)
        if event.cause == "Dead":
            del self.by_name[event.group]

    def _started(self, event: Event) -> None:
        self.found(event)
        before = _owned(event.told.get("before", ()))
        self._history.start(event.group, event.cause, event.time_ns, event.generation or 0, before)

    def _completed(self, event: Event) -> None:
        self.found(event)
        after = _owned(event.told.get("after", ()))
        self._history.update(
            event.group, cause=event.cause, ended_ns=event.time_ns, generation_after=event.generation, after=after
        )

    def views(self, time_ns: int, published_ns: PublishedNs) -> tuple[GroupView, ...]:
        return tuple(group.view(time_ns, published_ns) for group in self.by_name.values())

    def rebalances(self) -> tuple[RebalanceView, ...]:
        return tuple(self._history.views)

    def deepest(self, topic: str, bounds: Sequence[Bounds]) -> tuple[int, str]:
        """The slowest reader of `topic`: its name and number of unfinished messages. `bounds` are start, end and
        markers by partition. Without readers, all that nobody has finished.
        """
        readers = [group for group in self.by_name.values() if group.reads(topic)]
        if readers:
            return max((_unfinished(topic, bounds, (group,), begun=True), group.name) for group in readers)
        return _unfinished(topic, bounds, tuple(self.by_name.values()), begun=False), ""


def _unfinished(topic: str, bounds: Sequence[Bounds], groups: Sequence[FoldedGroup], *, begun: bool) -> int:
    """As the broker counts: without a reader that has begun, all messages, or none where only `begun` readers count."""
    depth = 0
    for number, (first, end, markers) in enumerate(bounds):
        place = (topic, number)
        starts = [start for group in groups if (start := group.begin(place)) is not None]
        if starts or not begun:
            start = max((first, *starts))
            furthest = max(groups, key=lambda group: group.begin(place) or -1) if starts else None
            left = markers if start == first or furthest is None else furthest.markers_left(place, end)
            depth += max(0, end - start - left)
    return depth


def _owned(rows: Any) -> tuple[tuple[str, int, str], ...]:
    return tuple((str(topic), int(partition), str(client)) for topic, partition, client in rows)
