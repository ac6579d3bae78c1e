"""Takes, leases and their ends."""

from __future__ import annotations

import pytest

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.queues.retry import RetryPolicy
from tests.broker_core.queues.bench import Bench, texts


def refused(code: ErrorCode, call) -> None:
    with pytest.raises(BrokerError) as caught:
        call()
    assert caught.value.code is code


def test_messages_come_out_in_order_and_each_once():
    bench = Bench()
    bench.publish("one", "two")
    bench.publish("three")
    assert bench.values(most=2) == ["one", "two"]
    assert bench.values("b") == ["three"]
    assert bench.values() == []


def test_a_lease_says_who_until_when_and_which_attempt():
    bench = Bench()
    bench.now_ms = 7
    bench.publish("one")
    bench.now_ms = 10
    [lease] = bench.take("worker-1")
    assert (lease.queue, lease.partition, lease.offset, lease.holder) == ("jobs", 0, 0, "worker-1")
    assert (lease.attempt, lease.deadline_ns, lease.message.published_ns) == (1, 110 * NS_PER_MS, 7 * NS_PER_MS)


def test_acknowledged_messages_are_gone_for_good():
    bench = Bench()
    bench.publish("one", "two")
    first, second = bench.take(most=2)
    bench.ack(second)
    bench.ack(first)
    bench.until(10_000)
    assert bench.values() == []
    assert bench.queue.counts.acknowledged == 2
    assert (bench.queue.ready, bench.queue.delayed, bench.queue.in_flight, bench.queue.size_bytes) == (0, 0, 0, 0)
    assert bench.queue.first_open_offset(0) == 2


def test_a_run_is_acknowledged_whole_or_not_at_all():
    bench = Bench()
    bench.publish("one", "two", "three")
    bench.take("a", 2)
    bench.take("b")
    refused(ErrorCode.INVALID_LEASE, lambda: bench.queue.ack(0, 0, 0, "a", count=3))
    assert bench.queue.in_flight == 3
    bench.queue.ack(0, 0, 0, "a", count=2)
    assert bench.queue.in_flight == 1
    assert [(event.offset, event.count) for event in bench.of(EventKind.ACKNOWLEDGED)] == [(0, 2)]


def test_a_lease_expires_exactly_its_length_after_delivery_and_keeps_its_order():
    bench = Bench()
    bench.publish("one", "two", "three")
    bench.now_ms = 50
    assert bench.values(most=2) == ["one", "two"]
    bench.until(149)
    assert bench.queue.in_flight == 2
    bench.until(150)
    assert bench.queue.in_flight == 0
    assert bench.values("b") == ["one", "two", "three"]
    assert [event.time_ns for event in bench.of(EventKind.LEASE_EXPIRED)] == [150 * NS_PER_MS]


def test_a_late_acknowledgement_is_refused():
    bench = Bench()
    bench.publish("one")
    [late] = bench.take()
    bench.until(100)
    refused(ErrorCode.INVALID_LEASE, lambda: bench.ack(late))
    bench.take("b")
    refused(ErrorCode.INVALID_LEASE, lambda: bench.ack(late))
    assert bench.queue.in_flight == 1


def test_a_late_acknowledgement_is_refused_even_before_the_timer_has_fired():
    bench = Bench()
    bench.publish("one")
    [lease] = bench.take()
    bench.now_ms = 101
    refused(ErrorCode.INVALID_LEASE, lambda: bench.ack(lease))


def test_an_acknowledgement_whose_turn_comes_before_the_expiry_is_in_time():
    bench = Bench()
    bench.publish("one")
    bench.timers.at(100 * NS_PER_MS, lambda now_ns: bench.queue.ack(now_ns, 0, 0, "a"))
    bench.take()
    bench.until(100)
    assert (bench.queue.counts.acknowledged, bench.queue.counts.lease_expired) == (1, 0)


def test_a_holder_that_got_the_message_twice_can_tell_its_leases_apart():
    bench = Bench()
    bench.publish("one")
    [first] = bench.take()
    bench.until(100)
    [second] = bench.take()
    refused(ErrorCode.INVALID_LEASE, lambda: bench.queue.ack(bench.now_ns, 0, 0, "a", attempt=first.attempt))
    bench.queue.ack(bench.now_ns, 0, 0, "a", attempt=second.attempt)


def test_somebody_else_can_do_nothing_with_a_lease():
    bench = Bench()
    bench.publish("one")
    bench.take("a")
    queue = bench.queue
    refused(ErrorCode.INVALID_LEASE, lambda: queue.ack(0, 0, 0, "b"))
    refused(ErrorCode.INVALID_LEASE, lambda: queue.nack(0, 0, 0, "b", "no"))
    refused(ErrorCode.INVALID_LEASE, lambda: queue.release(0, 0, 0, "b"))
    refused(ErrorCode.INVALID_LEASE, lambda: queue.extend(0, 0, 0, "b", 5))
    refused(ErrorCode.INVALID_LEASE, lambda: queue.ack(0, 0, 1, "a"))
    refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, lambda: queue.ack(0, 3, 0, "a"))
    assert queue.in_flight == 1


