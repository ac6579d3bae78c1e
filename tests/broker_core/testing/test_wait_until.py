"""Waiting for a state or an event without sleeping."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import urllib.request
from collections.abc import Iterator

import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer, ShareConsumer

from broker_core import QueueConfig, QueueConsumer
from broker_core.broker.conditions import STATE_FIELDS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.config import GroupSettings
from broker_core.testing.embedded_broker import ConditionTimeoutError, EmbeddedBroker


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        yield broker


def billing(broker: EmbeddedBroker, stop: threading.Event, reset: str = "earliest") -> None:
    """Read and commit until `stop`."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "billing",
            "auto.offset.reset": reset,
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["orders"])
    while not stop.is_set():
        message = consumer.poll(0.05)
        if message is not None and message.error() is None:
            consumer.commit(message, asynchronous=False)
    consumer.close()


@pytest.fixture
def consumer(broker: EmbeddedBroker) -> Iterator[threading.Thread]:
    """A real consumer of three partitions in a thread, as a program under test has it."""
    broker.create_topic("orders", partitions=3)
    stop = threading.Event()
    thread = threading.Thread(target=billing, args=(broker, stop))
    yield thread
    stop.set()
    if thread.ident is not None:
        thread.join()


def test_lag_is_zero_when_a_real_group_has_committed_all(broker: EmbeddedBroker, consumer: threading.Thread):
    for partition in range(3):
        broker.publish("orders", *range(5), partition=partition)
    consumer.start()
    what = broker.wait_until('group = "billing" and lag = 0', timeout_s=20)
    assert what.startswith("group billing is Stable with 1 member")
    assert [view.committed for view in broker.admin.lag("billing")] == [5, 5, 5]


def test_a_member_that_has_read_nothing_yet_has_no_lag_that_is_known(
    broker: EmbeddedBroker, consumer: threading.Thread
):
    """Or a wait would be over before the first message is read."""
    broker.publish("orders", "one", partition=2)
    consumer.start()
    broker.wait_until("group = billing and members = 1", timeout_s=20)
    broker.wait_until("group = billing and lag = 0", timeout_s=20)
    assert broker.admin.lag("billing")[2].committed == 1


def test_a_group_that_begins_at_the_end_has_no_lag(broker: EmbeddedBroker):
    broker.create_topic("orders")
    broker.publish("orders", "old")
    stop = threading.Event()
    thread = threading.Thread(target=billing, args=(broker, stop, "latest"))
    thread.start()
    try:
        broker.wait_until("group = billing and lag = 0", timeout_s=20)
    finally:
        stop.set()
        thread.join()


def test_what_holds_already_is_not_waited_for(broker: EmbeddedBroker):
    broker.create_topic("orders")
    broker.publish("orders", "one", "two")
    assert broker.wait_until("topic = orders and messages = 2", timeout_s=0) == "topic orders has 2 messages"


def test_a_timeout_says_what_the_state_is(broker: EmbeddedBroker):
    broker.create_topic("orders")
    broker.create_queue("mail")
    broker.publish("mail", "letter")
    with pytest.raises(ConditionTimeoutError) as late:
        broker.wait_until("group = mail and ready = 0", timeout_s=0.02)
    assert isinstance(late.value, TimeoutError)
    assert str(late.value) == (
        "group = mail and ready = 0 was not met within 0.02 s: "
        "queue mail has 1 ready, 0 in flight and 0 dead; topic orders has 0 messages"
    )


def test_an_event_is_waited_for(broker: EmbeddedBroker):
    broker.create_queue("mail", QueueConfig(max_attempts=1))
    broker.publish("mail", "letter")
    found: list[str] = []
    waiting = threading.Thread(target=lambda: found.append(broker.wait_until("~dlq", timeout_s=20)))
    waiting.start()
    with QueueConsumer(broker.host, "mail") as worker:
        letter = worker.take(5)
        assert letter is not None
        broker.host.wait(broker.host.start(_until_waiting(broker)), 10)
        letter.nack("no address")
    waiting.join()
    assert found == ["dead_lettered in mail"]


async def _until_waiting(broker: EmbeddedBroker) -> None:
    """Until the other thread waits: what happened before is not waited for."""
    while not broker.host.broker.conditions.waiting:
        await broker.host.loop.sleep(0.001)


def test_time_that_stands_still_does_not_keep_a_wait_from_ending(broker: EmbeddedBroker):
    with broker.clock.stopped(), pytest.raises(ConditionTimeoutError, match="no groups, queues or topics"):
        broker.wait_until("lag = 0", timeout_s=0.02)


