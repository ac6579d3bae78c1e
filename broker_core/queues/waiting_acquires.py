from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import msgspec

from broker_core.queues.balancing import Candidate, Memory, pick
from broker_core.queues.lease import Lease
from broker_core.replies import Reply
from broker_core.timers import Timer


class WaitingAcquire(msgspec.Struct, eq=False):
    """A waiting acquire of up to `most` messages. `weight` is its share with weighted balancing."""

    reply: Reply[list[Lease]]
    holder: str
    most: int
    timer: Timer
    weight: int = 1
    whole_batches: bool = False


class WaitingAcquires:
    """Waiting acquires in order of arrival; removal costs O(1)."""

    def __init__(self) -> None:
        self._line: OrderedDict[int, WaitingAcquire] = OrderedDict()

    def __len__(self) -> int:
        return len(self._line)

    @property
    def wanted(self) -> int:
        return sum([acquire.most for acquire in self._line.values()])

    def join(self, acquire: WaitingAcquire) -> None:
        self._line[id(acquire.reply)] = acquire

    def leave(self, reply: Reply[list[Lease]]) -> WaitingAcquire | None:
        acquire = self._line.pop(id(reply), None)
        if acquire is not None:
            acquire.timer.cancel()
        return acquire

    def first(self) -> WaitingAcquire | None:
        return next(iter(self._line.values()), None)

    def picked(self, policy: str, memory: Memory, held: Callable[[str], int]) -> tuple[WaitingAcquire, Memory]:
        """(next acquire under `policy`, balancing state after it). `held(holder)` counts messages in flight."""
        first: dict[str, WaitingAcquire] = {}
        for acquire in self._line.values():
            first.setdefault(acquire.holder, acquire)
        candidates = [Candidate(name, acquire.weight, held(name)) for name, acquire in first.items()]
        name, memory = pick(policy, candidates, memory)
        return first[name], memory

    def of(self, holder: str) -> list[WaitingAcquire]:
        return [acquire for acquire in self._line.values() if acquire.holder == holder]
