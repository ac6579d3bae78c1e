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
    """All of them, in order. Whoever waits for a message has it before the event of its redrive."""

    def __init__(self) -> None:
        self.all: list[Redriven] = []
        self._at: dict[tuple[str, int, int], Redriven] = {}
        self._fates: dict[tuple[str, int, int], list[Row]] = {}

    def add(self, row: Row) -> None:
        """One more event."""
        if row["kind"] == "redriven":
            place = (row["to_topic"], row["to_partition"], row["to_offset"])
            one = self._at[place] = Redriven(row)
            self.all.append(one)
            for earlier in self._fates.get(place, ()):
                self._happened(one, earlier)
        elif row["kind"] in _FATES and row["offset"] is not None:
            for offset in range(row["offset"], row["offset"] + row["count"]):
                place = (row["topic"], row["partition"], offset)
                self._fates.setdefault(place, []).append(row)
                if place in self._at:
                    self._happened(self._at[place], row)

    def _happened(self, one: Redriven, row: Row) -> None:
        """To a message of a queue, or to that of a subscription by its own readers."""
        if one.row["group"] == one.row["to_topic"] or one.row["group"] == row["group"]:
            one.fate = row
            one.deliveries += row["kind"] == "delivered"
