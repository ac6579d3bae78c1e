"""Committed offsets of groups, and where their members begin to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

import msgspec

from broker_core.broker.delivery_record import DeliveryRecord
from broker_core.broker.logs import Logs
from broker_core.broker.partition_owners import Reader
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.events import READ_OUTSIDE, SET_BY_TOOL, EventStream, reader_by_hand
from broker_core.groups import offset_reset
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.groups.offset_reset import Change, Target
from broker_core.groups.offsets import OffsetStore
from broker_core.guarded.deeds import Deed
from broker_core.guarded.offsets import OffsetsPlan, offsets_plan, why_stale
from broker_core.guarded.redrive import must_hold
from broker_core.messages import OffsetAndMetadata, TopicPartition
from broker_core.operations.groups import PartitionPlace

CommitsOf = tuple[tuple[str, int, OffsetAndMetadata], ...]  # group, partition, what it has committed


class Committer(NamedTuple):
    """The client that commits. `member_id` is "" if it is no member of the group, None if it has been checked already.

    `reader` is who has read what is committed, as in `Event.member`; "" if that is not known.
    """

    client: str
    member_id: str | None
    generation: int
    reader: str

    @classmethod
    def of(cls, client: str, member_id: str = "", generation: int = -1) -> Committer:
        """A committer that has read the messages itself; without `member_id`, it assigned its partitions itself."""
        return cls(client, member_id, generation, member_id or reader_by_hand(client))

    @classmethod
    def checked(cls, client: str, reader: str = "") -> Committer:
        return cls(client, None, -1, reader)


class GroupOffsets(msgspec.Struct, eq=False):
    """A commit acknowledges messages, which are counted, and makes room for producers."""

    _logs: Logs
    groups: GroupCoordinator
    _delivery_record: DeliveryRecord
    store: OffsetStore
    _events: EventStream
    _last_set: dict[str, OffsetsPlan] = {}

    def starting(
        self, now_ns: int, group: str, client: str, topic: str, partition: int, reset: Literal["earliest", "latest"]
    ) -> int:
        """Where a member begins to read an assigned partition: the committed offset, or as `reset` says."""
        log = self._logs.partition(topic, partition)
        offset = self.groups.committed(group, topic, partition)
        if offset is None:
            offset = log.start_offset if reset == "earliest" else log.end_offset
            self.groups.begin(now_ns, group, client, topic, partition, offset)
        self._delivery_record.assigned(group, topic, partition)
        self._delivery_record.begin(group, topic, partition, offset)
        return offset

    def commit(
        self,
        now_ns: int,
        group: str,
        committer: Committer,
        offsets: Mapping[TopicPartition, int | OffsetAndMetadata],
        *,
        backwards: bool = False,
        sets: bool = False,
    ) -> None:
        """Errors as in `GroupCoordinator.commit`. Who has read nothing `sets` the offsets: that is a reset."""
        client, member_id, generation, reader = committer
        reset = READ_OUTSIDE if not reader else SET_BY_TOOL if sets else ""
        changes = self.groups.commit(now_ns, group, member_id, generation, offsets, backwards=backwards, reset=reset)
        for topic, partition, old, new in changes:
            start = (self.groups.commits.start(group, topic, partition) or 0) if old is None else old
            self._delivery_record.committed(now_ns, Reader(group, client, reader), (topic, partition), start, new)
            self._logs.make_room_in(now_ns, topic)

    def places(self, named: Iterable[PartitionPlace]) -> list[TopicPartition]:
        """The partitions that are named, each once. Raises UNKNOWN_TOPIC_OR_PARTITION."""
        found: dict[TopicPartition, None] = {}
        for place in named:
            count = self._logs.partition_count(place.topic)
            numbers = range(count) if place.partition is None else (place.partition,)
            found |= {(place.topic, number): None for number in numbers}
        return list(found)

    def preview_reset(self, group: str, target: Target, partitions: Iterable[TopicPartition]) -> list[Change]:
        return offset_reset.preview(group, target, partitions, self._logs, self.groups.committed)

    def reset(self, now_ns: int, group: str, target: Target, partitions: Iterable[TopicPartition]) -> list[Change]:
        """Reset committed offsets. Raises GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP."""
        changes = self.preview_reset(group, target, partitions)
        cause = f"{group} was reset {offset_reset.sentence(target)}"
        self.groups.reset(now_ns, group, changes, cause)
        for topic in dict.fromkeys(change.topic for change in changes):
            self._logs.make_room_in(now_ns, topic)
        return changes

    # -- as planned

    def state(self, group: str) -> dict[TopicPartition, OffsetAndMetadata]:
        return dict(self.store.fetch_all(group))

    def plan(self, now_ns: int, group: str, target: Target | None, partitions: Iterable[TopicPartition]) -> OffsetsPlan:
        """Without a target the undo of the last reset that was planned. Raises GROUP_ID_NOT_FOUND, INVALID_REQUEST."""
        if target is None:
            about = f"no planned reset of {group} was done that could be undone"
            return must(self._last_set.get(group), ErrorCode.INVALID_REQUEST, about).undo(self._clients(now_ns, group))
        if group not in self.groups.groups():
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, group)
        state = self.state(group)
        wanted = {
            (each.topic, each.partition): each.to_offset for each in self.preview_reset(group, target, partitions)
        }

        def published_ns(place: TopicPartition, offset: int) -> int:
            found = self._logs.published_ns(*place, offset)
            return now_ns if found is None else found

        members = self._clients(now_ns, group)
        return offsets_plan("", group, offset_reset.sentence(target), state, wanted, members, self._id, published_ns)

    def set(self, now_ns: int, plan: OffsetsPlan, client: str) -> None:
        """Raises STALE_PLAN with what has changed, else as `reset`."""
        logs, group = self._logs, plan.group
        topics = {topic: self._id(topic) for topic in plan.topics if topic in logs}
        there = [each.place for each in plan.changes if each.partition < logs.partitions_there(each.topic)]
        bounds = {place: (logs.start_offset(*place), logs.end_offset(*place)) for place in there}
        must_hold(why_stale(plan, self.state(group), self._clients(now_ns, group), "", topics, bounds))
        values = {each.place: each.new for each in plan.changes if each.new is not None}
        if values:
            self.commit(now_ns, group, Committer.checked(client), values, backwards=True)
        if gone := [each.place for each in plan.changes if each.new is None]:
            self.groups.forget_offsets(now_ns, group, gone)
        self._last_set[group] = plan
        deed = Deed(at_ms=logs.epoch_ms + now_ns // NS_PER_MS, who=client, plan=plan, outcome="done")
        self._events.emit_action(now_ns, group=group, client=client, cause=deed.sentence, detail=deed.detail())
        for topic in plan.topics:
            self._logs.make_room_in(now_ns, topic)

    def _id(self, topic: str) -> str:
        return self._logs.topic(topic).id.hex()

    def _clients(self, now_ns: int, group: str) -> tuple[str, ...]:
        there = group in self.groups.groups()
        return tuple(each.client for each in self.groups.view(now_ns, group).members) if there else ()

    def committed_in(self, topic: str) -> CommitsOf:
        return tuple(
            (group, partition, value)
            for group in sorted(self.store.groups_of(topic))
            for (name, partition), value in sorted(self.store.fetch_all(group).items())
            if name == topic
        )

    def put_back(self, topic: str, committed: CommitsOf) -> None:
        """Commit again what `committed_in` returned before the topic was deleted."""
        for group, partition, value in committed:
            self.store.commit(group, topic, partition, value)
