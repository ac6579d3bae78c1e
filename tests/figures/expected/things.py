"""The inspector, of every thing that it can be asked for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.figures.expected.gauges import gauge
from tests.figures.expected.settings import (
    consumers_of,
    depth_of,
    fault_word,
    flow_of,
    gate_state,
    others_of,
    producers_of,
    state_of,
    turned_away_counts,
    workers_of,
)
from tests.figures.expected.wording import (
    holding,
    length,
    messages,
    moment,
    number,
    numbers,
    per_second,
    size,
    with_unknown,
)
from tests.figures.recount.flows import GRID_NS
from tests.figures.recount.session import Recount

Figures = dict[tuple[str, str, str], Any]
KEYS_LISTED = 12
LISTED = 50
HELD_LISTED = 12


class Things:
    """One look at `now_ns`."""

    def __init__(self, recount: Recount, now_ns: int) -> None:
        self.recount = recount
        self.now_ns = now_ns
        self.found: Figures = {}

    def figures(self) -> Figures:
        """All of them."""
        for name in self.recount.listed:
            self._topic(name)
            for partition in range(len(self.recount.topics[name].partitions)):
                self._lane(name, partition)
        for name, target in producers_of(self.recount).items():
            self._producer(name, target)
        for name, target in others_of(self.recount, self.now_ns).items():
            rate = self.recount.rate(("published by to", f"{name}\n{target}"), self.now_ns)
            told = {
                "state": state_of(self.recount, name),
                "Rate": self._flow("published by", name),
                "Published": messages(self.recount.before(("published by", name), self.now_ns // GRID_NS * GRID_NS)),
                "Publishes to": f"{target}, {per_second(rate)} messages/s",
                "Program": "another program; see its requests in the panels Connections and Requests",
            }
            self._set(f"producer:{name}", told)
        for name, group in consumers_of(self.recount).items():
            # On its way into a group that nobody has joined yet it is nowhere on the canvas.
            if not group or group in self.recount.groups:
                self._consumer(name, group)
        for name, queue in workers_of(self.recount).items():
            self._worker(name, queue)
        for name in self.recount.groups:
            self._group(name)
        for name in self.recount.queues:
            self._queue(name)
        return self.found

    def _set(self, thing: str, figures: dict[str, Any]) -> None:
        for figure, value in figures.items():
            self.found["inspector", thing, figure] = value

    def _work(self, thing: str, name: str, flow: str, counts: dict[str, int]) -> None:
        self._set(
            thing,
            {
                "state": state_of(self.recount, name),
                "Rate": self._flow(flow, name),
                **{word: messages(count) for word, count in counts.items()},
            },
        )
        seen: Counter[str] = Counter()
        for (client, fault), row in self.recount.faults.items():
            if client == name:
                until_ns = row["detail"].get("until_ns")
                left = length(self.now_ns - row["time_ns"] if until_ns is None else until_ns - self.now_ns)
                word = fault_word(client, fault)
                seen[word] += 1
                figure = f"Active fault: {word}" + (f" #{seen[word]}" if seen[word] > 1 else "")
                self.found["inspector", thing, figure] = holding(row["cause"], left)

    def _flow(self, kind: str, name: str) -> object:
        """A rate, and over how long it is the mean."""
        start_ns, end_ns = self.recount.over_ns((kind, name), self.now_ns)
        rate = f"{per_second(self.recount.rate((kind, name), self.now_ns))} messages/s"
        return holding(rate, length(end_ns - start_ns))

    def _producer(self, name: str, target: str) -> None:
        thing = f"producer:{name}"
        counts = {"Published": self.recount.done("published by", name), **turned_away_counts(self.recount, name)}
        self._work(thing, name, "published by", counts)
        self._set(thing, {"Publishes to": target})
        since_ns = self.recount.gates[target].blocked.get(name)
        if since_ns is not None:
            slowest = depth_of(self.recount, target)[1]
            self._set(thing, {"Blocked": numbers(length(self.now_ns - since_ns), target, slowest)})

    def _consumer(self, name: str, group: str) -> None:
        thing = f"consumer:{name}"
        self._work(thing, name, "acknowledged by", {"Acknowledged": self.recount.done("acknowledged by", name)})
        self._set(thing, {"Group": group or "none, on the bench"})
        for each in self.recount.groups.values():
            for member_id, member in each.members.items():
                if member.client == name:
                    self._seat(thing, each.name, member_id)

    def _seat(self, thing: str, group: str, member_id: str) -> None:
        member = self.recount.groups[group].members[member_id]
        places = sorted(member.owned_ns)
        head = f"Member of {group}: "
        owns = [
            f"{topic}/{partition}, since {moment(ns)}" for (topic, partition), ns in sorted(member.owned_ns.items())
        ]
        for at, place in enumerate(owns[:LISTED] or ["nothing"]):
            self._set(thing, {f"{head}Owns" + (f" #{at + 1}" if at else ""): place})
        lag, at_most = self.recount.group_lag(group, places), self.recount.at_most(group, places)
        unknown = sum(self.recount.lag(group, *place) is None for place in places)
        self._set(
            thing,
            {
                f"{head}Lag": with_unknown(lag, unknown, at_most),
                f"{head}Joined": moment(member.joined_ns),
                f"{head}Member id": member_id,
            },
        )

    def _worker(self, name: str, queue: str) -> None:
        thing = f"worker:{name}"
        failed = self.recount.done("nacked", name) + self.recount.done("lease_expired", name)
        counts = {"Acknowledged": self.recount.done("acknowledged by", name), "Failed": failed}
        self._work(thing, name, "delivered to", counts)
        self._set(thing, {"Queue": queue})
        held = [
            (each, offset, one)
            for each in self.recount.queues.values()
            for (_, offset), one in sorted(each.held().items())
            if one.holder == name
        ]
        seen: Counter[str] = Counter()
        for each, offset, one in held[:HELD_LISTED]:
            left = length(one.deadline_ns - self.now_ns)
            figure = f"Holds: {each.name} {offset:,}"
            seen[figure] += 1
            figure += f" #{seen[figure]}" if seen[figure] > 1 else ""
            self._set(thing, {figure: numbers(one.attempt, each.max_attempts, left)})

    def _topic(self, name: str) -> None:
        topic = self.recount.topics[name]
        thing = f"topic:{name}"
        self._set(
            thing,
            {
                "state": gate_state(self.recount, name),
                "Partitions": str(len(topic.partitions)),
                "Published": f"{messages(topic.published)}, {size(topic.published_bytes)}",
                "Rate": self._flow("published", name),
            },
        )
        readers = {group.name for group in self.recount.groups.values() if name in group.topics()}
        self.found["inspector", thing, "Read by"] = readers
        for number_, partition in enumerate(topic.partitions[:LISTED]):
            self._set(thing, {f"Partitions: {number_}": f"{partition.start:,} to {partition.end:,}"})
        self._gate(thing, name)

    def _gate(self, thing: str, target: str) -> None:
        found = gauge(self.recount, target, self.now_ns)
        if not found:
            return
        gate = self.recount.gates[target]
        depth, slowest = depth_of(self.recount, target)
        limit = (flow_of(self.recount, target) or {}).get("max_messages")
        head = "Backpressure: "
        self._set(
            thing,
            {
                f"{head}State": found["state"],
                f"{head}Depth": f"{depth:,} of {limit:,}" if limit else f"{depth:,}, no limit",
                f"{head}Rejected": messages(gate.rejected),
                f"{head}Dropped": messages(gate.dropped),
                f"{head}Evicted": messages(gate.evicted),
                f"{head}Blocked": f"{length(gate.blocked_ns(self.now_ns))} in all",
            },
        )
        if thing.startswith("topic:"):
            self._set(thing, {f"{head}Slowest": slowest or "no reader is behind"})
        for at, sentence in enumerate(found["blocked"][:8]):
            self._set(thing, {f"{head}Waiting" + (f" #{at + 1}" if at else ""): sentence})

    def _lane(self, topic: str, partition: int) -> None:
        log = self.recount.topics[topic].partitions[partition]
        thing = f"lane:{topic}/{partition}"
        self._set(thing, {"state": "", "Offsets": f"{log.start:,} to {log.end:,}"})
        begins = self.recount.begins[topic, partition]
        if begins:
            stable = min(begins.values())
            self._set(thing, {"Last stable offset": f"{stable:,}, {log.end - stable:,} before the end"})
        rows = [row for producer_id, row in self.recount.transactions.items() if producer_id in begins]
        for at, row in enumerate(sorted(rows, key=lambda row: (row["time_ns"], row["detail"]["producer_id"]))):
            figure = "Open transaction" + (f" #{at + 1}" if at else "")
            self._set(thing, {figure: row["detail"]["transactional_id"]})
        self.found["inspector", thing, "Hot keys"] = HotKeys(log.keys.copy(), log.unnamed)
        for group in self.recount.groups.values():
            if (topic, partition) not in self.recount.read_by(group.name):
                continue
            lag = self.recount.lag(group.name, topic, partition)
            lag_ns = self.recount.lag_ns(group.name, topic, partition, self.now_ns)
            at_most = self.recount.at_most(group.name, [(topic, partition)])
            text = with_unknown(lag, 0, at_most) + (f", {length(lag_ns)} behind" if lag_ns else "")
            place, head = (topic, partition), f"In {group.name}: "
            self._set(
                thing,
                {
                    f"{head}Owner": group.owner(place) or "nobody",
                    f"{head}Committed": number(group.committed.get(place)),
                    f"{head}Lag": text,
                },
            )
            if not group.owner(place):
                self._set(thing, {f"{head}Position": "n/a"})
            else:
                self._set(thing, {f"{head}Position": number(group.position.get(place))})

    def _group(self, name: str) -> None:
        group = self.recount.groups[name]
        lag = self.recount.group_lag(name)
        self._set(
            f"group:{name}",
            {
                "state": group.state,
                "Generation": str(group.generation),
                "In this state": f"{length(self.now_ns - group.since_ns)}, since {moment(group.since_ns)}",
                "Assignor": group.assignor or "n/a",
                "Leader": group.leader or "none",
                "Reads": ", ".join(group.topics()) or "nothing",
                "Lag": with_unknown(lag, self.recount.lag_unknown(name), self.recount.at_most(name)),
                "Members (count)": f"{len(group.members)}",
            },
        )
        seen: Counter[str] = Counter()
        for member in list(group.members.values())[:LISTED]:
            owned = len(member.owned_ns)
            seen[member.client] += 1
            again = f" #{seen[member.client]}" if seen[member.client] > 1 else ""
            text = "1 partition" if owned == 1 else f"{owned} partitions"
            self._set(f"group:{name}", {f"Members: {member.client}{again}": text})

    def _queue(self, name: str) -> None:
        queue = self.recount.queues[name]
        thing = f"queue:{name}"
        delayed = queue.delayed(self.now_ns)
        if delayed is not None:
            self._set(thing, {"Now: Ready": messages(queue.waiting() - delayed), "Now: Delayed": messages(delayed)})
        self._set(
            thing,
            {
                "state": gate_state(self.recount, name),
                "Now: In flight": messages(len(queue.held())),
                "Now: Dead letters": messages(len(queue.letters)),
                "So far: Delivered": self._flow("delivered", name),
                "So far: Acknowledged": messages(queue.acknowledged),
                "So far: Redelivered": f"{queue.redelivered:,} times",
                "So far: Dead-lettered": messages(queue.dead_lettered),
                "So far: Redriven": messages(queue.redriven),
                "Rules: Lease": f"{queue.lease_ns // 1_000_000:,} ms",
                "Rules: Attempts": f"at most {queue.max_attempts}",
                **(
                    {"Rules: Priorities": str(len(self.recount.topics[queue.topic].partitions))}
                    if queue.topic == name
                    else {"Rules: Reads": queue.topic}
                ),
            },
        )
        self._gate(thing, name)


@dataclass(frozen=True)
class HotKeys:
    """Rows of a key and its share: the most frequent ones, those that are as frequent in any order; None unasked."""

    keys: Counter[bytes | None]
    unnamed: int

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and self.unnamed and f"keys not read: {self.unnamed:,} " not in other:
            # Some of the batches, whose keys are in no event, were read from the log.
            total = f"{sum(self.keys.values()) + self.unnamed:,} messages"
            return all(total in line for line in other.splitlines() if "%" in line)
        return other is None or other == "".join(self._lines(other))

    def _lines(self, other: object) -> list[str]:
        assert isinstance(other, str)
        total = sum(self.keys.values())
        if not total + self.unnamed:
            return [line for line in other.splitlines(keepends=True) if "Nothing has been published" in line]
        shown = [line.partition(": ")[0] for line in other.splitlines()][: min(KEYS_LISTED, len(self.keys))]
        counts = [self.keys[None if key == "no key" else key.encode()] for key in shown]
        if counts != sorted(self.keys.values(), reverse=True)[:KEYS_LISTED]:
            return []
        lines = [
            f"{key}: {count / (total + self.unnamed):.1%}, {count:,} of {total + self.unnamed:,} messages\n"
            for key, count in zip(shown, counts, strict=True)
        ]
        more = sum(self.keys.values()) - sum(counts)
        if more:
            lines.append(f"{len(self.keys) - KEYS_LISTED:,} more keys: {more:,} messages\n")
        if self.unnamed:
            lines.append(f"keys not read: {self.unnamed:,} messages, published in batches\n")
        return lines

    __hash__ = None  # type: ignore[assignment]
