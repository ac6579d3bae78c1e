"""Each fault as a call and as a context manager, as real Kafka clients meet it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, KafkaException, Producer
from kafka import KafkaProducer

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.faults.client_faults import ClientRequest
from broker_core.faults.kafka_names import TO_COORDINATOR
from broker_core.listeners.kafka.connection import KafkaConnection
from broker_core.operations.faults import BeginFault
from broker_core.replies import Reply
from broker_core.testing.embedded_broker import EmbeddedBroker
from broker_core.testing.faults import ActiveFault, FaultNotMetError, FaultNotMetWarning, warn_of_unmet
from tests.broker_core.admin import Admin


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders")
        yield broker


def publish(broker: EmbeddedBroker, *values: str, **config: Any) -> list[str]:
    """Publish by confluent-kafka; the errors of the messages that were not stored."""
    errors: list[str] = []

    def stored_or_not(error: Any, _message: object) -> None:
        if error is not None:
            errors.append(error.name())

    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "retry.backoff.ms": 10, **config})
    for value in values:
        producer.produce("orders", value, on_delivery=stored_or_not)
    assert producer.flush(20) == 0
    return errors


def stored(broker: EmbeddedBroker) -> list[bytes | None]:
    return [message.value for message in broker.messages("orders")]


class Member:
    """A real consumer in a thread, as a program under test has it. It commits what it has read."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self.values: list[bytes | None] = []
        self._stop = threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": "billing",
                "client.id": "reader",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "heartbeat.interval.ms": 50,
                "retry.backoff.ms": 10,
            }
        )
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        self._consumer.subscribe(["orders"])
        while not self._stop.is_set():
            message = self._consumer.poll(0.05)
            if message is None or message.error() is not None:
                continue
            self.values.append(message.value())
            with contextlib.suppress(KafkaException):  # its group has moved on: it comes again
                self._consumer.commit(message, asynchronous=False)
        self._consumer.close()

    def __enter__(self) -> Member:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join()


def test_a_retriable_error_is_retried_and_nothing_is_lost(broker: EmbeddedBroker):
    with broker.faults.error("Produce", "NOT_LEADER_OR_FOLLOWER", times=2):
        assert publish(broker, "one") == []
    assert stored(broker) == [b"one"]


def test_a_fatal_error_reaches_the_program(broker: EmbeddedBroker):
    with broker.faults.error("Produce", "TOPIC_AUTHORIZATION_FAILED", topic="orders"):
        assert publish(broker, "one") == ["TOPIC_AUTHORIZATION_FAILED"]
    assert publish(broker, "two") == []
    assert stored(broker) == [b"two"]


def test_a_fault_is_for_those_that_match(broker: EmbeddedBroker):
    with broker.faults.error("Produce", "INVALID_RECORD", client="batch-*"):
        assert publish(broker, "one") == []
        assert publish(broker, "two", **{"client.id": "batch-7"}) == ["INVALID_RECORD"]
    assert stored(broker) == [b"one"]


def test_the_second_request_alone(broker: EmbeddedBroker):
    with broker.faults.error("Produce", "INVALID_RECORD", skip=1, times=1):
        assert [publish(broker, value) for value in ("one", "two", "three")] == [[], ["INVALID_RECORD"], []]


def test_a_seed_decides_which_requests(broker: EmbeddedBroker):
    def run() -> list[bool]:
        with broker.faults.error("Produce", "INVALID_RECORD", probability=0.5, seed=7):
            return [publish(broker, "any") == [] for _ in range(12)]

    first = run()
    assert run() == first
    assert set(first) == {True, False}


@pytest.mark.parametrize("effect", ["drop", "cut_reply", "lose_reply"])
def test_a_lost_connection_is_survived_by_an_idempotent_producer(broker: EmbeddedBroker, effect: str):
    with getattr(broker.faults, effect)("Produce", times=1):
        assert publish(broker, "one", **{"enable.idempotence": True}) == []
    assert stored(broker) == [b"one"]


def test_a_lost_reply_duplicates_what_is_not_idempotent(broker: EmbeddedBroker):
    with broker.faults.duplicate("orders"):
        assert publish(broker, "one", **{"enable.idempotence": False, "acks": "all"}) == []
    assert stored(broker) == [b"one", b"one"]


def test_a_delay_a_throttle_and_a_hold_pass(broker: EmbeddedBroker):
    with broker.faults.delay("Produce", 5, times=1, must_fire=True):
        assert publish(broker, "one") == []
    with broker.faults.throttle("Produce", 5, times=1, must_fire=True):
        assert publish(broker, "two") == []
    held = broker.faults.hold("Produce", topic="orders")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    producer.produce("orders", "held")
    assert producer.flush(0.3) == 1
    held.end()
    held.end()
    assert producer.flush(20) == 0
    assert stored(broker) == [b"one", b"two", b"held"]


