"""For how long nobody read a partition, by what FORMAT.md says: each gap looked for on its own in the events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Place = tuple[str, int]  # topic, partition


@dataclass(frozen=True)
class Gap:
    """Of one partition. `assigned_ns` and `read_ns` are None while it is open."""

    group: str
    place: Place
    cause: str
    start_ns: int
    revoked_ns: int
    assigned_ns: int | None
    read_ns: int | None
    read_on_ns: tuple[int, ...] = ()  # when its owner, not yet told, was given something

    def lasted_ns(self, now_ns: int) -> int:
        """Up to now, where it is open."""
        return (now_ns if self.read_ns is None else self.read_ns) - self.start_ns


def gaps_of(rows: list[Row], group: str) -> list[Gap]:
    """`rows` are faults, and what was told of the group: members, partitions, deliveries, in order."""
    found: list[Gap] = []
    open_until: dict[Place, int] = {}
    for at, row in enumerate(rows):
        if row["kind"] == "partitions_revoked":
            for place in places_of(row):
                if at >= open_until.get(place, 0):
                    gap, until = _gap(rows, at, group, place)
                    open_until[place] = until
                    found.append(gap)
    return found


def places_of(row: Row) -> list[Place]:
    """Of an assignment or a revocation."""
    return [(topic, partition) for topic, partition in row["detail"]["partitions"]]


def _gap(rows: list[Row], at: int, group: str, place: Place) -> tuple[Gap, int]:
    """The gap that the revocation at `at` opens, and the place of the assignment that ends it."""
    revoked = rows[at]
    cause, lost_ns = _lost(rows, at)
    given = [row["time_ns"] for row in rows[:at] if row["kind"] == "partitions_assigned" and place in places_of(row)]
    lost_ns = max([lost_ns, *given[-1:]])
    later = range(at + 1, len(rows))
    until = next((n for n in later if rows[n]["kind"] == "partitions_assigned" and place in places_of(rows[n])), None)
    taken = places_of(revoked)
    read_on_ns = tuple(
        row["time_ns"]
        for row in rows[at + 1 : until]
        if cause not in {"crash", "pause"}  # who stands still reads nothing of what it is handed
        and row["kind"] == "delivered"
        and row["client"] == revoked["client"]
        and (row["topic"], row["partition"]) in taken
    )
    if until is None:
        return Gap(group, place, cause, lost_ns, revoked["time_ns"], None, None, read_on_ns), len(rows)
    assigned = rows[until]
    gap = Gap(
        group,
        place,
        cause,
        max([lost_ns, *read_on_ns[-1:]]),
        revoked["time_ns"],
        assigned["time_ns"],
        _read_ns(rows, until, place),
        read_on_ns,
    )
    return gap, until


def _lost(rows: list[Row], at: int) -> tuple[str, int]:
    """Why the owner that loses at `at` could read no more, and since when."""
    revoked = rows[at]
    member_id, client = revoked["detail"]["member_id"], revoked["client"]
    mine = [n for n in range(at) if rows[n]["detail"].get("member_id") == member_id]
    joined = max(n for n in mine if rows[n]["kind"] == "member_joined")
    left = next((n for n in mine if n > joined and rows[n]["kind"] == "member_left"), None)
    stopped: Row | None = None
    for row in rows[joined : at if left is None else left]:
        if row["kind"] == "fault" and row["client"] == client:
            if row["detail"].get("fault") in {"crash", "pause"}:
                stopped = stopped or row
            elif row["detail"].get("ended") == "pause" and stopped and stopped["detail"]["fault"] == "pause":
                stopped = None
    if stopped is not None:
        return stopped["detail"]["fault"], stopped["time_ns"]
    heard_ns = None if left is None else rows[left]["detail"].get("heard_ns")
    if heard_ns is not None:
        given = [row["time_ns"] for row in rows[:left] if row["kind"] == "delivered" and row["client"] == client]
        return "silence", max([heard_ns, *given[-1:]])
    return "", revoked["time_ns"]


def _read_ns(rows: list[Row], assigned_at: int, place: Place) -> int:
    """The first fetch of the new owner."""
    assigned = rows[assigned_at]
    given = places_of(assigned)
    for row in rows[assigned_at + 1 :]:
        if row["kind"] == "partitions_revoked" and place in places_of(row):
            break
        is_its_own = row["kind"] == "delivered" and row["client"] == assigned["client"]
        if is_its_own and (row["topic"], row["partition"]) in given:
            waited = row["published_ns"] is not None and row["published_ns"] <= assigned["time_ns"]
            return row["time_ns"] if waited else assigned["time_ns"]
    return assigned["time_ns"]
