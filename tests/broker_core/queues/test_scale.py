"""What a queue costs as more is in flight, counted in operations: a clock would say what else the machine is doing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from broker_core.messages import Message
from broker_core.queues.lease import Held
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.states import LeaseAction
from tests import long_form
from tests.broker_core.queues.logs import MemoryPartition
from tests.broker_core.queues.queue_setup import QueueSetup


class Counted(int):
    """A time that counts how often it is compared."""

    compared = 0

    def __lt__(self, other: object) -> bool:
        Counted.compared += 1
        return int(self) < int(other)  # type: ignore[call-overload]

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return int(self) == int(other)  # type: ignore[call-overload]

    __hash__ = int.__hash__


def calls(action: Callable[[], object]) -> int:
    """How many functions, Python's and C's, `action` calls."""
    count = 0

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        # Comparisons are counted by themselves.
        count += event in ("call", "c_call") and frame.f_code.co_name not in ("__lt__", "__eq__")

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def filled(count: int) -> LeaseTable:
    """A table with `count` messages in flight, each with a lease of its own, in a scrambled order of deadlines."""
    log: Any = MemoryPartition("jobs")
    for time_ns in range(count + 100):
        log.append_batch(time_ns, [Message(b"x")])
    table = LeaseTable(log)
    for n in range(count):
        deadline_ns = Counted(1_000_000 + n * 7919 % count)
        table.take(n, f"holder-{n % 1000}", (deadline_ns, n), 1)
    assert table.in_flight == count
    return table


def ack(table: LeaseTable, offset: int) -> None:
    [(span, first, end)] = table.held(0, Held(0, offset, f"holder-{offset % 1000}"))
    table.finish(span, first, end, LeaseAction.ACKNOWLEDGE)


def expire(table: LeaseTable) -> None:
    place = table.next_due()
    assert place is not None
    for span, first, end in table.pop_due(place):
        table.move(span, first, end, LeaseAction.REQUEUE)


def each(numbers: range, action: Callable[[int], None]) -> None:
    for number in numbers:
        action(number)


def costs(count: int) -> dict[str, tuple[float, float]]:
    """Calls and comparisons of one operation, averaged over many, with `count` in flight."""
    table = filled(count)
    rounds = 90
    steps = {
        "take": lambda: [table.take(0, "late", (Counted(2_000_000), count + n), 1) for n in range(rounds)],
        "ack": lambda: each(range(count // 2, count // 2 + rounds), lambda offset: ack(table, offset)),
        "expire": lambda: each(range(rounds), lambda _: expire(table)),
        "take what expired": lambda: [table.take(0, "b", (Counted(3_000_000), 9), 1) for _ in range(rounds)],
    }
    found = {}
    for name, step in steps.items():
        Counted.compared = 0
        number = calls(step)
        found[name] = (number / rounds, Counted.compared / rounds)
    return found


@pytest.mark.promise("A10")
@long_form.both
@pytest.mark.slow
def test_take_ack_and_expire_cost_no_more_than_the_logarithm_of_what_is_in_flight():
    few, many = costs(1_000), costs(long_form.form(25_000, 100_000))
    for name, (few_calls, few_compared) in few.items():
        many_calls, many_compared = many[name]
        # The calls do not grow at all; the comparisons in the heap by at most log2(100) = 7 levels, two each.
        assert many_calls <= few_calls * 1.1, name
        # A tuple is compared by == and then by <, and deadlines of the same time add their ticket.
        assert many_compared <= few_compared + 4 * 7 + 2, (name, few_compared, many_compared)
        assert many_compared < 100, name


def test_the_heap_does_not_remember_what_is_over():
    setup = QueueSetup(lease_ms=10**6)
    largest = 0
    for n in range(5_000):
        setup.publish(str(n))
        setup.ack(setup.take()[0])
        largest = max(largest, len(setup.queue.levels.tables[0]._due))
    assert largest < 200
    assert len(setup.timers) == 1


def test_sweeping_out_what_is_over_loses_nothing_that_is_not():
    setup = QueueSetup()
    setup.publish(*(str(n) for n in range(1_000)))
    leases = [setup.take(f"h{n}")[0] for n in range(1_000)]
    for lease in leases:
        if lease.offset % 10:
            setup.queue.ack(setup.now_ns, Held(0, lease.offset, lease.holder))
    setup.until(100)
    assert setup.queue.ready == 100
    assert setup.queue.counts.lease_expired == 100
    assert [int(value) for value in setup.values(most=1_000)] == list(range(0, 1_000, 10))


def test_a_large_run_that_comes_back_is_handed_out_in_pieces_without_being_searched_each_time():
    def cost(count: int) -> int:
        setup = QueueSetup()
        setup.publish(*"x" * count)
        setup.take(most=count)
        setup.until(100)
        return calls(lambda: [setup.take(most=1) for _ in range(50)])

    assert cost(20_000) <= cost(200) * 1.1


def test_what_is_finished_costs_no_memory():
    log: Any = MemoryPartition("jobs")
    log.append_batch(0, [Message(b"x")] * 10_000)
    table = LeaseTable(log)
    table.take(0, "a", (1, 1), 10_000)
    for span, first, end in table.held(0, Held(0, 0, "a"), 10_000):
        table.finish(span, first, end, LeaseAction.ACKNOWLEDGE)
    assert table.index.first_offset() is None
    assert not table.index._pages
    assert table.held_by("a") == []
    assert table.first_open_offset == 10_000
