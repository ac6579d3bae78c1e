"""Takes, leases and their ends."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.queues.config import RetryPolicy
from broker_core.queues.lease import Held
from broker_core.queues.levels import TopicLevels
from broker_core.queues.queue import Queue
from tests.broker_core.queues.logs import MemoryTopic
from tests.broker_core.queues.queue_setup import QueueSetup, texts


def refused(code: ErrorCode, call) -> None:
    with pytest.raises(BrokerError) as caught:
        call()
    assert caught.value.code is code


@pytest.mark.promise("A8")
def test_messages_come_out_in_order_and_each_once():
    setup = QueueSetup()
    setup.publish("one", "two")
    setup.publish("three")
    assert setup.values(most=2) == ["one", "two"]
    assert setup.values("b") == ["three"]
    assert setup.values() == []


def test_a_lease_says_who_until_when_and_which_attempt():
    setup = QueueSetup()
    setup.now_ms = 7
    setup.publish("one")
    setup.now_ms = 10
    [lease] = setup.take("worker-1")
    assert (lease.queue, lease.partition, lease.offset, lease.holder) == ("jobs", 0, 0, "worker-1")
    assert (lease.attempt, lease.deadline_ns, lease.message.published_ns) == (1, 110 * NS_PER_MS, 7 * NS_PER_MS)


def test_acknowledged_messages_are_gone_for_good():
    setup = QueueSetup()
    setup.publish("one", "two")
    first, second = setup.take(most=2)
    setup.ack(second)
    setup.ack(first)
    setup.until(10_000)
    assert setup.values() == []
    assert setup.queue.counts.acknowledged == 2
    assert (setup.queue.ready, setup.queue.delayed, setup.queue.in_flight, setup.queue.size_bytes) == (0, 0, 0, 0)
    assert setup.queue.levels.table(0).first_open_offset == 2


def test_a_run_is_acknowledged_whole_or_not_at_all():
    setup = QueueSetup()
    setup.publish("one", "two", "three")
    setup.take("a", 2)
    setup.take("b")
    refused(ErrorCode.INVALID_LEASE, lambda: setup.queue.ack(0, Held(0, 0, "a"), count=3))
    assert setup.queue.in_flight == 3
    setup.queue.ack(0, Held(0, 0, "a"), count=2)
    assert setup.queue.in_flight == 1
    assert [(event.offset, event.count) for event in setup.of(EventKind.ACKNOWLEDGED)] == [(0, 2)]


@pytest.mark.promise("A10")
def test_a_lease_expires_exactly_its_length_after_delivery_and_keeps_its_order():
    setup = QueueSetup()
    setup.publish("one", "two", "three")
    setup.now_ms = 50
    assert setup.values(most=2) == ["one", "two"]
    setup.until(149)
    assert setup.queue.in_flight == 2
    setup.until(150)
    assert setup.queue.in_flight == 0
    assert setup.values("b") == ["one", "two", "three"]
    assert [event.time_ns for event in setup.of(EventKind.LEASE_EXPIRED)] == [150 * NS_PER_MS]


def test_a_late_acknowledgement_is_refused():
    setup = QueueSetup()
    setup.publish("one")
    [late] = setup.take()
    setup.until(100)
    refused(ErrorCode.INVALID_LEASE, lambda: setup.ack(late))
    setup.take("b")
    refused(ErrorCode.INVALID_LEASE, lambda: setup.ack(late))
    assert setup.queue.in_flight == 1


@pytest.mark.promise("12")
def test_a_late_acknowledgement_is_refused_even_before_the_timer_has_fired():
    setup = QueueSetup()
    setup.publish("one")
    [lease] = setup.take()
    setup.now_ms = 101
    refused(ErrorCode.INVALID_LEASE, lambda: setup.ack(lease))


def test_an_acknowledgement_whose_turn_comes_before_the_expiry_is_in_time():
    setup = QueueSetup()
    setup.publish("one")
    setup.timers.at(100 * NS_PER_MS, lambda now_ns: setup.queue.ack(now_ns, Held(0, 0, "a")))
    setup.take()
    setup.until(100)
    assert (setup.queue.counts.acknowledged, setup.queue.counts.lease_expired) == (1, 0)


def test_a_holder_that_got_the_message_twice_can_tell_its_leases_apart():
    setup = QueueSetup()
    setup.publish("one")
    [first] = setup.take()
    setup.until(100)
    [second] = setup.take()
    refused(ErrorCode.INVALID_LEASE, lambda: setup.queue.ack(setup.now_ns, Held(0, 0, "a", first.attempt)))
    setup.queue.ack(setup.now_ns, Held(0, 0, "a", second.attempt))


@pytest.mark.promise("12")
def test_somebody_else_can_do_nothing_with_a_lease():
    setup = QueueSetup()
    setup.publish("one")
    setup.take("a")
    queue = setup.queue
    refused(ErrorCode.INVALID_LEASE, lambda: queue.ack(0, Held(0, 0, "b")))
    refused(ErrorCode.INVALID_LEASE, lambda: queue.nack(0, Held(0, 0, "b"), "no"))
    refused(ErrorCode.INVALID_LEASE, lambda: queue.release(0, Held(0, 0, "b")))
    refused(ErrorCode.INVALID_LEASE, lambda: queue.extend(0, Held(0, 0, "b"), 5))
    refused(ErrorCode.INVALID_LEASE, lambda: queue.ack(0, Held(0, 1, "a")))
    refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, lambda: queue.ack(0, Held(3, 0, "a")))
    assert queue.in_flight == 1


def test_a_nacked_message_is_next_and_its_attempts_are_counted():
    setup = QueueSetup()
    setup.publish("one", "two")
    [lease] = setup.take()
    setup.nack(lease, "no luck")
    again, other = setup.take(most=2)
    assert texts([again, other]) == ["one", "two"]
    assert (again.attempt, other.attempt) == (2, 1)
    assert setup.queue.counts.redelivered == 1
    assert setup.of(EventKind.NACKED)[0].cause == "no luck"


@pytest.mark.promise("A10")
def test_a_release_counts_no_attempt():
    setup = QueueSetup()
    setup.publish("one")
    for _ in range(10):
        [lease] = setup.take()
        assert lease.attempt == 1
        setup.queue.release(0, Held(0, lease.offset, "a"))
    assert setup.queue.ready == 1
    assert setup.queue.counts.redelivered == 0


@pytest.mark.promise("A10")
def test_an_extended_lease_ends_later_and_its_neighbours_do_not():
    setup = QueueSetup()
    setup.publish("one", "two", "three")
    setup.take(most=3)
    setup.until(40)
    assert setup.queue.extend(setup.now_ns, Held(0, 1, "a"), 200) == 240 * NS_PER_MS
    setup.until(100)
    assert setup.values("b") == ["one", "three"]
    setup.until(199)
    assert setup.queue.in_flight == 3
    setup.until(240)
    assert "two" in setup.values("b")
    assert [(event.offset, event.count) for event in setup.of(EventKind.LEASE_EXTENDED)] == [(1, 1)]


def test_a_lease_can_be_shortened():
    setup = QueueSetup()
    setup.publish("one")
    setup.take()
    setup.queue.extend(0, Held(0, 0, "a"), 5)
    setup.until(5)
    assert setup.queue.ready == 1


def test_takers_are_served_in_the_order_in_which_they_came():
    setup = QueueSetup()
    first, second = setup.wait("a"), setup.wait("b", most=5)
    third = setup.wait("c")
    setup.publish("one", "two", "three")
    assert texts(first.result()) == ["one"]
    assert texts(second.result()) == ["two", "three"]
    assert not third.done
    assert setup.queue.waiting_takers == 1


@pytest.mark.promise("A8")
def test_a_take_that_waits_ends_empty_at_its_deadline():
    setup = QueueSetup()
    reply = setup.wait(for_ms=30)
    setup.until(29)
    assert not reply.done
    setup.until(30)
    assert reply.result() == []
    setup.publish("one")
    assert setup.queue.ready == 1


def test_a_cancelled_take_gets_nothing_and_loses_nothing():
    setup = QueueSetup()
    reply = setup.wait()
    setup.queue.cancel_take(reply)
    setup.publish("one")
    assert reply.result() == []
    assert setup.values("b") == ["one"]


def test_whoever_waits_gets_what_comes_back():
    setup = QueueSetup()
    setup.publish("one")
    [lease] = setup.take("a")
    waiting = setup.wait("b")
    setup.nack(lease)
    assert texts(waiting.result()) == ["one"]
    after_that = setup.wait("c")
    setup.until(100)
    assert [lease.attempt for lease in after_that.result()] == [3]


def test_a_callback_may_come_straight_back_without_disturbing_the_line():
    setup = QueueSetup()
    served: list[str] = []

    def again(holder: str) -> None:
        def done(reply):
            for lease in reply.result():
                served.append(f"{holder}:{texts([lease])[0]}")
                setup.ack(lease)
                setup.wait(holder).then(done)

        setup.wait(holder).then(done)

    for holder in "ab":
        again(holder)
    setup.publish("1", "2", "3", "4", "5")
    assert served == ["a:1", "b:2", "a:3", "b:4", "a:5"]
    assert setup.queue.counts.acknowledged == 5


@pytest.mark.promise("A8")
def test_peek_shows_what_is_next_and_takes_nothing():
    setup = QueueSetup(priorities=2)
    setup.publish("later", level=1)
    setup.publish("one", "two")
    setup.nack(setup.take()[0])
    assert [message.value for message in setup.queue.peek(3)] == [b"one", b"two", b"later"]
    assert setup.queue.ready == 3


def test_a_client_that_closes_gives_back_what_it_holds_and_stops_waiting():
    setup = QueueSetup()
    setup.publish("one", "two", "three")
    setup.take("a", 2)
    setup.take("b")
    parked = setup.wait("a")
    assert setup.queue.release_holder(0, "a", "closed") == 2
    assert parked.result() == []
    assert [lease.attempt for lease in setup.take("c", 5)] == [1, 1]
    assert setup.of(EventKind.RELEASED)[0].cause == "closed"


@pytest.mark.promise("A8")
def test_a_purge_takes_out_what_nobody_holds():
    setup = QueueSetup(retry=RetryPolicy("fixed", 50))
    setup.publish("one", "two", "three", "four")
    held, failed = setup.take(most=2)
    setup.nack(failed)
    assert (setup.queue.ready, setup.queue.delayed, setup.queue.in_flight) == (2, 1, 1)
    assert setup.queue.purge(0) == 3
    assert (setup.queue.ready, setup.queue.delayed, setup.queue.in_flight) == (0, 0, 1)
    setup.ack(held)
    setup.until(1_000)
    assert setup.values() == []
    assert sum(event.count for event in setup.of(EventKind.PURGED)) == 3
    assert setup.queue.counts.purged == 3


def test_every_event_of_a_message_carries_when_it_was_published():
    setup = QueueSetup(max_attempts=2)
    setup.now_ms = 3
    setup.publish("one", "two")
    setup.now_ms = 5
    first, second = setup.take(most=2)
    setup.queue.extend(setup.now_ns, Held(0, 0, "a"), 10)
    setup.nack(first)
    setup.queue.release(setup.now_ns, Held(0, 1, "a"))
    setup.take(most=2)
    setup.until(200)
    setup.take(most=2)
    setup.queue.purge(setup.now_ns)
    assert {event.published_ns for event in setup.events} == {3 * NS_PER_MS}
    assert {event.group for event in setup.events} == {"jobs"}
    assert second.attempt == 1


def test_one_timer_serves_all_leases():
    setup = QueueSetup()
    setup.publish(*(str(n) for n in range(50)))
    for n in range(50):
        setup.now_ms = n
        setup.take()
    assert len(setup.timers) == 1
    setup.until(1_000)
    assert setup.queue.ready == 50
    assert len(setup.timers) == 0


def test_an_expiry_takes_its_turn_among_the_timers_of_the_same_moment_by_when_the_lease_was_given():
    setup = QueueSetup()
    setup.publish("one", "two")
    order: list[str] = []
    setup.stream.attach(lambda event: order.append(f"{event.kind}"))
    setup.take()
    setup.timers.at(150 * NS_PER_MS, lambda _: order.append("before"))
    setup.until(50)
    setup.take()
    setup.timers.at(150 * NS_PER_MS, lambda _: order.append("after"))
    setup.until(150)
    assert order[-4:] == ["lease_expired", "before", "lease_expired", "after"]


@pytest.mark.promise("A24")
def test_an_expired_message_is_passed_over_and_reported():
    setup = QueueSetup()
    setup.publish("old", ttl_ms=10)
    setup.publish("young", ttl_ms=1_000)
    setup.until(10)
    assert setup.values() == ["young"]
    assert setup.queue.counts.expired == 1
    assert setup.of(EventKind.EXPIRED)[0].offset == 0


def test_a_damaged_message_is_named_and_does_not_stop_the_queue():
    setup = QueueSetup()
    setup.publish("one", "two", "three")
    setup.log.partitions[0].damaged.add(1)
    assert setup.values() == ["one", "three"]
    assert setup.queue.counts.lost == 1
    assert [event.offset for event in setup.of(EventKind.DAMAGE)] == [1]
    assert setup.queue.in_flight == 2


def test_what_compaction_has_removed_is_passed_over_and_is_no_damage():
    setup = QueueSetup()
    setup.publish("one", "two", "three")
    setup.log.partitions[0].compacted.add(1)
    assert setup.values() == ["one", "three"]
    assert (setup.queue.counts.lost, setup.queue.counts.purged) == (0, 1)
    assert [(event.offset, event.cause) for event in setup.of(EventKind.PURGED)] == [(1, "compacted")]


def test_what_compaction_has_removed_in_front_of_all_is_passed_over_where_there_are_several_partitions():
    setup = QueueSetup()
    topic: Any = MemoryTopic("orders", 2)
    setup.log, levels = topic, TopicLevels(topic.partitions, setup.config)
    setup.queue = Queue("jobs", topic, setup.dead_letters, setup.stream, setup.timers, setup.config, levels=levels)
    setup.publish("one", "two", "three")
    setup.log.partitions[0].compacted.update((0, 2))
    assert setup.values() == ["two"] and setup.values() == []
    assert [event.offset for event in setup.of(EventKind.PURGED)] == [0, 2]


def test_what_compaction_removes_from_its_holder_is_no_damage_if_it_fails_for_the_last_time():
    setup = QueueSetup(max_attempts=1)
    setup.publish("one", "two")
    (lease,) = setup.take("a")
    setup.log.partitions[0].compacted.add(0)
    setup.nack(lease)
    assert (setup.queue.counts.lost, setup.queue.counts.dead_lettered) == (0, 0)
    assert [(event.offset, event.cause) for event in setup.of(EventKind.PURGED)] == [(0, "compacted")]
    assert setup.values() == ["two"]


def test_the_view_shows_counts_and_leases_and_survives_damage():
    setup = QueueSetup(retry=RetryPolicy("fixed", 50))
    setup.publish("one", "two", "three", "four", key=b"k")
    setup.now_ms = 5
    setup.take("a", 2)
    failed = setup.take("b")[0]
    setup.nack(failed)
    parked = [setup.wait("c", most=5), setup.wait("d")]
    setup.log.partitions[0].damaged.add(1)
    view = setup.queue.view(max_leases=2)
    assert (view.name, view.ready, view.delayed, view.in_flight, view.dead) == ("jobs", 0, 1, 3, 0)
    assert (view.lease_ms, view.max_attempts, view.priorities, view.waiting_takers) == (100, 3, 1, 1)
    assert parked[0].done
    assert [(lease.offset, lease.key, lease.holder, lease.attempt, lease.max_attempts) for lease in view.leases] == [
        (0, b"k", "a", 1, 3),
        (1, None, "a", 1, 3),
    ]
    assert view.leases[0].acquired_ns == 5 * NS_PER_MS
    assert view.leases[0].deadline_ns == 105 * NS_PER_MS
    assert setup.queue.view(max_leases=0, max_dead_letters=0).in_flight == 3


def test_deleted_records_are_not_waited_for():
    setup = QueueSetup()
    setup.publish("one", "two", "three")
    setup.take()
    setup.log.partitions[0].start_offset = 2
    assert setup.values("b") == ["three"]
    refused(ErrorCode.INVALID_LEASE, lambda: setup.queue.ack(0, Held(0, 0, "a")))
    assert setup.queue.in_flight == 1


def test_settings_that_make_no_sense_are_refused():
    for wrong in ({"lease_ms": 0}, {"max_attempts": 0}, {"priorities": 0}, {"ageing_ms": -1}, {"priorities": 10_000}):
        refused(ErrorCode.INVALID_CONFIG, lambda wrong=wrong: QueueSetup(**wrong))
    refused(ErrorCode.INVALID_REQUEST, lambda: QueueSetup().take(most=0))
