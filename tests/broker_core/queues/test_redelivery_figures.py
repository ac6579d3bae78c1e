"""Checklist C8, "ack": messages that a worker fails on are redelivered, and one is given up, as was measured."""

from __future__ import annotations

import random

import pytest

from broker_core.clock import NS_PER_S
from broker_core.events import EventKind
from broker_core.queues.lease import Held
from tests.broker_core.queues.queue_setup import QueueSetup

UNTIL_S = 25


@pytest.mark.promise("C8")
def test_c8_ack_gives_the_measured_timeline():
    setup = QueueSetup(lease_ms=5_000, max_attempts=2)
    numbers = random.Random(192837)
    timeline: list[tuple[int, int, str, int]] = []  # message, received at, outcome, at

    def publish(now_ns: int) -> None:
        setup.now_ms = now_ns // 10**6
        setup.publish("x")
        setup.timers.at(now_ns + 3 * NS_PER_S, publish)

    def receive(now_ns: int) -> None:
        setup.queue.take(now_ns, "worker", deadline_ns=now_ns + 100 * NS_PER_S).then(work)

    def work(reply) -> None:
        [lease] = reply.result()
        taken_ns = lease.deadline_ns - 5 * NS_PER_S
        setup.timers.at(taken_ns + NS_PER_S, lambda now_ns: finish(now_ns, lease.offset, taken_ns))

    def finish(now_ns: int, offset: int, taken_ns: int) -> None:
        good = numbers.random() > 0.3
        timeline.append((offset + 1, taken_ns // NS_PER_S, "ok" if good else "fail", now_ns // NS_PER_S))
        if good:
            setup.queue.ack(now_ns, Held(0, offset, "worker"))
        receive(now_ns)

    publish(0)
    receive(0)
    setup.until(UNTIL_S * 1_000)
    told = ", ".join(f"m{message} {taken} {outcome}{at}" for message, taken, outcome, at in timeline)
    assert told == (
        "m1 0 ok1, m2 3 ok4, m3 6 ok7, m4 9 fail10, m5 12 fail13, m4 14 ok15, m6 15 ok16, m5 17 fail18, m7 18 fail19, "
        "m8 21 ok22, m7 23 fail24, m9 24 fail25"
    )
    counts = setup.queue.counts
    assert (setup.log.partitions[0].end_offset, counts.delivered, counts.acknowledged) == (9, 12, 6)
    assert [event.offset for event in setup.of(EventKind.DEAD_LETTERED)] == [5 - 1]
    assert [lease.offset + 1 for lease in setup.queue.view().leases] == [7, 9]
