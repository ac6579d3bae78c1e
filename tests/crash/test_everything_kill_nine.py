"""Ten minutes of kill -9 of the broker and of its clients, over topics, transactions, KIP-848 and share groups."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from broker_core import Admin, BrokerHost, HostConfig, LogConfig
from broker_core.groups.config import GroupConfig

SOAK_S = 600
PATIENCE_S = 120
GROUPS = GroupConfig(initial_rebalance_delay_ms=50, consumer_heartbeat_interval_ms=500)
CONFIG = HostConfig(log=LogConfig(durability="file", segment_bytes=200_000), groups=GROUPS)
SERVER = """
import sys
from tests.crash.test_everything_kill_nine import CONFIG
from broker_core import BrokerHost
from broker_core.listeners.kafka.listener import KafkaListener
with BrokerHost(sys.argv[1], config=CONFIG) as host, KafkaListener(host, port=int(sys.argv[2])) as listener:
    print(listener.port, flush=True)
    sys.stdin.read()
"""
# Each writes what it was told is done, a line at a time, to a file that outlives it.
CLIENTS = {
    "producer": """
producer, number = Producer({**base, "enable.idempotence": True}), 0
while True:
    for _ in range(20):
        producer.produce("plain", f"{life}.{number}", on_delivery=lambda e, m: e or say(m.value().decode()))
        producer.produce("jobs", f"{life}.{number}", on_delivery=lambda e, m: e or say("job " + m.value().decode()))
        number += 1
    producer.flush(30)
    time.sleep(0.05)
""",
    "transactions": """
producer, number = Producer({**base, "transactional.id": "tx"}), 0
producer.init_transactions(60)
while True:
    ends, number = "AC"[number % 3 > 0], number + 1
    producer.begin_transaction()
    for part in range(5):
        producer.produce("tx", f"{ends} {life}.{number} {part}")
    try:
        producer.commit_transaction(60) if ends == "C" else producer.abort_transaction(60)
    except KafkaException as error:
        raise SystemExit(str(error))  # a new life begins with init_transactions
    if ends == "C":
        say(f"{life}.{number}")
    time.sleep(0.02)
""",
    "consumer": """
consumer = Consumer({**base, "group.id": "new", "group.protocol": "consumer", "auto.offset.reset": "earliest",
    "enable.auto.commit": False})
consumer.subscribe(["plain"])
while True:
    found = [each for each in consumer.consume(50, 0.5) if not each.error()]
    for each in found:
        say(each.value().decode())
    if found:
        try:
            consumer.commit(asynchronous=False)
        except KafkaException:
            pass
""",
    "worker": """
consumer = ShareConsumer({**base, "group.id": "share", "share.acknowledgement.mode": "implicit"})
consumer.subscribe(["jobs"])
while True:
    for each in consumer.poll(0.5):
        if not each.error():
            say(each.value().decode())
""",
}
HEAD = """
import os, sys, time
from confluent_kafka import Consumer, KafkaException, Producer, ShareConsumer
servers, path, life = sys.argv[1:]
base = {"bootstrap.servers": servers, "log_level": 0, "socket.timeout.ms": 10_000}
out = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
def say(line):
    os.write(out, line.encode() + b"\\n")
