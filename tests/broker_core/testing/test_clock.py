"""The clock of a broker under test: no test here waits for a lease, a session timeout or retention."""

from __future__ import annotations

import json
import threading
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from confluent_kafka import Consumer

from broker_core import BrokerHost, GroupConsumer, QueueConfig, QueueConsumer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.config import LogConfig
from broker_core.operations.clock import AdvanceClock, DescribeClock, StopClock
from broker_core.queues.config import RetryPolicy
from broker_core.testing.embedded_broker import EmbeddedBroker

HOUR_S = 3_600


@pytest.fixture
def broker():
    with EmbeddedBroker() as broker:
        yield broker


def test_a_stopped_clock_stands_still_and_goes_on_from_its_time(broker: EmbeddedBroker):
    broker.clock.stop()
    before_s = broker.clock.time_s
    assert broker.clock.is_stopped
    assert broker.clock.time_s == before_s
    broker.clock.start()
    assert before_s <= broker.clock.time_s < before_s + HOUR_S
    assert not broker.clock.is_stopped


def test_a_lease_expires_when_time_is_moved_on(broker: EmbeddedBroker):
    broker.create_queue("mail", QueueConfig(lease_ms=30_000))
    broker.publish("mail", "letter")
    with QueueConsumer(broker.host, "mail", client_id="worker") as worker, broker.clock.stopped():
        worker.take(1)
        broker.clock.advance(29.9)
        assert broker.admin.describe_queue("mail").in_flight == 1
        broker.clock.advance(0.1)
        assert broker.admin.describe_queue("mail").in_flight == 0
        assert broker.admin.describe_queue("mail").ready == 1


def test_requests_wait_no_longer_while_time_stands_still(broker: EmbeddedBroker):
    broker.create_topic("orders")
    broker.create_queue("mail")
    with broker.clock.stopped():
        with QueueConsumer(broker.host, "mail", client_id="worker") as worker:
            assert worker.take(0.02) is None
        consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": "billing",
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 50,
            }
        )
        try:
            consumer.subscribe(["orders"])
            broker.publish("orders", "first")
            assert consumer.poll(10).value() == b"first"
            assert consumer.poll(0.2) is None  # a fetch that found nothing has ended meanwhile
            broker.publish("orders", "second")
            assert consumer.poll(10).value() == b"second"
        finally:
            consumer.close()


def test_a_silent_member_leaves_unless_members_stay(broker: EmbeddedBroker):
    broker.create_topic("orders")
    with broker.clock.stopped(), GroupConsumer(broker.host, "billing", ["orders"]) as consumer:
        consumer.poll(0.1)
        assert len(broker.admin.describe_group("billing").members) == 1
        broker.clock.advance(HOUR_S, members_stay=True)
        assert len(broker.admin.describe_group("billing").members) == 1


def test_a_real_member_that_nobody_hears_from_leaves_at_its_session_timeout(broker: EmbeddedBroker):
    broker.create_topic("orders")
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "billing",
            "session.timeout.ms": 45_000,
            "heartbeat.interval.ms": 40_000,
        }
    )
    try:
        consumer.subscribe(["orders"])
        with broker.clock.stopped():
            while not consumer.assignment():
                consumer.poll(0.05)
            broker.clock.advance(44)
            assert broker.admin.describe_group("billing").state == "Stable"
            broker.clock.advance(2)
            assert broker.admin.describe_group("billing").state == "Empty"
    finally:
        consumer.close()


def test_retention_and_retry_delays_go_by_it(broker: EmbeddedBroker):
    broker.create_topic("orders", log=LogConfig(retention_ms=HOUR_S * 1_000, segment_bytes=100))
    broker.publish("orders", *range(20))
    broker.clock.advance(2 * HOUR_S)
    broker.publish("orders", "new")
    broker.clock.advance(0)
    assert b"0" not in [message.value for message in broker.messages("orders")]
    assert broker.messages("orders")[-1].value == b"new"


def test_what_is_due_for_compaction_is_compacted_when_it_returns(broker: EmbeddedBroker):
    broker.create_topic("prices", log=LogConfig(cleanup="compact", segment_bytes=100))
    broker.publish("prices", *range(100), key="ACME")
    broker.clock.advance(HOUR_S)
    assert len(broker.messages("prices")) < 5


def test_a_jump_goes_to_a_date_and_never_back(broker: EmbeddedBroker):
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    with broker.clock.stopped():
        broker.clock.jump(tomorrow)
        assert abs(broker.clock.time - tomorrow) < timedelta(milliseconds=2)
        with pytest.raises(BrokerError, match="only moves on"):
            broker.clock.jump(tomorrow - timedelta(hours=1))


def test_it_is_moved_by_http_too(broker: EmbeddedBroker):
    def ask(verb: str, path: str, body: object = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{broker.http_url}/v1/clock{path}", data, headers, method=verb)
        with urllib.request.urlopen(request, timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    stopped = ask("POST", "/stop")
    assert stopped["stopped"] is True
    moved = ask("POST", "/advance", {"by_ms": 5_000})
    assert moved["time_ms"] == pytest.approx(stopped["time_ms"] + 5_000)
    assert ask("GET", "") == moved
    assert ask("POST", "/start")["stopped"] is False


def test_the_clock_of_another_broker_cannot_be_moved():
    with BrokerHost() as host:
        assert host.ask(DescribeClock()).stopped is False
        for request in (StopClock(), AdvanceClock(by_ms=1)):
            with pytest.raises(BrokerError, match="open one for tests") as refused:
                host.ask(request)
            assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_time_that_is_moved_wakes_whoever_waits_for_it(broker: EmbeddedBroker):
    """A retry delay is far away when the worker begins to wait."""
    broker.create_queue("mail", QueueConfig(retry=RetryPolicy(kind="fixed", base_ms=HOUR_S * 1_000)))
    broker.publish("mail", "letter")
    with QueueConsumer(broker.host, "mail", client_id="worker") as worker:
        letter = worker.take(1)
        assert letter is not None
        letter.nack("not now")
        found: list[object] = []
        waiting = threading.Thread(target=lambda: found.append(worker.take(20)))
        waiting.start()
        broker.clock.advance(HOUR_S)
        waiting.join()
        assert found[0] is not None
