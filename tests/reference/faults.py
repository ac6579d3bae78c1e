"""Ten minutes of faults on three nodes of Apache Kafka, and whether what observes them says what was.

`python -m tests.reference.faults [SECONDS]`, by hand; `make reference` has the short form, a few changes on its one
node. What Kafka's own administrator tells at the same time, several times a period, is the truth:

- What was so for two periods, the observer shows at their end: nodes, controller, leaders, in-sync replicas, topics,
  and whether groups have members.
- What an event tells was so, about then.
- Ends and committed offsets of a look lie between those before and after it.
- A node that tells nothing for more than five periods is named by a gap.

What lasts less long than it takes to ask the administrator, he has not told: a topic that is deleted as its leaders
move is not judged. A node that is held up tells nothing: it may be called gone, and offsets are those from before. One
that goes on tells him for a moment what it knew before: that need not be shown, but an event may tell it.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from confluent_kafka import Consumer, Producer, ShareConsumer

from broker_core.events import Event, EventKind
from broker_core.observation.kafka.config import connection_config
from broker_core.observation.kafka.peer import KafkaPeer
from broker_core.observation.observed_session import ObservedSession
from broker_core.observation.peer import Look
from broker_core.snapshots import NOT_SEEN, Snapshot
from tests.reference.brokers import answers
from tests.reference.java_programs import NotHere, libraries
from tests.reference.nodes import Administrator, Nodes, three_nodes

PERIOD_S: Final = 1.0
SHOWN_S: Final = 2 * PERIOD_S
LONGEST_S: Final = 5 * PERIOD_S
STALE_S: Final = 1.5  # after it was held up, a node may still tell what it knew before
MACHINE_S: Final = 0.7  # the administrator answers late, too
GROUPS: Final = {"billing": "classic", "audit": "consumer", "tasks": "share", "words": "streams"}
COMMITTING: Final = ("billing", "audit", "words")
DICE: Final = random.Random(39)
Facts = dict[tuple[Any, ...], Any]
Stop = tuple[int, float, float]  # of a node, from and to


class Sample(NamedTuple):
    """What was so at some time between."""

    from_s: float
    to_s: float
    facts: Facts


def facts_of(told: dict[str, Any], there: dict[int, bool]) -> Facts:
    """What the administrator has told, by what it is about; what is not known is left out."""
    found: Facts = {("node", node): answering and node in told["nodes"] for node, answering in there.items()}
    if "controller" in told:
        found["controller",] = told["controller"]
    for topic, parts in told["topics"].items():
        found["topic", topic] = len(parts)
        for number, (leader, _replicas, in_sync) in enumerate(parts):
            found["leader", topic, number] = leader
            found["in sync", topic, number] = frozenset(in_sync)
    for group, state in told.get("groups", {}).items():
        found["group", group] = state.upper() != "EMPTY"
    return found


def facts_shown(shown: Snapshot) -> Facts:
    found: Facts = {("node", node.node): node.gone_ns is None for node in shown.nodes if node.address}
    found["controller",] = next((node.node for node in shown.nodes if node.is_controller), None)
    for topic in shown.topics:
        found["topic", topic.name] = len(topic.partitions)
        for part in topic.partitions:
            found["leader", topic.name, part.partition] = part.leader
            found["in sync", topic.name, part.partition] = frozenset(part.in_sync)
    for group in shown.groups:
        found["group", group.name] = bool(group.members)
    return found


def told_by(event: Event) -> Facts:
    """What is so by an event."""
    detail = event.detail or {}
    match event.kind:
        case EventKind.NODE_GONE | EventKind.NODE_SEEN:
            return {("node", detail["node"]): event.kind is EventKind.NODE_SEEN}
        case EventKind.CONTROLLER_MOVED:
            return {("controller",): detail["node"]}
        case EventKind.LEADERS_MOVED:
            return {("leader", topic, part): new for topic, part, _old, new in detail["changes"]}
        case EventKind.IN_SYNC_GROWN | EventKind.IN_SYNC_SHRUNK:
            return {("in sync", topic, part): frozenset(now) for topic, part, now in detail["changes"]}
        case EventKind.TOPIC_CREATED:
            return {("topic", event.topic): event.count}
        case EventKind.TOPIC_DELETED:
            return {("topic", event.topic): None}
    return {}


class Watching(KafkaPeer):
    """Remembers its looks: when they began and ended, and what was shown then."""

    looks: list[tuple[float, float, Look]]

    def look(self) -> Look | None:
        began_s = time.monotonic()
        found = super().look()
        if found is not None:
            self.looks.append((began_s, time.monotonic(), found))
        return found


class Truth:
    """Asks the administrator again and again, in threads."""

    def __init__(self, administrator: Administrator, ports: Mapping[int, int], stopped: set[int]) -> None:
        self.clusters: list[Sample] = []
        self.messages: list[Sample] = []
        self.failed = Counter[str]()
        self._administrator, self._ports, self._stopped = administrator, ports, stopped
        self._end = threading.Event()
        self._threads = [
            threading.Thread(target=self._look, args=(self.clusters, self._cluster), daemon=True),
            threading.Thread(target=self._look, args=(self.messages, self._messages), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _cluster(self) -> Facts:
        there = {node: answers(port) for node, port in self._ports.items() if node not in self._stopped}
        return facts_of(self._administrator.ask("cluster"), there)

    def _messages(self) -> Facts:
        told = self._administrator.ask("messages", ",".join(COMMITTING))
        found: Facts = {("end", place): at for place, at in told["ends"].items()}
        for group, offsets in told["committed"].items():
            found |= {("committed", group, place): at for place, at in offsets.items()}
        return found

    def _look(self, samples: list[Sample], ask: Callable[[], Facts]) -> None:
        while not self._end.wait(0.15):
            began_s = time.monotonic()
            try:
                found = ask()
            except (RuntimeError, TimeoutError) as error:
                self.failed[str(error)[:60]] += 1
                continue
            samples.append(Sample(began_s, time.monotonic(), found))

    def close(self) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()


class Load:
    """A producer, a group of each kind, and whoever joins meanwhile."""

    def __init__(self, servers: str, administrator: Administrator) -> None:
        self._servers, self._administrator = servers, administrator
        self._end = threading.Event()
        self._threads: dict[str, tuple[threading.Thread, threading.Event]] = {}
        thread = threading.Thread(target=self._produce, daemon=True)
        self._threads["shop"] = thread, self._end
        thread.start()
        for group, protocol in GROUPS.items():
            self.begin(group, protocol)

    def _produce(self) -> None:
        settings = {"bootstrap.servers": self._servers, "client.id": "shop", "linger.ms": 5, "log_level": 0}
        producer = Producer({**settings, "delivery.timeout.ms": 120_000})
        for number in itertools.count():
            if self._end.wait(0.03):
                break
            producer.produce("orders", b"%d" % number, partition=number % 6)
            producer.poll(0)
        producer.flush(30)

    def begin(self, group: str, protocol: str = "classic") -> None:
        if protocol == "streams":
            self._administrator.ask("stream", group, "orders")
            return
        end = threading.Event()
        consume = self._share if protocol == "share" else self._consume
        thread = threading.Thread(target=consume, args=(group, protocol, end), daemon=True)
        self._threads[group] = thread, end
        thread.start()

    def _consume(self, group: str, protocol: str, end: threading.Event) -> None:
        settings = {"bootstrap.servers": self._servers, "group.id": group, "client.id": group, "log_level": 0}
        settings |= {"group.protocol": protocol, "auto.offset.reset": "earliest", "auto.commit.interval.ms": 500}
        with contextlib.closing(Consumer(settings)) as consumer:
            consumer.subscribe(["orders"])
            while not end.is_set():
                consumer.poll(0.2)

    def _share(self, group: str, _protocol: str, end: threading.Event) -> None:
        settings = {"bootstrap.servers": self._servers, "group.id": group, "client.id": group, "log_level": 0}
        with contextlib.closing(ShareConsumer(settings)) as consumer:
            consumer.subscribe(["orders"])
            while not end.is_set():
                consumer.poll(0.2)

    def end(self, group: str) -> None:
        if group not in self._threads:
            self._administrator.ask("unstream", group)
            return
        thread, end = self._threads.pop(group)
        end.set()
        thread.join()

    def close(self) -> None:
        for name in [*self._threads]:
            self.end(name)


class Faults:
    """One heavy fault after the other, and light ones meanwhile. `stops` has when nodes were held up."""

    def __init__(self, nodes: Nodes, administrator: Administrator, load: Load, stopped: set[int]) -> None:
        self._nodes, self._administrator, self._load, self._stopped = nodes, administrator, load, stopped
        self.count = Counter[str]()
        self.stops: list[Stop] = []
        self._numbers = itertools.count(1)
        self._topics: list[str] = []
        self._groups: list[str] = []

    def run(self, for_s: float) -> None:
        until_s = time.monotonic() + for_s
        light = threading.Thread(target=self._light, args=(until_s,))
        light.start()
        heavy = itertools.cycle((self._kill, self._stop, self._gently, self._slow))
        while time.monotonic() < until_s - 30:
            node = DICE.randint(1, 3)
            fault = next(heavy)
            fault(node)
            time.sleep(6)
        light.join()

    def _note(self, what: str) -> None:
        self.count[what] += 1
        print(f"{time.monotonic() - BEGAN_S:6.1f} {what}", flush=True)

    def _back(self, node: int) -> None:
        self._nodes.start(node)
        self._note("back")
        while not answers(self._nodes.ports[node]):
            time.sleep(0.2)
        time.sleep(6)

    def _kill(self, node: int) -> None:
        self._note("killed")
        self._nodes.send(node, signal.SIGKILL)
        time.sleep(DICE.choice((4, 14)))
        self._back(node)

    def _gently(self, node: int) -> None:
        self._note("ended")
        self._nodes.send(node, signal.SIGTERM)
        self._nodes.await_end(node)
        time.sleep(6)
        self._back(node)

    def _held(self, node: int, for_s: float) -> None:
        began_s = time.monotonic()
        self._stopped.add(node)
        self._nodes.send(node, signal.SIGSTOP)
        time.sleep(for_s)
        self._nodes.send(node, signal.SIGCONT)
        self._stopped.discard(node)
        self.stops.append((node, began_s, time.monotonic()))

    def _stop(self, node: int) -> None:
        self._note("held up")
        self._held(node, DICE.choice((7, 13)))

    def _slow(self, node: int) -> None:
        self._note("slow by 3 s")
        for _ in range(4):
            self._held(node, 3.0)
            time.sleep(0.3)

    def _light(self, until_s: float) -> None:
        while time.monotonic() < until_s - 10:
            time.sleep(DICE.uniform(3, 8))
            kind = DICE.choice(("move", "create", "delete", "begin", "finish"))
            with contextlib.suppress(RuntimeError, TimeoutError):  # what a fault made impossible was none
                if kind == "move":
                    first = DICE.randint(1, 3)
                    replicas = [first, *(node for node in (1, 2, 3) if node != first)]
                    self._administrator.ask("move", "orders", str(DICE.randrange(6)), ",".join(map(str, replicas)))
                elif kind == "create":
                    name = f"topic-{next(self._numbers)}"
                    self._administrator.ask("create", name, "2")
                    self._topics.append(name)
                elif kind == "delete" and self._topics:
                    self._administrator.ask("delete", self._topics.pop(0))
                elif kind == "begin":
                    name = f"group-{next(self._numbers)}"
                    self._load.begin(name, DICE.choice(("classic", "consumer", "share", "streams")))
                    self._groups.append(name)
                elif kind == "finish" and self._groups:
                    self._load.end(self._groups.pop(0))
                else:
                    continue
                self._note(kind)


BEGAN_S = time.monotonic()
SHORT: Final = (
    *(("create", "short-1"), ("begin", "short-billing"), ("delete", "short-1"), ("create", "short-1")),
    *(("finish", "short-billing"), ("delete", "short-1")),
)


class Verdict:
    """What was not shown, what never was, which figures differ, and which silences nobody has named."""

    def __init__(self, truth: Truth, peer: Watching, events: list[tuple[float, Event]], stops: list[Stop]) -> None:
        self._looks, self._events, self._stops = peer.looks, events, stops
        self._messages = truth.messages
        self._clusters = truth.clusters
        self.checked = Counter[str]()
        self.not_shown = [*self._not_shown()]
        self.never_was = [*self._never_was()]
        self.differ = [*self._differ()]
        self.silent = [*self._silent()]

    def print(self) -> None:
        for name in ("not_shown", "never_was", "differ", "silent"):
            found = getattr(self, name)
            print(f"{name}: {len(found)}", *found[:40], sep="\n  ")

    def _is_stale(self, sample: Sample) -> bool:
        return any(sample.from_s < to_s + STALE_S and sample.to_s > to_s for _node, _from_s, to_s in self._stops)

    def _not_shown(self) -> Iterator[str]:
        samples = [each for each in self._clusters if not self._is_stale(each)]
        shown = [(to_s, facts_shown(look.snapshot)) for _from_s, to_s, look in self._looks]
        at = 0
        said: dict[tuple[Any, ...], Any] = {}
        for number, sample in enumerate(samples):
            while at < len(shown) and shown[at][0] <= sample.from_s:
                at += 1
            first = number
            while first > 0 and samples[first].from_s > sample.from_s - SHOWN_S - MACHINE_S:
                first -= 1
            if not at or not first:
                continue
            lately = [each.facts for each in samples[first : number + 1]]
            for what in {key for facts in lately for key in facts}:
                there = [facts.get(what) for facts in lately]
                if what[0] in {"group", "controller"} and None in there:
                    continue
                if len(set(there)) > 1:
                    continue
                self.checked[what[0]] += 1
                now = shown[at - 1][1].get(what)
                if what[0] == "group":
                    now = bool(now)
                if now != there[0] and said.get(what) != (now, there[0]):
                    said[what] = now, there[0]
                    yield f"{sample.from_s - BEGAN_S:.1f} {what}: {now} is shown, {there[0]} was so for two periods"

    def _never_was(self) -> Iterator[str]:
        samples = self._clusters
        for at_s, event in self._events:
            later = next((each.to_s for each in samples if each.from_s >= at_s), at_s)
            near = [
                each.facts for each in samples if at_s - SHOWN_S - 1 <= each.to_s and each.to_s <= later + MACHINE_S
            ]
            for what, value in told_by(event).items():
                self.checked[str(event.kind)] += 1
                if what[0] in {"leader", "in sync"} and any(("topic", what[1]) not in facts for facts in near):
                    continue
                if what[0] == "node" and any(what not in facts for facts in near):
                    continue
                if near and all(facts.get(what) != value for facts in near):
                    was = near[-1].get(what)
                    yield f"{at_s - BEGAN_S:.1f} {event.kind} {what} {value} ({event.cause}): it was {was}"

    def _differ(self) -> Iterator[str]:
        samples = self._messages
        for began_s, ended_s, look in self._looks:
            held_s = [at_s for _, at_s, to_s in self._stops if at_s < ended_s and began_s < to_s + SHOWN_S]
            told_s = min([began_s, *held_s]) - SHOWN_S
            before = next((each for each in reversed(samples) if each.to_s <= told_s), None)
            after = next((each for each in samples if each.from_s >= ended_s), None)
            if before is None or after is None or after.to_s - before.from_s > 6 * PERIOD_S:
                continue
            ends = {
                f"{topic.name}-{part.partition}": part.end_offset
                for topic in look.snapshot.topics
                for part in topic.partitions
            }
            rows: Facts = {("end", place): at for place, at in ends.items()}
            for group in look.snapshot.groups:
                for each in group.offsets:
                    place = f"{each.topic}-{each.partition}"
                    if each.committed is None:
                        continue
                    rows["committed", group.name, place] = each.committed
                    if group.state != NOT_SEEN and each.lag != max(0, ends[place] - each.committed):
                        yield f"{ended_s - BEGAN_S:.1f} lag of {group.name} in {place}: {each.lag}"
            for what in before.facts.keys() & after.facts.keys():
                self.checked[what[0]] += 1
                low, high = before.facts[what], after.facts[what]
                if not low <= rows.get(what, -1) <= high:
                    yield f"{ended_s - BEGAN_S:.1f} {what}: {rows.get(what)} is shown, {low} to {high} was so"

    def _silent(self) -> Iterator[str]:
        gaps = [(at_s, event) for at_s, event in self._events if event.kind is EventKind.GAP]
        for (_began_s, ended_s, _), (_, next_s, _) in itertools.pairwise(self._looks):
            if next_s - ended_s > LONGEST_S + MACHINE_S and not any(ended_s < at_s <= next_s + 0.1 for at_s, _ in gaps):
                yield f"{ended_s - BEGAN_S:.1f} nothing was looked at for {next_s - ended_s:.1f} s, and no gap says so"
        for node, from_s, to_s in self._stops:
            if to_s - from_s < LONGEST_S + SHOWN_S:
                continue
            self.checked["held up"] += 1
            named = [e for at_s, e in gaps if from_s < at_s < to_s + SHOWN_S and (e.detail or {}).get("node") == node]
            gone = [e for at_s, e in self._events if from_s < at_s < to_s and e.kind is EventKind.NODE_GONE]
            if not named and not gone:
                yield f"{from_s - BEGAN_S:.1f} node {node} was held up for {to_s - from_s:.1f} s, and no gap says so"


@contextlib.contextmanager
def watching(servers: str) -> Iterator[tuple[Watching, list[tuple[float, Event]]]]:
    """Who observes them, and what is told, and when."""
    events: list[tuple[float, Event]] = []
    peer = Watching(connection_config(servers), every_s=PERIOD_S)
    peer.looks = []
    sink = lambda event: events.append((time.monotonic(), event))  # noqa: E731
    with contextlib.closing(ObservedSession(peer, folder=None, sinks=[sink])):
        yield peer, events


def run(for_s: float, folder: Path) -> Verdict:
    """Raises NotHere."""
    jars, stopped = libraries(), set[int]()
    with contextlib.ExitStack() as stack:
        nodes = stack.enter_context(three_nodes(jars, folder))
        administrator = stack.enter_context(
            contextlib.closing(Administrator(jars, nodes.servers, folder / "administrator.log"))
        )
        administrator.ask("create", "orders", "6")
        load = stack.enter_context(contextlib.closing(Load(nodes.servers, administrator)))
        time.sleep(15)
        peer, events = stack.enter_context(watching(nodes.servers))
        truth = Truth(administrator, nodes.ports, stopped)
        faults = Faults(nodes, administrator, load, stopped)
        faults.run(for_s)
        time.sleep(5)
        truth.close()
        verdict = Verdict(truth, peer, events, faults.stops)
        looked = sorted(to_s - from_s for from_s, to_s, _ in peer.looks)
    print(
        f"{faults.count.total()} faults {dict(faults.count)}; {len(peer.looks)} looks, {len(truth.clusters)} of Kafka's"
    )
    print(
        f"checked {dict(verdict.checked)}; the administrator failed {dict(truth.failed)}; "
        f"a look waits {looked[-1]:.1f} s at most"
    )
    print("stories:", *(event.cause for _, event in events if event.kind is EventKind.INCIDENT), sep="\n  ")
    verdict.print()
    return verdict


def short(servers: str, jars: Path, folder: Path) -> bool:
    """A few changes on a node of Kafka that runs: whether what observes it says what was."""
    with contextlib.ExitStack() as stack:
        administrator = stack.enter_context(
            contextlib.closing(Administrator(jars, servers, folder / "administrator.log"))
        )
        administrator.ask("create", "orders", "6")
        load = stack.enter_context(contextlib.closing(Load(servers, administrator)))
        peer, events = stack.enter_context(watching(servers))
        truth = Truth(administrator, {0: int(servers.rpartition(":")[2])}, set())
        for what, name in SHORT:
            if what == "create":
                administrator.ask("create", name, "2")
            elif what == "delete":
                administrator.ask("delete", name)
            elif what == "begin":
                load.begin(name, "consumer")
            else:
                load.end(name)
            time.sleep(2.5 * PERIOD_S)
        truth.close()
        verdict = Verdict(truth, peer, events, [])
    print(f"observed: {len(peer.looks)} looks, {len(truth.clusters)} of Kafka's; checked {dict(verdict.checked)}")
    verdict.print()
    wanted = {*(str(kind) for kind in (EventKind.TOPIC_CREATED, EventKind.TOPIC_DELETED)), "group", "end", "committed"}
    missing = wanted - verdict.checked.keys()
    if missing:
        print(f"nothing was checked of: {', '.join(sorted(missing))}")
    return not (missing or verdict.not_shown or verdict.never_was or verdict.differ or verdict.silent)


if __name__ == "__main__":
    try:
        with tempfile.TemporaryDirectory(prefix="faults-") as made:
            run(float(sys.argv[1]) if len(sys.argv) > 1 else 600.0, Path(made))
    except NotHere as error:
        print(f"Nothing was tried on Apache Kafka. {error}")
