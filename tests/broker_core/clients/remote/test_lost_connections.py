"""A remote client in a bad network, with a broker that restarts, with none at all (A20, promises 10 and 30)."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.clients.remote.broker import RemoteBroker
from broker_core.clients.remote.config import RemoteConfig
from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Access
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.wire.listener import WireListener
from tests.broker_core.clients.remote.place import Place, until
from tests.broker_core.clients.remote.wobbly import WobblyNetwork

IMPATIENT = RemoteConfig(request_timeout_ms=400, reconnect_backoff_ms=10, reconnect_backoff_max_ms=50)
QUICK = ConsumerConfig(heartbeat_interval_ms=20, session_timeout_ms=2_000, rebalance_timeout_ms=2_000)
TOKEN = "a token of at least sixteen"


def test_messages_sent_through_lost_connections_are_stored_once_and_in_order(place: Place):
    """Every connection is pulled out while answers get lost: a retry must not be a second message."""
    count = 3_000
    with place.remote() as remote, Producer(remote, ProducerConfig(linger_ms=1, retry_backoff_ms=5)) as producer:
        receipts = []
        for number in range(count):
            receipts.append(producer.send("t", b"%d" % number))
            if number % 500 == 250:
                place.network.deaf = True
                time.sleep(0.03)
                place.network.cut()
                place.network.deaf = False
            elif number % 50 == 0:
                time.sleep(0.002)
        offsets = [receipt.result(30).offset for receipt in receipts]
    assert remote.connects > 1
    assert offsets == list(range(count))
    assert place.stored() == [b"%d" % number for number in range(count)]


def test_a_consumer_goes_on_through_lost_connections(place: Place):
    with (
        place.remote() as remote,
        GroupConsumer(remote, "g", ["t"], QUICK) as consumer,
        Producer(place.host) as producer,
    ):
        found: list[bytes | None] = []
        end_s = time.monotonic() + 20
        sent = 0
        while len(found) < 200 and time.monotonic() < end_s:
            if sent < 200:
                producer.publish("t", b"%d" % sent)
                sent += 1
            if sent in {50, 100, 150}:
                place.network.cut()
            found += [message.value for message in consumer.poll(0.02)]
        assert found == [b"%d" % number for number in range(200)]
        consumer.commit()
        assert consumer.committed("t", 0) == 200
        assert remote.connects >= 3


def test_a_long_poll_outlives_its_connection(place: Place):
    with place.remote() as remote, GroupConsumer(remote, "g", ["t"], QUICK) as consumer:
        while not consumer.assignment:
            consumer.poll(0.05)
        timer = threading.Timer(0.1, place.network.cut)
        timer.start()
        later = threading.Timer(0.4, lambda: place.host.call(lambda now: _put(place, now)))
        later.start()
        started_s = time.monotonic()
        found = [message.value for message in consumer.poll(0.05)]
        while not found and time.monotonic() - started_s < 10:
            found = [message.value for message in consumer.poll(10)]
        assert found == [b"late"]


def _put(place: Place, now_ns: int) -> None:
    from broker_core.messages import Message

    place.host.broker.publish(now_ns, "t", Message(b"late"), client="test")


def test_a_take_outlives_its_connection(place: Place):
    Admin(place.host).create_queue("jobs")
    with place.remote() as remote, QueueConsumer(remote, "jobs") as worker, Producer(place.host) as producer:
        threading.Timer(0.1, place.network.cut).start()
        threading.Timer(0.3, lambda: producer.publish("jobs", b"x")).start()
        taken = worker.take(20)
        assert taken is not None and taken.message.value == b"x"
        place.network.cut()
        taken.ack()
    assert Admin(place.host).describe_queue("jobs").acknowledged == 1


def test_a_wait_may_be_longer_than_the_broker_waits_at_a_time(place: Place):
    Admin(place.host).create_queue("jobs")
    with WireListener(place.host, port=0, limits=GuardConfig(max_wait_ms=100)) as listener:
        with RemoteBroker(port=listener.port) as remote, QueueConsumer(remote, "jobs") as worker:
            started_s = time.monotonic()
            assert worker.take(0.5) is None
            assert 0.45 < time.monotonic() - started_s < 5
            with Producer(place.host) as producer:
                threading.Timer(0.35, lambda: producer.publish("jobs", b"x")).start()
                assert worker.take(20) is not None


def test_a_take_of_a_closed_consumer_is_not_taken_up_again(place: Place):
    Admin(place.host).create_queue("jobs")
    with place.remote() as remote:
        worker = QueueConsumer(remote, "jobs")
        thread = threading.Thread(target=worker.take, args=(30,), daemon=True)
        thread.start()
        until(lambda: place.host.broker.queue("jobs").waiting_takers == 1)
        worker.close()
        thread.join(10)
        assert not thread.is_alive()
        assert place.host.broker.queue("jobs").waiting_takers == 0


def test_a_broker_that_restarts_is_found_again(tmp_path: Path):
    with WobblyNetwork(0) as network:
        host = BrokerHost(tmp_path)
        Admin(host).create_topic("t", 1)
        network.target = WireListener(host, port=0).start().port
        config = RemoteConfig(reconnect_backoff_ms=10, reconnect_backoff_max_ms=50)
        with RemoteBroker(port=network.port, config=config) as remote, Producer(remote) as producer:
            with GroupConsumer(remote, "g", ["t"], QUICK) as consumer:
                producer.publish("t", b"before", ttl_ms=600_000)
                found = drained(consumer, 1)
                consumer.commit()
                host.close()
                waiting = producer.send("t", b"while it was away", ttl_ms=600_000)
                time.sleep(0.2)
                host = BrokerHost(tmp_path)
                network.target = WireListener(host, port=0).start().port
                assert waiting.result(20).offset == 1
                producer.publish("t", b"after", ttl_ms=600_000)
                found += drained(consumer, 2)
                consumer.commit()
                assert found == [b"before", b"while it was away", b"after"]
                assert consumer.committed("t", 0) == 3
        host.close()


def drained(consumer: GroupConsumer, count: int) -> list[bytes | None]:
    found: list[bytes | None] = []
    end_s = time.monotonic() + 20
    while len(found) < count and time.monotonic() < end_s:
        found += [message.value for message in consumer.poll(0.05)]
    return found


def test_nobody_there_is_said_at_once():
    with WobblyNetwork(0) as network:
        port = network.port
    with pytest.raises(BrokerError) as caught:
        RemoteBroker(port=port)
    assert caught.value.code is ErrorCode.CONNECTION_LOST and "brokerscope serve starts a broker" in str(caught.value)


def test_a_wrong_token_is_said_at_once():
    with BrokerHost() as host, WireListener(host, port=0, access=Access.of_token(TOKEN)) as listener:
        with pytest.raises(BrokerError) as caught:
            RemoteBroker(port=listener.port, token="wrong")
        assert caught.value.code is ErrorCode.UNAUTHORIZED
        with RemoteBroker(port=listener.port, token=TOKEN) as remote:
            assert Admin(remote).topics() == ()


def test_a_broker_that_does_not_answer_is_given_up_in_time(place: Place):
    with RemoteBroker(port=place.network.port, config=IMPATIENT) as remote:
        place.network.deaf = True
        started_s = time.monotonic()
        with pytest.raises(BrokerError) as caught:
            Admin(remote).topics()
        assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT
        assert 0.3 < time.monotonic() - started_s < 5
        place.network.deaf = False
        assert Admin(remote).topics() == ("t",)


def test_while_there_is_no_connection_questions_wait_and_then_say_so(place: Place):
    with RemoteBroker(port=place.network.port, config=IMPATIENT) as remote:
        place.network.closed_for_now = True
        place.network.cut()
        until(lambda: not remote.connected)
        with pytest.raises(BrokerError) as caught:
            Admin(remote).topics()
        assert caught.value.code is ErrorCode.CONNECTION_LOST
        threading.Timer(0.1, lambda: setattr(place.network, "closed_for_now", False)).start()
        assert Admin(remote).topics() == ("t",)


def test_a_change_whose_answer_is_lost_is_not_made_twice(place: Place):
    with place.remote() as remote:
        place.network.deaf = True
        threading.Timer(0.2, place.network.cut).start()
        with pytest.raises(BrokerError) as caught:
            Admin(remote).create_topic("once", 1)
        assert caught.value.code is ErrorCode.CONNECTION_LOST
        place.network.deaf = False
        assert Admin(remote).topics() == ("t", "once")


def test_a_paced_redrive_goes_on_after_a_lost_connection(place: Place):
    admin = Admin(place.host)
    admin.create_queue("jobs")
    with Producer(place.host) as producer, QueueConsumer(place.host, "jobs") as worker:
        for number in range(20):
            producer.publish("jobs", b"%d" % number)
        for delivery in worker.take_many(20):
            delivery.nack("no ink", requeue=False)
    with place.remote() as remote:
        running = Admin(remote).redrive_paced("jobs", range(20), rate_per_s=100)
        threading.Timer(0.08, place.network.cut).start()
        result = running.wait(20)
    assert len(result.redriven) + len(result.refused) == 20 and len(result.refused) <= 1
    assert all(each.error.code is ErrorCode.CONNECTION_LOST for each in result.refused)
    assert admin.describe_queue("jobs").ready >= 19


def test_sending_is_bounded_in_memory_and_time_while_nobody_answers(place: Place):
    with place.remote() as remote:
        config = ProducerConfig(buffer_bytes=100_000, max_block_ms=200, delivery_timeout_ms=500)
        producer = Producer(remote, config)
        producer.publish("t", b"x")
        place.network.closed_for_now = True
        place.network.cut()
        started_s = time.monotonic()
        with pytest.raises(BrokerError) as caught:
            for _ in range(1_000):
                producer.send("t", bytes(1_000))
        assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT
        assert time.monotonic() - started_s < 10
        with pytest.raises(BrokerError):
            producer.close()
        place.network.closed_for_now = False
    assert set(place.stored()) <= {b"x", bytes(1_000)}


def test_closing_does_not_wait_for_a_broker_that_is_gone(place: Place):
    remote = place.remote()
    Admin(remote).create_queue("jobs")
    consumer, worker = GroupConsumer(remote, "g", ["t"], QUICK), QueueConsumer(remote, "jobs")
    consumer.poll(0.1)
    place.network.closed_for_now = True
    place.network.cut()
    until(lambda: not remote.connected)
    started_s = time.monotonic()
    remote.close()
    remote.close()
    assert time.monotonic() - started_s < 5
    with pytest.raises(BrokerError) as caught:
        consumer.poll(0.1)
    assert caught.value.code is ErrorCode.CLOSED
    with pytest.raises(BrokerError):
        worker.take()


def test_who_waits_is_woken_by_the_close(place: Place):
    remote = place.remote()
    told: list[BrokerError] = []
    Admin(remote).create_queue("jobs")
    worker = QueueConsumer(remote, "jobs")

    def wait() -> None:
        try:
            worker.take(60)
        except BrokerError as error:
            told.append(error)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    until(lambda: place.host.broker.queue("jobs").waiting_takers == 1)
    remote.close()
    thread.join(10)
    assert not thread.is_alive()


def test_a_close_while_a_timer_waits_for_an_answer_ends_the_timers(place: Place):
    """The thread of the timers gives the lock up while it asks, and must hear of a close that comes then."""
    remote = place.remote()
    asked = threading.Event()

    def ask(_at_ns: int) -> None:
        asked.set()
        with contextlib.suppress(BrokerError):
            remote.broker.topic_names()

    place.network.deaf = True
    remote.call(lambda now_ns: remote.loop.timers.at(now_ns + 20_000_000, ask))
    assert asked.wait(5)
    time.sleep(0.05)
    stopping = threading.Thread(target=remote._stop, daemon=True)
    stopping.start()
    until(lambda: remote.closing)
    remote._link.close()  # the answer will not come
    stopping.join(8)
    assert not stopping.is_alive()
    remote.close()


def test_closing_is_bounded_where_the_broker_does_not_answer(place: Place) -> None:
    remote = RemoteBroker(port=place.listener.port)
    producer, worker = Producer(remote, client_id="shop"), GroupConsumer(remote, "g", ["t"])
    producer.publish("t", b"stored")
    worker.poll(0.1)
    with place.host.lock:  # it does nothing any more
        for _ in range(3):
            producer.send("t", b"in doubt", linger=False)
        with pytest.raises(BrokerError, match="gave up 3 messages for t") as given_up:
            remote.close(timeout_s=0.2)
    assert given_up.value.possibly_stored and remote.closing
