"""The gauges of backpressure, and what the inspector repeats of them."""

from __future__ import annotations

from typing import Any

from tests.figures.expected.settings import depth_of, fault_on, flow_of, gate_state, workers_of
from tests.figures.expected.wording import OneOf, holding, length, moment, numbers, per_second
from tests.figures.recount.session import Recount
from tests.figures.recount.topics import Gate

Figures = dict[tuple[str, str, str], Any]
CHAINS_MAX = 5


def gauge_figures(recount: Recount, now_ns: int) -> Figures:
    """Every gauge, and what blocks each producer that waits."""
    found: Figures = {}
    waits = []
    for target in (*recount.listed, *recount.queues):
        for figure, value in gauge(recount, target, now_ns).items():
            found["backpressure", target, figure] = value
        waits += [(since_ns, producer, target) for producer, since_ns in recount.gates[target].blocked.items()]
    for since_ns, producer, target in sorted(waits, key=lambda each: each[0])[:CHAINS_MAX]:
        found["backpressure", producer, "since"] = holding(moment(since_ns), length(now_ns - since_ns))
        for at, link in enumerate(_chain(recount, target, now_ns), 1):
            found["backpressure", producer, f"link {at}"] = link
    return found


def gauge(recount: Recount, target: str, now_ns: int) -> dict[str, Any]:
    """One gauge; nothing where nothing limits the target."""
    flow = flow_of(recount, target)
    if flow is None:
        return {}
    gate, depth = recount.gates[target], depth_of(recount, target)[0]
    limit, per_s = flow.get("max_messages"), flow.get("rate_per_s")
    found: dict[str, Any] = {
        "kind": "queue" if target in recount.queues else "topic",
        "state": gate_state(recount, target),
        "share": depth / limit if limit else None,
        "blocked": tuple(f"{name} for {length(now_ns - since_ns)}" for name, since_ns in gate.blocked.items()),
        "turned_away": holding(*outcomes(gate, flow["policy"], now_ns)),
    }
    # How many tokens are left is in no event: the limit stands beside them.
    found["rate"] = "No rate limit" if per_s is None else holding(per_second(per_s))
    found["depth"] = f"{depth:,} of {limit:,}" if limit else numbers(depth)
    if not limit and per_s is not None:
        found["depth"] = holding(f"{per_second(per_s)}/s")
    is_subscription = target in recount.queues and recount.queues[target].is_subscription
    found["limits"] = None if is_subscription else (limit, per_s, flow["policy"])
    slowest = depth_of(recount, target)[1]
    found["slowest"] = numbers(slowest) if depth and target not in recount.queues else numbers()
    return found


def outcomes(gate: Gate, policy: str, now_ns: int) -> list[str]:
    """What became of what found no room: first that for which the policy is there, even where it is nothing."""
    own = {"reject": "Rejected", "drop_newest": "Dropped", "drop_oldest": "Evicted", "priority_evict": "Evicted"}
    counts = {"Rejected": gate.rejected, "Dropped": gate.dropped, "Evicted": gate.evicted}
    blocked_ns = gate.blocked_ns(now_ns)
    blocked, first = f"Blocked {length(blocked_ns)} in all", own.get(policy)
    told = [blocked if first is None else f"{first} {counts[first]:,}"]
    told += [f"{word} {count:,}" for word, count in counts.items() if count and word != first]
    return told + [blocked] * (first is not None and blocked_ns > 0)


def _chain(recount: Recount, target: str, now_ns: int) -> list[object]:
    """From what a producer waits for to who is the slowest there."""
    flow = flow_of(recount, target) or {}
    limit, per_s = flow.get("max_messages"), flow.get("rate_per_s")
    depth, slowest = depth_of(recount, target)
    if per_s is not None and (not limit or depth < limit):
        return [holding(target, per_second(per_s))]
    links: list[object] = [numbers(target, depth, limit)]
    if target in recount.queues:
        workers = [name for name, queue in workers_of(recount).items() if queue == target]
        # Who hangs at its message tells nobody.
        hanging = [holding(name, "paused") for name in workers]
        return [*links, OneOf((*(_working(recount, name, now_ns) for name in workers), *hanging))]
    if slowest:
        links.append(holding(slowest))
        behind: dict[str, int] = {}
        group = recount.groups[slowest]
        for number_ in range(len(recount.topics[target].partitions)):
            owner = group.owner((target, number_))
            if owner:
                lag = recount.lag(slowest, target, number_) or 0
                behind[owner] = behind.get(owner, 0) + lag
        if behind:
            links.append(_working(recount, max(behind, key=lambda name: (behind[name], name)), now_ns))
    return links


def _working(recount: Recount, client: str, now_ns: int) -> object:
    if fault_on(recount, client, "crash", "pause"):
        return holding(client, "crashed" if fault_on(recount, client, "crash") else "paused")
    flow = "acknowledged by" if recount.clients.get(client) == "consumer" else "delivered to"
    return holding(client, f"{per_second(recount.rate((flow, client), now_ns))} messages/s")
