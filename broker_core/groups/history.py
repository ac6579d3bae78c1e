"""The rebalances of all groups, as the cards that people read."""

from __future__ import annotations

from collections import deque

import msgspec

from broker_core.snapshots import RebalanceView

Owned = tuple[tuple[str, int, str], ...]

_SHOWN_CAUSES = 8


class Causes:
    """Why a rebalance happens: sentences as they came, each once, only the first few spelt out."""

    def __init__(self) -> None:
        self._said: dict[str, None] = {}
        self._more = 0

    def add(self, sentence: str) -> None:
        """One more reason."""
        if len(self._said) < _SHOWN_CAUSES:
            self._said[sentence] = None
        elif sentence not in self._said:
            self._more += 1

    def __str__(self) -> str:
        more = [f"and {self._more:,} more"] if self._more else []
        return "; ".join([*self._said, *more])


class RebalanceHistory:
    """The last rebalances, oldest first; a running one has no end yet."""

    def __init__(self, kept: int) -> None:
        self.views: deque[RebalanceView] = deque(maxlen=kept)
        self.started = 0

    def start(self, group: str, cause: str, now_ns: int, generation: int, before: Owned) -> RebalanceView:
        """A rebalance begins."""
        view = RebalanceView(group, cause, now_ns, None, generation, None, before, ())
        self.views.append(view)
        self.started += 1
        return view

    def another_cause(self, view: RebalanceView, cause: str) -> RebalanceView:
        """A running rebalance got one more cause."""
        return self._replace(view, msgspec.structs.replace(view, cause=cause))

    def complete(self, view: RebalanceView, now_ns: int, generation: int, after: Owned) -> RebalanceView:
        """A running rebalance is over."""
        return self._replace(
            view, msgspec.structs.replace(view, ended_ns=now_ns, generation_after=generation, after=after)
        )

    def _replace(self, old: RebalanceView, new: RebalanceView) -> RebalanceView:
        # A running one is near the end, where the newest are. One pushed out by the bound is gone.
        for place in range(len(self.views) - 1, -1, -1):
            if self.views[place] is old:
                self.views[place] = new
                break
        return new
