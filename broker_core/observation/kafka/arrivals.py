"""When messages arrived, from the ends that were seen and from offsets that were asked for by time."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import Final

from broker_core.messages import TopicPartition
from broker_core.recording.publish_times import spread

_RESOLUTION_NS: Final = 1_000_000  # of times in records
_MOST_POINTS: Final = 500  # of a partition; beyond, every second one of the older half is forgotten


class _Partition:
    """Points by offset: what lies before it arrived by `before_ns`, the rest from `after_ns` on."""

    __slots__ = ("after_ns", "before_ns", "first_end", "offsets")

    def __init__(self, first_end: int) -> None:
        self.first_end = first_end
        self.offsets, self.before_ns, self.after_ns = array("q"), array("q"), array("q")

    def add(self, offset: int, before_ns: int, after_ns: int) -> None:
        at = bisect_right(self.offsets, offset)
        if at and self.offsets[at - 1] == offset:
            self.before_ns[at - 1] = min(before_ns, self.before_ns[at - 1])
            self.after_ns[at - 1] = max(after_ns, self.after_ns[at - 1])
            return
        self.offsets.insert(at, offset)
        self.before_ns.insert(at, before_ns)
        self.after_ns.insert(at, after_ns)
        if len(self.offsets) > _MOST_POINTS:
            for numbers in (self.offsets, self.before_ns, self.after_ns):
                del numbers[1 : _MOST_POINTS // 2 : 2]

    def forget_before(self, offset: int) -> None:
        at = bisect_right(self.offsets, offset) - 1
        if at > 0:
            for numbers in (self.offsets, self.before_ns, self.after_ns):
                del numbers[:at]


class Arrivals:
    """Some offsets of each partition with the times between which they arrived; the rest is interpolated.

    Times are nanoseconds of the session; of what was published before it, negative.
    """

    def __init__(self) -> None:
        self._partitions: dict[TopicPartition, _Partition] = {}

    def note_end(self, place: TopicPartition, end: int, time_ns: int) -> int | None:
        """`end` is new. Returns the last time at which the end before it was seen; None at the first look."""
        part = self._partitions.get(place)
        if part is None:
            part = self._partitions[place] = _Partition(end)
        since_ns = part.after_ns[-1] if part.offsets else None
        part.add(end, time_ns, time_ns)
        return since_ns

    def note_same_end(self, place: TopicPartition, end: int, time_ns: int) -> None:
        """`end` is the end as before."""
        part = self._partitions.get(place)
        if part is not None and part.offsets and part.offsets[-1] == end:
            part.after_ns[-1] = time_ns
        else:
            self.note_end(place, end, time_ns)

    def note_offset_at(self, place: TopicPartition, asked_ns: int, offset: int, time_ns: int) -> None:
        """The first message of the time `asked_ns` or later is that at `offset`, of `time_ns`; -1: there is none.

        Of what came after the first look that is not taken: there the recording knows what has been seen, and no more.
        """
        part = self._partitions.get(place)
        if part is None:
            return
        if 0 <= offset < part.first_end:
            part.add(offset, asked_ns, time_ns)
            part.add(offset + 1, time_ns + _RESOLUTION_NS, time_ns)
        elif part.first_end in part.offsets:
            at = part.offsets.index(part.first_end)
            part.before_ns[at] = min(part.before_ns[at], asked_ns)

    def bracket(self, place: TopicPartition, offset: int) -> tuple[int | None, int | None]:
        """The earliest and the latest time at which the message at `offset` can have arrived; None if not known."""
        part = self._partitions.get(place)
        if part is None:
            return None, None
        at = bisect_right(part.offsets, offset)
        earliest = part.after_ns[at - 1] if at else None
        return earliest, part.before_ns[at] if at < len(part.offsets) else None

    def of(self, place: TopicPartition, offset: int) -> int | None:
        """When the message at `offset` arrived, as if all between two points had come evenly; None for unknown."""
        earliest, latest = self.bracket(place, offset)
        if earliest is None or latest is None:
            return None
        part = self._partitions[place]
        at = bisect_right(part.offsets, offset)
        first = part.offsets[at - 1]
        return spread(earliest, latest, offset - first, part.offsets[at] - first)

    def forget(self, place: TopicPartition, before: int | None = None) -> None:
        """Forget the arrivals of a partition before an offset; without one, all of them."""
        if before is None:
            self._partitions.pop(place, None)
        elif place in self._partitions:
            self._partitions[place].forget_before(before)