def test_a_condition_that_cannot_be_read_is_refused(broker: EmbeddedBroker):
    for condition, told in (("lagg = 0", "did you mean lag"), ("", "say what to wait for"), ("lag = 5 s", "a number")):
        with pytest.raises(BrokerError, match=told) as refused:
            broker.wait_until(condition)
        assert refused.value.code is ErrorCode.MALFORMED_REQUEST


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("state = Foo", "state is never Foo; it is one of Stable, Preparing rebalance"),
        ("group = billing and kind = grp", "kind is never grp; did you mean group?"),
        ("kind = group and messages = 1", "a group has no messages; it has group, topic, client, state, members"),
        ("group = billing and messages = 1", "a group has no messages; it has"),
        ("kind = queue and members = 1 and state = Stable", "a queue has no members and no state; it has"),
        ("kind = topic and ~dlq", "a topic has no dlq; it has"),
        ("kind = group and kind = topic", "nothing matches all of that at once"),
        ('lagg("billing") = 0', "There is no field lagg here; did you mean lag?"),
    ],
)
def test_what_can_never_hold_is_refused(broker: EmbeddedBroker, condition: str, told: str):
    with pytest.raises(BrokerError, match=re.escape(told)) as refused:
        broker.wait_until(condition)
    assert refused.value.code is ErrorCode.MALFORMED_REQUEST


def test_the_kinds_have_the_fields_that_are_said(broker: EmbeddedBroker, consumer: threading.Thread):
    broker.create_queue("mail")
    consumer.start()
    broker.wait_until("group = billing and members = 1", timeout_s=20)
    broker.host.admin(lambda now_ns: broker.host.broker.share_groups.subscribe(now_ns, "workers", "orders"))
    rows = broker.host.call(lambda now_ns: list(broker.host.broker.conditions.rows(now_ns)))
    assert {row["kind"]: tuple(sorted(row)) for row in rows} == {
        kind: tuple(sorted(fields)) for kind, fields in STATE_FIELDS.items()
    }


def test_a_share_group_is_waited_for_by_its_name(broker: EmbeddedBroker):
    broker.create_topic("orders")
    broker.publish("orders", "one", "two")
    config = GroupSettings(auto_offset_reset="earliest")
    broker.host.admin(lambda _now: broker.host.broker.groups.configs.set("workers", config))
    member = ShareConsumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "workers", "client.id": "one"})
    member.subscribe(["orders"])
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            member.poll(0.1)  # what the last call has given is acknowledged

    worker = threading.Thread(target=work)
    worker.start()
    try:
        broker.wait_until("group = workers and members = 1", timeout_s=20)
        what = broker.wait_until("kind = share_group and group = workers and lag = 0 and topic = orders", timeout_s=20)
    finally:
        stop.set()
        worker.join()
        member.close()
    assert what == "share group workers is Stable with 1 member (one), lag 0, 0 in flight in orders"


def test_what_is_not_there_is_said_when_the_time_is_over(broker: EmbeddedBroker):
    with pytest.raises(ConditionTimeoutError, match="there is no group or queue billing, nor any other; the br"):
        broker.wait_until("group = billing and lag = 0", timeout_s=0.01)
    broker.create_topic("orders")
    broker.create_queue("mail")
    for condition, told in (
        ("group = billing and lag = 0", "there is no group or queue billing, there is mail; queue mail has"),
        ('lag("billing") = 0', "there is no group or queue billing, there is mail; queue mail has"),
        ("topic = order", "there is no topic order, there are mail, orders; "),
        ("group = MAIL and ready = 1", "s: queue mail has 0 ready"),
        ("not group = billing and ready = 1", "s: queue mail has 0 ready"),
    ):
        with pytest.raises(ConditionTimeoutError, match=re.escape(told)):
            broker.wait_until(condition, timeout_s=0.01)


def test_a_thing_that_is_asked_by_its_name_is_not_waited_for_where_it_holds_already(broker: EmbeddedBroker):
    broker.create_queue("mail")
    broker.publish("mail", "letter")
    assert broker.wait_until('ready("mail") = 1 and lag("mail") < 2', timeout_s=0) == (
        "queue mail has 1 ready, 0 in flight and 0 dead"
    )
    assert broker.wait_until("transactions = 0", timeout_s=0)
    with pytest.raises(ConditionTimeoutError):
        broker.wait_until('ready("mail") = 2', timeout_s=0)


def test_it_is_awaited_beside_a_consumer_of_asyncio(broker: EmbeddedBroker):
    broker.create_topic("orders")
    broker.publish("orders", "one", "two")

    async def main() -> str:
        consumer = AIOKafkaConsumer(
            "orders",
            bootstrap_servers=broker.bootstrap_servers,
            group_id="billing",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        await consumer.start()
        try:
            waiting = asyncio.create_task(broker.wait_until_async("group = billing and lag = 0", timeout_s=20))
            for _ in range(2):
                await consumer.getone()
                await consumer.commit()
            return await waiting
        finally:
            await consumer.stop()

    assert "lag 0 in orders" in asyncio.run(main())


def test_it_is_asked_for_by_http_too(broker: EmbeddedBroker):
    def ask(condition: str, timeout_ms: int) -> dict[str, object]:
        data = json.dumps({"condition": condition, "timeout_ms": timeout_ms}).encode()
        request = urllib.request.Request(
            f"{broker.http_url}/v1/wait", data, {"Content-Type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: dict[str, object] = json.load(answer)
            return found

    broker.create_topic("orders")
    assert ask("messages = 0", 0) == {"holds": True, "what": "topic orders has 0 messages"}
    assert ask("messages = 1", 10) == {"holds": False, "what": "topic orders has 0 messages"}
