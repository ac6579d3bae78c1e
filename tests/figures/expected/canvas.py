"""The canvas: boxes, lanes, cards, leases, links."""

from __future__ import annotations

from typing import Any

from tests.figures.expected.gauges import outcomes
from tests.figures.expected.settings import (
    REBALANCING,
    consumers_of,
    depth_of,
    flow_of,
    gate_state,
    handled,
    others_of,
    producers_of,
    state_of,
    turned_away,
    turned_away_note,
    workers_of,
)
from tests.figures.expected.trends import trend_of
from tests.figures.expected.wording import Near, Numbers, Said, numbers, per_second, window_words
from tests.figures.recount.session import Recount

Figures = dict[tuple[str, str, str], Any]
RINGS_MAX = 24
_SHORT = {"crash", "pause"}


class Canvas:
    """`rate(flow)` gives messages a second."""

    def __init__(self, recount: Recount, now_ns: int) -> None:
        self.recount = recount
        self.now_ns = now_ns
        self.found: Figures = {}

    def figures(self) -> Figures:
        """All of them."""
        recount = self.recount
        for name, target in (producers_of(recount) | others_of(recount, self.now_ns)).items():
            self._producer(name, target)
        for name in recount.listed:
            self._topic(name)
        for name in recount.groups:
            self._group(name)
        for name, group in consumers_of(recount).items():
            seated = any(member.client == name for each in recount.groups.values() for member in each.members.values())
            if not group and not seated:
                self._consumer(f"consumer:{name}", name, 0)
        for name in recount.queues:
            self._queue(name)
        return self.found

    def _set(self, name: str, **figures: Any) -> None:
        for figure, value in figures.items():
            self.found["canvas", name, figure] = value

    def _rate(self, kind: str, name: str) -> Near:
        return Near(self.recount.rate((kind, name), self.now_ns))

    def _window(self, kind: str = "published", name: str = "") -> str:
        return window_words(self.recount.over_ns((kind, name), self.now_ns))

    def _producer(self, name: str, target: str) -> None:
        told = [self.recount.done("published by", name)] if name in self.recount.ever else []
        self._set(
            f"producer:{name}",
            state=state_of(self.recount, name),
            rate_per_s=self._rate("published by", name),
            turned_away=turned_away(self.recount, name),
            note=turned_away_note(self.recount, name),
            detail=numbers(*told, target, self._window()),
        )
        kind = "queue" if target in self.recount.queues else "topic"
        blocked = name in self.recount.gates[target].blocked
        self._set(
            f"producer:{name} > {kind}:{target}",
            rate_per_s=self._rate("published by", name),
            blocked=blocked,
            reason=Said(blocked),
        )

    def _gate(self, target: str) -> object:
        if any(not client and not fault.startswith(("rule ", "fault ")) for client, fault in self.recount.faults):
            return "Disk full"
        state = gate_state(self.recount, target)
        rules = any(client == target and fault.startswith("rule ") for client, fault in self.recount.faults)
        return "Failing" if rules and state in ("", "Open") else state

    def _depth(self, target: str) -> tuple[Any, ...]:
        flow = flow_of(self.recount, target)
        limit = None if flow is None else flow.get("max_messages")
        if flow is None or not limit:
            return ()
        told = outcomes(self.recount.gates[target], flow["policy"], self.now_ns)
        return (depth_of(self.recount, target)[0], limit, *told)

    def _topic(self, name: str) -> None:
        recount, topic = self.recount, self.recount.topics[name]
        readers = [
            group.name
            for group in recount.groups.values()
            if name in group.topics() or any(place[0] == name for place in group.committed)
        ]
        schemas = [spec.get("schema") for spec in recount.scenario.get("topics", ()) if spec["name"] == name]
        schema = next((rule["subject"] for rule in schemas if rule), "")
        self._set(
            f"topic:{name}",
            rate_per_s=self._rate("published", name),
            gate=self._gate(name),
            detail=numbers(topic.published, *self._depth(name), schema, self._window()),
            schema=schema,
        )
        for number, partition in enumerate(topic.partitions):
            lane = f"lane:{name}/{number}"
            self._set(lane, start_offset=partition.start, end_offset=partition.end)
            for reader in readers:
                group, place = recount.groups[reader], (name, number)
                owner = group.owner(place)
                self._set(
                    f"{lane} {reader}",
                    committed=group.committed.get(place),
                    lag=recount.lag(reader, name, number),
                    owner=owner,
                    revoked=not owner and group.state in REBALANCING,
                    is_at_most=recount.at_most(reader, [place]),
                )

    def _group(self, name: str) -> None:
        recount, group = self.recount, self.recount.groups[name]
        owned = {member.client: len(member.owned_ns) for member in group.members.values()}
        reads = group.topics()
        self._set(
            f"group:{name}",
            state=group.state,
            generation=group.generation,
            lag=recount.group_lag(name),
            unknown=recount.lag_unknown(name),
            is_at_most=recount.at_most(name),
            trend=trend_of(recount, ("lag", name), self.now_ns)[0],
            detail=numbers(group.assignor, *reads),
        )
        consumers = consumers_of(recount)
        for client in {*(each for each, target in consumers.items() if target == name), *owned}:
            self._consumer(f"group:{name} consumer:{client}", client, owned.get(client, 0))
        for topic in reads:
            partitions = range(len(recount.topics[topic].partitions))
            owned_here = any(group.owner((topic, number)) for number in partitions)
            stopped = group.state in REBALANCING and not owned_here
            self._set(
                f"topic:{topic} > group:{name}",
                rate_per_s=self._rate("delivered in", f"{name} {topic}"),
                blocked=stopped,
                reason=Said(stopped),
            )

    def _consumer(self, place: str, name: str, partitions: int) -> None:
        self._set(
            place,
            state=state_of(self.recount, name),
            partitions=partitions,
            rate_per_s=self._rate(handled(self.recount, name), name),
            note=self._mark(name) or "",
            detail=numbers(
                *((self.recount.done("acknowledged by", name),) if name in self.recount.clients else ()),
                f"{per_second(self.recount.rate(('delivered to', name), self.now_ns))}/s",
                self._window(handled(self.recount, name), name),
            ),
        )

    def _mark(self, client: str) -> Numbers | None:
        """What the card says of a fault that lasts: how many seconds it still does."""
        for (who, _fault), row in self.recount.faults.items():
            if who == client:
                until_ns = row["detail"].get("until_ns")
                left = () if until_ns is None else (max(0, until_ns - self.now_ns) // 1_000_000_000,)
                return numbers(*left)
        return None

    def _queue(self, name: str) -> None:
        recount, queue = self.recount, self.recount.queues[name]
        waiting, delayed = queue.waiting(), queue.delayed(self.now_ns)
        self._set(
            f"queue:{name}",
            in_flight=len(queue.held()),
            dead=len(queue.letters),
            rate_per_s=self._rate("delivered", name),
            gate=self._gate(name),
            detail=numbers(queue.acknowledged, queue.redelivered, *self._depth(name), self._window()),
        )
        if delayed is not None:
            self._set(f"queue:{name}", ready=waiting - delayed, delayed=delayed)
        if queue.is_subscription:
            link = f"topic:{queue.topic} > queue:{name}"
            self._set(link, rate_per_s=self._rate("delivered", name), blocked=False, reason="")
        self._set(f"queue:{name} > workers:{name}", rate_per_s=self._rate("delivered", name), blocked=False, reason="")
        self._set(f"queue:{name} > dlq:{name}", rate_per_s=self._rate("dead_lettered", name), blocked=False, reason="")
        held = sorted(queue.held().items(), key=lambda item: (item[1].deadline_ns, item[0]))
        for (partition, offset), message in held[:RINGS_MAX]:
            whole_ns = message.deadline_ns - message.acquired_ns
            left = min(1.0, max(0.0, (message.deadline_ns - self.now_ns) / whole_ns))
            self._set(
                f"lease:{name}/{partition}/{offset}",
                left=Near(left, 0.0051),
                attempt=message.attempt,
                holder=message.holder,
            )
        for worker, target in workers_of(recount).items():
            if target == name:
                self._worker(name, worker)

    def _worker(self, queue: str, worker: str) -> None:
        held = [offset for (_, offset), one in self.recount.queues[queue].held().items() if one.holder == worker]
        note: Any = "" if not held else numbers(held[0]) if len(held) == 1 else numbers(len(held))
        self._set(
            f"queue:{queue} worker:{worker}",
            state=state_of(self.recount, worker),
            rate_per_s=self._rate("delivered to", worker),
            note=self._mark(worker) or note,
            detail=numbers(
                self.recount.done("acknowledged by", worker),
                self.recount.done("nacked", worker) + self.recount.done("lease_expired", worker),
                self._window(),
            ),
        )
