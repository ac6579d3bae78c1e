"""What became of each message that was redriven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
_FATES = frozenset(
    {"delivered", "acknowledged", "nacked", "released", "lease_expired", "dead_lettered", "purged", "evicted"}
    | {"expired"}
)


@dataclass
class Redriven:
    """`row` is its redrive, `fate` the last that happened to it since."""

    row: Row
    fate: Row | None = None
    deliveries: int = 0


class Redrives:
    """All of them, in order."""

    def __init__(self) -> None:
        self.all: list[Redriven] = []
        self._at: dict[tuple[str, int, int], Redriven] = {}

    def add(self, row: Row) -> None:
        """One more event."""
        if row["kind"] == "redriven":
            one = Redriven(row)
            self.all.append(one)
            self._at[row["to_topic"], row["to_partition"], row["to_offset"]] = one
        elif row["kind"] in _FATES and row["offset"] is not None:
            for offset in range(row["offset"], row["offset"] + row["count"]):
                found = self._at.get((row["topic"], row["partition"], offset))
                if found is not None:
                    found.fate = row
                    found.deliveries += row["kind"] == "delivered"
