"""A broker for each test beside librdkafka's mock cluster, the ring, memory, schedules. Printed, never asserted."""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest
from confluent_kafka import Consumer, Producer

from broker_core.events import Event, EventKind
from broker_core.snapshots import Snapshot
from broker_core.testing import Schedule, VirtualBroker, VirtualConsumer
from broker_core.testing.embedded_broker import EmbeddedBroker
from broker_core.testing.history import MAX_RING_EVENTS, KeptEvents
from tests.benchmarks.core.measure import show_rows

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

TESTS = 100
ROUNDS = 5


@contextmanager
def ours() -> Iterator[str]:
    """Where a fresh broker is."""
    with EmbeddedBroker() as broker:
        broker.create_topic("orders")
        yield broker.bootstrap_servers


@contextmanager
def mock_cluster() -> Iterator[str]:
    """Where a fresh mock cluster of librdkafka is."""
    owner = Producer({"test.mock.num.brokers": 1})
    yield next(f"{each.host}:{each.port}" for each in owner.list_topics(timeout=10).brokers.values())


def start(broker: Callable[[], object]) -> Callable[[], None]:
    """A start and an end."""

    def run() -> None:
        with broker():  # type: ignore[attr-defined]
            pass

    return run


def whole_test(broker: Callable[[], object]) -> Callable[[], None]:
    """A topic, ten messages, and a real group of one that reads and commits them."""

    def run() -> None:
        with broker() as where:  # type: ignore[attr-defined]
            producer = Producer({"bootstrap.servers": where, "linger.ms": 0})
            for number in range(10):
                producer.produce("orders", str(number))
            producer.flush(10)
            consumer = Consumer({"bootstrap.servers": where, "group.id": "g", "auto.offset.reset": "earliest"})
            consumer.subscribe(["orders"])
            read = 0
            while read < 10:
                read += consumer.poll(1.0) is not None
            consumer.commit(asynchronous=False)
            consumer.close()

    return run


def test_a_fresh_broker_for_each_test() -> None:
    ways = {
        "start and end, ours": start(ours),
        "start and end, librdkafka's mock": start(mock_cluster),
        "a test with a group, ours": whole_test(ours),
        "a test with a group, librdkafka's mock": whole_test(mock_cluster),
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for run in ways.values():  # imports, and libraries' first use
        run()
    for _ in range(ROUNDS):
        for name, run in ways.items():
            for _ in range(TESTS // ROUNDS if "start" in name else 2):
                wall_s, cpu_s = time.perf_counter(), time.process_time()
                run()
                taken[name].append((time.perf_counter() - wall_s, time.process_time() - cpu_s))
    show_rows(
        "A fresh broker for each test, medians",
        ("wall ms", "CPU ms"),
        [
            (name, *(f"{1_000 * statistics.median(column):.1f}" for column in zip(*times, strict=True)))
            for name, times in taken.items()
        ],
    )


def test_a_hundred_brokers_leave_no_memory_behind() -> None:
    run = start(ours)
    for _ in range(10):
        run()
    gc.collect()
    tracemalloc.start()
    sizes = [tracemalloc.get_traced_memory()[0]]
    for _ in range(4):
        for _ in range(TESTS // 4):
            run()
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    rows = [
        (f"{25 * number} to {25 * number + 25}", f"{(after - before) / 25_000:.2f}")
        for number, (before, after) in enumerate(pairwise(sizes))
    ]
    show_rows("Brokers one after the other", ("kB kept of each",), rows)


def events(count: int) -> list[Event]:
    """Messages that are published."""
    return [
        Event(seq, seq * 1_000, EventKind.PUBLISHED, topic="orders", partition=0, offset=seq, count=1, key=b"k")
        for seq in range(count)
    ]


def test_the_ring_costs_an_append() -> None:
    rows = []
    for name, count in (
        ("below its size", MAX_RING_EVENTS),
        ("beyond, with what leaves it folded", 5 * MAX_RING_EVENTS),
    ):
        given = events(count)
        best = min(_ns_of(KeptEvents(Snapshot(0, 0)), given) for _ in range(ROUNDS))
        nothing = min(_ns_of(lambda _event: None, given) for _ in range(ROUNDS))
        rows.append((name, f"{(best - nothing) / count:.0f}"))
    show_rows("The ring of events", ("CPU ns an event",), rows)
    tracemalloc.start()
    ring = KeptEvents(Snapshot(0, 0))
    for seq in range(MAX_RING_EVENTS):
        ring(Event(seq, seq * 1_000, EventKind.PUBLISHED, topic="orders", partition=0, offset=seq, count=1, key=b"k"))
    show_rows("Memory of the ring", ("MB",), [("full", f"{tracemalloc.get_traced_memory()[0] / 1e6:.1f}")])
    tracemalloc.stop()


def _ns_of(sink: Callable[[Event], object], given: list[Event]) -> int:
    began = time.process_time_ns()
    for event in given:
        sink(event)
    return time.process_time_ns() - began


def test_schedules_in_a_minute() -> None:
    def read(consumer: VirtualConsumer) -> None:
        consumer.subscribe(["orders"])
        while True:
            if consumer.poll(1.0) is not None:
                consumer.commit(asynchronous=False)

    def run(seed: int) -> None:
        with VirtualBroker(Schedule(seed)) as broker:
            broker.create_topic("orders", partitions=3)
            broker.publish("orders", *map(str, range(10)))
            broker.add_consumers(read, "readers", count=2)
            broker.run()

    run(0)
    cpu_s = time.process_time()
    for seed in range(200):
        run(seed)
    show_rows(
        "Schedules in virtual time",
        ("in a CPU minute",),
        [("two consumers, ten messages", f"{60 * 200 / (time.process_time() - cpu_s):,.0f}")],
    )
