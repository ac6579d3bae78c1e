from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from broker_core.queues.lease import Lease
from broker_core.replies import Reply
from broker_core.timers import Timer


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A waiting consumer. `weight` is its share, `in_flight` the number of messages that it holds."""

    name: str
    weight: int = 1
    in_flight: int = 0


class Balance(msgspec.Struct, frozen=True):
    """State between choices: the last chosen name, and the credit of each weighted consumer."""

    last: str = ""
    owed: Mapping[str, int] = {}


def pick(policy: str, candidates: Sequence[Candidate], balance: Balance) -> tuple[str, Balance]:
    """(chosen name, state for the next choice) of the `candidates`, at least one."""
    return POLICIES[policy](sorted(candidates, key=lambda each: each.name), balance)


def round_robin(candidates: Sequence[Candidate], balance: Balance) -> tuple[str, Balance]:
    chosen = next((each.name for each in candidates if each.name > balance.last), candidates[0].name)
    return chosen, Balance(chosen)


def weighted(candidates: Sequence[Candidate], balance: Balance) -> tuple[str, Balance]:
    """In proportion to the weights, evenly spread (smooth weighted round-robin); those without a weight come last."""
    total = sum(max(0, each.weight) for each in candidates)
    if total == 0:
        return round_robin(candidates, balance)
    owed = {each.name: balance.owed.get(each.name, 0) + max(0, each.weight) for each in candidates}
    able = [each.name for each in candidates if each.weight > 0]
    chosen = max(able, key=lambda name: owed[name])
    owed[chosen] -= total
    return chosen, Balance(chosen, owed)


def least_loaded(candidates: Sequence[Candidate], balance: Balance) -> tuple[str, Balance]:
    least = min(each.in_flight for each in candidates)
    return round_robin([each for each in candidates if each.in_flight == least], balance)


POLICIES: Mapping[str, Callable[[Sequence[Candidate], Balance], tuple[str, Balance]]] = {
    "round-robin": round_robin,
    "weighted": weighted,
    "least-loaded": least_loaded,
}


class WaitingAcquire(msgspec.Struct, eq=False):
    """A waiting acquire of up to `most` messages. `weight` is its share with weighted balancing."""

    reply: Reply[list[Lease]]
    holder: str
    most: int
    timer: Timer
    weight: int = 1
    whole_batches: bool = False


class WaitingAcquires:
    def __init__(self) -> None:
        self._line: OrderedDict[Reply[list[Lease]], WaitingAcquire] = OrderedDict()

    def __len__(self) -> int:
        return len(self._line)

    @property
    def wanted(self) -> int:
        return sum([acquire.most for acquire in self._line.values()])

    def join(self, acquire: WaitingAcquire) -> None:
        self._line[acquire.reply] = acquire

    def leave(self, reply: Reply[list[Lease]]) -> WaitingAcquire | None:
        acquire = self._line.pop(reply, None)
        if acquire is not None:
            acquire.timer.cancel()
        return acquire

    def first(self) -> WaitingAcquire | None:
        return next(iter(self._line.values()), None)

    def next(self, policy: str, balance: Balance, held: Callable[[str], int]) -> tuple[WaitingAcquire, Balance]:
        """(next acquire under `policy`, balancing state after it). `held(holder)` counts messages in flight."""
        first: dict[str, WaitingAcquire] = {}
        for acquire in self._line.values():
            first.setdefault(acquire.holder, acquire)
        candidates = [Candidate(name, acquire.weight, held(name)) for name, acquire in first.items()]
        name, balance = pick(policy, candidates, balance)
        return first[name], balance

    def of(self, holder: str | None) -> list[WaitingAcquire]:
        return [acquire for acquire in self._line.values() if acquire.holder == holder]
