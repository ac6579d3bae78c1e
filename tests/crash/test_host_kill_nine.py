"""What a producer was told is stored, and what a group was told is committed, survives kill -9 of the whole process."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import HostConfig
from broker_core.log.config import LogConfig
from broker_core.queues.config import QueueConfig

LONG = pytest.mark.long
LINES_A_CYCLE = 150


def live(folder: Path, durability: str) -> None:
    """The child: publishes, consumes and commits for ever, and says on stdout what was acknowledged to it."""
    config = HostConfig(log=LogConfig(durability=durability), auto_create_partitions=1)  # type: ignore[arg-type]
    with BrokerHost(folder, config) as host:
        if "jobs" not in host.broker.queues:
            host.admin(lambda now_ns: host.broker.queues.create(now_ns, "jobs", QueueConfig()))
        host.ensure_topic("orders")
        producer = Producer(host, ProducerConfig(linger_ms=0))
        reader = GroupConsumer(host, "readers", ["orders"], ConsumerConfig(commit_on_revoke=False))
        while True:
            _, offset = producer.publish("orders", b"x")
            print(f"orders {offset}", flush=True)
            print(f"jobs {producer.publish('jobs', b'x')[1]}", flush=True)
            if reader.poll(0):
                reader.commit()
                print(f"committed {reader.position('orders', 0)}", flush=True)


@pytest.mark.promise("1")
@pytest.mark.parametrize(
    ("durability", "cycles"),
    [("file", 2), ("fsync", 2), *(pytest.param(one, 6, marks=LONG) for one in ("file", "fsync"))],
)
def test_whatever_was_acknowledged_is_there_after_each_kill(tmp_path: Path, durability: str, cycles: int):
    code = "import sys, pathlib; from tests.crash.test_host_kill_nine import live; "
    code += "live(pathlib.Path(sys.argv[1]), sys.argv[2])"
    config = HostConfig(log=LogConfig(durability=durability))  # type: ignore[arg-type]
    told = {"orders": -1, "jobs": -1, "committed": 0}
    for _ in range(cycles):
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), durability],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        for lines, line in enumerate(child.stdout, 1):
            what, number = line.split()
            told[what] = int(number)
            if lines == LINES_A_CYCLE:
                child.send_signal(signal.SIGKILL)
                break
        for line in child.stdout:
            if line.endswith("\n"):
                what, number = line.split()
                told[what] = int(number)
        child.stdout.close()
        assert child.wait(30) == -signal.SIGKILL
        with BrokerHost(tmp_path, config) as host:
            assert host.broker.logs.end_offset("orders", 0) > told["orders"]
            assert (host.broker.groups.committed("readers", "orders", 0) or 0) >= told["committed"]
            queue = host.broker.queues.queue("jobs")
            assert queue.ready == host.broker.logs.end_offset("jobs", 0) > told["jobs"]
    assert told["committed"] > 0
