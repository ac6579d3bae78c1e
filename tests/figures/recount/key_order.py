"""Whether the messages of each key came to each reader in the order of their publishing, counted message by message."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


class KeyOrder:
    def __init__(self) -> None:
        self._out_of_order = self._unknown_keys = self._goes_back = False
        self._keys: dict[tuple[str, int, int], bytes] = {}
        self._latest: dict[tuple[str, str, bytes], tuple[int, int, int]] = {}
        self._reached: dict[tuple[str, str, int], int] = {}

    @property
    def was_kept(self) -> bool | None:
        """None if it is not known: a reader went back, and keys are not recorded."""
        if self._out_of_order:
            return False
        return None if self._unknown_keys and self._goes_back else True

    def published(self, row: Row) -> None:
        self._unknown_keys |= row["key"] is None and row["count"] > 1
        if row["key"] is not None:
            for offset in range(row["offset"], row["offset"] + row["count"]):
                self._keys[row["topic"], row["partition"], offset] = row["key"]

    def delivered(self, row: Row) -> None:
        place = (row["group"], row["topic"], row["partition"])
        if row["attempt"] == 1:
            reached = self._reached.get(place, 0)
            self._goes_back |= row["offset"] < reached
            self._reached[place] = max(reached, row["offset"] + row["count"])

    def given_first(self, row: Row, offset: int) -> None:
        key = self._keys.get((row["topic"], row["partition"], offset))
        if key is None:
            return
        place = (row["published_ns"] or 0, row["partition"], offset)
        before = self._latest.get((row["group"], row["topic"], key))
        if before is not None and before > place:
            self._out_of_order = True
        else:
            self._latest[row["group"], row["topic"], key] = place
