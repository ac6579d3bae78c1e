"""What the wire listener acknowledged with `fsync` is there after kill -9 of the broker, with many connections open."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from broker_core.clients.admin import Admin
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.remote.broker import RemoteBroker
from broker_core.clients.remote.config import RemoteConfig
from broker_core.engine.host import BrokerHost, HostConfig
from broker_core.errors import BrokerError
from broker_core.listeners.wire.listener import WireListener
from broker_core.log.config import LogConfig

CYCLES = 3
BUSY, IDLE = 6, 20
BUSY_S = 0.7
FSYNC = HostConfig(log=LogConfig(durability="fsync"))
IMPATIENT = RemoteConfig(request_timeout_ms=1_000, connect_timeout_ms=1_000)


def serve(folder: Path) -> None:
    """The child: a broker with a wire listener, for ever; says its port."""
    with BrokerHost(folder, FSYNC) as host, WireListener(host, port=0) as listener:
        print(listener.port, flush=True)
        threading.Event().wait()


class Publisher(threading.Thread):
    """Publishes numbered messages for its own topic, and notes which were acknowledged, until the broker is gone."""

    def __init__(self, port: int, topic: str, first: int) -> None:
        super().__init__(daemon=True)
        self._port, self._topic, self._next = port, topic, first
        self.acknowledged: list[int] = []
        self.committed = 0

    def run(self) -> None:
        config = ProducerConfig(retries=0, linger_ms=0)
        with contextlib.suppress(BrokerError), RemoteBroker(port=self._port, config=IMPATIENT) as remote:
            reader = GroupConsumer(remote, f"{self._topic}-readers", [self._topic], ConsumerConfig())
            with Producer(remote, config) as producer:
                while True:
                    number = self._next
                    self._next += 1
                    producer.publish(self._topic, b"%d" % number, timeout_s=5)
                    self.acknowledged.append(number)
                    if number % 20 == 0 and reader.poll(0.05):
                        position = reader.position(self._topic, 0)
                        reader.commit()
                        self.committed = position


def test_what_was_acknowledged_over_the_wire_survives_each_kill(tmp_path: Path):
    code = "import sys, pathlib; from tests.crash.test_wire_kill_nine import serve; serve(pathlib.Path(sys.argv[1]))"
    with BrokerHost(tmp_path, FSYNC) as host:
        for number in range(BUSY):
            Admin(host).create_topic(f"orders-{number}", 1)
    acknowledged: dict[str, list[int]] = {f"orders-{number}": [] for number in range(BUSY)}
    for cycle in range(CYCLES):
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        port = int(child.stdout.readline())
        idle = [RemoteBroker(port=port, config=IMPATIENT) for _ in range(IDLE)]
        publishers = [Publisher(port, topic, cycle * 1_000_000) for topic in acknowledged]
        for publisher in publishers:
            publisher.start()
        time.sleep(BUSY_S)
        child.send_signal(signal.SIGKILL)
        child.stdout.close()
        assert child.wait(30) == -signal.SIGKILL
        for remote in idle:
            remote.close()
        for publisher, (topic, numbers) in zip(publishers, acknowledged.items(), strict=True):
            publisher.join(30)
            assert not publisher.is_alive()
            assert len(publisher.acknowledged) > 5, topic
            numbers.extend(publisher.acknowledged)
        with BrokerHost(tmp_path, FSYNC) as host:
            for publisher, (topic, numbers) in zip(publishers, acknowledged.items(), strict=True):
                log = host.broker.partition(topic, 0)
                stored = [int(message.value or b"") for message in log.read(0, max_messages=1_000_000)]
                assert stored == sorted(set(stored)), topic  # none twice, in order
                assert set(numbers) <= set(stored), topic
                committed = host.broker.groups.committed(f"{topic}-readers", topic, 0) or 0
                assert committed >= publisher.committed
    assert any(publisher.committed for publisher in publishers)
