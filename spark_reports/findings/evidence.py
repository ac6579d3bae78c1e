from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spark_reports.findings.finding import Finding
from spark_reports.findings.settings import Settings
from spark_reports.rows import Row, Rows, Tables, grouped
from spark_reports.scale import Scale

FULL: Final = 0.9  # of a stretch of time: no reserve in it
#: What would help a group or queue that falls behind.
MORE_READERS, PARTITIONS, SHARING, NOTHING = "more readers", "partitions", "sharing", ""
UNEVEN = 1.5  # a partition with this many times its fair share is worth a sentence
HOT = 1 / 3  # of a partition's messages with one key
MOST = 0.75  # of a group's lag on the partition of the key
HOT_KEY = "hot-key"
_PLACE = ("group", "topic", "partition")
Series = NDArray[np.float64]
Place = tuple[str, str]  # queue and "", or group and topic


class Evidence:
    """The basis of findings: the rows of each table, none if it was not made, and evidence that several findings
    need."""

    def __init__(self, made: Tables, scale: Scale, settings: Settings, *, whole: bool) -> None:
        """`whole` is False for a part of a session."""
        self.rows = defaultdict[str, Rows](tuple, made)
        self.scale = scale
        self.settings = settings
        self.whole = whole
        self.has_consumers = "consumers" in made  # else nobody knows who read

    @cached_property
    def waiting(self) -> dict[Place, Series]:
        """Messages waiting in each queue, and each group's total lag on a topic, one number per bucket."""
        found: dict[Place, Series] = {}
        waits = [(row["queue"], "", row, row["waiting"]) for row in self.rows["queues"]]
        lags = [(row["group"], row["topic"], row, row["lag"]) for row in self.rows["lag"]]
        for name, topic, row, value in (*waits, *lags):
            series = found.setdefault((name, topic), np.zeros(self.scale.buckets))
            series[self.scale.bucket(row["start_ns"])] += value or 0
        return found

    @cached_property
    def hot(self) -> HotKey | None:
        """The hot key; None if no partition is hot, or not because of one key."""
        found = hottest(self.rows["partitions"], self.rows["hot_keys"])
        if found is None or found[1] is None or not is_hot(found[1]):
            return None
        topic, partition = found[0]["topic"], found[0]["partition"]
        lags = {place: rows[0]["mean_lag"] or 0.0 for place, rows in grouped(self.rows["lag_series"], *_PLACE).items()}
        owners = grouped(self.rows["ownership"], "topic", "partition").get((topic, partition), ())
        owned = frozenset((row["group"], row["client"]) for row in owners)
        return HotKey(topic, partition, found[1]["key"], lags, owned)

    def explained(self, finding: Finding, group: str, topic: str = "") -> Finding:
        """`finding`, with the remedy of the hot key if that explains the lag of `group`."""
        return self.hot.explain(finding) if self.hot and self.hot.explains(group, topic) else finding

    def readers(self, group: str) -> list[Row]:
        return [row for row in self.rows["consumers"] if row["group"] == group and row["delivered"]]

    def knows(self, group: str) -> bool:
        """Whether the session runs its readers: of other programs fetches and commits alone are known."""
        return not any(row["outside"] for row in self.readers(group))

    def groups_of(self, topic: str) -> list[str]:
        return sorted({row["group"] for row in self.rows["redeliveries"] if row["topic"] == topic and row["delivered"]})

    def between(self, group: str, from_ns: int, to_ns: int) -> dict[str, float]:
        """How busy each reader that had something to read was in the buckets from one moment to another, by client."""
        owners = self._owners(group, from_ns, to_ns)
        found: dict[str, list[int]] = {}
        for row in self.rows["consumers_over_time"]:
            if row["group"] == group and from_ns <= row["start_ns"] < to_ns and (not owners or row["client"] in owners):
                found.setdefault(row["client"], []).append(row["busy_ns"])
        return {client: sum(busy) / (len(busy) * self.scale.width_ns) for client, busy in found.items()}

    def no_reserve(self, group: str) -> bool:
        """Whether all readers were busy as long as they had something to read, as far as that is known."""
        mine = self.readers(group)
        return bool(mine) and self.knows(group) and min(map(share, mine)) >= FULL

    def room_for_more(self, group: str, at_ns: int) -> bool:
        """Whether another reader would be given something: no partition has two readers in a group."""
        owners = self._owners(group, at_ns, at_ns)
        return not owners or len(owners) < sum(map(len, owners.values()))

    def _owners(self, group: str, from_ns: int, to_ns: int) -> dict[str, set[tuple[str, int]]]:
        """The partitions that each client had at some time in between; none in what nobody assigns."""
        found: dict[str, set[tuple[str, int]]] = {}
        for row in self.rows["ownership"]:
            if row["group"] == group and row["from_ns"] <= to_ns and row["to_ns"] >= from_ns:
                found.setdefault(row["client"], set()).add((row["topic"], row["partition"]))
        return found

    def helps(self, group: str, from_ns: int, to_ns: int) -> str:
        """The advice: more readers only if all of them were busy at the time."""
        shares = self.between(group, from_ns, to_ns).values()
        if not shares or max(shares) < FULL or not self.knows(group):
            return NOTHING
        if min(shares) < FULL:
            return SHARING
        return MORE_READERS if self.room_for_more(group, min(to_ns, self.scale.to_ns)) else PARTITIONS


def share(row: Row) -> float:
    """The share of its time with something to read in which a row of `consumers` had a message in hand."""
    had_ns = row["with_partitions_ns"] or row["there_ns"]
    return min(1.0, row["utilisation"] * row["there_ns"] / min(had_ns, row["there_ns"])) if row["there_ns"] else 0.0


class HotKey(NamedTuple):
    """A key that fills `partition` of `topic`. `lags` are mean lags, `owners` are (group, client)."""

    topic: str
    partition: int
    key: str
    lags: dict[tuple[Any, ...], float]
    owners: frozenset[tuple[str, str]]

    def explains(self, group: str, topic: str = "") -> bool:
        """Whether the lag of `group`, on `topic` or on all that it reads, lies on the partition of the key."""
        lags = {place: lag for place, lag in self.lags.items() if place[0] == group and topic in ("", place[1])}
        there = lags.get((group, self.topic, self.partition), 0.0)
        return there > 0 and there >= MOST * sum(lags.values())

    def groups(self) -> tuple[list[str], list[str]]:
        """The groups whose lag it explains, and the others with a lag."""
        behind = sorted({group for (group, _topic, _partition), lag in self.lags.items() if lag > 0})
        explained = [group for group in behind if self.explains(group)]
        return explained, [group for group in behind if group not in explained]

    def explain(self, finding: Finding, advice: str = "") -> Finding:
        """`finding` with the remedy of the key instead of its own."""
        split = (
            f"Split the hot key {self.key} of {self.topic} first: its partition has one reader in a group, so more "
            "partitions or members do not help."
        )
        return finding._replace(advice=advice or split, explained_by=HOT_KEY)


def hottest(partitions: Rows, keys: Rows) -> tuple[Row, Row | None] | None:
    """The partition that carried the most times its fair share, and its most frequent key if keys are known."""
    worst = max(partitions, key=lambda row: row["times_even"], default=None)
    if worst is None or worst["times_even"] < UNEVEN:
        return None
    place = (worst["topic"], worst["partition"])
    return worst, next((row for row in keys if (row["topic"], row["partition"]) == place), None)


def is_hot(key: Row) -> bool:
    """Whether a row of the hot keys is the reason why its partition is hot."""
    return bool(key["share_of_partition"] >= HOT)
