from __future__ import annotations

from bisect import bisect_right, insort
from typing import NamedTuple

from broker_core.errors import BrokerError, ErrorCode


class LostRange(NamedTuple):
    """Offsets `start_offset` to `end_offset` - 1 cannot be read. `cause` names the file and the problem."""

    start_offset: int
    end_offset: int
    cause: str

    @property
    def sentence(self) -> str:
        return f"offsets {self.start_offset} to {self.end_offset - 1} are lost: {self.cause}"


class Corruption:
    def __init__(self, name: str) -> None:
        self._name = name
        self.ranges: list[LostRange] = []

    def add(self, start_offset: int, end_offset: int, cause: str) -> bool:
        known = self.range_of(start_offset)
        if start_offset >= end_offset or (known is not None and known.end_offset >= end_offset):
            return False
        insort(self.ranges, LostRange(start_offset, end_offset, cause))
        return True

    def range_of(self, offset: int) -> LostRange | None:
        slot = bisect_right(self.ranges, offset, key=lambda lost: lost.start_offset)
        if slot and offset < self.ranges[slot - 1].end_offset:
            return self.ranges[slot - 1]
        return None

    def check_between(self, offset: int, end_offset: int) -> None:
        """Raises DAMAGED if an offset from `offset` to `end_offset` - 1 is lost."""
        for lost in self.ranges:
            if lost.end_offset > offset and lost.start_offset < end_offset:
                raise BrokerError(
                    ErrorCode.DAMAGED,
                    f"offsets {lost.start_offset} to {lost.end_offset - 1} of {self._name} are lost ({lost.cause}); "
                    f"continue at {lost.end_offset}",
                )

    def forget_before(self, offset: int) -> None:
        self.ranges = [lost for lost in self.ranges if lost.end_offset > offset]