def test_a_nacked_message_is_next_and_its_attempts_are_counted():
    bench = Bench()
    bench.publish("one", "two")
    [lease] = bench.take()
    bench.nack(lease, "no luck")
    again, other = bench.take(most=2)
    assert texts([again, other]) == ["one", "two"]
    assert (again.attempt, other.attempt) == (2, 1)
    assert bench.queue.counts.redelivered == 1
    assert bench.of(EventKind.NACKED)[0].cause == "no luck"


def test_a_release_counts_no_attempt():
    bench = Bench()
    bench.publish("one")
    for _ in range(10):
        [lease] = bench.take()
        assert lease.attempt == 1
        bench.queue.release(0, 0, lease.offset, "a")
    assert bench.queue.ready == 1
    assert bench.queue.counts.redelivered == 0


def test_an_extended_lease_ends_later_and_its_neighbours_do_not():
    bench = Bench()
    bench.publish("one", "two", "three")
    bench.take(most=3)
    bench.until(40)
    assert bench.queue.extend(bench.now_ns, 0, 1, "a", 200) == 240 * NS_PER_MS
    bench.until(100)
    assert bench.values("b") == ["one", "three"]
    bench.until(199)
    assert bench.queue.in_flight == 3
    bench.until(240)
    assert "two" in bench.values("b")
    assert [(event.offset, event.count) for event in bench.of(EventKind.LEASE_EXTENDED)] == [(1, 1)]


def test_a_lease_can_be_shortened():
    bench = Bench()
    bench.publish("one")
    bench.take()
    bench.queue.extend(0, 0, 0, "a", 5)
    bench.until(5)
    assert bench.queue.ready == 1


def test_takers_are_served_in_the_order_in_which_they_came():
    bench = Bench()
    first, second = bench.wait("a"), bench.wait("b", most=5)
    third = bench.wait("c")
    bench.publish("one", "two", "three")
    assert texts(first.result()) == ["one"]
    assert texts(second.result()) == ["two", "three"]
    assert not third.done
    assert bench.queue.waiting_takers == 1


def test_a_take_that_waits_ends_empty_at_its_deadline():
    bench = Bench()
    reply = bench.wait(for_ms=30)
    bench.until(29)
    assert not reply.done
    bench.until(30)
    assert reply.result() == []
    bench.publish("one")
    assert bench.queue.ready == 1


def test_a_cancelled_take_gets_nothing_and_loses_nothing():
    bench = Bench()
    reply = bench.wait()
    bench.queue.cancel_take(reply)
    bench.publish("one")
    assert reply.result() == []
    assert bench.values("b") == ["one"]


def test_whoever_waits_gets_what_comes_back():
    bench = Bench()
    bench.publish("one")
    [lease] = bench.take("a")
    waiting = bench.wait("b")
    bench.nack(lease)
    assert texts(waiting.result()) == ["one"]
    after_that = bench.wait("c")
    bench.until(100)
    assert [lease.attempt for lease in after_that.result()] == [3]


def test_a_callback_may_come_straight_back_without_disturbing_the_line():
    bench = Bench()
    served: list[str] = []

    def again(holder: str) -> None:
        def done(reply):
            for lease in reply.result():
                served.append(f"{holder}:{texts([lease])[0]}")
                bench.ack(lease)
                bench.wait(holder).then(done)

        bench.wait(holder).then(done)

    for holder in "ab":
        again(holder)
    bench.publish("1", "2", "3", "4", "5")
    assert served == ["a:1", "b:2", "a:3", "b:4", "a:5"]
    assert bench.queue.counts.acknowledged == 5


def test_peek_shows_what_is_next_and_takes_nothing():
    bench = Bench(priorities=2)
    bench.publish("later", level=1)
    bench.publish("one", "two")
    bench.nack(bench.take()[0])
    assert [message.value for message in bench.queue.peek(3)] == [b"one", b"two", b"later"]
    assert bench.queue.ready == 3


def test_a_client_that_closes_gives_back_what_it_holds_and_stops_waiting():
    bench = Bench()
    bench.publish("one", "two", "three")
    bench.take("a", 2)
    bench.take("b")
    parked = bench.wait("a")
    assert bench.queue.release_holder(0, "a", "closed") == 2
    assert parked.result() == []
    assert [lease.attempt for lease in bench.take("c", 5)] == [1, 1]
    assert bench.of(EventKind.RELEASED)[0].cause == "closed"


