"""Those who wait for a message: first come, first served, or as a policy of balancing picks them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import msgspec

from broker_core.queues.balancing import Candidate, Memory, pick
from broker_core.queues.lease import Lease
from broker_core.replies import Reply
from broker_core.timers import Timer


class WaitingAcquire(msgspec.Struct, eq=False):
    """Somebody who waits for at most `most` messages. `weight` is its share where shares are by weight."""

    reply: Reply[list[Lease]]
    holder: str
    most: int
    timer: Timer
    weight: int = 1


class WaitingAcquires:
    """The line of those who wait; anybody can leave it in O(1)."""

    def __init__(self) -> None:
        self._line: OrderedDict[int, WaitingAcquire] = OrderedDict()

    def __len__(self) -> int:
        return len(self._line)

    @property
    def wanted(self) -> int:
        """How many messages they take at most, all together."""
        return sum([taker.most for taker in self._line.values()])

    def join(self, taker: WaitingAcquire) -> None:
        """Stand at the end."""
        self._line[id(taker.reply)] = taker

    def leave(self, reply: Reply[list[Lease]]) -> WaitingAcquire | None:
        """Whoever waits for `reply` leaves; None where nobody does."""
        taker = self._line.pop(id(reply), None)
        if taker is not None:
            taker.timer.cancel()
        return taker

    def first(self) -> WaitingAcquire | None:
        """Who is served next."""
        return next(iter(self._line.values()), None)

    def picked(self, policy: str, memory: Memory, held: Callable[[str], int]) -> tuple[WaitingAcquire, Memory]:
        """Who of those in line is next under `policy`, and what the choice after it must know; `held` is their load."""
        first: dict[str, WaitingAcquire] = {}
        for taker in self._line.values():
            first.setdefault(taker.holder, taker)
        candidates = [Candidate(name, taker.weight, held(name)) for name, taker in first.items()]
        name, memory = pick(policy, candidates, memory)
        return first[name], memory

    def of(self, holder: str) -> list[WaitingAcquire]:
        """All that wait for `holder`."""
        return [taker for taker in self._line.values() if taker.holder == holder]
