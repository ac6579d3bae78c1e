"""Clients that are passed on to a cluster, watched and recorded, beside the same clients that go there directly.

The cluster is the Kafka listener in a process of its own, so that no Java is needed; figures with Apache Kafka are in
the notes of `broker_core/listeners/between`.
"""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.benchmarks.core.measure import Case, show, show_rows, side_by_side
from tests.benchmarks.listeners.test_kafka import CONSUMED, PRODUCED, ROOT, consume, latencies_ms, ours, produce

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]

PRODUCE_GOAL, CONSUME_GOAL = 0.85, 0.75
P50_GOAL_MS, P99_GOAL_MS = 0.5, 2.0


@contextlib.contextmanager
def between(servers: str) -> Iterator[str]:
    """bootstrap.servers of ports that lead to `servers`."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.listeners.between_child", servers],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None and child.stdin is not None
        yield f"127.0.0.1:{int(child.stdout.readline())}"
        child.stdin.close()
        print("added ms (p50, p99), not seen:", child.stdout.readline().strip())
        child.wait(30)
    finally:
        child.kill()
        child.wait()


def test_producing_and_consuming_through_it() -> None:
    with ours() as direct, between(direct) as through:
        for servers in (direct, through):
            produce(servers, CONSUMED)
        figures = side_by_side(
            [
                Case("produce, direct", PRODUCED, lambda count: produce(direct, count)),
                Case("produce, between", PRODUCED, lambda count: produce(through, count), PRODUCE_GOAL),
                Case("consume, direct", CONSUMED, lambda count: consume(direct, count)),
                Case(
                    "consume, between", CONSUMED, lambda count: consume(through, count), CONSUME_GOAL, "consume, direct"
                ),
            ]
        )
    show("Between: confluent-kafka, watched and recorded", figures)


def test_single_messages_through_it() -> None:
    """Goal: p50 at most 0.5 ms above direct, p99 at most 2 ms."""
    with ours() as direct, between(direct) as through:
        rounds = [(latencies_ms(direct), latencies_ms(through)) for _ in range(5)]
    p50 = statistics.median(statistics.median(b) - statistics.median(a) for a, b in rounds)
    p99 = statistics.median(statistics.quantiles(b, n=100)[98] - statistics.quantiles(a, n=100)[98] for a, b in rounds)
    show_rows(
        "Between: one message after the other, above direct",
        ("ms", "goal", ""),
        [
            ("p50", f"{p50:.2f}", f"{P50_GOAL_MS:g}", "met" if p50 <= P50_GOAL_MS else "missed"),
            ("p99", f"{p99:.2f}", f"{P99_GOAL_MS:g}", "met" if p99 <= P99_GOAL_MS else "missed"),
        ],
    )
