"""What is in flight survives a restart."""

from __future__ import annotations

import pytest

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.queues.config import RetryPolicy
from broker_core.queues.lease import Held
from tests.broker_core.queues.queue_setup import QueueSetup, texts


@pytest.mark.promise("A15")
def test_leases_waits_and_counts_go_on_where_they_were():
    setup = QueueSetup(retry=RetryPolicy("fixed", 50))
    setup.publish("done", "held", "failed", "fresh")
    done, held, failed = setup.take(most=3)
    setup.ack(done)
    setup.now_ms = 10
    setup.nack(failed)
    counts, size_bytes = setup.queue.counts, setup.queue.size_bytes
    setup.restart()
    queue = setup.queue
    assert (queue.ready, queue.delayed, queue.in_flight) == (1, 1, 1)
    assert queue.counts == counts
    assert queue.size_bytes == size_bytes
    assert queue.levels.table(0).first_open_offset == 1
    setup.until(60)
    assert texts(setup.take("b", 5)) == ["failed", "fresh"]
    setup.ack(held)
    assert queue.counts.acknowledged == 2


def test_a_lease_lasts_as_long_as_it_still_had():
    setup = QueueSetup()
    setup.publish("one")
    setup.now_ms = 20
    setup.take()
    setup.now_ms = 50
    setup.restart(after_ms=86_400_000)
    assert setup.queue.in_flight == 1
    setup.until(86_400_050 + 69)
    assert setup.queue.in_flight == 1
    setup.until(86_400_050 + 70)
    assert setup.queue.ready == 1


def test_a_clock_that_starts_again_at_zero_does_no_harm():
    setup = QueueSetup()
    setup.now_ms = 10**9
    setup.publish("one", "two")
    setup.take()
    setup.restart(after_ms=-(10**9))
    assert setup.now_ms == 0
    setup.until(99)
    assert setup.queue.in_flight == 1
    setup.until(100)
    assert setup.values() == ["one", "two"]


def test_ties_are_decided_as_before():
    setup = QueueSetup(priorities=2)
    setup.publish("b", level=1)
    setup.publish("a", level=0)
    setup.now_ms = 10
    first = setup.take()[0]
    setup.take()
    setup.queue.extend(setup.now_ns, Held(first.partition, first.offset, "a"))
    setup.restart()
    setup.events.clear()
    setup.until(1_000)
    assert [(event.time_ns, event.partition) for event in setup.events] == [(110 * NS_PER_MS, 1), (110 * NS_PER_MS, 0)]


def test_history_survives_so_that_the_dead_letter_tells_all():
    setup = QueueSetup(max_attempts=2)
    setup.publish("poison")
    setup.nack(setup.take("worker-1")[0], "first")
    setup.restart()
    setup.nack(setup.take("worker-2")[0], "second")
    assert [attempt.outcome for attempt in setup.dead_letters.get(0).attempts] == ["first", "second"]


def test_messages_that_came_while_it_was_away_are_there():
    setup = QueueSetup()
    setup.publish("one")
    setup.take()
    state = setup.queue.state(0)
    setup.publish("two")
    setup.queue.close()
    setup.queue = setup.new_queue()
    setup.queue.restore(0, state)
    assert setup.values() == ["two"]


def test_what_retention_deleted_meanwhile_is_not_waited_for():
    setup = QueueSetup()
    setup.publish("one", "two", "three", "four")
    setup.take(most=3)
    setup.log.partitions[0].start_offset = 2
    setup.restart()
    assert (setup.queue.in_flight, setup.queue.ready, setup.queue.size_bytes) == (1, 1, 9)


def test_a_closed_queue_tells_those_who_wait():
    setup = QueueSetup()
    setup.publish("one")
    setup.take()
    reply = setup.wait()
    setup.queue.close()
    with pytest.raises(BrokerError) as caught:
        reply.result()
    assert caught.value.code is ErrorCode.CLOSED
    assert setup.timers.next_deadline_ns() is None
