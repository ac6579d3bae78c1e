from __future__ import annotations

from typing import NamedTuple

from spark_reports.findings.finding import Finding, Row, Rows

UNEVEN = 1.5  # a partition with this many times its fair share is worth a sentence
HOT = 1 / 3  # of a partition's messages with one key
MOST = 0.75  # of a group's lag on the partition of the key
KIND = "hot-key"


class HotKey(NamedTuple):
    """A key that fills `partition` of `topic`. `lags` are mean lags, `owners` are (group, client)."""

    topic: str
    partition: int
    key: str
    lags: dict[tuple[str, str, int], float]
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
            f"Split the hot key {self.key} of {self.topic} first: its partition has one reader in a group, which more "
            "partitions or members do not relieve."
        )
        return finding._replace(advice=advice or split, explained_by=KIND)


def hottest(partitions: Rows, keys: Rows) -> tuple[Row, Row | None] | None:
    """The partition that carried the most times its fair share, and its most frequent key where keys are known."""
    worst = max(partitions, key=lambda row: row["times_even"], default=None)
    if worst is None or worst["times_even"] < UNEVEN:
        return None
    place = (worst["topic"], worst["partition"])
    return worst, next((row for row in keys if (row["topic"], row["partition"]) == place), None)


def hot_key(partitions: Rows, keys: Rows, lag_series: Rows, ownership: Rows) -> HotKey | None:
    """The hot key; None if no partition is hot, or not because of one key."""
    found = hottest(partitions, keys)
    if found is None or found[1] is None or not is_hot(found[1]):
        return None
    place = (found[0]["topic"], found[0]["partition"])
    lags = {(row["group"], row["topic"], row["partition"]): row["mean_lag"] or 0.0 for row in lag_series}
    owners = frozenset((row["group"], row["client"]) for row in ownership if (row["topic"], row["partition"]) == place)
    return HotKey(*place, found[1]["key"], lags, owners)


def is_hot(key: Row) -> bool:
    """Whether a row of the hot keys is the reason why its partition is hot."""
    return bool(key["share_of_partition"] >= HOT)
