from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import msgspec

from broker_core.snapshots import RebalanceView

Owned = tuple[tuple[str, int, str], ...]

REBALANCES_KEPT = 1_000
_SHOWN_CAUSES = 8


class Causes:
    """The causes of a rebalance: distinct sentences in order; after the first few only counted."""

    def __init__(self) -> None:
        self._said: dict[str, None] = {}
        self._more = 0

    def add(self, sentence: str) -> None:
        if len(self._said) < _SHOWN_CAUSES:
            self._said[sentence] = None
        elif sentence not in self._said:
            self._more += 1

    def __str__(self) -> str:
        more = [f"and {self._more:,} more"] if self._more else []
        return "; ".join([*self._said, *more])


class RebalanceHistory:
    """The last `kept` rebalances, oldest first, of the coordinator or of a recording."""

    def __init__(self, kept: int = REBALANCES_KEPT, views: Iterable[RebalanceView] = ()) -> None:
        self.views = deque(views, maxlen=kept)
        self.started = 0
        self._running = {view.group: view for view in self.views if view.ended_ns is None}

    def running(self, group: str) -> RebalanceView | None:
        return self._running.get(group)

    def start(self, group: str, cause: str, now_ns: int, generation: int, before: Owned) -> None:
        view = self._running[group] = RebalanceView(group, cause, now_ns, None, generation, None, before, ())
        self.views.append(view)
        self.started += 1

    def update(self, group: str, **changes: object) -> RebalanceView | None:
        """Set fields of the running rebalance of `group`; `ended_ns` ends it. None if none is running."""
        old = self._running.pop(group, None)
        if old is None:
            return None
        new = msgspec.structs.replace(old, **changes)
        if new.ended_ns is None:
            self._running[group] = new
        # A running one is near the end. One that was pushed out by the limit is not replaced.
        for place in range(len(self.views) - 1, -1, -1):
            if self.views[place] is old:
                self.views[place] = new
                break
        return new