def test_a_purge_takes_out_what_nobody_holds():
    bench = Bench(retry=RetryPolicy("fixed", 50))
    bench.publish("one", "two", "three", "four")
    held, failed = bench.take(most=2)
    bench.nack(failed)
    assert (bench.queue.ready, bench.queue.delayed, bench.queue.in_flight) == (2, 1, 1)
    assert bench.queue.purge(0) == 3
    assert (bench.queue.ready, bench.queue.delayed, bench.queue.in_flight) == (0, 0, 1)
    bench.ack(held)
    bench.until(1_000)
    assert bench.values() == []
    assert sum(event.count for event in bench.of(EventKind.PURGED)) == 3
    assert bench.queue.counts.purged == 3


def test_every_event_of_a_message_carries_when_it_was_published():
    bench = Bench(max_attempts=2)
    bench.now_ms = 3
    bench.publish("one", "two")
    bench.now_ms = 5
    first, second = bench.take(most=2)
    bench.queue.extend(bench.now_ns, 0, 0, "a", 10)
    bench.nack(first)
    bench.queue.release(bench.now_ns, 0, 1, "a")
    bench.take(most=2)
    bench.until(200)
    bench.take(most=2)
    bench.queue.purge(bench.now_ns)
    assert {event.published_ns for event in bench.events} == {3 * NS_PER_MS}
    assert {event.group for event in bench.events} == {"jobs"}
    assert second.attempt == 1


def test_one_timer_serves_all_leases():
    bench = Bench()
    bench.publish(*(str(n) for n in range(50)))
    for n in range(50):
        bench.now_ms = n
        bench.take()
    assert len(bench.timers) == 1
    bench.until(1_000)
    assert bench.queue.ready == 50
    assert len(bench.timers) == 0


def test_an_expiry_takes_its_turn_among_the_timers_of_the_same_moment_by_when_the_lease_was_given():
    bench = Bench()
    bench.publish("one", "two")
    order: list[str] = []
    bench.stream.attach(lambda event: order.append(f"{event.kind}"))
    bench.take()
    bench.timers.at(150 * NS_PER_MS, lambda _: order.append("before"))
    bench.until(50)
    bench.take()
    bench.timers.at(150 * NS_PER_MS, lambda _: order.append("after"))
    bench.until(150)
    assert order[-4:] == ["lease_expired", "before", "lease_expired", "after"]


def test_an_expired_message_is_passed_over_and_reported():
    bench = Bench()
    bench.publish("old", ttl_ms=10)
    bench.publish("young", ttl_ms=1_000)
    bench.until(10)
    assert bench.values() == ["young"]
    assert bench.queue.counts.expired == 1
    assert bench.of(EventKind.EXPIRED)[0].offset == 0


def test_a_damaged_message_is_named_and_does_not_stop_the_queue():
    bench = Bench()
    bench.publish("one", "two", "three")
    bench.log.partitions[0].damaged.add(1)
    assert bench.values() == ["one", "three"]
    assert bench.queue.counts.lost == 1
    assert [event.offset for event in bench.of(EventKind.DAMAGE)] == [1]
    assert bench.queue.in_flight == 2


def test_the_view_shows_counts_and_leases_and_survives_damage():
    bench = Bench(retry=RetryPolicy("fixed", 50))
    bench.publish("one", "two", "three", "four", key=b"k")
    bench.now_ms = 5
    bench.take("a", 2)
    failed = bench.take("b")[0]
    bench.nack(failed)
    parked = [bench.wait("c", most=5), bench.wait("d")]
    bench.log.partitions[0].damaged.add(1)
    view = bench.queue.view(bench.now_ns, max_leases=2)
    assert (view.name, view.ready, view.delayed, view.in_flight, view.dead) == ("jobs", 0, 1, 3, 0)
    assert (view.lease_ms, view.max_attempts, view.priorities, view.waiting_takers) == (100, 3, 1, 1)
    assert parked[0].done
    assert [(lease.offset, lease.key, lease.holder, lease.attempt, lease.max_attempts) for lease in view.leases] == [
        (0, b"k", "a", 1, 3),
        (1, None, "a", 1, 3),
    ]
    assert view.leases[0].acquired_ns == 5 * NS_PER_MS
    assert view.leases[0].deadline_ns == 105 * NS_PER_MS
    assert bench.queue.view(bench.now_ns, max_leases=0, max_dead_letters=0).in_flight == 3


def test_deleted_records_are_not_waited_for():
    bench = Bench()
    bench.publish("one", "two", "three")
    bench.take()
    bench.log.partitions[0].start_offset = 2
    assert bench.values("b") == ["three"]
    refused(ErrorCode.INVALID_LEASE, lambda: bench.queue.ack(0, 0, 0, "a"))
    assert bench.queue.in_flight == 1


def test_settings_that_make_no_sense_are_refused():
    for wrong in ({"lease_ms": 0}, {"max_attempts": 0}, {"priorities": 0}, {"ageing_ms": -1}, {"priorities": 10_000}):
        refused(ErrorCode.INVALID_CONFIG, lambda wrong=wrong: Bench(**wrong))
    refused(ErrorCode.INVALID_REQUEST, lambda: Bench().take(most=0))
