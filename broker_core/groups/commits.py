"""Committed offsets of groups: checks of commits, resets, and the view of the lag."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.offset_reset import Change
from broker_core.groups.offsets import OffsetStore
from broker_core.limits import MAX_COMMIT_METADATA_BYTES
from broker_core.messages import OffsetAndMetadata, TopicPartition
from broker_core.snapshots import OffsetView

Advance = tuple[str, int, int | None, int]
#: (group, topic, partition, member id of the owner, committed offset) -> count and first offset of messages that were
#: delivered and are not committed.
CountHeld = Callable[[str, str, int, str, int | None], tuple[int, int | None]]


class Reads(msgspec.Struct, eq=False, kw_only=True):
    """What groups ask of the logs, and of those who read them.

    `end_offset`, `start_offset` and `markers_between` may raise UNKNOWN_TOPIC_OR_PARTITION; `partitions_of(topic)` is 0
    then. `position` of the owner, `held` and `published_ns` serve views only, and None is unknown. A new generation,
    of which `on_new_generation(now_ns)` is told, may read fewer topics than the last.
    """

    end_offset: Callable[[str, int], int]
    partitions_of: Callable[[str], int]
    topic_names: Callable[[], Iterable[str]]
    start_offset: Callable[[str, int], int] = lambda topic, partition: 0
    markers_between: Callable[[str, int, int, int], int] = lambda topic, partition, offset, end_offset: 0
    position: Callable[[str, str, int], int | None] = lambda group, topic, partition: None
    held: CountHeld = lambda *_place: (0, None)
    published_ns: Callable[[str, int, int], int | None] = lambda topic, partition, offset: None
    on_new_generation: Callable[[int], object] = lambda now_ns: None


class Commits(msgspec.Struct, eq=False):
    """Checks and stores committed offsets. The coordinator checks whether the member may commit."""

    _offsets: OffsetStore
    _reads: Reads
    _starts: dict[tuple[str, str, int], int] = {}

    def advance(
        self, group: str, offsets: Mapping[TopicPartition, int | OffsetAndMetadata], *, backwards: bool = False
    ) -> list[Advance]:
        """Commit all of `offsets`, or none on an error. Returns (topic, partition, old or None, new) of each change.
        Offsets below the committed one are ignored and those beyond the end refused, unless `backwards`. Raises
        OFFSET_OUT_OF_RANGE, OFFSET_METADATA_TOO_LARGE.
        """
        advances: list[Advance] = []
        values: dict[TopicPartition, OffsetAndMetadata] = {}
        for (topic, partition), given in offsets.items():
            value = OffsetAndMetadata(given) if isinstance(given, int) else given
            self.check(topic, partition, value, beyond_end=backwards)
            old = self.committed(group, topic, partition)
            if old is None or value.offset > old or (backwards and value.offset < old):
                advances.append((topic, partition, old, value.offset))
                values[topic, partition] = value
            elif backwards and value != self._offsets.fetch(group, topic, partition):
                values[topic, partition] = value
        for (topic, partition), value in values.items():
            self._offsets.commit(group, topic, partition, value)
        return advances

    def reset(self, group: str, changes: Iterable[Change]) -> None:
        """Set all offsets, or none on an error. Raises OFFSET_OUT_OF_RANGE."""
        wanted = list(changes)
        for change in wanted:
            self.check(change.topic, change.partition, OffsetAndMetadata(change.to_offset))
        for change in wanted:
            self._offsets.commit(group, change.topic, change.partition, OffsetAndMetadata(change.to_offset))

    def committed(self, group: str, topic: str, partition: int) -> int | None:
        value = self._offsets.fetch(group, topic, partition)
        return None if value is None else value.offset

    def start(self, group: str, topic: str, partition: int) -> int | None:
        return self._starts.get((group, topic, partition))

    def note_start(self, group: str, topic: str, partition: int, offset: int) -> bool:
        """The group reads from `offset` on, having committed nothing. False if that is no news."""
        known = self._starts.get((group, topic, partition))
        self._starts[group, topic, partition] = offset
        return known != offset

    def forget(self, group: str = "", topic: str = "") -> None:
        """Forget where a deleted group, or whoever reads a deleted topic, began."""
        for key in [key for key in self._starts if group == key[0] or topic == key[1]]:
            del self._starts[key]

    def next_offset(self, group: str, topic: str, partition: int) -> int | None:
        """The committed offset, or else where the group began to read; None if neither is known."""
        committed = self.committed(group, topic, partition)
        return self.start(group, topic, partition) if committed is None else committed

    def lag(self, group: str, topic: str, partition: int) -> int | None:
        """Messages from the next offset of the group up to the end; None if that is not known."""
        end = self._reads.end_offset(topic, partition)
        return self._behind(0, group, topic, partition, end, lambda _offset: None)[0]

    def _behind(
        self, now_ns: int, group: str, topic: str, partition: int, end: int, published_ns: Callable[[int], int | None]
    ) -> tuple[int | None, int | None]:
        """`lag_behind`, where markers between the group and the end are no messages."""
        next_offset = self.next_offset(group, topic, partition)
        first_left = None if next_offset is None else max(next_offset, self._reads.start_offset(topic, partition))
        markers = 0 if first_left is None else self._reads.markers_between(topic, partition, first_left, end)
        return lag_behind(now_ns, end - markers, first_left, published_ns)

    def view(self, now_ns: int, group: str, topic: str, partition: int, owner: str, member: str) -> OffsetView:
        """The offsets of the group in one partition. `owner` is "" for none; `member` is its member id."""
        end, committed = self._reads.end_offset(topic, partition), self.committed(group, topic, partition)
        published_ns = partial(self._reads.published_ns, topic, partition)
        lag, lag_ns = self._behind(now_ns, group, topic, partition, end, published_ns)
        position = self._reads.position(group, topic, partition) if owner else None
        in_flight, first = self._reads.held(group, topic, partition, member, committed) if owner else (0, None)
        start = self.start(group, topic, partition) if committed is None else None
        return OffsetView(topic, partition, owner, position, committed, end, lag, lag_ns, in_flight, first, start)

    def check(self, topic: str, partition: int, value: OffsetAndMetadata, *, beyond_end: bool = False) -> None:
        """Raises OFFSET_OUT_OF_RANGE and OFFSET_METADATA_TOO_LARGE."""
        end = self._reads.end_offset(topic, partition)
        if value.offset < 0 or (value.offset > end and not beyond_end):
            about = f"{topic}-{partition} ends at {end}, {value.offset} cannot be committed"
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE, about)
        if len(value.metadata.encode()) > MAX_COMMIT_METADATA_BYTES:
            about = f"{topic}-{partition}: at most {MAX_COMMIT_METADATA_BYTES} bytes are allowed"
            raise BrokerError(ErrorCode.OFFSET_METADATA_TOO_LARGE, about)


def lag_behind(
    now_ns: int, end: int, first_left: int | None, published_ns: Callable[[int], int | None]
) -> tuple[int | None, int | None]:
    """Messages to the end from `first_left`, the first offset that a group has not committed, and the age of the first
    of them. None if not known; of a partition that never held a message it is 0.

    `end` is less by one for each marker in between, which is no message. `published_ns(offset)` is the time of a
    stored message.
    """
    if first_left is None:
        return (None, None) if end else (0, 0)
    lag = max(0, end - first_left)
    oldest_ns = published_ns(first_left) if lag else now_ns
    return lag, None if oldest_ns is None else max(0, now_ns - oldest_ns)
