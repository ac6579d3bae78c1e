"""What confluent-kafka was told is stored is there after kill -9 of the server, and its consumer goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from confluent_kafka import Consumer, Producer

from broker_core import Admin, BrokerHost, HostConfig, LogConfig
from broker_core.listeners.kafka.listener import KafkaListener

CYCLES = 3
BUSY_S = 0.7
FSYNC = HostConfig(log=LogConfig(durability="fsync"))


def serve(folder: Path, port: int) -> None:
    """The child: a broker with a Kafka listener, for ever; says its port."""
    with BrokerHost(folder, FSYNC) as host, KafkaListener(host, port=port) as listener:
        print(listener.port, flush=True)
        threading.Event().wait()


def test_what_was_acknowledged_to_a_kafka_client_survives_each_kill(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from tests.crash.test_kafka_kill_nine import serve; "
        "serve(pathlib.Path(sys.argv[1]), int(sys.argv[2]))"
    )
    with BrokerHost(tmp_path, FSYNC) as host:
        Admin(host).create_topic("orders", 2)
    acknowledged: list[bytes] = []
    port, number = 0, 0
    producer: Producer | None = None
    for _ in range(CYCLES):
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), str(port)],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        port = int(child.stdout.readline())
        producer = producer or Producer(
            {
                "bootstrap.servers": f"127.0.0.1:{port}",
                "enable.idempotence": True,
                "reconnect.backoff.max.ms": 200,
                "linger.ms": 1,
                "log_level": 0,
            }
        )
        end_s = time.monotonic() + BUSY_S
        while time.monotonic() < end_s:
            number += 1
            producer.produce(
                "orders",
                b"%d" % number,
                on_delivery=lambda error, message: None if error else acknowledged.append(message.value()),
            )
            producer.poll(0.001)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    assert producer is not None
    with BrokerHost(tmp_path, FSYNC) as host, KafkaListener(host, port=port):
        assert producer.flush(60) == 0, "what had no answer is sent again, and stored once"
        stored = [
            message.value or b""
            for partition in range(2)
            for message in Admin(host).messages("orders", partition, limit=1_000_000)
        ]
        assert len(acknowledged) == number > 0
        assert sorted(stored) == sorted(acknowledged), "nothing lost, nothing twice"
        consumer = Consumer(
            {
                "bootstrap.servers": f"127.0.0.1:{port}",
                "group.id": "billing",
                "auto.offset.reset": "earliest",
                "log_level": 0,
            }
        )
        consumer.subscribe(["orders"])
        read: list[bytes | None] = []
        deadline_s = time.monotonic() + 60
        while len(read) < len(stored) and time.monotonic() < deadline_s:
            read += [message.value() for message in consumer.consume(1_000, 1.0)]
        consumer.close()
        assert sorted(filter(None, read)) == sorted(acknowledged)
