"""The set of live messages in a dead letter queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

Owner = tuple[str, str]  # (queue, cause)


class LiveDeadLetters:
    """Offsets in order, with the queue and the cause of each, and their counts."""

    def __init__(self) -> None:
        self._owners: dict[int, Owner] = {}
        self._counts: Counter[Owner] = Counter()

    def __contains__(self, offset: int) -> bool:
        return offset in self._owners

    def __iter__(self) -> Iterator[int]:
        return iter(self._owners)

    def add(self, offset: int, owner: Owner) -> None:
        """Add `offset`, which is higher than all others."""
        self._owners[offset] = owner
        self._counts[owner] += 1

    def bring_back(self, owners: dict[int, Owner]) -> None:
        """Add offsets that were removed before."""
        for offset, owner in owners.items():
            self.add(offset, owner)
        self._owners = dict(sorted(self._owners.items()))

    def remove(self, offset: int) -> Owner:
        """Remove `offset`, which must be present. Returns its owner."""
        owner = self._owners.pop(offset)
        self._counts[owner] -= 1
        if not self._counts[owner]:
            del self._counts[owner]
        return owner

    def trim(self, start_offset: int) -> None:
        """Remove all offsets below `start_offset`."""
        for offset in [offset for offset in self._owners if offset < start_offset]:
            self.remove(offset)

    def keep_only(self, runs: tuple[tuple[int, int], ...], end_offset: int) -> None:
        """Below `end_offset`, keep only the offsets in the (offset, count) `runs`."""
        kept = {offset for first, count in runs for offset in range(first, first + count)}
        for offset in [offset for offset in self._owners if offset < end_offset and offset not in kept]:
            self.remove(offset)

    def runs(self) -> tuple[tuple[int, int], ...]:
        """All offsets, as (offset, count) runs."""
        runs: list[tuple[int, int]] = []
        for offset in self._owners:
            if runs and sum(runs[-1]) == offset:
                runs[-1] = (runs[-1][0], runs[-1][1] + 1)
            else:
                runs.append((offset, 1))
        return tuple(runs)

    def newest(self, queue: str) -> Iterator[int]:
        """The offsets of `queue`, the newest first."""
        return (offset for offset, owner in reversed(self._owners.items()) if owner[0] == queue)

    def count(self, queue: str) -> int:
        """The number of dead letters of `queue`, "" for all."""
        return sum(count for (owner, _), count in self._counts.items() if not queue or owner == queue)

    def by_cause(self, queue: str) -> dict[str, int]:
        """Dead letters by cause, the most frequent first."""
        causes: Counter[str] = Counter()
        for (owner, cause), count in self._counts.items():
            if not queue or owner == queue:
                causes[cause] += count
        return dict(sorted(causes.items(), key=lambda item: (-item[1], item[0])))
