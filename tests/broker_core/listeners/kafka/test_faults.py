"""Real clients meet faults: what they see, what they do about it, and what the broker has in the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka import Consumer, Producer
from kafka import KafkaConsumer

from broker_core import BrokerHost
from broker_core.faults.client_faults import ClientFault, ClientFaults
from broker_core.faults.kafka_names import KAFKA_APIS, KAFKA_ERRORS
from broker_core.listeners.access.access import ANYBODY
from broker_core.listeners.kafka.apis import APIS
from broker_core.listeners.kafka.call import Api, Call
from broker_core.listeners.kafka.codec import Header, response
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.listeners.kafka.refused import client_request, refused
from tests.broker_core.admin import Admin
from tests.broker_core.listeners.kafka.raw import KEYS

PATIENCE_S = 30.0


class Faults:
    """Faults of a host, begun and ended from a test."""

    def __init__(self, host: BrokerHost) -> None:
        self._host = host

    @property
    def _faults(self) -> ClientFaults:
        return self._host.broker.client_faults

    def begin(self, **fault: Any) -> str:
        return self._host.call(lambda now_ns: self._faults.begin(now_ns, ClientFault(**fault)).name)

    def end(self, name: str) -> None:
        self._host.call(lambda now_ns: self._faults.end(now_ns, name))

    @property
    def any(self) -> bool:
        return self._host.call(lambda _now: self._faults.any)


@pytest.fixture
def faults(host: BrokerHost) -> Faults:
    return Faults(host)


@pytest.fixture
def quick(settings: dict[str, Any]) -> dict[str, Any]:
    """A producer that tries again at once."""
    return {**settings, "client.id": "shop", "retry.backoff.ms": 10, "reconnect.backoff.ms": 10, "linger.ms": 0}


def produced(settings: dict[str, Any], values: list[bytes]) -> list[Any]:
    """What became of each value: its offset, or its error."""
    producer = Producer(settings)
    found: list[Any] = []
    for value in values:
        producer.produce("orders", value, on_delivery=lambda error, message: found.append(error or message.offset()))
        assert producer.flush(PATIENCE_S) == 0
    return found


def stored(admin: Admin) -> list[bytes | None]:
    return [message.value for message in admin.messages("orders")]


def until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


@pytest.mark.parametrize("error", ["NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS", "REQUEST_TIMED_OUT"])
def test_a_producer_tries_again_after_a_retriable_error(
    admin: Admin, faults: Faults, quick: dict[str, Any], error: str
):
    admin.create_topic("orders")
    faults.begin(effect="error", error=error, api="Produce", times=3)
    assert produced({**quick, "enable.idempotence": True}, [b"one", b"two"]) == [0, 1]
    assert stored(admin) == [b"one", b"two"]
    assert not faults.any


def test_a_producer_gives_up_at_a_fatal_error(admin: Admin, faults: Faults, quick: dict[str, Any]):
    admin.create_topic("orders")
    faults.begin(effect="error", error="INVALID_RECORD", api="Produce", client="shop", times=1)
    refused, stored_at = produced(quick, [b"one", b"two"])
    assert (refused.name(), stored_at) == ("INVALID_RECORD", 0)


@pytest.mark.parametrize("effect", ["lose_reply", "cut_reply"])
@pytest.mark.parametrize(("idempotent", "copies"), [(False, 2), (True, 1)])
def test_a_lost_reply_makes_a_duplicate_of_who_is_not_idempotent(
    admin: Admin, faults: Faults, quick: dict[str, Any], effect: str, idempotent: bool, copies: int
):
    admin.create_topic("orders")
    faults.begin(effect=effect, api="Produce", times=1)
    (offset,) = produced({**quick, "enable.idempotence": idempotent, "acks": "all"}, [b"one"])
    assert isinstance(offset, int)
    assert stored(admin) == [b"one"] * copies


def test_a_dropped_connection_loses_nothing(admin: Admin, faults: Faults, quick: dict[str, Any]):
    admin.create_topic("orders")
    faults.begin(effect="drop", api="Produce", every=2, times=2)
    assert produced({**quick, "enable.idempotence": True}, [b"%d" % n for n in range(6)]) == list(range(6))
    assert stored(admin) == [b"%d" % n for n in range(6)]


def test_a_delay_is_as_long_as_it_says_and_others_do_not_wait(admin: Admin, faults: Faults, quick: dict[str, Any]):
    admin.create_topic("orders")
    faults.begin(effect="delay", delay_ms=700, api="Produce", client="shop")
    began_s = time.monotonic()
    slow = threading.Thread(target=produced, args=(quick, [b"slow"]))
    slow.start()
    produced({**quick, "client.id": "other"}, [b"quick"])
    slow.join(PATIENCE_S)
    assert time.monotonic() - began_s > 0.7
    assert stored(admin) == [b"quick", b"slow"]


def test_a_throttled_client_is_told_for_how_long(admin: Admin, faults: Faults, quick: dict[str, Any]):
    admin.create_topic("orders")
    told: list[float] = []
    faults.begin(effect="throttle", delay_ms=300, api="Produce", times=1)
    settings = {**quick, "throttle_cb": lambda event: told.append(event.throttle_time)}
    producer = Producer(settings)
    producer.produce("orders", b"one")
    producer.flush(PATIENCE_S)
    producer.poll(1)
    assert told == [0.3]


def test_a_coordinator_that_moves_is_found_again(
    admin: Admin, faults: Faults, producer: Producer, new_consumer: Callable[..., Consumer]
):
    admin.create_topic("orders")
    producer.produce("orders", b"one")
    producer.flush(PATIENCE_S)
    for api in ("FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat"):
        faults.begin(effect="error", error="NOT_COORDINATOR", api=api, group="billing", times=1)
    consumer = new_consumer()
    consumer.subscribe(["orders"])
    values: list[bytes | None] = []

    def read() -> bool:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:  # librdkafka tells of errors, and tries again
            values.append(message.value())
        return bool(values)

    until(read)
    assert values == [b"one"]
    until(lambda: consumer.poll(0.1) is None and not faults.any)


def test_a_member_whose_join_is_held_waits_until_the_fault_ends(
    host: BrokerHost, admin: Admin, faults: Faults, new_consumer: Callable[..., Consumer]
):
    admin.create_topic("orders")
    held = faults.begin(effect="hold", api="JoinGroup", client="biller")
    consumer = new_consumer()
    assigned: list[Any] = []
    consumer.subscribe(["orders"], on_assign=lambda _consumer, partitions: assigned.extend(partitions))
    for _ in range(10):
        consumer.poll(0.1)
    assert not assigned and not admin.groups()
    faults.end(held)
    until(lambda: consumer.poll(0.05) is not None or bool(assigned))
    assert [(place.topic, place.partition) for place in assigned] == [("orders", 0)]


def test_a_member_that_goes_while_it_is_held_never_joins(
    listener: KafkaListener, admin: Admin, faults: Faults, settings: dict[str, Any]
):
    admin.create_topic("orders")
    held = faults.begin(effect="hold", api="JoinGroup")
    consumer = Consumer({**settings, "group.id": "billing", "client.id": "gone"})
    consumer.subscribe(["orders"])
    consumer.poll(1)
    until(lambda: any("held" in view.last_error for view in listener.connections.views()))
    for view in listener.connections.views():
        listener.connections.cut(view.id)
    consumer.close()
    until(lambda: not listener.connections.views())
    faults.end(held)
    assert admin.groups() == []


def test_every_api_that_is_served_can_meet_a_fault():
    assert {*KAFKA_APIS, "ApiVersions", "SaslHandshake", "SaslAuthenticate"} == {api.name for api in APIS}


def test_a_reader_is_told_the_error_of_a_fetch(
    admin: Admin, faults: Faults, producer: Producer, new_consumer: Callable[..., Consumer]
):
    admin.create_topic("orders")
    faults.begin(effect="error", error="TOPIC_AUTHORIZATION_FAILED", api="Fetch", times=1)
    producer.produce("orders", b"one")
    producer.flush(PATIENCE_S)
    consumer = new_consumer()
    consumer.subscribe(["orders"])
    found: list[object] = []

    def read() -> bool:
        message = consumer.poll(0.1)
        if message is not None:
            error = message.error()
            found.append(message.value() if error is None else error.name())
        return b"one" in found

    until(read)
    assert found[0] == "TOPIC_AUTHORIZATION_FAILED"


@pytest.mark.parametrize("api", [api for api in APIS if api.name != "ApiVersions"], ids=lambda api: api.name)
def test_every_reply_with_an_error_can_be_written(host: BrokerHost, admin: Admin, listener: KafkaListener, api: Api):
    """In the oldest and the newest version, for two partitions of a topic."""
    admin.create_topic("orders", 2)
    partitions = [
        SimpleNamespace(index=number, partition=number, partition_index=number, partition_indexes=(number,))
        for number in range(2)
    ]
    topic = SimpleNamespace(
        name="orders",
        topic="orders",
        topic_id=UUID(bytes=host.broker.logs.topic("orders").id),
        partitions=partitions,
        partition_data=partitions,
        partition_indexes=(0, 1),
    )
    group = SimpleNamespace(group_id="billing", topics=[topic])
    request = SimpleNamespace(
        topics=[topic],
        topic_data=[topic],
        groups=[group],
        group_id="billing",
        member_epoch=0,
        key="billing",
        coordinator_keys=("billing",),
        session_id=0,
        forgotten_topics_data=[],
    )
    for version in (api.oldest, api.newest):
        seen = listener.connections.open("kafka", "", lambda: None)
        call = Call(listener.context, seen, ANYBODY, "shop", version, 0, "127.0.0.1", listener.port)
        asked = client_request(call, api.name, request)
        assert (asked.client, asked.group, set(asked.topics)) == ("shop", "billing", {"orders"})
        body = refused(call, api.key, request, KAFKA_ERRORS["REQUEST_TIMED_OUT"])
        if body is not None:
            frame = response(Header(api.key, version, 7), body)
            assert b"\0\7" in frame, "the code is in it"


# kafka-python 3 hangs by itself now and then.
@pytest.mark.long
@pytest.mark.parametrize(
    "fault",
    [
        {"effect": "error", "api": "OffsetFetch", "error": "NOT_COORDINATOR", "times": 1},
        {"effect": "coordinator_change", "times": 3},
    ],
    ids=["told to OffsetFetch", "told to the first three"],
)
def test_a_consumer_that_looks_for_its_coordinator_again_reads_on(
    host: BrokerHost, listener: KafkaListener, admin: Admin, producer: Producer, faults: Faults, fault: dict[str, Any]
):
    """That librdkafka 2.16 does not, after OffsetFetch, is its issue 5586: the answer is Kafka's."""
    admin.create_topic("orders")
    producer.produce("orders", b"one")
    producer.flush(PATIENCE_S)
    faults.begin(group="billing", **fault)
    consumer = KafkaConsumer(
        "orders",
        bootstrap_servers=listener.bootstrap_servers,
        group_id="billing",
        auto_offset_reset="earliest",
        consumer_timeout_ms=PATIENCE_S * 1_000,
    )
    try:
        assert next(consumer).value == b"one"
    finally:
        consumer.close()
    assert not faults.any


