from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spark_reports.findings.scenario import ScenarioSettings
from spark_reports.rows import Row, Rows, Tables, grouped
from spark_reports.scale import Scale

FULL: Final = 0.9  # of a stretch of time: no reserve in it
SPARE: Final = 0.8  # of its time that a reader is to be busy
UNEVEN = 1.5  # a partition with this many times its fair share is worth a sentence
HOT = 1 / 3  # of a partition's messages with one key
MOST_LONGER = 60  # times as long as a message takes: who finishes nothing for so long stands still
BucketValues = NDArray[np.float64]  # one number a time bucket
TopicPartition = tuple[str, int]  # topic, partition


class Evidence:
    """The basis of findings: the rows of each table, none if it was not made, and what follows from several."""

    def __init__(self, made: Tables, scale: Scale, settings: ScenarioSettings, *, whole: bool) -> None:
        """`whole` is False for a part of a session."""
        self.rows = defaultdict[str, Rows](tuple, made)
        self.scale = scale
        self.settings = settings
        self.whole = whole

    @cached_property
    def readers(self) -> dict[str, ReaderEvidence]:
        """Each group, queue and subscription that somebody reads, by name."""
        lags = grouped(self.rows["lag"], "group")
        waits = grouped(self.rows["queues"], "queue")
        members = grouped(self.rows["consumers_over_time"], "group")
        return {
            name: ReaderEvidence(self, name, lags.get((name,), ()), waits.get((name,), ()), members.get((name,), ()))
            for (name,) in sorted({*lags, *waits})
        }

    def groups_of(self, topic: str) -> list[str]:
        return sorted({row["group"] for row in self.rows["redeliveries"] if row["topic"] == topic and row["delivered"]})

    def is_work_known(self, group: str) -> bool:
        """Whether the session runs its readers: of other programs fetches and commits alone are known."""
        return not any(row["outside"] for row in self.rows["consumers"] if row["group"] == group and row["delivered"])

    def has_no_reserve(self, group: str) -> bool:
        """Whether all who read were busy as long as they were there, as far as that is known."""
        return group in self.readers and self.readers[group].has_no_reserve

    def series(self, rows: Rows, value: str) -> BucketValues:
        found = np.zeros(self.scale.buckets)
        for row in rows:
            found[self.scale.bucket(row["start_ns"])] += row[value] or 0
        return found


class MemberSeries(NamedTuple):
    """How long a reader was there and busy in each bucket (ns), what it finished, and how long that took it (ns)."""

    there: BucketValues
    busy: BucketValues
    done: BucketValues
    worked: BucketValues
    held: BucketValues  # messages in hand

    def each_s(self, at: NDArray[np.bool_]) -> float:
        """How long a message took it on average in these buckets; nan if it finished none."""
        done = float(self.done[at].sum())
        return float(self.worked[at].sum()) / done / 1e9 if done else np.nan

    def share(self, at: NDArray[np.bool_]) -> float:
        """The share of the member's presence in these buckets in which it was busy, 0 to 1."""
        there = float(self.there[at].sum())
        return min(1.0, float(self.busy[at].sum()) / there) if there else 0.0


class PartitionSeries(NamedTuple):
    """The messages that came in each bucket, and those behind at its end: a group's of a partition, or a queue's."""

    came: BucketValues
    behind: BucketValues


