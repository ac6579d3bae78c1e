"""The producer on both faces: one suite, a host in this process and a remote broker (A20, A23)."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.batches import Receipt
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.remote.broker import RemoteBroker
from broker_core.clients.serializers import JsonSerializer
from broker_core.engine.host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.config import FlowConfig
from broker_core.listeners.wire.listener import WireListener
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from tests.broker_core.clients.remote.conftest import Face

EVERY_BYTE = bytes(range(256))


def code_of(caught: pytest.ExceptionInfo[BrokerError]) -> ErrorCode:
    return caught.value.code


def test_a_message_arrives_as_it_was_sent(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    with Producer(face.clients) as producer:
        where = producer.publish(
            "commits", EVERY_BYTE, key=b"\0\xff", headers=(("h", b"\xfe"), ("é", b"")), ttl_ms=60_000, priority=3
        )
        assert where == (0, 0)
        assert producer.publish("commits", None, b"gone") == (0, 1)
        assert producer.publish("commits", b"") == (0, 2)
    [first, tombstone, empty] = face.host.call(
        lambda _now: face.host.broker.partition("commits", 0).read(0, max_messages=9)
    )
    assert (first.value, first.key) == (EVERY_BYTE, b"\0\xff")
    assert dict(first.headers)["h"] == b"\xfe" and dict(first.headers)["é"] == b""
    assert dict(first.headers)["brokerscope.ttl_ms"] == b"60000" and dict(first.headers)["brokerscope.priority"] == b"3"
    assert (tombstone.value, tombstone.key, empty.value) == (None, b"gone", b"")


def test_receipts_and_callbacks_tell_where_each_message_is_in_order(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    told: list[int] = []
    done = threading.Event()

    def on_delivery(receipt: Receipt) -> None:
        told.append(receipt.result().offset)
        face.clients.call(lambda _now: None)  # would wait for ever if the lock were held
        if len(told) == 200:
            done.set()

    with Producer(face.clients) as producer:
        receipts = [producer.send("commits", b"%d" % n, on_delivery=on_delivery) for n in range(200)]
        assert [receipt.result(10).offset for receipt in receipts] == list(range(200))
        assert done.wait(10)
    assert told == list(range(200))
    assert face.stored("commits") == [b"%d" % n for n in range(200)]


def test_many_messages_keep_their_order_in_each_partition(face: Face):
    Admin(face.clients).create_topic("commits", 3)
    messages = [Message(b"%d" % n, b"key-%d" % (n % 7)) for n in range(3_000)]
    with Producer(face.clients) as producer:
        published = producer.publish_many("commits", messages)
        for message in messages:
            producer.send("commits", message.value, message.key)
    assert sum(each.count for each in published) == 3_000
    found = [face.stored("commits", partition) for partition in range(3)]
    assert sum(map(len, found)) == 6_000
    for values in found:
        first, second = values[: len(values) // 2], values[len(values) // 2 :]
        assert first == second == sorted(first, key=lambda value: int(value or b""))


def test_a_key_goes_to_the_same_partition_from_everywhere(face: Face):
    Admin(face.clients).create_topic("commits", 5)
    Admin(face.clients).create_topic("java", 5, partitioner="murmur2")
    with Producer(face.clients) as producer, Producer(face.host) as local:
        for number in range(40):
            for topic in ("commits", "java"):
                assert (
                    producer.publish(topic, b"x", b"k%d" % number)[0] == local.publish(topic, b"x", b"k%d" % number)[0]
                )


def test_what_is_wrong_with_a_message_is_told(face: Face):
    admin = Admin(face.clients)
    admin.create_topic("small", 1, log=LogConfig(max_message_bytes=100))
    admin.create_topic("compacted", 1, log=LogConfig(cleanup="compact"))
    with Producer(face.clients) as producer:
        with pytest.raises(BrokerError) as caught:
            producer.publish("nowhere", b"x")
        assert code_of(caught) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        with pytest.raises(BrokerError) as caught:
            producer.publish("small", bytes(101))
        assert code_of(caught) is ErrorCode.MESSAGE_TOO_LARGE
        with pytest.raises(BrokerError) as caught:
            producer.publish("compacted", b"no key")
        assert code_of(caught) is ErrorCode.INVALID_RECORD
        with pytest.raises(BrokerError) as caught:
            producer.publish("small", b"x", partition=1)
        assert code_of(caught) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        admin.create_topic("nowhere", 1)
        assert producer.publish("nowhere", b"x") == (0, 0)


def test_a_deleted_topic_and_a_grown_one_are_noticed(face: Face):
    admin = Admin(face.clients)
    admin.create_topic("commits", 1)
    with Producer(face.clients) as producer:
        producer.publish("commits", b"x")
        Admin(face.host).create_partitions("commits", 4)
        producer.publish("commits", b"the answer says that something has changed")
        seen = set()
        for number in range(200):
            seen.add(producer.publish("commits", b"x", b"key-%d" % number)[0])
        assert seen == {0, 1, 2, 3}
        Admin(face.host).delete_topic("commits")
        with pytest.raises(BrokerError) as caught:
            producer.publish("commits", b"x")
        assert code_of(caught) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_full_topic_refuses_and_the_producer_hears_of_it(face: Face):
    Admin(face.clients).create_topic("narrow", 1, flow=FlowConfig(max_messages=2, policy="reject"))
    face.host.call(lambda _now: face.host.broker.starting_offset("readers", "narrow", 0, "earliest"))
    with Producer(face.clients, ProducerConfig(retries=0)) as producer:
        producer.publish("narrow", b"1")
        producer.publish("narrow", b"2")
        with pytest.raises(BrokerError) as caught:
            producer.publish("narrow", b"3")
        assert code_of(caught) is ErrorCode.THROTTLED
    assert face.stored("narrow") == [b"1", b"2"]


def test_a_blocked_message_waits_for_room_and_then_is_stored(face: Face):
    Admin(face.clients).create_topic("narrow", 1, flow=FlowConfig(max_messages=1))
    face.host.call(lambda _now: face.host.broker.starting_offset("readers", "narrow", 0, "earliest"))
    with Producer(face.clients) as producer:
        producer.publish("narrow", b"1")
        blocked = producer.send("narrow", b"2", linger=False)
        with pytest.raises(BrokerError):
            blocked.result(0.2)
        face.host.call(lambda now_ns: face.host.broker.commit(now_ns, "readers", "c", "", -1, {("narrow", 0): 1}))
        assert blocked.result(10).offset == 1


def test_a_message_that_waits_for_too_long_fails_with_the_sentence_of_the_policy(face: Face):
    Admin(face.clients).create_topic("narrow", 1, flow=FlowConfig(max_messages=1, block_timeout_ms=100))
    face.host.call(lambda _now: face.host.broker.starting_offset("readers", "narrow", 0, "earliest"))
    with Producer(face.clients, ProducerConfig(retries=0)) as producer:
        producer.publish("narrow", b"1")
        with pytest.raises(BrokerError) as caught:
            producer.publish("narrow", b"2")
        assert code_of(caught) is ErrorCode.THROTTLED and "narrow is full: 1 of 1 messages" in str(caught.value)


def test_dropped_messages_are_told_apart_from_stored_ones(face: Face):
    Admin(face.clients).create_topic("narrow", 1, flow=FlowConfig(max_messages=1, policy="drop_newest"))
    face.host.call(lambda _now: face.host.broker.starting_offset("readers", "narrow", 0, "earliest"))
    with Producer(face.clients) as producer:
        producer.publish("narrow", b"1")
        with pytest.raises(BrokerError) as caught:
            producer.publish("narrow", b"2")
        assert "dropped" in str(caught.value)


def test_a_name_that_comes_back_fences_the_producer_that_had_it(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    with Producer(face.clients, ProducerConfig(name="billing")) as old:
        old.publish("commits", b"old")
        with Producer(face.clients, ProducerConfig(name="billing")) as new:
            new.publish("commits", b"new")
            with pytest.raises(BrokerError) as caught:
                old.publish("commits", b"late")
            assert code_of(caught) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert face.stored("commits") == [b"old", b"new"]


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_every_kind_of_acknowledgement_stores_the_message(face: Face, acks):
    Admin(face.clients).create_topic("commits", 1)
    with Producer(face.clients, ProducerConfig(acks=acks, idempotent=False)) as producer:
        offset = producer.publish("commits", b"x")[1]
        assert offset == (-1 if acks == 0 else 0)
    assert face.stored("commits") == [b"x"]


def test_the_buffer_is_bounded(face: Face):
    Admin(face.clients).create_topic("narrow", 1, flow=FlowConfig(max_messages=1))
    face.host.call(lambda _now: face.host.broker.starting_offset("readers", "narrow", 0, "earliest"))
    config = ProducerConfig(buffer_bytes=4_000, max_block_ms=100, delivery_timeout_ms=300)
    producer = Producer(face.clients, config)
    producer.publish("narrow", b"1")
    with pytest.raises(BrokerError) as caught:
        for _ in range(10):
            producer.send("narrow", bytes(1_000))
    assert code_of(caught) is ErrorCode.REQUEST_TIMED_OUT
    with pytest.raises(BrokerError):
        producer.close()


def test_values_may_be_serialized(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    with Producer(face.clients, serializer=JsonSerializer()) as producer:
        producer.publish("commits", {"author": "ada"})
    assert face.stored("commits") == [b'{"author":"ada"}']


def test_closing_sends_what_lingers_and_takes_nothing_more(face: Face):
    Admin(face.clients).create_topic("commits", 1)
    producer = Producer(face.clients, ProducerConfig(linger_ms=60_000))
    receipts = [producer.send("commits", b"%d" % n) for n in range(3)]
    producer.close()
    producer.close()
    assert all(receipt.done for receipt in receipts) and face.stored("commits") == [b"0", b"1", b"2"]
    with pytest.raises(BrokerError) as caught:
        producer.send("commits", b"late")
    assert code_of(caught) is ErrorCode.CLOSED


def test_several_threads_may_share_one_producer(face: Face):
    Admin(face.clients).create_topic("commits", 2)
    with Producer(face.clients) as producer:

        def work(thread: int) -> None:
            for number in range(200):
                producer.send("commits", b"%d" % number, b"%d" % thread)
                if number % 50 == 0:
                    producer.publish("commits", b"%d" % number, b"%d" % thread, timeout_s=10)

        threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert len(face.stored("commits", 0)) + len(face.stored("commits", 1)) == 4 * 204


def test_a_message_that_cannot_be_encoded_costs_no_other(face: Face):
    Admin(face.clients).create_topic("t", 1)
    with Producer(face.clients, ProducerConfig(linger_ms=60_000)) as producer:
        before = producer.send("t", b"before")
        mistyped: list[dict[str, Any]] = [{"headers": (("trace", "abc"),)}, {"ttl_ms": "1"}, {"priority": "1"}]
        for fields in mistyped:
            with pytest.raises(BrokerError) as caught:
                producer.send("t", b"bad", **fields)
            assert code_of(caught) is ErrorCode.INVALID_RECORD
        with pytest.raises(BrokerError) as caught:
            producer.publish_many("t", [Message(b"x"), Message("bad")], timeout_s=5)  # type: ignore[arg-type]
        assert code_of(caught) is ErrorCode.INVALID_RECORD
        behind = producer.send("t", b"behind")
        producer.flush(5)
        assert [before.result(5).offset, behind.result(5).offset] == [0, 1]
    assert face.stored("t") == [b"before", b"behind"]


def test_of_many_clients_not_all_begin_with_the_first_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker_core.clients.remote.known_topics.random.randrange", lambda partitions: partitions - 1)
    with BrokerHost() as host, WireListener(host, port=0) as listener, RemoteBroker(port=listener.port) as far:
        Admin(host).create_topic("t", 3)
        with Producer(far) as producer:
            assert producer.publish("t", b"v") == (2, 0)