@pytest.mark.parametrize(("version", "in_partitions"), [(1, True), (2, False), (7, False), (9, False)])
def test_an_error_of_offset_fetch_stands_where_kafka_puts_it(
    host: BrokerHost, listener: KafkaListener, version: int, in_partitions: bool
):
    """Of the group, with no topic; v1 has no place for that."""
    seen = listener.connections.open("kafka", "", lambda: None)
    call = Call(listener.context, seen, ANYBODY, "biller", version, 0, "127.0.0.1", listener.port)
    topics = (SimpleNamespace(name="orders", partition_indexes=(0, 1)),)
    group = SimpleNamespace(group_id="billing", topics=topics)
    request = SimpleNamespace(groups=(group,)) if version >= 8 else group
    body: Any = refused(call, KEYS["OffsetFetch"], request, KAFKA_ERRORS["NOT_COORDINATOR"])
    answer = body["groups"][0] if version >= 8 else body
    assert answer["error_code"] == KAFKA_ERRORS["NOT_COORDINATOR"]
    told = [
        (topic["name"], each["partition_index"], each["error_code"])
        for topic in answer["topics"]
        for each in topic["partitions"]
    ]
    assert told == ([("orders", 0, 16), ("orders", 1, 16)] if in_partitions else [])
    assert response(Header(KEYS["OffsetFetch"], version, 7), body), "it can be written"
