"""Topics: partitions with the time of each message, and what was refused, dropped, held back on the way in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass
class Partition:
    """`published_ns[offset]` is when that message was published; None where no event says so."""

    start: int = 0
    published_ns: list[int | None] = field(default_factory=list)
    markers: set[int] = field(default_factory=set)  # where transactions end: no messages
    keys: Counter[bytes | None] = field(default_factory=Counter)
    unnamed: int = 0  # messages that came in batches, whose events name no key

    @property
    def end(self) -> int:
        return len(self.published_ns)

    def append(self, offset: int, count: int, time_ns: int) -> None:
        """Messages from `offset` on were published at `time_ns`."""
        while len(self.published_ns) < offset:
            self.published_ns.append(None)
        self.published_ns[offset : offset + count] = [time_ns] * count

    def mark(self, offset: int) -> None:
        """A transaction ends at `offset`."""
        self.append(offset, 0, 0)
        self.published_ns.append(None)
        self.markers.add(offset)

    def count(self, first: int, end: int) -> int:
        """Messages from `first` up to `end`."""
        return max(0, end - first) - sum(first <= offset < end for offset in self.markers)

    def message_at(self, offset: int) -> int:
        """The first message from `offset` on; the end without one."""
        while offset in self.markers:
            offset += 1
        return offset


@dataclass
class Topic:
    """A topic, the log of a queue, or a bin of dead letters."""

    name: str
    partitions: list[Partition] = field(default_factory=list)
    published: int = 0
    published_bytes: int = 0
    compacted: bool = False

    def at(self, number: int) -> Partition:
        """The partition of that number, which is there from now on."""
        while len(self.partitions) <= number:
            self.partitions.append(Partition())
        return self.partitions[number]


@dataclass
class Gate:
    """What a topic or queue has not taken. `blocked` holds since when each producer waits."""

    blocked: dict[str, int] = field(default_factory=dict)
    ended_ns: int = 0
    rejected: int = 0
    dropped: int = 0
    evicted: int = 0
    schema_refused: int = 0

    def blocked_ns(self, now_ns: int) -> int:
        """All waiting of all producers together, up to now."""
        return self.ended_ns + sum(now_ns - since for since in self.blocked.values())
