"""A publisher and readers over HTTP: what they do beside the operations that they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from broker_core import BrokerHost, FlowConfig, HttpBroker, HttpGroupReader, HttpPublisher, HttpQueueReader, LogConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.listener import HttpListener
from broker_core.operations.groups import KickMember
from broker_core.operations.messages import Placed, PublishMessages
from broker_core.schemas.rule import SchemaRule
from tests.broker_core.admin import Admin, SchemaAdmin


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as host:
        Admin(host).create_topic("orders")
        Admin(host).create_queue("jobs")
        yield host


@pytest.fixture
def broker(host: BrokerHost) -> Iterator[HttpBroker]:
    with HttpListener(host) as listener, HttpBroker(listener.url) as broker:
        yield broker


def test_a_member_that_was_removed_joins_again_at_what_was_committed(host: BrokerHost, broker: HttpBroker) -> None:
    told: list[Placed] = []
    publisher = HttpPublisher(broker, "orders", on_placed=told.append)
    for value in (b"one", b"\xff", b"three"):
        publisher.send(value, b"key")
    publisher.flush()
    assert [(each.status, each.partition, each.offset) for each in told] == [("stored", 0, at) for at in range(3)]
    with HttpGroupReader(broker, "g", "orders", client_id="r") as reader:
        found = reader.poll(5.0, 1)
        assert [(each.value, each.key) for each in found] == [(b"one", b"key")]
        reader.commit()
        assert [each.value for each in reader.poll(5.0)] == [b"\xff", b"three"]
        (member,) = Admin(host).describe_group("g").members
        host.ask(KickMember(group="g", client=member.client))
        values: list[bytes | None] = []
        while not values:
            values = [each.value for each in reader.poll(5.0)]
        assert values == [b"\xff", b"three"]
    assert not Admin(host).describe_group("g").members


def test_a_queue_reader_gives_back_what_is_not_acknowledged(broker: HttpBroker) -> None:
    publisher = HttpPublisher(broker, "jobs")
    for value in (b"one", b"two"):
        publisher.send(value)
    publisher.flush()
    with HttpQueueReader(broker, "jobs") as reader:
        taken = reader.take(5.0)
        assert [message.value for message, _lease in taken] == [b"one", b"two"]
        reader.ack([taken[0][1]])
    with HttpQueueReader(broker, "jobs") as reader:
        assert [message.value for message, _lease in reader.take(5.0)] == [b"two"]


def test_a_publisher_waits_for_room_or_is_refused_at_once(host: BrokerHost, broker: HttpBroker) -> None:
    Admin(host).create_topic("slow", flow=FlowConfig(rate_per_s=20, burst=1, policy="reject"))
    for at_once, code in ((False, None), (True, ErrorCode.THROTTLED)):
        publisher = HttpPublisher(broker, "slow", at_once=at_once, timeout_s=20)
        for value in (b"a", b"b", b"c"):
            publisher.send(value)
        if code is None:
            publisher.flush()
            continue
        with pytest.raises(BrokerError) as refused:
            publisher.flush()
        assert refused.value.code is code


def test_messages_that_are_refused_for_different_reasons_are_told_the_first_reason(
    host: BrokerHost, broker: HttpBroker
) -> None:
    Admin(host).create_topic("small", log=LogConfig(max_message_bytes=100, durability="memory"))
    SchemaAdmin(host).register("order", '{"type": "object"}')
    SchemaAdmin(host).set_rule("small", SchemaRule("order"))
    publisher = HttpPublisher(broker, "small", timeout_s=1)
    publisher.send(b"7")
    publisher.send(b"{" + b" " * 200 + b"}")
    with pytest.raises(BrokerError) as refused:
        publisher.flush()
    assert refused.value.code is ErrorCode.INVALID_RECORD


def test_one_message_that_is_sent_alone_waits_no_longer_than_is_left_of_the_timeout(
    host: BrokerHost, broker: HttpBroker
) -> None:
    Admin(host).create_topic("slow", flow=FlowConfig(rate_per_s=0.01, burst=1, policy="block"))
    waits_ms: list[int] = []
    ask = broker.ask

    def asking(request: PublishMessages) -> Any:
        waits_ms.append(request.batch.timeout_ms)
        return ask(request)

    broker.ask = asking  # type: ignore[method-assign, assignment]
    publisher = HttpPublisher(broker, "slow", timeout_s=0.3)
    publisher.send(b"a")
    publisher.send(b"b")
    with pytest.raises(BrokerError) as late:
        publisher.flush()
    assert late.value.code is ErrorCode.REQUEST_TIMED_OUT
    assert waits_ms[0] > 250 and all(each < 50 for each in waits_ms[1:])
