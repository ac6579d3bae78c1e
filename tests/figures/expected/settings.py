"""What a scenario limits: settings stand in no event."""

from __future__ import annotations

from typing import Any

from tests.figures.expected.wording import Not, OneOf, holding, number
from tests.figures.recount.flows import GRID_NS
from tests.figures.recount.session import Recount

REBALANCING = frozenset({"Preparing rebalance", "Completing rebalance", "Reconciling"})


def flow_of(recount: Recount, target: str) -> dict[str, Any] | None:
    """The limits of a topic or queue, and the policy; None where nothing limits it."""
    if target in recount.flows_set:
        return recount.flows_set[target]
    for place in (*recount.scenario.get("topics", ()), *recount.scenario.get("queues", ())):
        if place["name"] == target:
            found = place.get("flow")
            return None if found is None else {"policy": "block", **found}
    for subscriber in recount.scenario.get("subscribers", ()):
        names = {subscriber["name"], *(f"{subscriber['name']}.{topic}" for topic in subscriber["topics"])}
        if target in names and subscriber.get("backlog"):
            return {"policy": subscriber.get("policy", "drop_newest"), "max_messages": subscriber["backlog"]}
    return None


def depth_of(recount: Recount, target: str) -> tuple[int, str]:
    """Messages that the slowest reader has not finished with, and who that is."""
    queue = recount.queues.get(target)
    if queue is not None:
        return (queue.waiting() if queue.is_subscription else len(queue.open)), target
    topic = recount.topics[target]
    readers = {
        group.name: {place for place in (*group.committed, *group.began) if place[0] == target}
        for group in recount.groups.values()
        if not (group.members and group.reads and target not in group.reads)
    }
    found = [
        (sum(_unfinished(recount, name, target, partition) for _, partition in places), name)
        for name, places in readers.items()
        if places
    ]
    if found:
        return max(found)
    if any(queue.topic == target for queue in recount.queues.values()):
        return 0, ""  # each subscription has a limit of its own
    finished = {
        number: max((group.committed.get((target, number), 0) for group in recount.groups.values()), default=0)
        for number in range(len(topic.partitions))
    }
    waiting = [part.count(max(part.start, finished[number]), part.end) for number, part in enumerate(topic.partitions)]
    return sum(waiting), ""


def _unfinished(recount: Recount, group: str, topic: str, number: int) -> int:
    """Messages of a partition that a group which reads it has not finished with."""
    place, log = (topic, number), recount.topics[topic].at(number)
    committed = recount.groups[group].committed.get(place, recount.groups[group].began.get(place, 0))
    return log.count(max(log.start, committed), log.end)


def gate_state(recount: Recount, target: str) -> object:
    """Full, Limited or Open; "" where nothing limits it."""
    flow = flow_of(recount, target)
    if flow is None:
        return ""
    limit = flow.get("max_messages")
    only_rate = not limit and flow.get("rate_per_s") is not None
    blocked = bool(recount.gates[target].blocked)
    depth = depth_of(recount, target)[0]
    if (blocked and not only_rate) or (limit and depth >= limit):
        return "Full"
    if blocked or (limit and depth >= 0.8 * limit):
        return "Limited"
    # How many tokens are left is in no event.
    return "Open" if flow.get("rate_per_s") is None else Not(frozenset({"full"}))


def fault_on(recount: Recount, client: str, *kinds: str) -> bool:
    """Whether such a fault lasts on the client."""
    return any((client, kind) in recount.faults for kind in kinds)


def fault_word(client: str, fault: str) -> str:
    """What a fault or a rule is called."""
    if fault.startswith("rule "):
        return "Failing"
    return _FAULTS.get(fault, "Fault" if client else "Disk full")


_FAULTS = {"crash": "Crashed", "pause": "Paused", "slow": "Slowed down", "heartbeats dropped": "No heartbeats"}


def state_of(recount: Recount, client: str) -> object:
    """The state of a client as far as events tell it: whether it runs at all. After the end nobody does."""
    if fault_on(recount, client, "crash"):
        return OneOf(("crashed", "stopped"))
    if fault_on(recount, client, "pause"):
        return OneOf(("paused", "stopped"))
    return Not(frozenset({"crashed"}))


def producers_of(recount: Recount) -> dict[str, str]:
    """Each producer that is there, and what it publishes to."""
    found = {spec["name"]: spec["to"] for spec in recount.scenario.get("producers", ())}
    return {name: found.get(name, "") for name, role in recount.clients.items() if role == "producer"}


def others_of(recount: Recount, now_ns: int) -> dict[str, str]:
    """Each producer of another program that has published within ten seconds, and what it publishes to."""
    end_ns = now_ns // GRID_NS * GRID_NS
    flows = [flow for flow in recount.flows if flow[0] == "published by to"]
    start_ns = max(0, end_ns - 10_000_000_000)
    seen = [name.split("\n") for what, name in flows if _grew(recount, (what, name), start_ns, end_ns)]
    return {client: topic for client, topic in seen if client not in recount.ever}


def _grew(recount: Recount, flow: tuple[str, str], start_ns: int, end_ns: int) -> bool:
    return recount.before(flow, end_ns) > recount.before(flow, start_ns)


def workers_of(recount: Recount) -> dict[str, str]:
    """Each worker and subscriber that is there, and the first queue that it takes from."""
    found: dict[str, str] = {}
    for spec in recount.scenario.get("workers", ()):
        for place in range(1, spec.get("count", 1) + 1):
            found[f"{spec['name']}-{place}"] = spec["queue"]
    for spec in recount.scenario.get("subscribers", ()):
        several = len(spec["topics"]) > 1
        found[spec["name"]] = f"{spec['name']}.{spec['topics'][0]}" if several else spec["name"]
    for spec in recount.scenario.get("share_groups", ()):
        for place in range(1, spec.get("count", 1) + 1):
            found[f"{spec['name']}-{place}"] = f"{spec['name']}.{spec['topics'][0]}"
    return {name: found.get(name, "") for name, role in recount.clients.items() if role == "worker"}


def consumers_of(recount: Recount) -> dict[str, str]:
    """Each consumer that is there, and its group; "" is the bench."""
    return {name: recount.places.get(name, "") for name, role in recount.clients.items() if role == "consumer"}


def handled(recount: Recount, consumer: str) -> str:
    """The flow by which a consumer's rate is counted: what it acknowledges; of a program whose group keeps its offsets
    elsewhere, what it is given.
    """
    if consumer in recount.clients:
        return "acknowledged by"
    groups = [each for each in recount.groups.values() if any(m.client == consumer for m in each.members.values())]
    return "acknowledged by" if groups and groups[0].committed else "delivered to"


def turned_away_counts(recount: Recount, producer: str) -> dict[str, int]:
    """What was not taken of what a producer sent, by what became of it."""
    return {
        "Rejected": recount.done("rejected", producer),
        "Dropped": recount.done("dropped", producer),
        "Dead-lettered": recount.done("dead-lettered of", producer),
    }


def turned_away(recount: Recount, producer: str) -> object:
    """The same in words, but for what is nothing."""
    found = {word: count for word, count in turned_away_counts(recount, producer).items() if count}
    return holding(*(f"{count:,} {word.lower()}" for word, count in found.items())) if found else ""


def turned_away_note(recount: Recount, producer: str) -> object:
    """How many, beside what became of the last one, while the producer goes on all the same."""
    outcome = recount.outcomes.get(producer, "")
    return OneOf(("", number(turned_away_counts(recount, producer)[outcome.capitalize()]))) if outcome else ""
