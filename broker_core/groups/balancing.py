"""Which consumer of a queue gets the next message: round-robin, weighted, least-loaded. Pure: memory in, memory out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from broker_core.errors import BrokerError, ErrorCode


class Taker(msgspec.Struct, frozen=True, gc=False):
    """A consumer that is ready. `weight` is its share, `in_flight` what it holds."""

    name: str
    weight: int = 1
    in_flight: int = 0


class Memory(msgspec.Struct, frozen=True):
    """What the next choice must know of the earlier ones: the last name, and what weighted takers are owed."""

    last: str = ""
    owed: Mapping[str, int] = {}


def pick(policy: str, takers: Sequence[Taker], memory: Memory) -> tuple[str, Memory]:
    """The taker that is next under `policy`, and the memory for the choice after it.

    Takers may come and go between choices. Raises `BrokerError` (INVALID_CONFIG) for an unknown policy, and
    ValueError without takers.
    """
    rule = POLICIES.get(policy)
    if rule is None:
        raise BrokerError(
            ErrorCode.INVALID_CONFIG, f"there is no balancing {policy!r}; there are {', '.join(POLICIES)}"
        )
    if not takers:
        raise ValueError("nobody is there to be picked")
    return rule(sorted(takers, key=lambda taker: taker.name), memory)


def round_robin(takers: Sequence[Taker], memory: Memory) -> tuple[str, Memory]:
    """Each in turn, by name; newcomers get their place in the circle."""
    chosen = next((taker.name for taker in takers if taker.name > memory.last), takers[0].name)
    return chosen, Memory(chosen)


def weighted(takers: Sequence[Taker], memory: Memory) -> tuple[str, Memory]:
    """Shares in proportion to the weights, spread evenly and not in bursts; a weight of 0 or less gets
    nothing while others have more."""
    total = sum(max(0, taker.weight) for taker in takers)
    if total == 0:
        return round_robin(takers, memory)
    owed = {taker.name: memory.owed.get(taker.name, 0) + max(0, taker.weight) for taker in takers}
    able = [taker.name for taker in takers if taker.weight > 0]
    chosen = max(able, key=lambda name: owed[name])
    owed[chosen] -= total
    return chosen, Memory(chosen, owed)


def least_loaded(takers: Sequence[Taker], memory: Memory) -> tuple[str, Memory]:
    """Who holds least; in turn among equals."""
    least = min(taker.in_flight for taker in takers)
    return round_robin([taker for taker in takers if taker.in_flight == least], memory)


POLICIES: Mapping[str, Callable[[Sequence[Taker], Memory], tuple[str, Memory]]] = {
    "round-robin": round_robin,
    "weighted": weighted,
    "least-loaded": least_loaded,
}
