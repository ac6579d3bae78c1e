"""Redrives on three nodes of Apache Kafka that are killed again and again, with kill -9, a node's among them.

`python -m tests.reference.redrives [KILLS] [LETTERS]`, by hand. Nothing is missing in the end, the
letters that are there twice are those that were named, and the journal has each deed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition

from broker_core.errors import BrokerError
from broker_core.observation.deed_journal import DeedJournal
from broker_core.observation.kafka.config import connection_config
from broker_core.observation.kafka.peer import KafkaPeer
from broker_core.operations.guarded import PlanTopicRedrive, RedriveTopic, StopTopicRedrive, TopicRedriveProgress
from tests.reference.java_programs import NotHere, libraries
from tests.reference.nodes import Administrator, Nodes, three_nodes

PARTITIONS: Final = 3
RATE_PER_S: Final = 40.0  # ten letters a batch
LETTERS: Final = 2_000
NODE_EVERY: Final = 40  # kills
NODE_AWAY: Final = 4
PATIENCE_S: Final = 240.0
DICE: Final = random.Random(41)


class Result(NamedTuple):
    missing: int
    twice: set[str]
    named: set[str]
    deeds: Counter[str]
    killed: int
    under_way: int


def letters_into(servers: str, topic: str, count: int, size_bytes: int = 20) -> None:
    """As Spring writes them."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20, "log_level": 0})
    for number in range(count):
        headers = [
            ("kafka_dlt-original-topic", topic.encode()),
            ("kafka_dlt-original-partition", (number % PARTITIONS).to_bytes(4, "big")),
            ("kafka_dlt-original-offset", number.to_bytes(8, "big")),
            ("kafka_dlt-exception-message", b"timeout"),
        ]
        value = b"%d" % number
        while True:
            try:
                producer.produce(
                    f"{topic}-dlt",
                    value.ljust(size_bytes),
                    b"k%d" % (number % 50),
                    number % PARTITIONS,
                    headers=headers,
                )
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(120) == 0


def peer_of(servers: str, journal: Path) -> KafkaPeer:
    return KafkaPeer(connection_config(servers), allow=["redrive"], journal=DeedJournal(journal))


def redrive(servers: str, journal: Path, topic: str, rate_per_s: float, transactional: bool, told: Connection) -> None:
    """In a process of its own: tells "begun", then the run as it has ended, or the error."""
    peer = peer_of(servers, journal)
    try:
        asked = PlanTopicRedrive(topic=f"{topic}-dlt", rate_per_s=rate_per_s, transactional=transactional)
        plan = peer.ask(asked)
        told.send(("planned", plan.letters))
        run = peer.ask(RedriveTopic(topic=f"{topic}-dlt", plan=plan))
        told.send(("begun", plan.letters))
        while run.running:
            time.sleep(0.05)
            run = peer.ask(TopicRedriveProgress(topic=f"{topic}-dlt"))
        told.send(("ended", run))
    except BrokerError as error:
        told.send(("failed", str(error)))


class Runs:
    """Each in a process that is forked from one which has all modules."""

    def __init__(self, servers: str, journal: Path, topic: str, transactional: bool) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([redrive.__module__])
        self._asked = servers, journal, topic
        self._transactional = transactional

    @contextlib.contextmanager
    def one(self, rate_per_s: float) -> Iterator[tuple[Any, Connection]]:
        ours, theirs = self._context.Pipe()
        arguments = (*self._asked, rate_per_s, self._transactional, theirs)
        process = self._context.Process(target=redrive, args=arguments, daemon=True)
        process.start()
        theirs.close()
        yield process, ours
        process.kill()
        process.join()
        ours.close()


def told(connection: Connection, word: str) -> Any:
    """What comes with a word; None if it failed instead, which is said."""
    while connection.poll(PATIENCE_S):
        try:
            found, what = connection.recv()
        except EOFError:
            return None
        if found == word:
            return what
        if found in {"failed", "ended"}:
            print(f"  {found}: {what}", flush=True)
            return None
    raise TimeoutError(word)


def killed(servers: str, nodes: Nodes, journal: Path, topic: str, kills: int, transactional: bool) -> Result:
    runs, named = Runs(servers, journal, topic, transactional), set[str]()
    under_way, away = 0, 0
    for number in range(kills):
        if number % NODE_EVERY == NODE_EVERY // 2:
            away = DICE.randint(1, 3)
            nodes.send(away, signal.SIGKILL)
            print(f"  node {away} is killed", flush=True)
        elif number % NODE_EVERY == NODE_EVERY // 2 + NODE_AWAY:
            nodes.start(away)  # by this thread: with it, the node ends
        with runs.one(RATE_PER_S) as (_process, connection):
            if told(connection, "begun") is not None:
                time.sleep(DICE.uniform(0, DICE.choice((0.08, 0.8))))
                under_way += not connection.poll()
    with runs.one(100_000.0) as (_process, connection):
        run = told(connection, "ended")
    assert run is not None and not run.error, run
    named |= set(run.duplicates)
    deeds = DeedJournal(journal).read()
    for deed in deeds:
        named |= set(deed.run.duplicates if deed.run is not None else ())
    values = copies_in(servers, topic)
    letters = copies_in(servers, f"{topic}-dlt")
    twice = {value for value, count in values.items() if count > 1}
    print(
        f"  {sum(values.values())} copies of {len(letters)} letters, {max(values.values())} at most of one", flush=True
    )
    outcomes = Counter[str](deed.outcome for deed in deeds)
    return Result(len(letters.keys() - values.keys()), {v.decode() for v in twice}, named, outcomes, kills, under_way)