def test_a_leader_that_moves_is_found_again_by_other_clients(broker: EmbeddedBroker):
    async def by_asyncio() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, retry_backoff_ms=10)
        await producer.start()
        await producer.send_and_wait("orders", b"aiokafka")
        await producer.stop()

    with broker.faults.move_leader("orders"):
        asyncio.run(by_asyncio())
    with broker.faults.move_leader("orders"):
        producer = KafkaProducer(bootstrap_servers=broker.bootstrap_servers, retries=5, retry_backoff_ms=10)
        producer.send("orders", b"kafka-python").get(20)
        producer.close()
    assert stored(broker) == [b"aiokafka", b"kafka-python"]


def test_a_coordinator_that_moves_is_found_again(broker: EmbeddedBroker):
    broker.publish("orders", "one", "two")
    with broker.faults.move_coordinator("billing"), Member(broker):
        broker.wait_until("group = billing and lag = 0", timeout_s=30)


def test_a_member_that_is_kicked_comes_back(broker: EmbeddedBroker):
    events: list[Event] = []
    broker.host.events.attach(events.append)
    with Member(broker):
        broker.wait_until("group = billing and state = Stable and members = 1", timeout_s=20)
        broker.faults.kick("billing", "reader")
        broker.publish("orders", "after")
        broker.wait_until("group = billing and lag = 0 and members = 1", timeout_s=20)
    assert "reader was removed" in {event.cause for event in events if event.kind is EventKind.MEMBER_LEFT}
    with pytest.raises(BrokerError, match="no member") as refused:
        broker.faults.kick("billing", "nobody")
    assert refused.value.code is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_on_the_bench_reads_nothing_until_it_is_back(broker: EmbeddedBroker):
    events: list[Event] = []
    broker.host.events.attach(events.append)

    def joined() -> int:
        return sum(event.kind is EventKind.MEMBER_JOINED for event in events)

    with Member(broker) as member:
        broker.wait_until("group = billing and state = Stable and members = 1", timeout_s=20)
        with broker.faults.bench("billing") as bench:
            broker.publish("orders", "while it is out")
            broker.wait_until("group = billing and members = 0", timeout_s=20)
            assert member.values == []
            assert joined() == 1
            bench.end()
        broker.wait_until("group = billing and lag = 0 and members = 1", timeout_s=20)
        assert joined() == 2


def test_a_full_topic_takes_nothing_until_there_is_room(broker: EmbeddedBroker):
    with broker.faults.full_topic("orders"):
        assert publish(broker, "one") == ["THROTTLING_QUOTA_EXCEEDED"]
    assert publish(broker, "two") == []
    assert stored(broker) == [b"two"]


def test_a_broker_that_is_away_for_a_while_loses_nothing():
    with EmbeddedBroker(durability="file") as broker:
        broker.create_topic("orders")
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "reconnect.backoff.max.ms": 100})
        with broker.faults.crash():
            producer.produce("orders", "meanwhile")
            assert producer.flush(0.2) == 1
        assert producer.flush(20) == 0
        assert stored(broker) == [b"meanwhile"]


def test_a_full_disk_refuses_and_a_slow_one_delays():
    with EmbeddedBroker(durability="fsync") as broker:
        broker.create_topic("orders")
        with broker.faults.full_disk():
            assert publish(broker, "one", **{"message.timeout.ms": 500}) == ["_MSG_TIMED_OUT"]
        with broker.faults.slow_disk(30):
            before_s = broker.clock.time_s
            assert publish(broker, "two") == []
            assert broker.clock.time_s - before_s >= 0.03
        assert stored(broker) == [b"two"]


def test_a_disk_that_is_not_there_cannot_fail(broker: EmbeddedBroker):
    with pytest.raises(BrokerError, match="in memory"):
        broker.faults.full_disk()
    with EmbeddedBroker(durability="file") as other, pytest.raises(BrokerError, match='durability="fsync"'):
        other.faults.slow_disk(5)


def test_the_end_of_a_fault_that_is_used_up_ends_no_other(broker: EmbeddedBroker):
    used = broker.faults.error("Produce", "INVALID_RECORD", times=1)
    assert publish(broker, "one") == ["INVALID_RECORD"]
    lasting = broker.faults.error("Produce", "INVALID_RECORD")
    used.end()
    assert publish(broker, "two") == ["INVALID_RECORD"]
    lasting.end()
    assert publish(broker, "three") == []


