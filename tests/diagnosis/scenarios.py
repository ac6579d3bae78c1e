"""Scenarios whose cause is known, because it was put there: a healthy base and one cause, none, or two.

Each flow is a topic or a queue with its producer and its readers, sized so that it keeps up easily. A cause changes one
flow; the other flows are bystanders, which nothing may accuse.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import yaml

Spec = dict[str, Any]
SECTIONS = ("topics", "queues", "groups", "producers", "consumers", "workers", "share_groups", "schedule")
NAMES = ("orders", "clicks", "mails", "bills")
LATE_MS = 300.0  # at the most, a message, in a healthy flow
MOST_MESSAGES = 200_000  # a case; one with more is drawn again
MANY = 0.03  # of the cases have thousands of messages a second
SESSION_MS = {"consumer_session_timeout_ms": 6_000, "consumer_heartbeat_interval_ms": 500}  # of the consumer protocol


class Truth(NamedTuple):
    """`cause` was put in; a finding that names one of `objects` has found it. `near` may be mentioned besides."""

    cause: str
    objects: tuple[str, ...]
    near: tuple[str, ...] = ()


class Case(NamedTuple):
    """A scenario with what is known of it. `flows` has the names of all that belongs to each flow."""

    seed: int
    scenario: Spec
    truths: tuple[Truth, ...]
    flows: dict[str, tuple[str, ...]]

    @property
    def cause(self) -> str:
        """The causes by name, "healthy" for none."""
        return " + ".join(truth.cause for truth in self.truths) or "healthy"

    @property
    def text(self) -> str:
        """As YAML."""
        return yaml.safe_dump(self.scenario, sort_keys=False)


class Flow:
    """One flow: `kind` is classic, consumer, share or queue. `rate` a second, `each_ms` a message, by `members`."""

    def __init__(self, numbers: random.Random, name: str, until_s: float, rate: float, kind: str) -> None:
        self.numbers, self.name, self.until_s, self.kind = numbers, name, until_s, kind
        self.rate = rate
        self.partitions = 1
        self.load = numbers.uniform(0.2, 0.6)
        self.members = numbers.choice((1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 12))
        if self.is_group:
            self.partitions = min(40, self.members * numbers.choice((1, 1, 2, 3, 4)))
        elif kind == "share":
            self.partitions = numbers.choice((1, 2, 3, 6, 12))
        self.count = self.members  # that read: others have no partition
        self.keys = numbers.choice((0, 0, 1000))
        self.shape: Spec = {"kind": "rate", "per_s": rate, "spacing": numbers.choice(("constant", "poisson"))}
        if numbers.random() < 0.35:
            on_s = round(numbers.uniform(0.1, 0.6), 2)
            self.shape = {"kind": "bursty", "per_s": rate * 2, "on_s": on_s, "off_s": on_s}
        self.linger_ms = numbers.choice((0, 20)) if rate > 100 else 0
        self.work = numbers.choice(("constant", "constant", "exponential", "lognormal"))
        self.poll = numbers.choice((1, 5, 20, 50))
        self.topic: Spec = {}
        self.config: Spec = {"lease_ms": 30_000, "max_attempts": 5}
        self.poll_ms = 2_000  # at the most, what one poll gets
        self.prefetch = numbers.choice((1, 1, 2, 5))
        self.failures: list[Spec] = []
        self.group: Spec = {
            "session_timeout_ms": numbers.choice((3_000, 6_000, 10_000)),
            "heartbeat_interval_ms": 1_000,
        }
        if self.kind == "classic":
            self.group["assignor"] = numbers.choice(("range", "roundrobin", "sticky", "cooperative-sticky"))
        elif kind == "consumer":
            self.group["session_timeout_ms"] = SESSION_MS["consumer_session_timeout_ms"]
        self.producer: Spec = {}
        self.schedule: list[Spec] = []
        self.slow: tuple[int, float] | None = (
            None  # the number of a member that is slow all the time, and how many times
        )
        self.static = False

    @property
    def is_group(self) -> bool:
        return self.kind in ("classic", "consumer")

    @property
    def each_ms(self) -> float:
        """What a message costs, so that the flow has its load."""
        return min(self.load * self.count / self.rate * 1e3, LATE_MS)

    @property
    def readers(self) -> tuple[str, ...]:
        """What reads it, by any of its names."""
        return (self.reader, f"{self.reader}.{self.name}")

    @property
    def reader(self) -> str:
        return f"{self.name}-pool" if self.is_group or self.kind == "share" else self.name

    def member(self, number: int) -> str:
        """The name of a member, from 1."""
        if self.slow is not None:
            if number == self.slow[0]:
                return f"{self.name}-odd-1"
            return f"{self.name}-{self._word}-{number - (number > self.slow[0])}"
        return f"{self.reader if self.kind == 'share' else f'{self.name}-{self._word}'}-{number}"

    @property
    def _word(self) -> str:
        return {"queue": "worker", "share": "member"}.get(self.kind, "reader")

    def at(self, at_s: float, action: str, **more: Any) -> None:
        """Schedule something; what comes after the end is left out there."""
        self.schedule.append({"at_s": round(at_s, 2), "do": {"action": action, **more}})

    def everybody(self) -> list[str]:
        return [self.member(number) for number in range(1, self.members + 1)]

    @property
    def names(self) -> tuple[str, ...]:
        """Whatever belongs to it."""
        return (self.name, self.reader, f"{self.name}-app", *self.everybody())

    def spec(self) -> Spec:
        """Its part of a scenario."""
        made: Spec = {name: [] for name in SECTIONS}
        # Without keys what comes goes to one partition at a time, which is no healthy flow.
        keys = self.keys or (1000 if self.is_group and self.partitions > 1 else 0)
        arrivals = {**self.shape, "keys": keys}
        producer = {"name": f"{self.name}-app", "to": self.name, "arrivals": arrivals, **self.producer}
        made["producers"].append(producer | ({"linger_ms": self.linger_ms} if self.linger_ms else {}))
        work = {"kind": self.work, "mean_ms": round(self.each_ms, 3)}
        place = {"name": self.name, **self.topic}
        usual: list[tuple[str, int, Spec]] = [(f"{self.name}-{self._word}", self.members, work)]
        if self.slow is not None:
            usual = [(usual[0][0], self.members - 1, work)]
            usual.append((f"{self.name}-odd", 1, work | {"mean_ms": round(self.each_ms * self.slow[1], 3)}))
        if self.kind == "queue":
            made["queues"].append(place | {"config": self.config})
            for name, count, cost in usual:
                worker = {
                    "name": name,
                    "count": count,
                    "queue": self.name,
                    "processing": cost,
                    "prefetch": self.prefetch,
                }
                made["workers"].append(worker | ({"failures": self.failures} if self.failures else {}))
        else:
            made["topics"].append(place | {"partitions": self.partitions})
        if self.kind == "share":
            share = {
                "name": self.reader, "topics": [self.name], "count": self.members, "processing": work,
                "record_lock_duration_ms": self.config["lease_ms"], "delivery_count_limit": self.config["max_attempts"],
            }  # fmt: skip
            made["share_groups"].append(share | ({"failures": self.failures} if self.failures else {}))
        if self.is_group:
            made["groups"].append({"name": self.reader, "topics": [self.name], "protocol": self.kind, **self.group})
            for name, count, cost in usual:
                poll = max(1, min(self.poll, int(self.poll_ms / max(cost["mean_ms"], 0.1))))
                made["consumers"].append(
                    {"name": name, "count": count, "group": self.reader, "processing": cost, "static": self.static,
                     "max_poll_messages": poll}
                )  # fmt: skip
        made["schedule"] += self.schedule
        return made


Cause = Callable[[Flow], Truth]
GROUPS = ("classic", "consumer")
EVERY = (*GROUPS, "share", "queue")
LEASED = ("share", "queue")
CAUSES: dict[str, tuple[tuple[str, ...], Cause]] = {}


def cause(*kinds: str) -> Callable[[Cause], Cause]:
    """Marks what puts a cause into a flow of one of these kinds."""

    def keep(put: Cause) -> Cause:
        CAUSES[put.__name__] = (kinds, put)
        return put

    return keep


def _several(flow: Flow, least: int, most: int, load: float, times: int = 1) -> None:
    """So many members, each with as many partitions, busy for that share of the time."""
    flow.members = flow.count = flow.numbers.randint(least, most)
    flow.load = load
    if flow.is_group:
        flow.partitions = flow.members * times
    # What a message costs has a limit, so there must come enough of them.
    _keep_load(flow)


def _keep_load(flow: Flow) -> None:
    least = flow.load * flow.count / LATE_MS * 1e3
    if flow.rate < least:
        _set_rate(flow, least)


def _set_rate(flow: Flow, rate: float) -> None:
    flow.rate = rate
    flow.shape["per_s"] = rate * (2 if flow.shape["kind"] == "bursty" else 1)


def _when(flow: Flow, least_s: float = 12.0) -> tuple[float, float]:
    """A beginning in the first half, and for how long: to the end, or a while that leaves time to recover."""
    numbers = flow.numbers
    start_s = numbers.uniform(0.15, 0.35) * flow.until_s
    return start_s, max(least_s, numbers.uniform(0.2, 0.4) * flow.until_s)


@cause("classic", "consumer", "queue")
def slow_member(flow: Flow) -> Truth:
    _several(flow, 2, 6, flow.numbers.uniform(0.35, 0.6))
    if flow.kind == "queue":
        # The others take what it does not, unless they have too much already.
        flow.members = flow.count = 2
        flow.load = flow.numbers.uniform(0.75, 0.85)
        _keep_load(flow)
    factor = flow.numbers.uniform(max(2.0, 1.5 / flow.load), 20.0) if flow.is_group else flow.numbers.uniform(6, 20)
    number = flow.numbers.randint(1, flow.members)
    if flow.numbers.random() < 0.5:
        flow.slow = (number, factor)
    else:
        start_s, for_s = _when(flow)
        flow.at(start_s, "slow_down", client=flow.member(number), factor=round(factor, 1), for_s=round(for_s, 1))
    return Truth("slow_member", (flow.member(number),))


@cause("classic", "consumer", "queue")
def dead_member(flow: Flow) -> Truth:
    _several(flow, 2, 3, flow.numbers.uniform(0.6, 0.66) if flow.is_group else flow.numbers.uniform(0.75, 0.85))
    if flow.kind == "queue":
        flow.members = flow.count = 2
    start_s, for_s = _when(flow, 20)
    number = flow.numbers.randint(1, flow.members)
    more = {"for_s": round(for_s, 1)} if flow.numbers.random() < 0.6 else {}
    flow.at(start_s, "crash", client=flow.member(number), **more)
    return Truth("dead_member", (flow.member(number),))


@cause("classic", "consumer")
def flapping_member(flow: Flow) -> Truth:
    _several(flow, 2, 5, flow.numbers.uniform(0.3, 0.5))
    number, at_s = flow.numbers.randint(1, flow.members), 5.0
    timeout_s = flow.group["session_timeout_ms"] / 1e3
    away_s = timeout_s + flow.numbers.uniform(1, 3)
    for _ in range(flow.numbers.randint(3, 6)):
        flow.at(at_s, "crash", client=flow.member(number), for_s=round(away_s, 1))
        at_s += away_s + flow.numbers.uniform(3, 8)
    flow.until_s = max(flow.until_s, at_s + 5)
    return Truth("flapping_member", (flow.member(number),))


@cause("classic", "consumer")
def rolling_deploy(flow: Flow) -> Truth:
    _several(flow, 2, 5, flow.numbers.uniform(0.4, 0.6))
    flow.static = flow.numbers.random() < 0.4
    # Who is away for no longer than twenty messages take does no harm; a static one is away for 0.6 of its timeout.
    shortest_ms = max(6_000, round(50 * flow.each_ms) if flow.static else 0)
    flow.group["session_timeout_ms"] = max(shortest_ms, flow.group["session_timeout_ms"])
    timeout_s = flow.group["session_timeout_ms"] / 1e3
    at_s = flow.numbers.uniform(6, 15)
    away_s = timeout_s * flow.numbers.uniform(0.6, 0.9) if flow.static else timeout_s + flow.numbers.uniform(0.5, 4)
    for number in range(1, flow.members + 1):
        flow.at(at_s, "crash", client=flow.member(number), for_s=round(away_s, 1))
        at_s += away_s + flow.numbers.uniform(1, 4)
    flow.until_s = max(flow.until_s, at_s + 5)
    return Truth("rolling_deploy", flow.readers, tuple(flow.everybody()))


def _overload(flow: Flow, name: str) -> Truth:
    _several(flow, 1, 6, flow.numbers.uniform(1.2, 2.0), flow.numbers.choice((1, 2)))
    return Truth(name, flow.readers)


@cause(*EVERY)
def overload(flow: Flow) -> Truth:
    return _overload(flow, "overload")


@cause("queue")
def too_few_workers(flow: Flow) -> Truth:
    return _overload(flow, "too_few_workers")


@cause("classic", "consumer")
def hot_key(flow: Flow) -> Truth:
    _several(flow, 2, 6, flow.numbers.uniform(0.35, 0.6), flow.numbers.choice((1, 2)))
    flow.keys, flow.linger_ms = 1000, 0
    fair = flow.load / flow.members  # of all work, that its owner has besides
    share = (flow.numbers.uniform(1.2, 1.6) - fair) / flow.load / flow.members
    flow.shape["hot_share"] = round(min(0.9, max(0.3, share)), 2)
    if flow.shape["hot_share"] * flow.load * flow.members < 1.15:
        flow.load = 1.2 / (flow.shape["hot_share"] * flow.members)
    _keep_load(flow)
    partition = zlib.crc32(b"key-0") % flow.partitions
    return Truth("hot_key", ("key-0",), (f"{flow.name}/{partition}",))


@cause("classic", "consumer")
def hot_partition(flow: Flow) -> Truth:
    _several(flow, 3, 6, 0.5)
    flow.linger_ms = 0
    best = None
    for keys in range(8, 40):
        places = [zlib.crc32(f"key-{key}".encode()) % flow.partitions for key in range(keys)]
        most = max(range(flow.partitions), key=places.count)
        uneven = places.count(most) / keys * flow.partitions
        if places.count(most) >= 5 and (best is None or uneven > best[0]):
            best = (uneven, keys, most)
    assert best is not None
    uneven, flow.keys, partition = best
    flow.load = flow.numbers.uniform(1.25, 1.5) / uneven
    _keep_load(flow)
    return Truth("hot_partition", (f"{flow.name}/{partition}", f"Partition {partition} of {flow.name}"))


@cause("classic", "consumer")
def too_few_partitions(flow: Flow) -> Truth:
    flow.partitions = flow.numbers.randint(1, 4)
    flow.members, flow.count = flow.partitions + flow.numbers.randint(2, 6), flow.partitions
    flow.load = flow.numbers.uniform(1.25, 1.8)
    _keep_load(flow)
    return Truth("too_few_partitions", flow.readers, tuple(flow.everybody()))


@cause(*LEASED)
def poison(flow: Flow) -> Truth:
    _several(flow, 1, 6, flow.numbers.uniform(0.2, 0.5))
    flow.config |= {"max_attempts": flow.numbers.randint(3, 5)}
    when = {"op": "contains", "value": "7 "}
    flow.failures = [{"cause": "cannot be parsed", "rate": 1.0, "when": when}]
    if flow.kind == "queue":
        flow.config["retry"] = {"kind": "fixed", "base_ms": 200}
    flow.load = min(flow.load, 0.6 / (1 + 0.1 * (flow.config["max_attempts"] - 1)))
    return Truth("poison", flow.readers)


@cause(*LEASED)
def retry_storm(flow: Flow) -> Truth:
    rate = flow.numbers.uniform(0.5, 0.7)
    _several(flow, 1, 6, flow.numbers.uniform(1.25, 1.6) * (1 - rate))
    flow.config |= {"max_attempts": 60 if flow.kind == "queue" else 10}
    flow.failures = [{"cause": "timeout of the database", "rate": round(rate, 2)}]
    if flow.kind == "share":
        flow.failures[0]["rate"] = 0.5
        flow.load = flow.numbers.uniform(1.25, 1.6) * 0.5
    else:
        flow.config["retry"] = {"kind": "fixed", "base_ms": 200}
    return Truth("retry_storm", flow.readers)


@cause("classic", "consumer")
def retention(flow: Flow) -> Truth:
    _several(flow, 1, 4, flow.numbers.uniform(1.5, 2.0))
    flow.topic = {"log": {"segment_ms": 2_000, "retention_ms": flow.numbers.randint(4_000, 8_000)}}
    return Truth("retention", flow.readers)


@cause("classic", "consumer", "queue")
def stopped_group(flow: Flow) -> Truth:
    _several(flow, 1, 5, flow.numbers.uniform(0.2, 0.5))
    start_s, for_s = _when(flow, 15)
    action = flow.numbers.choice(("pause", "remove"))
    for member in flow.everybody():
        if action == "pause":
            flow.at(start_s, "pause", client=member, for_s=round(for_s, 1))
        else:
            flow.at(start_s, "remove_client", client=member)
            flow.at(start_s + for_s, "restore_client", client=member)
    return Truth("stopped_group", flow.readers, tuple(flow.everybody()))


@cause(*EVERY)
def blocked_producer(flow: Flow) -> Truth:
    flow.linger_ms = 0
    if flow.numbers.random() < 0.5 or flow.kind == "share":  # no producer waits for a share group
        flow.topic = {"flow": {"rate_per_s": round(flow.rate * flow.numbers.uniform(0.4, 0.7), 1), "policy": "block"}}
    else:
        _several(flow, 1, 4, flow.numbers.uniform(1.4, 2.0))
        flow.topic = {"flow": {"max_messages": flow.numbers.randint(30, 80), "policy": "block"}}
    return Truth("blocked_producer", (f"{flow.name}-app",), (flow.name, flow.reader))


@cause(*EVERY)
def burst(flow: Flow) -> Truth:
    _several(flow, 1, 5, flow.numbers.uniform(0.3, 0.45))
    on_s = flow.until_s * flow.numbers.uniform(0.08, 0.12)
    times = flow.numbers.uniform(6, 8)
    flow.shape = {"kind": "bursty", "per_s": flow.rate * times, "on_s": on_s, "off_s": on_s * (times - 1)}
    return Truth("burst", (*flow.readers, flow.name, f"{flow.name}-app"))


@cause("classic")
def rebalance_storm(flow: Flow) -> Truth:
    _several(flow, 3, 3, flow.numbers.uniform(0.72, 0.8))
    flow.group["assignor"] = flow.numbers.choice(("range", "roundrobin"))
    flow.poll, flow.poll_ms = 1_000, 6_000  # everybody waits until the last has done what it polled
    _set_rate(flow, max(20.0, flow.rate))
    at_s = 8.0
    members = flow.everybody()
    for turn in range(flow.numbers.randint(10, 14)):
        member = members[turn % len(members)]
        flow.at(at_s, "move_consumer", consumer=member, group="")
        flow.at(at_s + 2, "move_consumer", consumer=member, group=flow.reader)
        at_s += flow.numbers.uniform(4, 5)
    flow.until_s = max(flow.until_s, at_s + 5)
    return Truth("rebalance_storm", flow.readers, tuple(members))


@cause("classic", "consumer", "queue")
def slow_first_poll(flow: Flow) -> Truth:
    _several(flow, 1, 5, flow.numbers.uniform(0.3, 0.5))
    factor = round(flow.numbers.uniform(2.0 / flow.load, 12.0), 1)
    for member in flow.everybody():
        flow.at(0, "slow_down", client=member, factor=factor, for_s=round(max(10, flow.until_s * 0.2), 1))
    return Truth("slow_first_poll", flow.readers, tuple(flow.everybody()))


@cause(*LEASED)
def leases_run_out(flow: Flow) -> Truth:
    _several(flow, 1, 5, flow.numbers.uniform(0.3, 0.5))
    lease_ms = flow.numbers.choice((5_000, 10_000))
    lost = flow.numbers.uniform(1.3, 1.8) / flow.load * flow.each_ms - flow.each_ms  # ms a message that must hang
    flow.config |= {"lease_ms": lease_ms, "max_attempts": 20 if flow.kind == "queue" else 10}
    flow.failures = [{"cause": "hangs", "rate": round(min(0.3, max(0.002, lost / lease_ms)), 4), "kind": "hang"}]
    flow.prefetch = 1
    return Truth("leases_run_out", flow.readers)


def draw(seed: int, wanted: tuple[str, ...]) -> Case:
    """A case with these causes, each in a flow of its own; the same for the same seed."""
    numbers = random.Random(f"diagnosis {seed} {wanted}")
    flows, truths = _drawn(numbers, wanted)
    while sum(flow.rate for flow in flows) * max(flow.until_s for flow in flows) > MOST_MESSAGES:
        flows, truths = _drawn(numbers, wanted)
    until_s = max(flow.until_s for flow in flows)
    made: Spec = {
        "title": f"Diagnosis {seed}",
        "about": "Drawn by chance.",
        "seed": seed,
        "until_s": round(until_s, 1),
        **SESSION_MS,
    }
    for section in SECTIONS:
        found = [one for flow in flows for one in flow.spec()[section] if one.get("at_s", 0) < until_s]
        if found:
            made[section] = sorted(found, key=lambda one: one["at_s"]) if section == "schedule" else found
    return Case(seed, made, tuple(truths), {flow.name: flow.names for flow in flows})


def _drawn(numbers: random.Random, wanted: tuple[str, ...]) -> tuple[list[Flow], list[Truth]]:
    messages = numbers.choice((1_000, 1_500, 2_500, 2_500, 4_000, 8_000))
    rate = max(10.0, messages / numbers.choice((30, 60, 90, 120, 240, 600, 1_800)))
    if numbers.random() < MANY:
        rate = numbers.choice((1_000.0, 2_000.0, 5_000.0))
    until_s = max(30.0, min(1_800.0, messages / rate))
    flows: list[Flow] = []
    truths: list[Truth] = []
    for number in range(max(len(wanted), numbers.randint(1, 3))):
        kinds, put = CAUSES[wanted[number]] if number < len(wanted) else (EVERY, None)
        mine = rate if put is not None else max(5.0, min(rate, 1_000 / until_s))
        flow = Flow(numbers, NAMES[number], until_s, round(mine, 2), numbers.choice(kinds))
        _keep_load(flow)
        if put is not None:
            truths.append(put(flow))
        flows.append(flow)
    return flows, truths


def cases(count: int = 400, pairs: int = 60, first: int = 0) -> list[tuple[int, tuple[str, ...]]]:
    """Seed, from `first` on, and causes of each: a tenth healthy, the others the causes in turn; then `pairs` of two
    causes.
    """
    names = list(CAUSES)
    healthy, end = first + count // 10, first + count
    found: list[tuple[int, tuple[str, ...]]] = [(seed, ()) for seed in range(first, healthy)]
    found += [(seed, (names[seed % len(names)],)) for seed in range(healthy, end)]
    for seed in range(end, end + pairs):
        found.append((seed, tuple(random.Random(seed).sample(names, 2))))
    return found
