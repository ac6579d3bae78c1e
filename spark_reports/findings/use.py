from __future__ import annotations

from typing import Final

from spark_reports.findings.finding import Row, Rows
from spark_reports.scale import Scale

FULL: Final = 0.9  # of a stretch of time: no reserve in it
#: What would help a group or queue that falls behind.
MORE_READERS, PARTITIONS, SHARING, NOTHING = "more readers", "partitions", "sharing", ""


def share(row: Row) -> float:
    """The share of its time with something to read in which a row of `consumers` had a message in hand."""
    had_ns = row["with_partitions_ns"] or row["there_ns"]
    return min(1.0, row["utilisation"] * row["there_ns"] / min(had_ns, row["there_ns"])) if row["there_ns"] else 0.0


class Use:
    """Asked by group or queue, and time."""

    def __init__(
        self, consumers: Rows, over_time: Rows, ownership: Rows, redeliveries: Rows, scale: Scale, *, told: bool = True
    ) -> None:
        """`told` is False if the report has no consumers: nobody knows who read."""
        self.told = told
        self._consumers = consumers
        self._over_time = over_time
        self._ownership = ownership
        self._read = {(row["topic"], row["group"]) for row in redeliveries if row["delivered"]}
        self._scale = scale

    def readers(self, group: str) -> list[Row]:
        return [row for row in self._consumers if row["group"] == group and row["delivered"]]

    def knows(self, group: str) -> bool:
        """Whether the session runs its readers: of other programs fetches and commits alone are known."""
        return not any(row["outside"] for row in self.readers(group))

    def groups_of(self, topic: str) -> list[str]:
        return sorted(group for name, group in self._read if name == topic)

    def between(self, group: str, from_ns: int, to_ns: int) -> dict[str, float]:
        """How busy each reader that had something to read was in the buckets from one moment to another, by client."""
        owners = self._owners(group, from_ns, to_ns)
        found: dict[str, list[int]] = {}
        for row in self._over_time:
            if row["group"] == group and from_ns <= row["start_ns"] < to_ns and (not owners or row["client"] in owners):
                found.setdefault(row["client"], []).append(row["busy_ns"])
        return {client: sum(busy) / (len(busy) * self._scale.width_ns) for client, busy in found.items()}

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
        for row in self._ownership:
            if row["group"] == group and row["from_ns"] <= to_ns and row["to_ns"] >= from_ns:
                found.setdefault(row["client"], set()).add((row["topic"], row["partition"]))
        return found

    def helps(self, group: str, from_ns: int, to_ns: int) -> str:
        """What would have helped: more readers only where all of them were busy then."""
        shares = self.between(group, from_ns, to_ns).values()
        if not shares or max(shares) < FULL or not self.knows(group):
            return NOTHING
        if min(shares) < FULL:
            return SHARING
        return MORE_READERS if self.room_for_more(group, min(to_ns, self._scale.to_ns)) else PARTITIONS
