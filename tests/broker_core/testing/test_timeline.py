"""What a failing test tells of many events: what decides comes first, and what is left out is counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from confluent_kafka import Consumer

from broker_core import GroupConsumer, Message, Producer
from broker_core.clock import NS_PER_S
from broker_core.snapshots import ConnectionView
from broker_core.testing.embedded_broker import ConditionTimeoutError, EmbeddedBroker, silent_clients
from broker_core.testing.schedule import Disturbance, Schedule
from broker_core.testing.timeline import MAX_CONTROL, MAX_MESSAGES
from broker_core.testing.virtual_broker import VirtualBroker
from broker_core.testing.virtual_consumer import VirtualConsumer
from tests.broker_core.admin import Admin
from tests.broker_core.listeners.kafka.raw import KEYS, asked


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        yield broker


def busy(broker: EmbeddedBroker) -> None:
    """A message that is lost, and then many others."""
    broker.create_queue("jobs")
    broker.publish("jobs", "the lost one")
    Admin(broker.host).purge_queue("jobs")
    broker.create_topic("orders", partitions=2)
    for number in range(30):
        broker.publish("orders", f"order {number}", partition=number % 2)
        fault = broker.faults.throttle("Fetch", 1)
        fault.end()


def test_the_life_of_what_a_verdict_has_found_is_told_however_long_ago_it_was(broker: EmbeddedBroker):
    busy(broker)
    assert "the lost one" not in broker.timeline() and "published jobs/0 @0" not in broker.timeline()
    assert not broker.audit().nothing_lost()
    lines = broker.timeline().splitlines()
    assert any("published jobs/0 @0 test" in line for line in lines[:10])
    assert any("purged jobs/0 @0" in line for line in lines[:10])
    assert any("order 29" in line for line in lines)


def test_what_is_left_out_is_counted_and_the_whole_has_it(broker: EmbeddedBroker):
    busy(broker)
    lines = broker.timeline().splitlines()
    told = [line for line in lines if " s " in line[:13]]
    gaps = [int(line.split()[1]) for line in lines if line.startswith("        ...")]
    whole = [line for line in broker.timeline(whole=True).splitlines() if " s " in line[:13]]
    assert len(told) == MAX_CONTROL + MAX_MESSAGES and gaps
    assert len(whole) == len(told) + sum(gaps) == len(broker.events.events)
    assert set(told) < set(whole)
    left_out = f"{sum(gaps)} of {len(whole)} lines are left out; timeline(whole=True) and the recording have them."
    assert left_out in lines
    assert "left out" not in broker.timeline(whole=True)


def test_the_topics_of_what_is_told_are_told_although_much_has_happened_since(broker: EmbeddedBroker):
    busy(broker)
    assert "topic_created orders" in broker.timeline() and "queue_created" not in broker.timeline()
    assert not broker.audit().nothing_lost()
    assert "queue_created" in broker.timeline()


def test_what_happened_to_the_group_of_a_verdict_is_told_before_other_groups(broker: EmbeddedBroker):
    broker.create_topic("orders")
    broker.create_topic("mail")
    broker.publish("orders", "one")
    broker.publish("mail", "one")
    with GroupConsumer(broker.host, "billing", ["orders"]) as consumer:
        while not consumer.poll(0.1):
            pass
    for number in range(20):
        with GroupConsumer(broker.host, f"other-{number}", ["mail"]) as other:
            while not other.poll(0.1):
                pass
            other.commit()
    assert "group billing" not in broker.timeline().rpartition("At the end")[0]
    assert not broker.audit().everything_done()
    assert "member_joined group billing" in broker.timeline()


def test_a_promise_that_is_asked_for_again_and_again_is_denied_once_a_reader(broker: EmbeddedBroker):
    broker.create_queue("jobs")
    for number in range(3):
        broker.publish("jobs", str(number))
        assert not broker.audit().everything_done()
        assert not broker.audit().everything_done(by="jobs")
        assert not broker.audit().everything_done(by="billing")
    told = [line.partition(" (")[0] for line in broker.timeline().splitlines() if line.startswith("not yet")]
    left = "not yet acknowledged or dead-lettered: 3"
    assert told == [left, f"{left} by jobs", f"{left} by billing"]
    waiting = "- jobs/0 @0 is the first of 3 messages that queue jobs has not acknowledged (3 waiting)"
    assert broker.timeline().count(waiting) == 2
    assert "has 1 message that" not in broker.timeline(), "the last answer knows most"


def test_what_happened_to_the_group_that_was_waited_for_is_told(broker: EmbeddedBroker):
    broker.create_topic("orders")
    for number in range(30):
        name = "billing" if number == 0 else f"other-{number}"
        with GroupConsumer(broker.host, name, ["orders"]) as consumer:
            consumer.poll(0)
    assert "group billing" not in broker.timeline().rpartition("At the end")[0]
    with pytest.raises(ConditionTimeoutError):
        broker.wait_until("group = billing and members = 1", timeout_s=0)
    assert "member_joined group billing" in broker.timeline()
    broker.reset()
    assert broker.timeline().startswith("Nothing happened")


def test_little_is_told_as_it_is(broker: EmbeddedBroker):
    broker.create_topic("orders")
    broker.publish("orders", "1", "2", "3")
    told = broker.timeline()
    assert "topic_created orders" in told and "published orders/0 @0" in told
    assert "left out" not in told and "..." not in told


def test_a_run_of_messages_is_one_line_and_told_where_one_of_them_decides(broker: EmbeddedBroker):
    broker.create_topic("mail")
    with Producer(broker.host, client_id="shop") as producer:
        producer.publish_many("mail", [Message(b"%d" % number) for number in range(500)])
    Admin(broker.host).delete_records("mail", {0: 499})
    busy(broker)
    assert "published mail" not in broker.timeline()
    assert not broker.audit().nothing_lost()
    assert "published mail/0 @0-499 shop" in broker.timeline()


def test_a_virtual_broker_has_a_whole_timeline_too():
    with VirtualBroker() as broker:
        broker.create_topic("orders")
        for number in range(40):
            broker.publish("orders", "x", key=str(number), at_s=number)
        broker.create_topic("other")
        broker.run(60)
        assert "topic_created orders" in broker.timeline()
        assert "topic_created orders" in broker.timeline(whole=True)


def test_what_a_client_had_done_before_it_was_disturbed_is_told_with_the_lives_of_its_messages():
    """The bug that a schedule finds is there: it committed, and crashed before the work."""

    def bill(consumer: VirtualConsumer) -> None:
        consumer.subscribe(["orders"])
        while True:
            message = consumer.poll(1.0)
            if message is not None:
                consumer.commit(message, asynchronous=False)

    crash = Disturbance("billing-1", call=2, when="after", kind="crash", for_s=0.5)
    with VirtualBroker(Schedule(0, (crash,))) as broker:
        broker.create_topic("orders")
        for number in range(40):
            broker.publish("orders", str(number), at_s=number / 4)
        broker.add_consumers(bill, "billing")
        broker.run()
        lines = broker.timeline().splitlines()
    (at,) = [place for place, line in enumerate(lines) if "user_action billing-1 (crashed" in line]
    assert "acknowledged orders/0 @0 group billing billing-1  '0'" in lines[at - 1]
    assert any("published orders/0 @0" in line for line in lines[:at])
    assert any("left out" in line for line in lines)


def test_a_client_of_a_group_that_asks_for_nothing_is_named(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.create_topic("orders")
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "etl", "client.id": "etl-1"})
    consumer.subscribe(["orders"])
    consumer.poll(0)
    broker.wait_until('group = "etl" and members = 1', timeout_s=20)
    views = broker.connections.views()
    heard_ns = max(view.heard_ns for view in views if view.client == "etl-1")
    assert silent_clients(views, heard_ns + 2 * NS_PER_S) == []
    (told,) = silent_clients(views, heard_ns + 4 * NS_PER_S)
    assert told == "etl-1 is connected but has not requested anything for 4.0 s."
    # The timeline has it, unless the broker's time was moved; it may be heard while the timeline is made.
    monkeypatch.setattr("broker_core.testing.embedded_broker.SILENT_S", -1.0)
    assert "etl-1 is connected but has not requested anything" in broker.timeline()
    broker.clock.advance(60, members_stay=True)
    assert "has not requested anything" not in broker.timeline()
    consumer.close()


@pytest.mark.parametrize(
    ("changed", "why"),
    [({"session_timeout": 1}, "raw asks for 1 ms"), ({"protocols": []}, "raw must offer an assignor")],
)
def test_a_join_that_was_refused_is_told_once(broker: EmbeddedBroker, changed: dict[str, Any], why: str) -> None:
    port = int(broker.bootstrap_servers.rpartition(":")[2])
    offer = {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}]}
    for _ in range(2):
        asked(
            port,
            KEYS["JoinGroup"],
            2,
            {"group_id": "g", "session_timeout": 10_000, "rebalance_timeout": 1, **offer, **changed},
        )
    (line,) = [line for line in broker.timeline().splitlines() if "JoinGroup" in line]
    assert " s raw: JoinGroup: " in line and why in line
    seen = [*broker.connections.views(), *broker.connections.gone()]
    assert seen and all(why in view.last_error and view.errors == 1 for view in seen)


def test_it_is_said_where_that_is_known_of_the_client() -> None:
    fields: dict[str, Any] = {field.name: 0 for field in msgspec.structs.fields(ConnectionView)}
    view = ConnectionView(**fields | {"client": "etl", "group": "g", "software": "kafka-python 3.0.12"})
    (told,) = silent_clients([view], 3 * NS_PER_S)
    assert told.endswith(
        "for 3.0 s; kafka-python 3 forgets a rebalance that outlasts the timeout of its poll: "
        "poll(timeout_ms=5_000), or iterate over the consumer."
    )
