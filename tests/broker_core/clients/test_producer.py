"""The producer for threads: receipts, callbacks, bounded memory, a close that loses nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest

from broker_core.clients.batches import Receipt
from broker_core.clients.middleware import Context, Middleware
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.serializers import JsonSerializer, StringSerializer
from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import HostConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.config import FlowConfig
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from tests.broker_core.admin import Admin

SLOW = ProducerConfig(linger_ms=60_000)


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as host:
        Admin(host).create_topic("commits", 1)
        yield host


def stored(host: BrokerHost) -> list[bytes | None]:
    return [message.value for message in host.broker.logs.partition("commits", 0).read(0, max_messages=10_000)]


def test_a_receipt_tells_where_the_message_is(host: BrokerHost):
    with Producer(host) as producer:
        receipts = [producer.send("commits", b"%d" % number) for number in range(5)]
        assert [receipt.result(5).offset for receipt in receipts] == [0, 1, 2, 3, 4]
        assert producer.publish("commits", b"5", b"key") == (0, 5)
        assert receipts[0].done and receipts[0].error() is None


@pytest.mark.promise("A23")
def test_callbacks_are_called_in_order_without_the_lock(host: BrokerHost):
    told: list[int] = []
    done = threading.Event()

    def on_delivery(receipt: Receipt) -> None:
        told.append(receipt.result().offset)
        host.call(lambda now_ns: None)  # would wait for ever if the lock were held
        if len(told) == 20:
            done.set()

    with Producer(host) as producer:
        for _ in range(20):
            producer.send("commits", b"x", on_delivery=on_delivery)
        assert done.wait(5)
    assert told == list(range(20))


@pytest.mark.promise("A23")
def test_closing_sends_what_lingers_and_then_takes_nothing_more(host: BrokerHost):
    producer = Producer(host, SLOW)
    receipts = [producer.send("commits", b"%d" % number) for number in range(3)]
    assert not any(receipt.done for receipt in receipts) and stored(host) == []
    producer.close()
    producer.close()
    assert stored(host) == [b"0", b"1", b"2"] and all(receipt.done for receipt in receipts)
    with pytest.raises(BrokerError) as refused:
        producer.send("commits", b"late")
    assert refused.value.code is ErrorCode.CLOSED


def test_closing_the_host_closes_its_producers_first():
    host = BrokerHost()
    Admin(host).create_topic("commits", 1)
    receipt = Producer(host, SLOW).send("commits", b"a")
    host.close()
    assert receipt.result().offset == 0


def test_flush_tells_of_a_failure_that_nobody_else_was_told_of(host: BrokerHost):
    Admin(host).configure_topic("commits", flow=FlowConfig(rate_per_s=0.001, policy="drop_newest"))
    with Producer(host) as producer:
        producer.send("commits", b"kept")
        lost = producer.send("commits", b"dropped")
        with pytest.raises(BrokerError, match="dropped"):
            producer.flush()
        assert isinstance(lost.error(), BrokerError)
        asked = producer.send("commits", b"dropped")
        assert asked.error(5) is not None
        producer.flush()
        producer.send("commits", b"unheard")
        told: list[Receipt] = []
        producer.send("commits", b"dropped", on_delivery=told.append)
        with pytest.raises(BrokerError):
            producer.close()
    assert stored(host) == [b"kept"]


def test_a_full_buffer_makes_the_sender_wait_or_raises(host: BrokerHost):
    Admin(host).configure_topic("commits", flow=FlowConfig(max_messages=1))
    reader_done = threading.Event()
    impatient = ProducerConfig(buffer_bytes=100, max_block_ms=0, linger_ms=0)
    patient = ProducerConfig(buffer_bytes=100, max_block_ms=60_000, linger_ms=0, delivery_timeout_ms=200)
    host.call(lambda now_ns: host.broker.offsets.starting(now_ns, "readers", "reader", "commits", 0, "earliest"))
    producer = Producer(host, impatient)
    producer.send("commits", b"x" * 40).result(5)
    producer.send("commits", b"x" * 40)  # parked by the gate
    with pytest.raises(BrokerError) as refused:
        producer.send("commits", b"x" * 50)
    assert refused.value.code is ErrorCode.REQUEST_TIMED_OUT
    waiting = Producer(host, patient)
    failed = waiting.send("commits", b"y" * 40)
    threading.Thread(target=reader_done.set).start()
    second = waiting.send("commits", b"y" * 50)  # waits until the first one has timed out
    assert reader_done.is_set() and isinstance(failed.error(), BrokerError)
    assert isinstance(second.error(5), BrokerError)
    waiting.close()
    with pytest.raises(BrokerError):
        producer.close(0.01)


def test_publish_many_makes_few_batches_and_keeps_each_partitions_order(host: BrokerHost):
    Admin(host).create_topic("wide", 3)
    messages = [Message(b"%d" % number, b"%d" % (number % 7)) for number in range(2_500)]
    with Producer(host) as producer:
        placed = producer.publish_many("wide", messages)
    assert sum(batch.count for batch in placed) == 2_500 and len(placed) <= 6
    for partition in range(3):
        found = host.broker.logs.partition("wide", partition).read(0, max_messages=5_000, max_bytes=1 << 30)
        expected = [one.value for one in messages if host.broker.logs.partition_for("wide", one) == partition]
        assert [one.value for one in found] == expected


def test_values_keys_and_middleware_pass_through_the_producer(host: BrokerHost):
    class OnlyEven(Middleware):
        def before_publish(self, message: Message, context: Context) -> Message | None:
            return None if message.value in {b"1", b"3"} else message

    with Producer(
        host, serializer=JsonSerializer(), key_serializer=StringSerializer(), middleware=[OnlyEven()]
    ) as producer:
        receipts = [producer.send("commits", number, "key") for number in range(4)]
        assert [receipt.result(5).partition for receipt in receipts] == [0, -1, 0, -1]
        assert producer.publish_many("commits", [Message(b"1"), Message(b"4")])[0].count == 1
        with pytest.raises(BrokerError) as refused:
            producer.send("commits", {1, 2})
        assert refused.value.code is ErrorCode.UNSERIALIZABLE
    assert stored(host) == [b"0", b"2", b"4"]
    with Producer(host) as plain:
        plain.publish("commits", "héllo", "key")
        with pytest.raises(BrokerError, match="a dict is neither bytes nor text"):
            plain.send("commits", {"n": 1})
    assert stored(host)[-1] == "héllo".encode()


def test_a_topic_is_made_on_demand_only_where_that_is_configured(host: BrokerHost):
    with Producer(host) as producer, pytest.raises(BrokerError) as refused:
        producer.send("unknown", b"x")
    assert refused.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with BrokerHost(None, HostConfig(auto_create_partitions=2)) as making, Producer(making) as producer:
        producer.publish("unknown", b"x")
        assert making.broker.logs.partition_count("unknown") == 2


def test_producers_of_many_threads_share_one_broker(host: BrokerHost):
    with Producer(host, ProducerConfig(linger_ms=1)) as shared, ThreadPoolExecutor(8) as pool:

        def work(number: int) -> list[int]:
            receipts = [shared.send("commits", b"%d-%d" % (number, each)) for each in range(100)]
            return [receipt.result(10).offset for receipt in receipts]

        offsets = list(pool.map(work, range(8)))
    assert sorted(chain.from_iterable(offsets)) == list(range(800))
    assert all(mine == sorted(mine) for mine in offsets)
    assert len(set(stored(host))) == 800


@pytest.mark.parametrize("durability", ["file", "fsync"])
def test_a_message_that_is_waited_for_goes_straight_into_the_log_behind_what_lingers(tmp_path, durability):
    with BrokerHost(tmp_path, HostConfig(log=LogConfig(durability=durability))) as host:
        Admin(host).create_topic("commits", partitions=1)
        with Producer(host, ProducerConfig(linger_ms=60_000)) as producer:
            assert [producer.publish("commits", b"%d" % number) for number in range(3)] == [(0, 0), (0, 1), (0, 2)]
            lingering = producer.send("commits", b"3")
            assert producer.publish("commits", b"4") == (0, 4)
            assert lingering.result(5).offset == 3
            with pytest.raises(BrokerError) as refused:
                producer.publish("nowhere", b"x")
            assert refused.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        with pytest.raises(BrokerError) as closed:
            producer.publish("commits", b"late")
        assert closed.value.code is ErrorCode.CLOSED
        assert stored(host) == [b"0", b"1", b"2", b"3", b"4"]