def test_what_does_not_go_together_is_refused_whole(broker: EmbeddedBroker):
    for begin in (
        lambda: broker.faults.error("Produce", "NO_SUCH_ERROR"),
        lambda: broker.faults.drop("NoSuchApi"),
        lambda: broker.faults.move_leader("orders", times=0),
        lambda: broker.faults.drop("Produce", topics="orders"),
    ):
        with pytest.raises((BrokerError, TypeError)):
            begin()
    assert publish(broker, "one") == []


def test_a_fault_ends_once():
    ended: list[bool] = []
    with ActiveFault(lambda: ended.append(True)) as fault:
        fault.end()
    assert ended == [True]


def test_a_fault_counts_the_requests_that_it_has_affected(broker: EmbeddedBroker):
    fault = broker.faults.error("Produce", "NOT_LEADER_OR_FOLLOWER", times=2, topic="ord*")
    assert fault.hits == 0
    assert publish(broker, "one") == []
    assert fault.hits == 2
    fault.end()
    assert fault.hits == 2
    assert broker.faults.full_topic("orders").hits is None


@pytest.mark.parametrize(
    ("requests", "told"),
    [
        ({"topic": "ordres"}, "there is no topic ordres; did you mean orders?"),
        ({"client": "nobody"}, "there is no client nobody; there is none"),
        ({"group": "billing"}, "there is no group billing; there is none"),
        ({"topic": "orders"}, "no request has met the fault 'NOT_LEADER_OR_FOLLOWER: Produce to orders'$"),
    ],
)
def test_a_fault_that_must_fire_and_does_not_fails_the_test(
    broker: EmbeddedBroker, requests: dict[str, str], told: str
):
    def fault(**settings: bool) -> ActiveFault:
        return broker.faults.error("Produce", "NOT_LEADER_OR_FOLLOWER", **requests, **settings)

    with pytest.raises(FaultNotMetError, match=told), fault(must_fire=True):
        pass
    # The test's own failure comes first.
    with pytest.raises(ZeroDivisionError), fault(must_fire=True):
        _ = 1 / 0
    with pytest.warns(FaultNotMetWarning, match=told):
        warn_of_unmet(broker.faults.begun)
    warn_of_unmet(broker.faults.begun)


def test_a_fault_that_had_to_be_met_says_so_of_a_crashed_broker_too_and_only_once():
    with pytest.warns(FaultNotMetWarning), EmbeddedBroker(durability="file") as broker:
        fault = broker.faults.drop("Fetch", topic="orders", must_fire=True)
        broker.crash()
        with pytest.raises(FaultNotMetError, match="no request has met the fault"):
            fault.end()
        fault.end()


def test_a_fault_keeps_the_name_that_it_is_given(broker: EmbeddedBroker):
    with broker.faults.begin(BeginFault(name="mine", effect="delay", api="Produce", delay_ms=1)):
        publish(broker, "one")
        assert broker.host.broker.client_faults.fault("mine").effect == "delay"


def test_faults_of_several_apis_share_the_name_that_they_are_given(broker: EmbeddedBroker):
    with broker.faults.move_leader(name="mine"), broker.faults.move_coordinator(name="mine"):
        names = [*broker.host.broker.client_faults.views()]
    assert names[:2] == ["mine-Produce-1", "mine-Fetch-2"] and "mine-JoinGroup-" in ",".join(names)


def test_a_fault_that_is_over_does_not_end_the_next_one_of_its_name(broker: EmbeddedBroker):
    faults, mine = broker.host.broker.client_faults, BeginFault(name="mine", effect="drop", api="Produce", times=1)
    first = broker.faults.begin(mine)
    broker.host.call(lambda now_ns: faults.judge(now_ns, ClientRequest("a", "Produce")))
    with broker.faults.begin(mine):
        first.end()
        assert [*faults.views()] == ["mine"]
    assert not faults.any


def test_a_coordinator_moves_for_members_of_share_groups_too(broker: EmbeddedBroker):
    faults, apis = broker.host.broker.client_faults, sorted(TO_COORDINATOR)
    with broker.faults.move_coordinator("billing"):
        met = broker.host.call(
            lambda now_ns: [faults.judge(now_ns, ClientRequest("a", api, "billing")) for api in apis]
        )
    assert [fault.api for fault in met if fault is not None] == [
        "ConsumerGroupHeartbeat", "Heartbeat", "JoinGroup", "OffsetCommit", "ShareGroupHeartbeat", "SyncGroup",
    ]  # fmt: skip


