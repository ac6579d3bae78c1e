"""Which messages of a bin are still dead letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

Owner = tuple[str, str]  # (queue, cause)


class LiveDeadLetters:
    """Offsets in the bin, in order, with the queue and the cause of each; counted as they come and go."""

    def __init__(self) -> None:
        self._owners: dict[int, Owner] = {}
        self._counts: Counter[Owner] = Counter()

    def __contains__(self, offset: int) -> bool:
        return offset in self._owners

    def __iter__(self) -> Iterator[int]:
        return iter(self._owners)

    def add(self, offset: int, owner: Owner) -> None:
        """One more, behind all others."""
        self._owners[offset] = owner
        self._counts[owner] += 1

    def bring_back(self, owners: dict[int, Owner]) -> None:
        """These were in here before, and come back to their places."""
        for offset, owner in owners.items():
            self.add(offset, owner)
        self._owners = dict(sorted(self._owners.items()))

    def remove(self, offset: int) -> Owner:
        """`offset`, which must be in here, is gone."""
        owner = self._owners.pop(offset)
        self._counts[owner] -= 1
        if not self._counts[owner]:
            del self._counts[owner]
        return owner

    def trim(self, start_offset: int) -> None:
        """Everything below `start_offset` is gone."""
        for offset in [offset for offset in self._owners if offset < start_offset]:
            self.remove(offset)

    def keep_only(self, runs: tuple[tuple[int, int], ...], end_offset: int) -> None:
        """Of what lies below `end_offset`, only the (offset, count) `runs` are left."""
        kept = {offset for first, count in runs for offset in range(first, first + count)}
        for offset in [offset for offset in self._owners if offset < end_offset and offset not in kept]:
            self.remove(offset)

    def runs(self) -> tuple[tuple[int, int], ...]:
        """All of them, as (offset, count) of neighbours."""
        runs: list[tuple[int, int]] = []
        for offset in self._owners:
            if runs and sum(runs[-1]) == offset:
                runs[-1] = (runs[-1][0], runs[-1][1] + 1)
            else:
                runs.append((offset, 1))
        return tuple(runs)

    def newest(self, queue: str) -> Iterator[int]:
        """Those of `queue`, the newest first."""
        return (offset for offset, owner in reversed(self._owners.items()) if owner[0] == queue)

    def count(self, queue: str) -> int:
        """How many there are, of `queue`, or of all where that is ""."""
        return sum(count for (owner, _), count in self._counts.items() if not queue or owner == queue)

    def by_cause(self, queue: str) -> dict[str, int]:
        """How many died of each cause, the most frequent first."""
        causes: Counter[str] = Counter()
        for (owner, cause), count in self._counts.items():
            if not queue or owner == queue:
                causes[cause] += count
        return dict(sorted(causes.items(), key=lambda item: (-item[1], item[0])))
