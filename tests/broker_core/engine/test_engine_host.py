"""A session as a host: clients in threads of their own use its broker between two steps."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.producer import Producer
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.engine.engine_host import EngineHost
from broker_core.engine.runner import Engine
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event
from broker_core.listeners.http.listener import HttpListener
from broker_core.simulation.scenario import parse_scenario
from broker_core.simulation.simulation import Simulation

SCENARIO = """
title: Empty
about: Nothing runs but what comes from outside.
until_s: 3600
topics: [{name: orders, partitions: 2}]
queues: [{name: jobs, config: {lease_ms: 1000}}]
"""


@contextmanager
def served(*, running: bool = True, scenario: str = SCENARIO, seen: list[Event] | None = None) -> Iterator[EngineHost]:
    """The host of a session; `seen` gets its events."""
    simulation = Simulation(parse_scenario(scenario))
    if seen is not None:
        simulation.events.attach(seen.append)
    simulation.start()
    engine = Engine(simulation, shared=False)
    if running:
        engine.run(1.0)
    host = EngineHost(engine, simulation)
    try:
        yield host
    finally:
        host.close()
        engine.close()
        simulation.close()


def test_messages_go_in_and_come_out_in_session_time():
    with served() as host, Producer(host) as producer, QueueConsumer(host, "jobs") as worker:
        assert producer.publish("orders", b"one", key=b"k")[1] == 0
        producer.publish("jobs", b"two")
        delivery = worker.take(timeout_s=5)
        assert delivery is not None
        assert delivery.message.value == b"two"
        delivery.ack()
        assert Admin(host).describe_queue("jobs").acknowledged == 1


def test_who_waits_is_woken_by_another_thread():
    with served() as host, Producer(host) as producer, QueueConsumer(host, "jobs") as worker:
        found: list[bytes | None] = []

        def take() -> None:
            delivery = worker.take(timeout_s=5)
            found.append(None if delivery is None else delivery.message.value)

        thread = threading.Thread(target=take)
        thread.start()
        producer.publish("jobs", b"late")
        thread.join(timeout=5)
        assert found == [b"late"]


def test_a_paused_session_answers_and_its_clock_stands_still():
    with served(running=False) as host, Producer(host) as producer:
        before = host.now_ns
        producer.publish("orders", b"one")
        assert Admin(host).describe_topic("orders").published == 1
        assert host.now_ns == before


def test_errors_come_to_the_caller_and_the_session_goes_on():
    with served() as host:
        with pytest.raises(BrokerError) as error:
            Admin(host).describe_topic("nothing")
        assert error.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert Admin(host).topics()


def test_a_listener_opens_on_a_session_and_closes_with_its_host():
    with served() as host:
        with HttpListener(host) as listener:
            body = json.dumps({"topic": "orders", "value": "from outside"}).encode()
            request = urllib.request.Request(
                listener.url + "/produce", body, {"Content-Type": "application/json"}, method="POST"
            )
            with urllib.request.urlopen(request, timeout=10) as answer:
                assert json.loads(answer.read())["offset"] == 0
            host.close()
            assert not listener.is_open
        with pytest.raises(BrokerError):
            host.call(lambda _now: None)
