"""The consumer of a queue for threads: leases, ends, the handler loop."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from broker_core.clients.middleware import Context, Middleware
from broker_core.clients.producer import Producer
from broker_core.clients.queue_consumer import Delivery, QueueConsumer
from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import StoredMessage
from broker_core.queues.config import QueueConfig
from tests.broker_core.admin import Admin


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as host:
        Admin(host).create_queue("jobs", QueueConfig(priorities=2, max_attempts=3))
        yield host


def publish(host: BrokerHost, *values: bytes, priority: int = 0) -> None:
    with Producer(host) as producer:
        for value in values:
            producer.send("jobs", value, priority=priority)


def test_the_most_urgent_comes_first_and_each_message_has_one_holder(host: BrokerHost):
    publish(host, b"later", priority=1)
    publish(host, b"a", b"b")
    with QueueConsumer(host, "jobs") as one, QueueConsumer(host, "jobs") as other:
        assert [each.message.value for each in one.take_many(2)] == [b"a", b"b"]
        taken = other.take()
        assert taken is not None and taken.message.value == b"later"
        assert one.take() is None and other.take(0.01) is None


def test_a_take_waits_for_what_comes_in_time(host: BrokerHost):
    with QueueConsumer(host, "jobs") as consumer:
        publishing = threading.Timer(0.1, publish, (host, b"a"))
        publishing.start()
        taken = consumer.take(30)
        publishing.join()
        assert taken is not None and taken.message.value == b"a"


def test_the_ends_of_a_delivery(host: BrokerHost):
    publish(host, b"a")
    with QueueConsumer(host, "jobs") as consumer:
        expected = [("release", 1), ("nack", 1), ("extend", 2)]
        for what, attempt in expected:
            taken = consumer.take()
            assert taken is not None and taken.attempt == attempt
            if what == "extend":
                before = taken.lease.deadline_ns
                taken.extend(120)
                assert taken.lease.deadline_ns > before
                taken.ack()
                taken.ack()
            else:
                getattr(taken, what)()
        assert consumer.take() is None
    assert Admin(host).describe_queue("jobs").acknowledged == 1


@pytest.mark.parametrize("what", ["nack", "release"])
def test_what_is_acknowledged_cannot_be_given_back(host: BrokerHost, what: str):
    publish(host, b"a")
    with QueueConsumer(host, "jobs") as consumer:
        taken = consumer.take()
        assert taken is not None
        taken.ack()
        with pytest.raises(BrokerError, match=r"jobs/0 @0 is acknowledged and cannot be") as refused:
            getattr(taken, what)()
        assert refused.value.code is ErrorCode.INVALID_LEASE


def test_as_a_context_manager_an_error_gives_the_message_back_with_its_cause(host: BrokerHost):
    publish(host, b"a")
    with QueueConsumer(host, "jobs") as consumer:
        for _ in range(3):
            taken = consumer.take()
            assert taken is not None
            with pytest.raises(ValueError), taken:
                raise ValueError("no such customer")
        assert consumer.take() is None
    assert Admin(host).dead_letters_by_cause("jobs") == {"ValueError: no such customer": 1}
    with QueueConsumer(host, "jobs") as consumer:
        Admin(host).redrive("jobs")
        taken = consumer.take()
        assert taken is not None and taken.attempt == 1
        with taken:
            pass
    assert Admin(host).describe_queue("jobs").acknowledged == 1


def test_a_late_ack_is_refused(host: BrokerHost):
    Admin(host).create_queue("quick", QueueConfig(lease_ms=20))
    with Producer(host) as producer:
        producer.publish("quick", b"a")
    with QueueConsumer(host, "quick") as consumer:
        taken = consumer.take()
        again = consumer.take(5)
        assert taken is not None and again is not None and again.attempt == 2
        with pytest.raises(BrokerError) as refused:
            taken.ack()
        assert refused.value.code is ErrorCode.INVALID_LEASE


def test_closing_gives_back_what_is_held_and_ends_a_take(host: BrokerHost):
    publish(host, b"a")
    consumer = QueueConsumer(host, "jobs")
    assert consumer.take() is not None
    waiting: list[object] = []
    thread = threading.Thread(target=lambda: waiting.append(consumer.take(30)))
    thread.start()
    time.sleep(0.05)
    consumer.close()
    consumer.close()
    thread.join(5)
    assert waiting == [None]
    with QueueConsumer(host, "jobs") as other:
        again = other.take()
        assert again is not None and again.attempt == 1


def test_the_handler_loop_acknowledges_what_returns_and_dead_letters_what_never_does(host: BrokerHost):
    publish(host, b"good", b"bad", b"given up", b"good")
    seen: list[bytes | None] = []
    stop = threading.Event()

    def handle(delivery: Delivery) -> None:
        seen.append(delivery.message.value)
        if delivery.message.value == b"given up":
            delivery.nack("hopeless", requeue=False)
        elif delivery.message.value == b"bad":
            raise ValueError("bad")
        if len(seen) == 6:
            stop.set()

    with QueueConsumer(host, "jobs") as consumer:
        consumer.run(handle, stop)
    view = Admin(host).describe_queue("jobs")
    assert seen.count(b"bad") == 3 and view.acknowledged == 2
    assert Admin(host).dead_letters_by_cause("jobs") == {"ValueError: bad": 1, "hopeless": 1}


def test_what_a_middleware_drops_is_done_with(host: BrokerHost):
    class Only(Middleware):
        def before_deliver(self, message: StoredMessage, context: Context) -> StoredMessage | None:
            return message if message.value == b"wanted" else None

    publish(host, b"unwanted", b"wanted")
    with QueueConsumer(host, "jobs", middleware=[Only()]) as consumer:
        assert [each.message.value for each in consumer.take_many(5)] == [b"wanted"]
    assert Admin(host).describe_queue("jobs").acknowledged == 1


def test_an_unknown_queue_is_named(host: BrokerHost):
    with pytest.raises(BrokerError) as refused:
        QueueConsumer(host, "nowhere")
    assert refused.value.code is ErrorCode.UNKNOWN_QUEUE


def test_many_are_acknowledged_in_one_step_and_those_that_were_lost_are_named(host: BrokerHost):
    publish(host, *[b"%d" % number for number in range(10)])
    publish(host, b"less urgent", priority=1)
    with QueueConsumer(host, "jobs") as consumer, QueueConsumer(host, "jobs") as other:
        taken = consumer.take_many(11)
        consumer.ack_many([*taken[:3], *taken[5:7], taken[10]])
        assert host.call(lambda _now: host.broker.queues.queue("jobs").in_flight) == 5
        taken[3].release()
        again = other.take()
        assert again is not None and again.message.value == b"3"
        lost = Delivery(host, taken[3].lease, taken[3].message)
        with pytest.raises(BrokerError) as caught:
            consumer.ack_many([lost, *taken[4:]])
        assert caught.value.code is ErrorCode.INVALID_LEASE
        queue = host.call(lambda _now: host.broker.queues.queue("jobs"))
        assert (queue.in_flight, queue.counts.acknowledged) == (1, 10)
        assert all(delivery.finished for delivery in taken)
        consumer.ack_many(taken)
        again.ack()
        assert host.call(lambda _now: (queue.in_flight, queue.counts.acknowledged)) == (0, 11)
