"""When a cluster is looked at again, and which silences were too long. Times are seconds of any clock: none is read."""

from __future__ import annotations

from typing import Final, NamedTuple

MOST_SHARE: Final = 0.1  # of the time that passes, for what looking costs
LONGEST_PERIODS: Final = 5.0
_REQUEST_S: Final = 0.001  # what a request costs the cluster, at most
_LEAST_S: Final = 0.2  # a period, where silences are judged


class Silence(NamedTuple):
    """A time in which `node` was not heard, or with None the whole cluster; told when too long, and when over."""

    node: int | None
    from_s: float
    to_s: float
    is_over: bool


class Pace:
    """Looks every `every_s`, or less often where they cost more than `MOST_SHARE` of the time: computing, and asking,
    not waiting for answers. But never later than `LONGEST_PERIODS` after the last, as long as looks cost no more than
    half of the time.
    """

    def __init__(self, every_s: float, now_s: float) -> None:
        self._every_s = every_s
        self._heard: dict[int | None, float] = {None: now_s}
        self._told: set[int | None] = set()
        self.due_s = now_s
        self.period_s = every_s

    @property
    def limit_s(self) -> float:
        return LONGEST_PERIODS * max(self._every_s, _LEAST_S)

    def looked(self, began_s: float, ended_s: float, cpu_s: float, requests: int, soon_s: float | None = None) -> None:
        """A look has ended; with `soon_s` the next is wanted that soon."""
        cost_s, took_s = cpu_s + _REQUEST_S * requests, ended_s - began_s
        seldom_s = min(cost_s / MOST_SHARE, max(self.limit_s - 2 * took_s, 2 * cost_s))
        self.period_s = max(self._every_s, seldom_s)
        self.due_s = began_s + max(self._every_s if soon_s is None else min(soon_s, self._every_s), seldom_s)

    def heard(self, node: int | None, now_s: float) -> list[Silence]:
        """A node, or for None the cluster, has answered: the silence before, if it was too long."""
        from_s = self._heard.get(node, now_s)
        self._heard[node] = now_s
        if now_s - from_s <= self.limit_s and node not in self._told:
            return []
        self._told.discard(node)
        return [Silence(node, from_s, now_s, True)]

    def silences(self, now_s: float) -> list[Silence]:
        """The silences that have become too long since the last call."""
        new = {
            node: from_s
            for node, from_s in self._heard.items()
            if node not in self._told and now_s - from_s > self.limit_s
        }
        self._told |= new.keys()
        return [Silence(node, from_s, now_s, False) for node, from_s in new.items()]
