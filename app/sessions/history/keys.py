"""Published keys and end offsets, by partition. Too slow for the window's thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import pyarrow.compute as pc

from app.sessions.history.past import Past
from broker_core.events import EventKind
from widgets.formats import plain_text

_MOVES = frozenset({EventKind.DEAD_LETTERED, EventKind.REDRIVEN})
KEYS_MOST = 200_000  # further ones are not looked for: a list of names beyond is no help


class KeyCounts(NamedTuple):
    """How many messages each key has in one partition, the most frequent first.

    `batches` holds (first offset, count) of what was published in batches, whose events name no key; `whole` is False
    where older events are not kept.
    """

    keys: tuple[tuple[bytes | None, int], ...]
    total: int
    batches: tuple[tuple[int, int], ...]
    whole: bool

    def with_read(self, read: Mapping[int, Counter[bytes | None] | None]) -> KeyCounts:
        """The counts with keys that were read from the log, by first offset of their batch; None if that is gone."""
        counts = Counter(dict(self.keys))
        for first, _count in self.batches:
            counts.update(read.get(first) or {})
        left = tuple(batch for batch in self.batches if read.get(batch[0]) is None)
        return self._replace(keys=tuple(counts.most_common()), batches=left)


class PlacedKey(NamedTuple):
    """A key, where it was published to, and how often; `folded` is the key as it is shown, for a search in any case."""

    topic: str
    partition: int
    key: bytes
    messages: int
    folded: str


class Published(NamedTuple):
    """All keys, the most frequent first, `KEYS_MOST` at most; and by (topic, partition) the offset after the last one.

    Dead letters and redriven messages are there by the places to which they were appended.
    """

    keys: tuple[PlacedKey, ...]
    ends: Mapping[tuple[str, int], int]


def partition_keys(past: Past, topic: str, partition: int, events: int) -> KeyCounts:
    """How many messages of each key a partition got in the first `events` events."""
    counts: Counter[bytes | None] = Counter()
    batches: list[tuple[int, int]] = []
    if past.recorded is not None:
        field = pc.field
        here = (field("topic") == topic) & (field("partition") == partition)
        wanted = _published() & here & (field("seq") < min(past.ring_from, events))
        rows = past.recorded.table(wanted, ("key", "offset", "count"))
        one = pc.equal(rows["count"], 1)
        for row in rows.filter(one).group_by("key").aggregate([([], "count_all")]).to_pylist():
            counts[row["key"]] += row["count_all"]
        many = rows.filter(pc.invert(one))
        batches += zip(many["offset"].to_pylist(), many["count"].to_pylist(), strict=True)
    for event in past.ring.between(0, events):
        if event.kind is not EventKind.PUBLISHED or event.partition != partition or event.topic != topic:
            continue
        if event.count == 1:
            counts[event.key] += 1
        else:
            batches.append((event.offset or 0, event.count))
    total = counts.total() + sum(count for _, count in batches)
    return KeyCounts(tuple(counts.most_common()), total, tuple(batches), past.whole)


def published(past: Past, events: int) -> Published:
    """What was published, by key, in the first `events` events."""
    keys: Counter[tuple[str, int, bytes]] = Counter()
    ends: dict[tuple[str, int], int] = {}
    if past.recorded is not None:
        before = pc.field("seq") < min(past.ring_from, events)
        rows = past.recorded.table(_published() & before, ("topic", "partition", "key", "offset", "count"))
        rows = rows.append_column("end", pc.add(rows["offset"], rows["count"]))
        named = rows.filter(pc.is_valid(rows["key"])).group_by(["topic", "partition", "key"])
        for row in named.aggregate([("count", "sum")]).to_pylist():
            keys[row["topic"], row["partition"], row["key"]] += row["count_sum"]
        for row in rows.group_by(["topic", "partition"]).aggregate([("end", "max")]).to_pylist():
            ends[row["topic"], row["partition"]] = row["end_max"]
        moved = pc.field("kind").isin(list(_MOVES)) & before
        moves = past.recorded.table(moved, ("to_topic", "to_partition", "to_offset"))
        for row in moves.group_by(["to_topic", "to_partition"]).aggregate([("to_offset", "max")]).to_pylist():
            _arrived(ends, row["to_topic"], row["to_partition"], row["to_offset_max"])
    for event in past.ring.between(0, events):
        if event.kind is EventKind.PUBLISHED and event.partition is not None and event.offset is not None:
            ends[event.topic, event.partition] = event.offset + event.count
            if event.key is not None:
                keys[event.topic, event.partition, event.key] += event.count
        elif event.kind in _MOVES:
            _arrived(ends, event.to_topic, event.to_partition, event.to_offset)
    found = (PlacedKey(*place, count, plain_text(place[2]).casefold()) for place, count in keys.most_common(KEYS_MOST))
    return Published(tuple(found), ends)


def _published() -> pc.Expression:
    return pc.field("kind") == EventKind.PUBLISHED.value


def _arrived(ends: dict[tuple[str, int], int], topic: str, partition: int | None, offset: int | None) -> None:
    if topic and partition is not None and offset is not None:
        ends[topic, partition] = max(offset + 1, ends.get((topic, partition), 0))
