"""Members of groups are members still after kill -9 and after a restart of the broker: nothing rebalances."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from confluent_kafka import Consumer, Producer
from kafka import ConsumerRebalanceListener as KafkaPythonListener
from kafka import KafkaConsumer

from broker_core import Admin, BrokerHost, HostConfig
from broker_core.groups.config import GroupConfig

PATIENCE_S = 60
QUICK = HostConfig(groups=GroupConfig(initial_rebalance_delay_ms=50, consumer_heartbeat_interval_ms=200))
SERVER = """
import sys
from tests.crash.test_group_members_kill_nine import QUICK
from broker_core import BrokerHost
from broker_core.listeners.kafka.listener import KafkaListener
with BrokerHost(sys.argv[1], config=QUICK) as host, KafkaListener(host, port=int(sys.argv[2])) as listener:
    print(listener.port, flush=True)
    sys.stdin.read()
"""


class Server:
    """A broker in a process of its own, which stays on its port."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.port = 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-c", SERVER, str(self._path), str(self.port)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(PATIENCE_S)

    def stop(self) -> None:
        self._process.communicate("", PATIENCE_S)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"


class Member(Protocol):
    """A member of a group: `changes` are its assignments and revocations, `found` what it has read."""

    changes: list[str]
    found: list[bytes]

    def poll(self) -> None: ...

    def close(self) -> None: ...


class ConfluentMember:
    def __init__(self, servers: str, group: str, **more: Any) -> None:
        self.changes: list[str] = []
        self.found: list[bytes] = []
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "log_level": 0,
                "reconnect.backoff.max.ms": 200,
                "auto.commit.interval.ms": 100,
                **more,
            }
        )
        self._consumer.subscribe(
            ["orders"],
            on_assign=lambda _consumer, places: self.changes.append(f"+{len(places)}"),
            on_revoke=lambda _consumer, places: self.changes.append(f"-{len(places)}"),
        )

    def poll(self) -> None:
        message = self._consumer.poll(0.05)
        if message is not None and message.error() is None:
            self.found.append(message.value() or b"")

    def close(self) -> None:
        self._consumer.close()


class KafkaPythonMember(KafkaPythonListener):
    def __init__(self, servers: str, group: str) -> None:
        self.changes: list[str] = []
        self.found: list[bytes] = []
        self._consumer = KafkaConsumer(
            bootstrap_servers=servers,
            group_id=group,
            auto_offset_reset="earliest",
            reconnect_backoff_max_ms=200,
            auto_commit_interval_ms=100,
        )
        self._consumer.subscribe(["orders"], listener=self)

    def on_partitions_assigned(self, assigned: Any) -> None:
        self.changes.append(f"+{len(assigned)}")

    def on_partitions_revoked(self, revoked: Any) -> None:
        if revoked:
            self.changes.append(f"-{len(revoked)}")

    def poll(self) -> None:
        self.found += [each.value for rows in self._consumer.poll(50).values() for each in rows]

    def close(self) -> None:
        self._consumer.close()


class AioKafkaMember(ConsumerRebalanceListener):
    """Its loop runs in a thread of its own."""

    def __init__(self, servers: str, group: str) -> None:
        self.changes: list[str] = []
        self.found: list[bytes] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._consumer = self._wait(self._started(servers, group))

    def _wait(self, what: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(PATIENCE_S)

    async def _started(self, servers: str, group: str) -> AIOKafkaConsumer:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=servers, group_id=group, auto_offset_reset="earliest", auto_commit_interval_ms=100
        )
        await consumer.start()
        consumer.subscribe(["orders"], listener=self)
        return consumer

    def on_partitions_assigned(self, assigned: Any) -> None:
        self.changes.append(f"+{len(assigned)}")

    def on_partitions_revoked(self, revoked: Any) -> None:
        if revoked:
            self.changes.append(f"-{len(revoked)}")

    def poll(self) -> None:
        found = self._wait(self._consumer.getmany(timeout_ms=50))
        self.found += [each.value for rows in found.values() for each in rows]

    def close(self) -> None:
        self._wait(self._consumer.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with BrokerHost(tmp_path) as host:
        Admin(host).create_topic("orders", 4)
    made = Server(tmp_path)
    yield made
    made.kill()


def put(server: Server, values: list[bytes]) -> None:
    producer = Producer({"bootstrap.servers": server.address, "log_level": 0})
    for number, value in enumerate(values):
        producer.produce("orders", value, partition=number % 4)
    assert producer.flush(PATIENCE_S) == 0


def until(members: list[Member], condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s, [(each.changes, each.found) for each in members]
        for each in members:
            each.poll()


def found(members: list[Member]) -> list[bytes]:
    return sorted(value for each in members for value in each.found)


KINDS: dict[str, Callable[[str, str], Member]] = {
    "classic": ConfluentMember,
    "kip-848": lambda servers, group: ConfluentMember(servers, group, **{"group.protocol": "consumer"}),
    "kafka-python": KafkaPythonMember,
    "aiokafka": AioKafkaMember,
}


LONG = [pytest.param((kind,), ends, marks=pytest.mark.soak) for kind in KINDS for ends in ("kill", "stop")]


@pytest.mark.parametrize(("kinds", "ends"), [(("classic", "kip-848"), "kill"), *LONG])
def test_members_go_on_with_what_they_had(server: Server, kinds: tuple[str, ...], ends: str):
    """Two members of each kind, in groups of their own."""
    groups = {kind: [KINDS[kind](server.address, kind) for _ in range(2)] for kind in kinds}
    members = [each for group in groups.values() for each in group]
    first, second = ([b"%s %d" % (word, number) for number in range(8)] for word in (b"first", b"second"))
    put(server, first)
    until(members, lambda: all(found(group) == first for group in groups.values()) and all(e.changes for e in members))
    for _ in range(10):  # until everything is committed, and all have said so in a heartbeat
        for each in members:
            each.poll()
    before = [list(each.changes) for each in members]
    getattr(server, ends)()
    server.start()
    put(server, second)
    until(members, lambda: all(len(found(group)) >= 16 for group in groups.values()))
    assert {kind: found(group) for kind, group in groups.items()} == dict.fromkeys(groups, sorted(first + second))
    assert [each.changes for each in members] == before
    for each in members:
        each.close()
