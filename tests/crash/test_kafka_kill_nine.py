"""What Kafka's clients were told is stored is there after kill -9 of the server, and their consumers go on."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Protocol

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, Producer
from kafka import KafkaConsumer, KafkaProducer

from broker_core import BrokerHost, HostConfig, LogConfig
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.admin import Admin

BUSY_S = 0.7
PATIENCE_S = 60
FSYNC = HostConfig(log=LogConfig(durability="fsync"))


class Client(Protocol):
    """A producer, made for a server that runs, and what it was told is stored; then a consumer."""

    acknowledged: list[bytes]

    def __init__(self, servers: str) -> None: ...

    def send(self, value: bytes) -> None:
        """Send, without waiting for the answer."""

    def finish(self) -> None:
        """Wait until all that was sent is answered."""

    def read(self, count: int) -> list[bytes | None]:
        """The first `count` messages of "orders" by a consumer, or what came in time."""


class ConfluentKafka:
    def __init__(self, servers: str) -> None:
        self.acknowledged: list[bytes] = []
        self._settings = {"bootstrap.servers": servers, "log_level": 0}
        self._producer = Producer(
            {**self._settings, "enable.idempotence": True, "reconnect.backoff.max.ms": 200, "linger.ms": 1}
        )

    def send(self, value: bytes) -> None:
        self._producer.produce(
            "orders", value, on_delivery=lambda error, _message: None if error else self.acknowledged.append(value)
        )
        self._producer.poll(0.001)

    def finish(self) -> None:
        assert self._producer.flush(PATIENCE_S) == 0, "what had no answer is sent again, and stored once"

    def read(self, count: int) -> list[bytes | None]:
        consumer = Consumer({**self._settings, "group.id": "billing", "auto.offset.reset": "earliest"})
        consumer.subscribe(["orders"])
        found: list[bytes | None] = []
        deadline_s = time.monotonic() + PATIENCE_S
        while len(found) < count and time.monotonic() < deadline_s:
            found += [message.value() for message in consumer.consume(1_000, 1.0)]
        consumer.close()
        return found


class KafkaPython:
    def __init__(self, servers: str) -> None:
        self.acknowledged: list[bytes] = []
        self._servers = servers
        self._producer = KafkaProducer(
            bootstrap_servers=servers, enable_idempotence=True, linger_ms=1, reconnect_backoff_max_ms=200
        )

    def send(self, value: bytes) -> None:
        self._producer.send("orders", value).add_callback(lambda _stored: self.acknowledged.append(value))
        time.sleep(0.001)  # it needs the interpreter for its own thread

    def finish(self) -> None:
        self._producer.flush(PATIENCE_S)
        self._producer.close()

    def read(self, count: int) -> list[bytes | None]:
        consumer = KafkaConsumer(
            "orders",
            bootstrap_servers=self._servers,
            group_id="billing",
            auto_offset_reset="earliest",
            consumer_timeout_ms=PATIENCE_S * 1_000,
        )
        found = [message.value for _, message in zip(range(count), consumer, strict=False)]
        consumer.close()
        return found


class AioKafka:
    """Its loop runs in a thread of its own."""

    def __init__(self, servers: str) -> None:
        self.acknowledged: list[bytes] = []
        self._servers = servers
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._answers: list[asyncio.Future[object]] = []
        self._producer = asyncio.run_coroutine_threadsafe(self._started(), self._loop).result(PATIENCE_S)

    async def _started(self) -> AIOKafkaProducer:
        producer = AIOKafkaProducer(
            bootstrap_servers=self._servers,
            enable_idempotence=True,
            request_timeout_ms=PATIENCE_S * 1_000,
            metadata_max_age_ms=1_000,
        )
        await producer.start()
        return producer

    def send(self, value: bytes) -> None:
        asyncio.run_coroutine_threadsafe(self._send(value), self._loop).result(PATIENCE_S)

    async def _send(self, value: bytes) -> None:
        answer = await self._producer.send("orders", value)
        self._answers.append(answer)
        answer.add_done_callback(lambda done: None if done.exception() else self.acknowledged.append(value))

    def finish(self) -> None:
        asyncio.run_coroutine_threadsafe(self._producer.stop(), self._loop).result(PATIENCE_S)

    def read(self, count: int) -> list[bytes | None]:
        try:
            return asyncio.run_coroutine_threadsafe(self._read(count), self._loop).result(PATIENCE_S)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(PATIENCE_S)
            self._loop.close()

    async def _read(self, count: int) -> list[bytes | None]:
        async with AIOKafkaConsumer(
            "orders", bootstrap_servers=self._servers, group_id="billing", auto_offset_reset="earliest"
        ) as consumer:
            return [(await consumer.getone()).value for _ in range(count)]


def serve(folder: Path, port: int) -> None:
    """The child: a broker with a Kafka listener, for ever; says its port."""
    with BrokerHost(folder, FSYNC) as host, KafkaListener(host, port=port) as listener:
        print(listener.port, flush=True)
        threading.Event().wait()


def started(folder: Path, port: int) -> tuple[subprocess.Popen[str], int]:
    """A child that serves, and its port."""
    code = (
        "import sys, pathlib; from tests.crash.test_kafka_kill_nine import serve; "
        "serve(pathlib.Path(sys.argv[1]), int(sys.argv[2]))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(folder), str(port)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    return child, int(child.stdout.readline())


@pytest.mark.promise("35")
@pytest.mark.parametrize(
    ("make", "cycles"),
    [
        pytest.param(ConfluentKafka, 2, id="confluent-kafka"),
        pytest.param(KafkaPython, 2, id="kafka-python", marks=pytest.mark.long),
        pytest.param(AioKafka, 2, id="aiokafka", marks=pytest.mark.long),
        pytest.param(ConfluentKafka, 6, id="confluent-kafka, many times", marks=pytest.mark.long),
    ],
)
def test_what_was_acknowledged_to_a_kafka_client_survives_each_kill(
    tmp_path: Path, make: type[Client], cycles: int
) -> None:
    with BrokerHost(tmp_path, FSYNC) as host:
        Admin(host).create_topic("orders", 2)
    port, number = 0, 0
    client: Client | None = None
    for _ in range(cycles):
        child, port = started(tmp_path, port)
        client = client or make(f"127.0.0.1:{port}")
        end_s = time.monotonic() + BUSY_S
        while time.monotonic() < end_s:
            number += 1
            client.send(b"%d" % number)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert child.stdout is not None
        child.stdout.close()
    assert client is not None
    with BrokerHost(tmp_path, FSYNC) as host, KafkaListener(host, port=port):
        client.finish()
        stored = [
            message.value or b""
            for partition in range(2)
            for message in Admin(host).messages("orders", partition, limit=1_000_000)
        ]
        assert len(client.acknowledged) == number > 0
        assert sorted(stored) == sorted(client.acknowledged), "nothing lost, nothing twice"
        assert sorted(filter(None, client.read(len(stored)))) == sorted(client.acknowledged)
