"""Many topics, partitions and groups, and a compacted topic that is written to without end. Printed, never asserted."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

import pytest

from broker_core import Admin, BrokerHost, GroupConsumer, LogConfig, Message, Producer
from broker_core.files import MemoryFiles
from broker_core.log.compaction import Cleaner
from broker_core.log.partition_log import PartitionLog
from tests.benchmarks.core.measure import ROUNDS, Case, show, show_rows, side_by_side, timed

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

FEW, MANY = 1_000, 10_000
KEYS, BATCH = 5_000, 1_000
WRITTEN_S = 10.0


def topics(host: BrokerHost, count: int) -> None:
    for number in range(count):
        Admin(host).create_topic(f"topic-{number}")


def partitions(host: BrokerHost, count: int) -> None:
    Admin(host).create_topic("orders", partitions=count)


def groups(host: BrokerHost, count: int) -> None:
    Admin(host).create_topic("orders")
    for number in range(count):
        with GroupConsumer(host, f"group-{number}") as consumer:
            consumer.assign([("orders", 0)])
            consumer.commit({("orders", 0): 0})


def seconds(make: Callable[[BrokerHost, int], None], count: int) -> float:
    with BrokerHost() as host:
        return timed(lambda: make(host, count))


def test_ten_thousand_of_each():
    """A ratio of 1 is linear: each of ten thousand costs what each of one thousand does."""
    rows = []
    for make in (topics, partitions, groups):
        pairs = [(seconds(make, FEW), seconds(make, MANY)) for _ in range(ROUNDS)]
        few, many = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(each_many / each_few * FEW / MANY for each_few, each_many in pairs)
        rows.append((make.__name__, f"{few:.2f}", f"{many:.2f}", f"{ratio:.2f}"))
    show_rows(f"Made in memory, medians of {ROUNDS}", (f"{FEW:,}: s", f"{MANY:,}: s", "ratio"), rows)
    with BrokerHost() as host:
        topics(host, MANY)
        groups(host, MANY)
        listed = timed(lambda: Admin(host).topics()) + timed(lambda: Admin(host).groups())
        views = timed(lambda: host.call(lambda now_ns: host.broker.snapshot(now_ns, max_leases=0, max_dead_letters=0)))
        cleaned = timed(lambda: host.call(host.broker.cleaning.clean))
    took = {"listed": listed, "a snapshot": views, "cleaned": cleaned}
    each = [(name, f"{took_s * 1e3:.1f}") for name, took_s in took.items()]
    show_rows(f"{MANY:,} topics and as many groups", ("ms",), each)


def compacted() -> PartitionLog:
    config = LogConfig(cleanup="compact", segment_bytes=1_000_000)
    return PartitionLog(MemoryFiles(), "t-0", "t", 0, config=config, epoch_ms=0)


def batches(count: int) -> list[list[Message]]:
    numbers = random.Random(1)
    return [[Message(bytes(100), b"%d" % numbers.randrange(KEYS)) for _ in range(BATCH)] for _ in range(count // BATCH)]


def append(count: int) -> float:
    log, every = compacted(), batches(count)
    return timed(lambda: [log.append_batch(0, messages) for messages in every])


def append_and_compact(count: int) -> float:
    log, every, cleaner = compacted(), batches(count), Cleaner()
    started = time.perf_counter()
    for messages in every:
        log.append_batch(0, messages)
        cleaner.begin(0, (log,))
        while cleaner.step(0):
            pass
    return time.perf_counter() - started


def compact(count: int) -> float:
    log, cleaner = compacted(), Cleaner()
    for messages in batches(count):
        log.append_batch(0, messages)
    cleaner.begin(0, (log,))
    started = time.perf_counter()
    while cleaner.step(0):
        pass
    return time.perf_counter() - started


def test_what_compaction_costs_beside_writing():
    show(
        f"Messages of 100 bytes in batches of {BATCH:,}, {KEYS:,} keys",
        side_by_side(
            [
                Case("append", 500_000, append),
                Case("append, compacted as it grows", 500_000, append_and_compact),
                Case("one pass over all of it", 500_000, compact),
            ]
        ),
    )


def test_a_host_keeps_up_with_who_writes_without_a_rest():
    """Stored beside what lives: it would be 1 at best, and is 2 where a pass begins when half of all is new."""
    numbers, sent_bytes = random.Random(1), 0
    with BrokerHost() as host, Producer(host) as producer:
        admin = Admin(host)
        admin.create_topic("table", log=LogConfig(cleanup="compact", segment_bytes=1_000_000))
        ratios, worst_s, ends_s = [], 0.0, time.monotonic() + WRITTEN_S
        while time.monotonic() < ends_s:
            producer.publish_many("table", [Message(bytes(100), b"%d" % numbers.randrange(KEYS)) for _ in range(BATCH)])
            sent_bytes += BATCH * 115
            worst_s = max(worst_s, timed(admin.topics))
            ratios.append(admin.describe_topic("table").partitions[0].size_bytes / (KEYS * 115))
    rows = [
        ("written, MB/s", f"{sent_bytes / WRITTEN_S / 1e6:.1f}"),
        ("stored beside what lives, median", f"{statistics.median(ratios):.1f}"),
        ("stored beside what lives, last", f"{ratios[-1]:.1f}"),
        ("longest call meanwhile, ms", f"{worst_s * 1e3:.1f}"),
    ]
    show_rows("A compacted topic in memory, written to for ten seconds", ("",), rows)
