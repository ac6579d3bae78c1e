"""What is in flight survives a restart."""

from __future__ import annotations

import pytest

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.queues.retry import RetryPolicy
from tests.broker_core.queues.bench import Bench, texts


def test_leases_waits_and_counts_go_on_where_they_were():
    bench = Bench(retry=RetryPolicy("fixed", 50))
    bench.publish("done", "held", "failed", "fresh")
    done, held, failed = bench.take(most=3)
    bench.ack(done)
    bench.now_ms = 10
    bench.nack(failed)
    counts, size_bytes = bench.queue.counts, bench.queue.size_bytes
    bench.restart()
    queue = bench.queue
    assert (queue.ready, queue.delayed, queue.in_flight) == (1, 1, 1)
    assert queue.counts == counts
    assert queue.size_bytes == size_bytes
    assert queue.first_open_offset(0) == 1
    bench.until(60)
    assert texts(bench.take("b", 5)) == ["failed", "fresh"]
    bench.ack(held)
    assert queue.counts.acknowledged == 2


def test_a_lease_lasts_as_long_as_it_still_had():
    bench = Bench()
    bench.publish("one")
    bench.now_ms = 20
    bench.take()
    bench.now_ms = 50
    bench.restart(after_ms=86_400_000)
    assert bench.queue.in_flight == 1
    bench.until(86_400_050 + 69)
    assert bench.queue.in_flight == 1
    bench.until(86_400_050 + 70)
    assert bench.queue.ready == 1


def test_a_clock_that_starts_again_at_zero_does_no_harm():
    bench = Bench()
    bench.now_ms = 10**9
    bench.publish("one", "two")
    bench.take()
    bench.restart(after_ms=-(10**9))
    assert bench.now_ms == 0
    bench.until(99)
    assert bench.queue.in_flight == 1
    bench.until(100)
    assert bench.values() == ["one", "two"]


def test_ties_are_decided_as_before():
    bench = Bench(priorities=2)
    bench.publish("b", level=1)
    bench.publish("a", level=0)
    bench.now_ms = 10
    first = bench.take()[0]
    bench.take()
    bench.queue.extend(bench.now_ns, first.partition, first.offset, "a")
    bench.restart()
    bench.events.clear()
    bench.until(1_000)
    assert [(event.time_ns, event.partition) for event in bench.events] == [(110 * NS_PER_MS, 1), (110 * NS_PER_MS, 0)]


def test_history_survives_so_that_the_dead_letter_tells_all():
    bench = Bench(max_attempts=2)
    bench.publish("poison")
    bench.nack(bench.take("worker-1")[0], "first")
    bench.restart()
    bench.nack(bench.take("worker-2")[0], "second")
    assert [attempt.outcome for attempt in bench.dead_letters.get(0).attempts] == ["first", "second"]


def test_messages_that_came_while_it_was_away_are_there():
    bench = Bench()
    bench.publish("one")
    bench.take()
    state = bench.queue.state(0)
    bench.publish("two")
    bench.queue.close()
    bench.queue = bench.new_queue()
    bench.queue.restore(0, state)
    assert bench.values() == ["two"]


def test_what_retention_deleted_meanwhile_is_not_waited_for():
    bench = Bench()
    bench.publish("one", "two", "three", "four")
    bench.take(most=3)
    bench.log.partitions[0].start_offset = 2
    bench.restart()
    assert (bench.queue.in_flight, bench.queue.ready, bench.queue.size_bytes) == (1, 1, 9)


def test_a_closed_queue_tells_those_who_wait():
    bench = Bench()
    bench.publish("one")
    bench.take()
    reply = bench.wait()
    bench.queue.close()
    with pytest.raises(BrokerError) as caught:
        reply.result()
    assert caught.value.code is ErrorCode.CLOSED
    assert bench.timers.next_deadline_ns() is None
