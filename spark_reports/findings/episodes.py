"""When messages of a group or queue waited too long, and how a cause of that is told."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spark_reports import text
from spark_reports.findings.evidence import BucketValues, PartitionSeries, ReaderEvidence, TopicPartition, runs

LATE_S = 1.0  # or as long as `LATE_MESSAGES` take: what waits no longer is not late
LATE_MESSAGES = 20
FEWEST = 10  # messages that wait at once
SHOWN = 0.6  # of the growth, in the times when the cause is there


class Cause(NamedTuple):
    """`kind` leads to its remedy; `who` is the member, key or partition, "" for all. `headline` says what happened."""

    kind: str
    headline: str
    why: str = ""
    advice: str = ""
    who: str = ""


class Episode:
    """A stretch of time, buckets `begin` up to `end`, in which messages of a reader waited too long."""

    def __init__(self, reader: ReaderEvidence, begin: int, end: int) -> None:
        self.reader, self.begin, self.end = reader, begin, end
        self.scale = reader.evidence.scale
        waiting = reader.waiting
        self.area_s = float(waiting[begin:end].sum()) * reader.width_s
        self.highest = round(float(waiting[begin:end].max()))
        high = np.flatnonzero(waiting[begin:end] >= 0.9 * waiting[begin:end].max())
        self.peak = begin + int(high[-1])
        rises = np.maximum(np.diff(waiting, prepend=0.0), 0)
        self.rises: BucketValues = np.where(
            (np.arange(len(waiting)) >= begin - 1) & (np.arange(len(waiting)) <= self.peak), rises, 0
        )

    @property
    def from_ns(self) -> int:
        return self.scale.from_ns + self.begin * self.scale.width_ns

    @property
    def to_ns(self) -> int:
        return min(self.scale.from_ns + self.end * self.scale.width_ns, self.scale.to_ns)

    @property
    def peak_ns(self) -> int:
        return self.scale.from_ns + (self.peak + 1) * self.scale.width_ns

    @cached_property
    def growing(self) -> NDArray[np.bool_]:
        """The buckets until it was at its highest."""
        return self.reader.mask([(self.begin, self.peak + 1)])

    @cached_property
    def behind(self) -> dict[TopicPartition, float]:
        """How many messages waited on each partition until then, on average."""
        return {each: float(one.behind[self.begin : self.peak + 1].mean()) for each, one in self.reader.places.items()}

    def grew_in(self, at: NDArray[np.bool_]) -> float:
        """The share of the growth in these buckets, the ones beside them included."""
        wide = np.convolve(at, (1, 1, 1))[1:-1] > 0
        return float(self.rises[wide].sum()) / max(float(self.rises.sum()), 1e-9)

    @cached_property
    def delayed(self) -> float:
        """How many messages waited and were read, or still wait: what was deleted unread is not late but lost."""
        reader, at = self.reader, slice(self.begin, self.end)
        came = float(reader.came[at].sum())
        if not reader.is_work_known:
            return came
        done = sum(float(member.done[at].sum()) for member in reader.members.values())
        return min(came, done + float(reader.left[self.end - 1]))

    @property
    def delayed_s(self) -> float:
        """How long they waited in all, without what was deleted unread."""
        lost = self.reader.rows("deleted_unread")
        mine = (row["waiting_s"] or 0.0 for row in lost if self.from_ns <= (row["first_ns"] or 0) < self.to_ns)
        return max(0.0, self.area_s - sum(mine))

    @property
    def grows_at_end(self) -> bool:
        return self.end == len(self.reader.came) and self.peak >= self.end - 2

    @property
    def came_per_s(self) -> float:
        return self.per_s(self.reader.came)

    def per_s(self, messages: BucketValues) -> float:
        """How many a second until it was at its highest."""
        return float(messages[self.growing].sum()) / max(self.growing.sum() * self.reader.width_s, 1e-9)


def episodes(reader: ReaderEvidence) -> Iterator[Episode]:
    """When messages waited for longer than `LATE_S`, or than `LATE_MESSAGES` of them take."""
    usual_s = reader.usual_s
    # What was polled together waits for one another.
    held = float(np.quantile(reader.in_hand, 0.9)) / max(1, len(reader.members)) if reader.is_group else 0.0
    limit_s = max(LATE_S, LATE_MESSAGES * usual_s, 4 * held * usual_s)
    series = list(reader.places.values()) if reader.is_group else [PartitionSeries(reader.came, reader.waiting)]
    late = np.zeros(len(reader.came), dtype=bool)
    for one in series:
        late |= _delays_s(one.came, one.behind, reader.width_s) > limit_s
    late &= reader.waiting >= 1
    for begin, end in runs(late, join=3):
        found = Episode(reader, begin, end)
        if found.highest >= FEWEST and found.area_s >= FEWEST * limit_s:
            yield found


def _delays_s(came: BucketValues, left: BucketValues, width_s: float) -> BucketValues:
    """How long it took until all that waited at the end of each bucket was gone."""
    total = np.cumsum(came)
    out = np.maximum.accumulate(np.maximum(total - left, 0))
    times = np.arange(1, len(came) + 1) * width_s
    gone = np.interp(total - 0.5, out + np.arange(len(out)) * 1e-9, times)
    tail = max(1, len(out) // 5)
    per_s = (out[-1] - out[-tail - 1]) / (tail * width_s) if len(out) > tail else 0.0
    beyond = total - 0.5 > out[-1]
    gone = np.where(beyond, times[-1] + (total - out[-1]) / max(per_s, 1e-3), gone)
    return np.where(left < 2, 0.0, gone - times)


def ends(shares: Collection[float]) -> str:
    """40 % to 60 %."""
    return " to ".join(dict.fromkeys(text.share(pick(shares)) for pick in (min, max)))
