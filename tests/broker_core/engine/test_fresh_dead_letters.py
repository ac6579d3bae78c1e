"""A dead letter is there as soon as its message has failed, whether or not the disk has it already."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from broker_core.clients.producer import Producer
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import HostConfig
from broker_core.log.config import LogConfig
from broker_core.log.partition_log import SyncTicket
from broker_core.messages import StoredMessage
from broker_core.queues.config import QueueConfig
from tests.broker_core.admin import Admin

pytestmark = pytest.mark.slow

# No tick comes by to sync what nobody waits for.
CONFIG = HostConfig(log=LogConfig(durability="fsync"), tick_ms=3_600_000)


def died(host: BrokerHost) -> None:
    # A crash may bring the lease back: the message is free when it ends.
    Admin(host).create_queue("jobs", QueueConfig(lease_ms=1_000))
    with Producer(host) as producer, QueueConsumer(host, "jobs") as worker:
        producer.publish("jobs", b"v")
        delivery = worker.take()
        assert delivery is not None
        delivery.nack("broken", requeue=False)


def unsynced(host: BrokerHost) -> bool:
    log = host.broker.logs.partition("jobs.dlq", 0)
    return log.high_watermark < log.end_offset


def taken(host: BrokerHost) -> StoredMessage:
    with QueueConsumer(host, "jobs") as worker:
        delivery = worker.take(30)
        assert delivery is not None
        delivery.ack()
        return delivery.message


def test_it_is_seen_redriven_and_purged_at_once(tmp_path: Path):
    with BrokerHost(tmp_path, CONFIG) as host:
        died(host)
        admin = Admin(host)
        assert unsynced(host)
        assert [letter.cause for letter in admin.dead_letters("jobs")] == ["broken"]
        assert len(host.broker.views.queue(0, "jobs").dead_letters) == 1
        assert admin.purge_dead_letters("jobs").purged == 1 and admin.undo_purge_dead_letters("jobs") == 1
        assert len(admin.redrive("jobs").redriven) == 1
        assert taken(host).value == b"v"
        assert admin.dead_letters("jobs") == ()


def test_an_undo_waits_until_what_it_takes_back_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with BrokerHost(tmp_path, CONFIG) as host:
        died(host)
        admin, turned = Admin(host), threading.Event()
        run = SyncTicket.run

        def run_later(ticket: SyncTicket) -> None:
            turned.wait(30)
            run(ticket)

        monkeypatch.setattr(SyncTicket, "run", run_later)
        assert len(admin.redrive("jobs").redriven) == 1
        undone = host.call(lambda now_ns: host.broker.redrives.undo(now_ns, "jobs", client="t"))
        assert not undone.done
        turned.set()
        assert [place.offset for place in host.wait(undone)] == [0]
        assert (host.broker.queues.queue("jobs").ready, len(admin.dead_letters("jobs"))) == (0, 1)
        assert admin.undo_redrive("jobs") == 0


@pytest.mark.parametrize("redriven", [False, True])
def test_a_crash_that_takes_it_away_leaves_its_message(tmp_path: Path, redriven: bool):
    with BrokerHost(tmp_path / "before", CONFIG) as host:
        died(host)
        if redriven:
            Admin(host).redrive("jobs")
        assert unsynced(host)
        shutil.copytree(tmp_path / "before", tmp_path / "after")
    for segment in (tmp_path / "after" / "jobs.dlq-0").glob("*.log"):
        segment.write_bytes(b"")
    with BrokerHost(tmp_path / "after", CONFIG) as host:
        assert taken(host).value == b"v"