class ReaderEvidence:
    """A group, queue or subscription over time: what came, what waited at the ends of buckets, and who worked on it."""

    def __init__(self, evidence: Evidence, name: str, lags: Rows, waits: Rows, members: Rows) -> None:
        self.evidence, self.name = evidence, name
        self.is_work_known = evidence.is_work_known(name)
        self.is_group = not waits  # the table of queues has queues and subscriptions, and no groups
        scale = evidence.scale
        self.width_s = scale.width_ns / 1e9
        self.all_buckets = np.ones(scale.buckets, dtype=bool)
        self.members: dict[str, MemberSeries] = {}
        for (client,), rows in grouped(members, "client").items():
            names = ("there_ns", "busy_ns", "done", "each_ns", "in_hand")
            there, busy, done, each, held = (evidence.series(rows, name) for name in names)
            self.members[client] = MemberSeries(there, busy, done, each * done, held)
        self.in_hand = evidence.series(members, "in_hand")
        self.places: dict[TopicPartition, PartitionSeries] = {}
        for (topic, partition), rows in grouped(lags, "topic", "partition").items():
            ends = np.maximum.accumulate(evidence.series(rows, "end_offset"))
            # What is behind at the end of the first bucket may have come long before: it is not counted as come.
            came = np.diff(ends, prepend=min(ends[0], rows[0]["lag"] or 0))
            self.places[topic, partition] = PartitionSeries(came, evidence.series(rows, "lag"))
        if self.is_group:
            self.topics = sorted({topic for topic, _ in self.places})
            self.came: BucketValues = sum((one.came for one in self.places.values()), np.zeros(scale.buckets))
            #: What waits or is in hand.
            self.left: BucketValues = sum((one.behind for one in self.places.values()), np.zeros(scale.buckets))
            self.waiting: BucketValues = np.maximum(self.left - self.in_hand, 0)
        else:
            self.topics = sorted({row["topic"] for row in self.rows("redeliveries")}) or [name]
            of_topics = [one for one in evidence.rows["throughput"] if one["dimension"] == "topic"]
            self.came = evidence.series([one for one in of_topics if one["name"] in self.topics], "messages")
            self.waiting = evidence.series(waits, "waiting")
            self.left = self.waiting + self.in_hand

    @cached_property
    def usual_s(self) -> float:
        """Seconds per message of the fastest member that handled more than a few messages; 0 if nobody did."""
        most = max((member.done.sum() for member in self.members.values()), default=0)
        each = [one.each_s(self.all_buckets) for one in self.members.values() if one.done.sum() >= most / 20 and most]
        return min(each, default=0.0)

    def rows(self, table: str, column: str = "group") -> list[Row]:
        """The rows of a table that are about this reader."""
        return [row for row in self.evidence.rows[table] if row[column] == self.name]

    def mask(self, stretches: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
        """Which buckets are in one of the stretches."""
        at = np.zeros(len(self.came), dtype=bool)
        for begin, end in stretches:
            at[begin:end] = True
        return at

    def owners(self, place: TopicPartition, from_ns: int, to_ns: int) -> set[str]:
        return {
            row["client"]
            for row in self.rows("ownership")
            if (row["topic"], row["partition"]) == place and row["from_ns"] < to_ns and row["to_ns"] > from_ns
        }

    def owned(self, client: str, from_ns: int, to_ns: int) -> list[TopicPartition]:
        """The partitions that the client had then; none of what nobody assigns."""
        return [place for place in self.places if client in self.owners(place, from_ns, to_ns)]

    def busy(self, at: NDArray[np.bool_]) -> dict[str, float]:
        """How busy each member that was there in these buckets was."""
        there = self.evidence.scale.width_ns * float(at.sum()) * 0.2
        return {name: one.share(at) for name, one in self.members.items() if one.there[at].sum() >= max(there, 1)}

    def shared(self, per_s: float, each_s: float, members: int) -> float:
        """How busy the busiest of so many members is, if they share what comes: some have one partition more."""
        most = -(-len(self.places) // members) / len(self.places) if self.is_group and self.places else 1 / members
        return per_s * each_s * most

    @property
    def has_no_reserve(self) -> bool:
        """Whether all who read were busy as long as they were there, as far as that is known."""
        busy = [one.share(self.all_buckets) for one in self.members.values() if one.done.sum()]
        return bool(busy) and self.is_work_known and min(busy) >= FULL


def absences(member: MemberSeries, reader: ReaderEvidence) -> Iterator[tuple[int, int]]:
    """The buckets, from one up to another, in which it was not there any more, or stood still with work in hand."""
    width_s, each_s = reader.width_s, member.each_s(reader.all_buckets)
    long_s = MOST_LONGER * (reader.usual_s if np.isnan(each_s) else each_s)
    seen = np.flatnonzero(member.there > 0)
    if not len(seen):
        return
    widths_ns = np.array(reader.evidence.scale.bucket_widths_ns)
    gone = member.there < 0.1 * widths_ns
    gone[: seen[0]] = False
    still = (member.done == 0) & (member.busy > 0.95 * widths_ns)
    for stretch in runs(still):
        # A member of a group commits what it polled together.
        held = max(1.0, float(member.held[slice(*stretch)].max())) if reader.is_group else 1.0
        if (stretch[1] - stretch[0]) * width_s > max(2.0, long_s * held):
            end = stretch[1]
            # Whose lease has run out stands still until it takes something again.
            while not reader.is_group and end < len(gone) and not member.done[end] and reader.waiting[end] >= 1:
                end += 1
            gone[stretch[0] : end] = True
    yield from runs(gone)


def runs(at: NDArray[np.bool_], join: int = 0) -> list[tuple[int, int]]:
    """The stretches in which it is true, each from its first index up to the one after its last; joined over gaps."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], at, [False])).astype(np.int8)))
    found: list[tuple[int, int]] = []
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if found and begin - found[-1][1] <= join:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found


def key_of(evidence: Evidence, place: TopicPartition) -> Row | None:
    """The key that makes a partition hot, if one does."""
    found = next((row for row in evidence.rows["hot_keys"] if (row["topic"], row["partition"]) == place), None)
    return found if found is not None and found["share_of_partition"] >= HOT else None