def test_a_broker_warns_at_its_end_of_faults_that_nobody_has_met():
    with pytest.warns(FaultNotMetWarning, match="Fetch"), EmbeddedBroker() as broker:
        broker.faults.drop("Fetch")


def test_a_test_answers_requests_itself(broker: EmbeddedBroker):
    seen: list[tuple[str, set[str]]] = []

    def answer(request: ClientRequest) -> str | None:
        seen.append((request.client, {*request.topics}))
        return ("NOT_LEADER_OR_FOLLOWER", "drop", None)[min(len(seen), 3) - 1]

    with broker.faults.answer("Produce", answer) as fault:
        assert publish(broker, "one", **{"client.id": "shop", "reconnect.backoff.ms": 10}) == []
    assert seen == [("shop", {"orders"})] * 3
    assert fault.hits == 2
    assert stored(broker) == [b"one"]
    assert "answered by the test: Produce" in broker.timeline()


def test_a_delay_varies(broker: EmbeddedBroker):
    def drawn(seed: int) -> list[float]:
        faults = broker.host.broker.client_faults
        with broker.faults.delay("Produce", 20, jitter_ms=10, seed=seed):
            found = [faults.judge(0, ClientRequest("shop", "Produce")) for _ in range(5)]
        return [fault.delay_ms for fault in found if fault is not None]

    delays_ms = drawn(1)
    assert len({*delays_ms}) == 5
    assert all(10 <= delay_ms <= 30 for delay_ms in delays_ms)
    assert drawn(1) == delays_ms != drawn(2)


@pytest.fixture
def waits_s(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the Kafka listener was asked to wait; it does not."""
    waited: list[float] = []
    after = KafkaConnection._after

    def at_once(connection: KafkaConnection, delay_s: float) -> Reply[None]:
        waited.append(delay_s)
        return after(connection, 0)

    monkeypatch.setattr(KafkaConnection, "_after", at_once)
    return waited


def test_at_a_bandwidth_requests_and_replies_take_as_long_as_their_bytes(broker: EmbeddedBroker, waits_s: list[float]):
    with broker.faults.bandwidth("Produce", 1_000, must_fire=True) as slow:
        assert publish(broker, "x" * 2_000, "y" * 2_000, **{"linger.ms": 200}) == []
    (sent_s, *pieces_s) = waits_s
    assert slow.hits == 1
    assert sent_s > 4
    assert {*pieces_s[:-1]} <= {0.05}
    reply_bytes = next(each.reply_bytes for each in broker.connections.requests() if each.api == "Produce")
    assert sum(pieces_s) == pytest.approx(reply_bytes / 1_000)
    assert [len(value or b"") for value in stored(broker)] == [2_000, 2_000]


def test_a_reply_that_comes_in_small_pieces_is_read_whole(broker: EmbeddedBroker, waits_s: list[float]):
    broker.publish("orders", *(str(number) * 300 for number in range(10)))
    with broker.faults.slice("Fetch", 100, 5, must_fire=True), Member(broker) as member:
        broker.wait_until("group = billing and lag = 0", timeout_s=30)
    assert member.values == [(str(number) * 300).encode() for number in range(10)]
    assert {*waits_s} == {0.005}
    assert len(waits_s) >= 30


def test_clients_of_each_kind_go_on_over_a_line_of_a_modem(broker: EmbeddedBroker):
    """Whole groups join, read and commit where every reply comes in pieces, and slowly."""
    broker.publish("orders", "1", "2", "3")

    async def by_asyncio() -> list[bytes | None]:
        consumer = AIOKafkaConsumer(
            "orders", bootstrap_servers=broker.bootstrap_servers, group_id="aio", auto_offset_reset="earliest"
        )
        async with consumer:
            return [(await consumer.getone()).value for _ in range(3)]

    with (
        broker.faults.slice("Fetch", 50, 1, client="aiokafka*", must_fire=True) as pieces,
        broker.faults.bandwidth("*", 200_000, must_fire=True),
    ):
        with Member(broker):
            broker.wait_until("group = billing and lag = 0", timeout_s=30)
        assert pieces.hits == 0
        assert asyncio.run(by_asyncio()) == [b"1", b"2", b"3"]


def test_a_full_topic_takes_not_even_an_empty_message(broker: EmbeddedBroker):
    fault = broker.faults.full_topic("orders")
    assert publish(broker, "", "x") == ["THROTTLING_QUOTA_EXCEEDED"] * 2
    fault.end()
    assert publish(broker, "x") == []
    assert Admin(broker.host).flow_config("orders") is None
