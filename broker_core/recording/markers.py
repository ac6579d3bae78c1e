"""Ends of transactions: markers take an offset of a partition but are not messages. Aborted messages are, but
read_committed readers do not get them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from broker_core.events import Event
from broker_core.messages import TopicPartition
from broker_core.snapshots import PartitionView, TopicView


def markers_of(event: Event) -> list[tuple[TopicPartition, int]]:
    """(partition, offset) of each marker that a `transaction_ended` tells of."""
    rows = event.told.get("markers", ())
    return [((str(topic), int(partition)), int(offset)) for topic, partition, offset in rows]


def aborted_by(event: Event) -> list[tuple[TopicPartition, int, int]]:
    """(partition, first offset, end offset) of the messages that a `transaction_ended` tells of as aborted."""
    rows = event.told.get("aborted", ())
    return [((str(topic), int(part)), int(first), int(first) + int(count)) for topic, part, first, count in rows]


class Markers:
    """The markers of the events so far, and how many the partitions of a keyframe had before them."""

    def __init__(self, keyframe: Iterable[TopicView] = ()) -> None:
        self._offsets: dict[TopicPartition, list[int]] = {}
        self._keyframe: dict[TopicPartition, PartitionView] = {
            (topic.name, part.partition): part for topic in keyframe for part in topic.partitions if part.markers
        }

    def older(self, place: TopicPartition, start: int) -> int:
        """How many markers of the keyframe lie behind `start`; all of them where it is in the midst of its messages."""
        part = self._keyframe.get(place)
        return part.markers if part is not None and start < part.end_offset else 0

    def add(self, event: Event) -> None:
        for place, offset in markers_of(event):
            self._offsets.setdefault(place, []).append(offset)

    def between(self, place: TopicPartition, offset: int, end_offset: int) -> int:
        known = self._offsets.get(place)
        return max(0, bisect_left(known, end_offset) - bisect_left(known, offset)) if known else 0