"""


class Crowd:
    """A broker, and clients of each kind: processes that are killed and begin again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.port = 0
        self._lives = 0
        self.server = self._serve()
        roles = ("producer", "transactions", "consumer", "consumer", "worker", "worker")
        self.clients = {f"{role}-{number}": self._begin(role) for number, role in enumerate(roles)}

    def _serve(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", SERVER, str(self._path / "data"), str(self.port)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        self.port = int(process.stdout.readline())
        return process

    def _begin(self, role: str) -> subprocess.Popen[bytes]:
        self._lives += 1
        said = str(self._path / f"{role}.said")
        arguments = [f"127.0.0.1:{self.port}", said, str(self._lives)]
        return subprocess.Popen([sys.executable, "-c", HEAD + CLIENTS[role], *arguments], stderr=subprocess.DEVNULL)

    def kill_server(self) -> None:
        self.server.send_signal(signal.SIGKILL)
        self.server.wait(PATIENCE_S)
        self.server = self._serve()

    def kill_client(self, name: str) -> None:
        self.clients[name].kill()
        self.clients[name].wait(PATIENCE_S)
        self.clients[name] = self._begin(name.partition("-")[0])

    def revive(self) -> None:
        """Those that have given up begin again."""
        for name, process in self.clients.items():
            if process.poll() is not None:
                self.clients[name] = self._begin(name.partition("-")[0])

    def said(self, role: str) -> list[str]:
        path = self._path / f"{role}.said"
        return path.read_text().splitlines() if path.exists() else []

    def close(self) -> None:
        for client in self.clients.values():
            client.kill()
            client.wait(PATIENCE_S)
        self.server.kill()
        self.server.wait(PATIENCE_S)


def read(port: int, topic: str) -> list[str]:
    """Every message of a topic that a read_committed consumer gets."""
    consumer = Consumer({"bootstrap.servers": f"127.0.0.1:{port}", "group.id": "audit"})
    _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[str] = []
    deadline_s = time.monotonic() + PATIENCE_S
    while consumer.position([TopicPartition(topic, 0)])[0].offset < end:
        assert time.monotonic() < deadline_s, f"{topic} is read up to its end"
        found += (each.value().decode() for each in consumer.consume(1_000, 1) if not each.error())
    consumer.close()
    return found


@pytest.mark.soak
@pytest.mark.timeout(SOAK_S + 5 * PATIENCE_S)
def test_nothing_is_lost_doubled_or_read_aborted_in_ten_minutes_of_kills(tmp_path: Path):
    dice, kills = random.Random(22), Counter[str]()
    with BrokerHost(tmp_path / "data", CONFIG) as host:
        for topic in ("plain", "jobs", "tx"):
            Admin(host).create_topic(topic)
    crowd = Crowd(tmp_path)
    try:
        ends_s = time.monotonic() + SOAK_S
        while time.monotonic() < ends_s:
            time.sleep(dice.uniform(2, 6))
            crowd.revive()
            whom = dice.choice(["server", *crowd.clients])
            kills[whom] += 1
            crowd.kill_server() if whom == "server" else crowd.kill_client(whom)
        for name in ("producer-0", "transactions-1"):
            crowd.clients[name].kill()
            crowd.clients.pop(name).wait(PATIENCE_S)
        told = crowd.said("producer")
        plain = {line for line in told if not line.startswith("job ")}
        jobs = {line.removeprefix("job ") for line in told if line.startswith("job ")}
        deadline_s = time.monotonic() + 2 * PATIENCE_S
        while not (plain <= set(crowd.said("consumer")) and jobs <= set(crowd.said("worker"))):
            crowd.revive()
            assert time.monotonic() < deadline_s, (
                f"{len(plain - set(crowd.said('consumer')))} messages and "
                f"{len(jobs - set(crowd.said('worker')))} jobs were never delivered"
            )
            time.sleep(0.5)
        for topic, expected in (("plain", plain), ("jobs", jobs)):
            stored = Counter(read(crowd.port, topic))
            assert expected <= stored.keys(), "what was acknowledged is there"
            assert max(stored.values()) == 1, "nothing is stored twice"
        parts = Counter(read(crowd.port, "tx"))
        assert max(parts.values()) == 1
        assert {each[0] for each in parts} == {"C"}, "nothing that was aborted is read"
        whole = Counter(each.split()[1] for each in parts)
        assert set(whole.values()) == {5}, "a transaction is all or nothing"
        assert set(crowd.said("transactions")) <= whole.keys()
        print(f"{sum(kills.values())} kills, {kills['server']} of the broker; {len(whole)} transactions;")
        for role, expected in (("consumer", plain), ("worker", jobs)):
            print(f"{len(expected)} messages, delivered {len(crowd.said(role))} times to a {role}")
    finally:
        crowd.close()
