from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from broker_core.errors import BrokerError, ErrorCode


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A waiting consumer. `weight` is its share, `in_flight` the number of messages that it holds."""

    name: str
    weight: int = 1
    in_flight: int = 0


class Memory(msgspec.Struct, frozen=True):
    """State between choices: the last chosen name, and the credit of each weighted consumer."""

    last: str = ""
    owed: Mapping[str, int] = {}


def pick(policy: str, candidates: Sequence[Candidate], memory: Memory) -> tuple[str, Memory]:
    """(chosen name, state for the next choice). Raises INVALID_CONFIG for an unknown policy, ValueError for nobody."""
    rule = POLICIES.get(policy)
    if rule is None:
        raise BrokerError(
            ErrorCode.INVALID_CONFIG, f"there is no balancing {policy!r}; there are {', '.join(POLICIES)}"
        )
    if not candidates:
        raise ValueError("there are no candidates")
    return rule(sorted(candidates, key=lambda each: each.name), memory)


def round_robin(candidates: Sequence[Candidate], memory: Memory) -> tuple[str, Memory]:
    chosen = next((each.name for each in candidates if each.name > memory.last), candidates[0].name)
    return chosen, Memory(chosen)


def weighted(candidates: Sequence[Candidate], memory: Memory) -> tuple[str, Memory]:
    """In proportion to the weights, evenly spread (smooth weighted round-robin); those without a weight come last."""
    total = sum(max(0, each.weight) for each in candidates)
    if total == 0:
        return round_robin(candidates, memory)
    owed = {each.name: memory.owed.get(each.name, 0) + max(0, each.weight) for each in candidates}
    able = [each.name for each in candidates if each.weight > 0]
    chosen = max(able, key=lambda name: owed[name])
    owed[chosen] -= total
    return chosen, Memory(chosen, owed)


def least_loaded(candidates: Sequence[Candidate], memory: Memory) -> tuple[str, Memory]:
    """The candidate with the fewest messages in flight; in turn among equals."""
    least = min(each.in_flight for each in candidates)
    return round_robin([each for each in candidates if each.in_flight == least], memory)


POLICIES: Mapping[str, Callable[[Sequence[Candidate], Memory], tuple[str, Memory]]] = {
    "round-robin": round_robin,
    "weighted": weighted,
    "least-loaded": least_loaded,
}
