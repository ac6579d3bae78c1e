"""Scenarios drawn by chance: all five policies at once, and crashes, redrives, resets, pauses in any order."""

from __future__ import annotations

import random
from typing import Any

import yaml

POLICIES = ("block", "reject", "drop_newest", "drop_oldest", "priority_evict")
ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky")
UNTIL_S = 40
Spec = dict[str, Any]


def random_scenario(seed: int) -> str:
    """As YAML; the same for the same seed."""
    numbers = random.Random(f"scenario {seed}")
    topics = [_topic(numbers, number) for number in range(numbers.randint(1, 3))]
    queues = [_queue(numbers, policy) for policy in POLICIES]
    groups = [_group(numbers, number, topics) for number in range(numbers.randint(1, 3))]
    consumers = [_consumers(numbers, group) for group in groups]
    workers = [_workers(numbers, queue) for queue in queues]
    subscribed = numbers.choice(topics)["name"]
    scenario = {
        "title": f"Random {seed}",
        "about": "Drawn by chance, to hold every figure to the events.",
        "seed": seed,
        "until_s": UNTIL_S,
        "topics": topics,
        "queues": queues,
        "groups": groups,
        "producers": [_producer(numbers, place) for place in (*topics, *queues)],
        "consumers": consumers,
        "workers": workers,
        "subscribers": [
            {
                "name": "listener",
                "topics": [subscribed],
                "backlog": numbers.randint(3, 12),
                "policy": numbers.choice(POLICIES[2:4]),
                "processing": {"mean_ms": numbers.randint(20, 300)},
            }
        ],
        "schedule": _schedule(numbers, queues, groups, consumers, workers),
    }
    return yaml.safe_dump(scenario, sort_keys=False)


def _topic(numbers: random.Random, number: int) -> Spec:
    topic: Spec = {"name": f"topic-{'abc'[number]}", "partitions": numbers.randint(1, 4)}
    if numbers.random() < 0.4:
        topic["flow"] = {"policy": numbers.choice(POLICIES[:3]), "max_messages": numbers.randint(8, 40)}
    return topic


def _queue(numbers: random.Random, policy: str) -> Spec:
    retry = numbers.choice(
        ({"kind": "none"}, {"kind": "fixed", "base_ms": 400}, {"kind": "exponential", "base_ms": 150, "factor": 2})
    )
    config = {"lease_ms": numbers.randint(800, 4000), "max_attempts": numbers.randint(1, 4), "retry": retry}
    if policy == "priority_evict":
        config["priorities"] = 3
    flow = {"policy": policy, "max_messages": numbers.randint(4, 15)}
    return {"name": f"queue-{policy.replace('_', '-')}", "config": config, "flow": flow}


def _group(numbers: random.Random, number: int, topics: list[Spec]) -> Spec:
    read = numbers.sample([topic["name"] for topic in topics], numbers.randint(1, len(topics)))
    timeout_ms = numbers.choice((2000, 4000, 6000))
    return {
        "name": f"group-{'abc'[number]}",
        "topics": read,
        "assignor": numbers.choice(ASSIGNORS),
        "session_timeout_ms": timeout_ms,
        "heartbeat_interval_ms": timeout_ms // 4,
    }


def _producer(numbers: random.Random, place: Spec) -> Spec:
    arrivals: Spec = {"kind": "rate", "per_s": numbers.randint(3, 18), "keys": numbers.randint(2, 20)}
    if place.get("config", {}).get("priorities"):
        arrivals["priorities"] = [1, 2, 3]
    if numbers.random() < 0.3:
        arrivals["spacing"] = "poisson"
    producer: Spec = {"name": f"to-{place['name']}", "to": place["name"], "arrivals": arrivals}
    if "config" not in place and numbers.random() < 0.3:
        producer["linger_ms"] = numbers.randint(20, 200)
    return producer


def _consumers(numbers: random.Random, group: Spec) -> Spec:
    return {
        "name": f"{group['name']}-reader",
        "count": numbers.randint(1, 3),
        "group": group["name"],
        "commit": numbers.choice(("after", "after", "before", "with_effect")),
        "max_poll_messages": numbers.randint(2, 12),
        "static": numbers.random() < 0.2,
        "processing": {"mean_ms": numbers.randint(10, 120)},
    }


def _workers(numbers: random.Random, queue: Spec) -> Spec:
    kinds = ("nack", "hang", "forget")
    failures = [
        {"cause": f"cause {kind}", "rate": round(numbers.uniform(0, 0.2), 2), "kind": kind}
        for kind in numbers.sample(kinds, numbers.randint(0, 3))
    ]
    return {
        "name": f"{queue['name']}-worker",
        "count": numbers.randint(1, 3),
        "queue": queue["name"],
        "prefetch": numbers.randint(1, 3),
        "processing": {"mean_ms": numbers.randint(60, 400)},
        "failures": failures,
    }


def _schedule(
    numbers: random.Random, queues: list[Spec], groups: list[Spec], consumers: list[Spec], workers: list[Spec]
) -> list[Spec]:
    people = [f"{spec['name']}-{number + 1}" for spec in (*consumers, *workers) for number in range(spec["count"])]
    readers = [f"{spec['name']}-{number + 1}" for spec in consumers for number in range(spec["count"])]

    def action() -> Spec:
        group, queue = numbers.choice(groups)["name"], numbers.choice(queues)["name"]
        for_s = round(numbers.uniform(1, 9), 2)
        return numbers.choice(
            (
                {"action": "crash", "client": numbers.choice(people), "for_s": for_s},
                {"action": "crash", "client": numbers.choice(people), "for_s": for_s},
                {"action": "pause", "client": numbers.choice(people), "for_s": for_s},
                {"action": "slow_down", "client": numbers.choice(people), "factor": 3, "for_s": for_s},
                {"action": "drop_heartbeats", "client": numbers.choice(readers), "for_s": for_s},
                {"action": "move_consumer", "consumer": numbers.choice(readers), "group": numbers.choice((group, ""))},
                {"action": "redrive", "queue": queue},
                {"action": "redrive", "queue": queue, "rate_per_s": 3},
                {
                    "action": "reset_offsets",
                    "group": group,
                    "form": numbers.choice(("earliest", "latest")),
                    "restart_members": True,
                },
                {"action": "purge_queue", "queue": queue},
                {"action": "undo_purge_queue", "queue": queue},
                {"action": "purge_dead_letters", "queue": queue},
                {"action": "undo_purge_dead_letters", "queue": queue},
            )
        )

    times = sorted(round(numbers.uniform(2, UNTIL_S - 2), 3) for _ in range(numbers.randint(10, 20)))
    return [{"at_s": at_s, "do": action()} for at_s in times]