def copies_in(servers: str, topic: str) -> Counter[bytes]:
    """How often each value is there, of what is committed."""
    settings = {
        "bootstrap.servers": servers,
        "group.id": "checker",
        "isolation.level": "read_committed",
        "log_level": 0,
    }
    found: Counter[bytes] = Counter()
    with contextlib.closing(Consumer({**settings, "enable.partition.eof": True})) as consumer:
        for partition in range(PARTITIONS):
            consumer.assign([TopicPartition(topic, partition, 0)])
            until_s, is_end = time.monotonic() + PATIENCE_S, False
            while not is_end:
                assert time.monotonic() < until_s, f"{topic}/{partition} cannot be read"
                messages = consumer.consume(1_000, 0.3)
                found.update(each.value() for each in messages if each.error() is None)
                is_end = any(each.error() for each in messages)
    return found


def many(servers: str, journal: Path, topic: str, count: int) -> None:
    """How much memory a redrive of many letters takes, and how soon it stops."""
    letters_into(servers, topic, count, 200)
    peer = peer_of(servers, journal)
    with contextlib.closing(peer):

        def used() -> str:
            return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"

        began_s, before = time.monotonic(), used()
        plan = peer.ask(PlanTopicRedrive(topic=f"{topic}-dlt", rate_per_s=100_000.0))
        print(f"  {plan.letters} letters planned in {time.monotonic() - began_s:.1f} s, memory {before} to {used()}")
        began_s = time.monotonic()
        run = peer.ask(RedriveTopic(topic=f"{topic}-dlt", plan=plan))
        print(f"  begun in {time.monotonic() - began_s:.1f} s, memory {used()}")
        began_s = time.monotonic()
        while run.running and run.done < plan.letters // 2:
            time.sleep(0.05)
            run = peer.ask(TopicRedriveProgress(topic=f"{topic}-dlt"))
        print(f"  {run.done} after {time.monotonic() - began_s:.1f} s, memory {used()}")
        stopped_s = time.monotonic()
        while (run := peer.ask(StopTopicRedrive(topic=f"{topic}-dlt"))).running:
            time.sleep(0.01)
        print(f"  stopped in {time.monotonic() - stopped_s:.2f} s at {run.done}, {run.error or 'no error'}")
        plan = peer.ask(PlanTopicRedrive(topic=f"{topic}-dlt", rate_per_s=100_000.0))
        run = peer.ask(RedriveTopic(topic=f"{topic}-dlt", plan=plan))
        began_s = time.monotonic()
        while run.running:
            time.sleep(0.1)
            run = peer.ask(TopicRedriveProgress(topic=f"{topic}-dlt"))
        print(f"  {run.done} more in {time.monotonic() - began_s:.1f} s, memory {used()}, {run.error or 'no error'}")
    values = copies_in(servers, topic)
    print(f"  {len(values)} of {count} there, {sum(values.values()) - len(values)} more than once")


def run(kills: int, letters: int, folder: Path) -> Iterator[Result]:
    """With transactions, and without. Raises NotHere."""
    jars = libraries()
    with three_nodes(jars, folder) as nodes:
        with contextlib.closing(Administrator(jars, nodes.servers, folder / "administrator.log")) as administrator:
            for topic in ("paid", "sent", "many"):
                administrator.ask("create", topic, str(PARTITIONS))
                administrator.ask("create", f"{topic}-dlt", str(PARTITIONS))
        for topic, transactional in (("paid", True), ("sent", False)):
            print(f"{kills} kills {'with' if transactional else 'without'} transactions", flush=True)
            letters_into(nodes.servers, topic, LETTERS)
            result = killed(nodes.servers, nodes, folder / f"{topic}.deeds", topic, kills, transactional)
            print(f"  {result}")
            yield result
        print(f"{letters} letters", flush=True)
        many(nodes.servers, folder / "many.deeds", "many", letters)


if __name__ == "__main__":
    from tests.reference.redrives import run  # what a new process imports is not loaded anew

    asked = [int(each) for each in sys.argv[1:]] + [200, 100_000][len(sys.argv) - 1 :]
    try:
        with tempfile.TemporaryDirectory(prefix="redrives-") as made:
            for _ in run(asked[0], asked[1], Path(made)):
                pass
    except NotHere as error:
        print(f"Nothing was tried on Apache Kafka. {error}")
