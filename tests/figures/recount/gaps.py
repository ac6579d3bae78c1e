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
    number: int = 0  # of the event that took it
    came_back: bool = False  # its owner is a static member that was away, in no rebalance

    def lasted_ns(self, now_ns: int) -> int:
        """Up to now, where it is open."""
        return (now_ns if self.read_ns is None else self.read_ns) - self.start_ns


def gaps_of(rows: list[Row], group: str) -> list[Gap]:
    """`rows` are faults, and what was told of the group: members, partitions, deliveries, in order."""
    found: list[Gap] = []
    open_until: dict[Place, int] = {}
    owned: dict[Place, tuple[str, int]] = {}  # member id, and since when
    for at, row in enumerate(rows):
        member_id = row["detail"].get("member_id")
        if row["kind"] == "partitions_assigned":
            for place in places_of(row):
                if owned.get(place, ("", 0))[0] != member_id:
                    owned[place] = (member_id, row["time_ns"])
        elif row["kind"] == "partitions_revoked":
            for place in places_of(row):
                since_ns = owned.pop(place, ("", 0))[1]
                if at >= open_until.get(place, 0):
                    gap, until = _gap(rows, at, group, place, since_ns)
                    open_until[place] = until
                    found.append(gap)
        elif row["kind"] == "member_joined" and row["detail"].get("replaces"):
            mine = {place: since for place, (owner, since) in owned.items() if owner == row["detail"]["replaces"]}
            for place, since_ns in sorted(mine.items()):
                owned[place] = (member_id, row["time_ns"])
                cause, lost_ns = _lost(rows, at, row["detail"]["replaces"])
                read_ns = _read_ns(rows, at, place, set(mine))
                times = (max(lost_ns, since_ns), row["time_ns"], row["time_ns"], read_ns)
                found.append(Gap(group, place, cause, *times, number=row["seq"], came_back=True))
    return found


def places_of(row: Row) -> list[Place]:
    """Of an assignment or a revocation."""
    return [(topic, partition) for topic, partition in row["detail"]["partitions"]]


def _gap(rows: list[Row], at: int, group: str, place: Place, since_ns: int) -> tuple[Gap, int]:
    """The gap that the revocation at `at` opens, and the place of the assignment that ends it."""
    revoked = rows[at]
    cause, lost_ns = _lost(rows, at, revoked["detail"]["member_id"])
    lost_ns = max(lost_ns, since_ns)
    later = range(at + 1, len(rows))
    until = next((n for n in later if rows[n]["kind"] == "partitions_assigned" and place in places_of(rows[n])), None)
    taken = places_of(revoked)
    read_on_ns = tuple(
        row["time_ns"]
        for row in rows[at + 1 : until]
        if cause not in {"crash", "pause"}  # who stands still reads nothing of what it is handed
        and row["kind"] == "delivered"
        and row["member"] == revoked["detail"]["member_id"]
        and (row["topic"], row["partition"]) in taken
    )
    if until is None:
        times = (lost_ns, revoked["time_ns"], None, None)
        return Gap(group, place, cause, *times, read_on_ns, revoked["seq"]), len(rows)
    assigned = rows[until]
    gap = Gap(
        group,
        place,
        cause,
        max([lost_ns, *read_on_ns[-1:]]),
        revoked["time_ns"],
        assigned["time_ns"],
        _read_ns(rows, until, place, set(places_of(assigned))),
        read_on_ns,
        revoked["seq"],
    )
    return gap, until


def _lost(rows: list[Row], at: int, member_id: str) -> tuple[str, int]:
    """Why the owner that loses, or is replaced, at `at` could read no more, and since when."""
    revoked = rows[at]
    client = revoked["client"]
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
    told = at if revoked["kind"] == "member_joined" else left
    heard_ns = None if told is None else rows[told]["detail"].get("heard_ns")
    if heard_ns is not None:
        given = [row["time_ns"] for row in rows[:told] if row["kind"] == "delivered" and row["member"] == member_id]
        return "silence", max([heard_ns, *given[-1:]])
    return "", revoked["time_ns"]


def _read_ns(rows: list[Row], assigned_at: int, place: Place, given: set[Place]) -> int:
    """The first fetch of the new owner."""
    assigned = rows[assigned_at]
    member_id = assigned["detail"]["member_id"]
    for row in rows[assigned_at + 1 :]:
        if row["kind"] == "partitions_revoked" and place in places_of(row):
            break
        if row["kind"] == "member_joined" and row["detail"].get("replaces") == member_id:
            break
        is_its_own = row["kind"] == "delivered" and row["member"] == member_id
        if is_its_own and (row["topic"], row["partition"]) in given:
            waited = row["published_ns"] is not None and row["published_ns"] <= assigned["time_ns"]
            return row["time_ns"] if waited else assigned["time_ns"]
    return assigned["time_ns"]
