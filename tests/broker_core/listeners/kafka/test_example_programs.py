"""The programs of `resources/examples` end when they are asked to, also where their broker is gone."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from broker_core import Admin, BrokerHost, HostConfig
from broker_core.groups.config import GroupConfig
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.listeners.kafka.test_faults import Faults

EXAMPLES = Path(__file__).parents[4] / "resources" / "examples"
PATIENCE_S = 60.0


@contextmanager
def program(name: str, listener: KafkaListener) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(EXAMPLES / name), "--bootstrap-servers", listener.bootstrap_servers]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as started:
        try:
            yield started
        finally:
            started.kill()


def until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost(config=HostConfig(groups=GroupConfig(initial_rebalance_delay_ms=50))) as made:
        Admin(made).create_topic("orders", 2)
        yield made


@pytest.mark.parametrize("gone", [True, False], ids=["gone", "silent"])
def test_a_consumer_ends_whose_broker_is_gone_or_does_not_answer(host: BrokerHost, gone: bool):
    with KafkaListener(host, port=0) as listener, program("consumer.py", listener) as consumer:
        until(lambda: _asked(listener, "Heartbeat"))
        if gone:
            listener.close()
        else:
            Faults(host).begin(effect="hold")
        consumer.send_signal(signal.SIGTERM)
        told, _ = consumer.communicate(timeout=PATIENCE_S)
        assert (consumer.returncode, "has left" in told, "does not answer" in told) in {
            (0, True, False),
            (1, False, True),
        }


def test_a_producer_ends_without_its_broker(host: BrokerHost):
    with KafkaListener(host, port=0) as listener, program("producer.py", listener) as producer:
        until(lambda: _asked(listener, "Produce"))
        listener.close()
        time.sleep(0.2)  # a few messages wait
        producer.send_signal(signal.SIGTERM)
        told, _ = producer.communicate(timeout=PATIENCE_S)
        assert producer.returncode == 1
        assert "are given up" in told


def test_with_their_broker_they_end_and_lose_nothing(host: BrokerHost):
    with (
        KafkaListener(host, port=0) as listener,
        program("producer.py", listener) as producer,
        program("consumer.py", listener) as consumer,
    ):
        until(lambda: _asked(listener, "Produce") and _asked(listener, "Heartbeat"))
        for each in (producer, consumer):
            each.send_signal(signal.SIGTERM)
            each.communicate(timeout=PATIENCE_S)
        assert (producer.returncode, consumer.returncode) == (0, 0)


def _asked(listener: KafkaListener, api: str) -> bool:
    return any(request.api == api for request in listener.connections.requests())
