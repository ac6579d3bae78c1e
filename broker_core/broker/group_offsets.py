"""Committed offsets of groups, and where their members begin to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from broker_core.broker.fetches import Fetches
from broker_core.broker.logs import Logs
from broker_core.events import reader_by_hand
from broker_core.groups import offset_reset
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.groups.offset_reset import Change, Target
from broker_core.groups.offsets import OffsetAndMetadata, OffsetStore
from broker_core.messages import TopicPartition
from broker_core.operations.groups import PartitionPlace

Committed = tuple[tuple[str, int, OffsetAndMetadata], ...]  # group, partition, what it has committed


class GroupOffsets:
    """A commit acknowledges messages, which are counted, and makes room for producers."""

    def __init__(self, logs: Logs, groups: GroupCoordinator, fetches: Fetches, store: OffsetStore) -> None:
        self._logs = logs
        self.groups = groups
        self._fetches = fetches
        self.store = store

    def starting(
        self, now_ns: int, group: str, client: str, topic: str, partition: int, reset: Literal["earliest", "latest"]
    ) -> int:
        """Where a member begins to read an assigned partition: the committed offset, or as `reset` says."""
        log = self._logs.partition(topic, partition)
        offset = self.groups.committed(group, topic, partition)
        if offset is None:
            offset = log.start_offset if reset == "earliest" else log.end_offset
            self.groups.begin(now_ns, group, client, topic, partition, offset)
        self._fetches.assigned(group, topic, partition)
        self._fetches.begin(group, topic, partition, offset)
        return offset

    def commit(
        self,
        now_ns: int,
        group: str,
        client: str,
        member_id: str | None,
        generation: int,
        offsets: Mapping[TopicPartition, int | OffsetAndMetadata],
        *,
        backwards: bool = False,
        reader: str | None = None,
    ) -> None:
        """Commit for a member, or, with None, for who was checked before; errors as in `GroupCoordinator.commit`.

        `reader` is who has read, as in `Event.member`: "" if that is not known, None for the member, or for `client` if
        it is none.
        """
        if reader is None:
            reader = member_id or reader_by_hand(client)
        changes = self.groups.commit(
            now_ns, group, member_id, generation, offsets, backwards=backwards, outside=not reader
        )
        for topic, partition, old, new in changes:
            start = (self.groups.commits.start(group, topic, partition) or 0) if old is None else old
            self._fetches.committed(now_ns, group, client, reader, topic, partition, start, new)
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

    def committed_in(self, topic: str) -> Committed:
        return tuple(
            (group, partition, value)
            for group in sorted(self.store.groups_of(topic))
            for (name, partition), value in sorted(self.store.fetch_all(group).items())
            if name == topic
        )

    def put_back(self, topic: str, committed: Committed) -> None:
        """Commit again what `committed_in` returned before the topic was deleted."""
        for group, partition, value in committed:
            self.store.commit(group, topic, partition, value)
