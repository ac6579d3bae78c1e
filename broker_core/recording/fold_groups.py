"""Groups, folded from events: members, owners, generations, committed offsets, rebalances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from broker_core.events import BEYOND_END, Event, EventKind
from broker_core.groups.commits import lag_behind
from broker_core.groups.history import REBALANCES_KEPT, RebalanceHistory
from broker_core.groups.states import GroupState
from broker_core.messages import TopicPartition
from broker_core.recording.fold_topics import Bounds, FoldedTopics
from broker_core.recording.markers import Markers
from broker_core.snapshots import NOT_SEEN, GroupView, MemberView, OffsetView, RebalanceView, Snapshot, TopicView

#: When the message at an offset was published; None if not known.
PublishedNs = Callable[[TopicPartition, int], int | None]


class _Reading(msgspec.Struct, eq=False):
    """How far a group has read one partition. Older markers are those before the keyframe."""

    committed: int | None = None
    start: int | None = None  # where it began to read what it has not committed yet
    position: int | None = None
    older: int | None = None  # how many older markers lie behind the committed offset
    #: What its owner was handed since it was assigned the partition: from which offset on, up to which, and how many of
    #: what it has not committed are older markers.
    held: tuple[int, int, int] | None = None
    oldest: tuple[int, int] = (-1, 0)  # when the message at the committed offset was published, behind that offset
    shown: OffsetView | None = None  # what was shown last where nothing lags; it holds while the end and the owner stay

    @property
    def begin(self) -> int | None:
        """The offset before which the group has finished with everything; None if it has not begun."""
        return self.start if self.committed is None else self.committed


class FoldedGroup:
    """One group while it is folded."""

    def __init__(self, view: GroupView, time_ns: int, topics: FoldedTopics, markers: Markers) -> None:
        self._view = view
        self.name = view.name
        self._logs = topics
        self._markers = markers  # those since the keyframe
        self._members = {member.member_id: member for member in view.members}
        self._read = frozenset(view.topics)  # of the generation of now
        self._readings: dict[TopicPartition, _Reading] = {}
        self._last: GroupView | None = None  # what was shown last where nothing lags
        self._read_then: list[tuple[str, TopicView | None]] = []
        for offset in view.offsets:
            place = (offset.topic, offset.partition)
            at = self._readings[place] = _Reading(offset.committed, offset.start, offset.position)
            if at.begin is not None:
                begin = max(at.begin, topics.part(*place).start_offset)
                if offset.lag is not None:
                    at.older = max(0, offset.end_offset - begin - offset.lag)
                if offset.lag_ns is not None and offset.lag:
                    at.oldest = (begin, time_ns - offset.lag_ns)
            first = offset.in_flight_from
            if first is not None and offset.position is not None:
                at.held = (first, offset.position, max(0, offset.position - first - offset.in_flight))

    def _at(self, place: TopicPartition) -> _Reading:
        found = self._readings.get(place)
        if found is None:
            found = self._readings[place] = _Reading()
        return found

    def _changed(self, place: TopicPartition) -> _Reading:
        self._last, found = None, self._at(place)
        found.shown = None
        return found

    def state(self, event: Event) -> None:
        self._last = None
        for at in self._readings.values():
            at.shown = None
        leader = str(event.told.get("leader", self._view.leader))
        # The event of a leave comes before the events of its effects.
        there = any(member.client == leader for member in self._members.values())
        if event.cause in (GroupState.COMPLETING, GroupState.RECONCILING, GroupState.EMPTY):
            self._read = self._wanted()
        self._view = msgspec.structs.replace(
            self._view,
            state=event.cause,
            state_since_ns=event.time_ns,
            assignor=str(event.told.get("assignor", self._view.assignor)),
            leader=leader if there else "",
            kind=str(event.told.get("kind", self._view.kind)),
        )

    def generation(self, event: Event) -> None:
        """Every event of a group names its generation."""
        if event.generation is not None and event.generation != self._view.generation:
            self._last = None
            self._view = msgspec.structs.replace(self._view, generation=event.generation)

    def joined(self, event: Event) -> None:
        self._last = None
        member_id, topics = event.member_id, tuple(event.told.get("topics", ()))
        old = self._members.pop(str(event.told.get("replaces") or ""), None)
        if old is None:
            self._members[member_id] = MemberView(
                client=event.client,
                member_id=member_id,
                instance_id=str(event.told.get("instance_id", "")),
                topics=topics,
                partitions=(),
                joined_ns=event.time_ns,
                last_heartbeat_ns=event.time_ns,
            )
        else:
            self._members[member_id] = msgspec.structs.replace(
                old, client=event.client, member_id=member_id, topics=topics, joined_ns=event.time_ns
            )
            for place in old.partitions:  # it is back with nothing in memory
                self._changed(place).held = None

    def left(self, event: Event) -> None:
        self._last = None
        gone = self._members.pop(event.member_id, None)
        if gone is not None and gone.client == self._view.leader:
            self._view = msgspec.structs.replace(self._view, leader="")

    def set_lost(self, member_id: str, lost_ns: int | None) -> None:
        """The connection of a member has ended; None: it is heard again."""
        if (member := self._members.get(member_id)) is not None:
            self._last = None
            self._members[member_id] = msgspec.structs.replace(member, lost_ns=lost_ns)

    def ownership(self, event: Event) -> None:
        member = self._members.get(event.member_id)
        if member is None:
            return
        places = {(topic, partition) for _group, topic, partition in event.partitions}
        taken = event.kind is EventKind.PARTITIONS_REVOKED
        owned = {*member.partitions} - places if taken else {*member.partitions} | places
        self._last = None
        self._members[member.member_id] = msgspec.structs.replace(member, partitions=tuple(sorted(owned)))
        for place in () if taken else places:
            at = self._changed(place)
            at.held = None
            if at.committed is not None:
                at.position = at.committed

    def began(self, event: Event) -> None:
        place, start = event.place, event.offsets.start
        at = self._changed(place)
        at.start = at.position = start
        at.older = self._markers.older(place, start)

    def delivered(self, event: Event) -> None:
        place, start, end = event.place, event.offsets.start, event.offsets.stop
        at = self._changed(place)
        at.position = end
        first, known_end, older = at.held or (start, start, 0)
        if start > known_end and self._older(place):
            older += start - known_end - self._markers.between(place, known_end, start)
        at.held = (first, max(known_end, end), older)

    def acknowledged(self, event: Event) -> None:
        place, end = event.place, event.offsets.stop
        at = self._changed(place)
        old = at.committed
        if old is None or end > old:
            at.committed = end
        if old is None:
            old = at.start or 0
            at.older = self._markers.older(place, old)
        if at.older:
            at.older = max(0, at.older - self._passed(event, old))
        first, known_end, older = at.held or (0, 0, 0)
        if older:
            at.held = (first, known_end, max(0, older - self._passed(event, max(old, first))))

    def committed_beyond(self, event: Event) -> None:
        """Beyond the end, where no message tells how far."""
        at = self._changed(event.place)
        if event.cause == BEYOND_END:
            at.committed = event.offsets.start

    def _passed(self, event: Event, start: int) -> int:
        """How many markers older than the keyframe a commit of `event` has passed from `start` on."""
        end = event.offsets.stop
        return max(0, end - start - event.count - self._markers.between(event.place, start, end))

    def _older(self, place: TopicPartition) -> int:
        at = self._at(place)
        return self._markers.older(place, at.start or 0) if at.older is None else at.older

    def begin(self, place: TopicPartition) -> int | None:
        return self._at(place).begin

    def markers_left(self, place: TopicPartition, end: int) -> int:
        return self._markers_from(place, self.first_left(place), end)

    def _markers_from(self, place: TopicPartition, begin: int | None, end: int) -> int:
        return 0 if begin is None else self._older(place) + self._markers.between(place, begin, end)

    def first_left(self, place: TopicPartition) -> int | None:
        """The first offset that the group has not committed, at least the log's start; None if it has not begun."""
        begin = self.begin(place)
        return None if begin is None else max(begin, self._logs.part(*place).start_offset)

    def deleted(self, event: Event, gone: int) -> None:
        """`gone` of the older markers behind the committed offset were deleted together with messages."""
        at = self._at(event.place)
        if at.begin is not None and at.begin <= event.offsets.start and at.older:
            self._changed(event.place).older = max(0, at.older - gone)

    def reset(self, event: Event) -> None:
        for topic, partition, _old, new in event.told.get("changes", ()):
            place = (str(topic), int(partition))
            at = self._changed(place)
            at.committed, at.older = int(new), self._markers.older(place, int(new))

    def forgotten(self, event: Event) -> None:
        for topic, partition in event.told.get("forgotten", ()):
            self._changed((str(topic), int(partition))).committed = None

    def forget(self, topic: str) -> None:
        self._last = None
        self._readings = {place: at for place, at in self._readings.items() if place[0] != topic}

    def reads(self, topic: str) -> bool:
        """False if it never read it, or reads it no longer."""
        if not any(place[0] == topic and at.begin is not None for place, at in self._readings.items()):
            return False
        return not (self._members and self._read and topic not in self._read)

    def lags(self) -> Iterator[tuple[TopicPartition, int | None, bool]]:
        """The lag of each partition that it reads, None if not known, and whether its members subscribe to it."""
        wanted = self._wanted()
        for place in self._places():
            end = self._logs.part(*place).end_offset
            lag, _ = lag_behind(0, end - self.markers_left(place, end), self.first_left(place), lambda _offset: None)
            yield place, None if self._view.state == NOT_SEEN else lag, place[0] in wanted

    def _places(self) -> Iterator[TopicPartition]:
        for topic in self._topics():
            for number in range(self._logs.partition_count(topic)):
                yield topic, number

    def _topics(self) -> list[str]:
        return sorted(self._wanted() | {topic for (topic, _), at in self._readings.items() if at.committed is not None})

    def _wanted(self) -> frozenset[str]:
        return frozenset(topic for member in self._members.values() for topic in member.topics)

    def view(self, time_ns: int, published_ns: PublishedNs) -> GroupView:
        """The group's view, to be taken after those of its topics."""
        if self._last is not None and all(self._logs.shown(name) is shown for name, shown in self._read_then):
            return self._last
        members = tuple(self._members.values())
        owners = {place: member.client for member in members for place in member.partitions}
        found = msgspec.structs.replace(
            self._view,
            topics=tuple(sorted(self._wanted())),
            members=members,
            offsets=tuple(
                self._offset_now(time_ns, place, owners.get(place, ""), published_ns) for place in self._places()
            ),
        )
        self._last = None if any(at.lag for at in found.offsets) else found
        self._read_then = [(name, self._logs.shown(name)) for name in self._topics()]
        return found

    def _offset_now(self, time_ns: int, place: TopicPartition, owner: str, published_ns: PublishedNs) -> OffsetView:
        at = self._at(place)
        shown = at.shown
        if shown is not None and shown.end_offset == self._logs.part(*place).end_offset and shown.owner == owner:
            return shown
        found = self._offset(time_ns, place, owner, published_ns)
        at.shown = None if found.lag else found
        return found

    def _offset(self, time_ns: int, place: TopicPartition, owner: str, published_ns: PublishedNs) -> OffsetView:
        end, at = self._logs.part(*place).end_offset, self._at(place)
        committed = at.committed
        left = self.first_left(place)
        published = partial(self._oldest_ns, place, published_ns)
        lag, lag_ns = lag_behind(time_ns, end - self._markers_from(place, left, end), left, published)
        if self._view.state == NOT_SEEN:
            lag = lag_ns = None
        start = at.start if committed is None else None
        position = None if not owner else at.start if at.position is None else at.position
        if at.held is None or not owner:
            return OffsetView(place[0], place[1], owner, position, committed, end, lag, lag_ns, start=start)
        first, held_end, older = max(committed or 0, at.held[0]), at.held[1], at.held[2]
        in_flight = max(0, held_end - first - older - self._markers.between(place, first, held_end))
        return OffsetView(place[0], place[1], owner, position, committed, end, lag, lag_ns, in_flight, first, start)

    def _oldest_ns(self, place: TopicPartition, published_ns: PublishedNs, begin: int) -> int | None:
        offset, known_ns = self._at(place).oldest
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
            EventKind.CONNECTION_ENDED: self._connection_ended,
            EventKind.GROUP_STATE: self._state,
            EventKind.PARTITIONS_REVOKED: lambda event: self.found(event).ownership(event),
            EventKind.PARTITIONS_ASSIGNED: lambda event: self.found(event).ownership(event),
            EventKind.READING_BEGAN: self._began,
            EventKind.COMMIT_BEYOND: lambda event: self.found(event).committed_beyond(event),
            EventKind.OFFSETS_RESET: lambda event: self.found(event).reset(event),
            EventKind.USER_ACTION: self._acted,
            EventKind.TRANSACTION_ENDED: self._markers.add,
            EventKind.RECORDS_DELETED: self._deleted,
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

    def _connection_ended(self, event: Event) -> None:
        if event.group:
            self.found(event).set_lost(event.member_id, event.time_ns)

    def _acted(self, event: Event) -> None:
        if event.group in self.by_name:
            self.by_name[event.group].forgotten(event)

    def _deleted(self, event: Event) -> None:
        recent = self._markers.between(event.place, event.offsets.start, event.offsets.stop)
        if gone := int(event.told.get("markers", 0)) - recent:
            for group in self.by_name.values():
                group.deleted(event, gone)

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
    """Messages that none of `groups` has finished with. Where none has begun: all of them, or 0 with `begun`."""
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
