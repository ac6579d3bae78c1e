"""Promise: what is in flight survives a restart, even beside a queue whose state cannot be written."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from broker_core.clients.producer import Producer
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.data_directory import DataDirectory, KeptQueue
from broker_core.engine.host import HostConfig
from broker_core.engine.writer import Writer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.groups.offsets import OffsetStore
from tests.broker_core.admin import Admin


def kept(host: BrokerHost, name: str) -> int:
    """How many messages of the queue are acknowledged, as it is on the disk."""
    assert host.directory is not None
    found = host.directory.queue_state(name)
    assert found is not None and found.queue is not None
    return found.queue.counts.acknowledged


def work(host: BrokerHost, queue: str) -> None:
    with Producer(host) as producer, QueueConsumer(host, queue) as worker:
        producer.publish(queue, b"v")
        delivery = worker.take()
        assert delivery is not None
        delivery.ack()


def test_one_queue_that_cannot_be_written_keeps_no_other_from_it_and_is_told_of(tmp_path: Path):
    host = BrokerHost(tmp_path)
    told = []
    host.events.attach(lambda event: told.append(event.cause) if event.kind is EventKind.DAMAGE else None)
    admin = Admin(host)
    for name in ("odd", "sound"):
        admin.create_queue(name)
    host.broker.queues.queue("odd").counts.delivered = 1 << 70  # more than a file has room for
    work(host, "sound")
    for topic in ("t", "u"):
        admin.create_topic(topic)  # saves the queues, too
    assert kept(host, "sound") == 1
    assert len(told) == 1 and "queue odd" in told[0]
    assert any("queue odd" in sentence for sentence in admin.damage())
    with pytest.raises(BrokerError, match="odd") as lost:
        host.close()
    assert lost.value.code is ErrorCode.STORAGE_ERROR
    with BrokerHost(tmp_path) as again:
        assert again.broker.queues.queue("sound").counts.acknowledged == 1
        assert again.broker.queues.queue("odd").counts.delivered == 0


def test_a_disk_that_refuses_one_state_is_offered_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    refusing = True
    save = DataDirectory.save_queue_state

    def saved(self: DataDirectory, queue: str, state: KeptQueue) -> None:
        if refusing and queue == "odd":
            raise BrokerError(ErrorCode.STORAGE_ERROR, "odd")
        save(self, queue, state)

    with BrokerHost(tmp_path) as host:
        for name in ("odd", "sound"):
            Admin(host).create_queue(name)
        monkeypatch.setattr(DataDirectory, "save_queue_state", saved)
        for name in ("odd", "sound"):
            work(host, name)
        with pytest.raises(BrokerError, match="odd"):
            Admin(host).create_topic("t")
        assert kept(host, "sound") == 1
        refusing = False
        Admin(host).create_topic("u")
        assert kept(host, "odd") == 1


def test_a_disk_that_goes_on_refusing_is_told_of_once_until_it_takes_something_again(
    tmp_path: Path, monkeypatch, caplog
):
    refusals = threading.Semaphore(0)
    full = [True]
    flush = Writer._flush

    def refusing(self: Writer) -> None:
        if full[0]:
            refusals.release()
            raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")
        flush(self)
        refusals.release()

    def ticks(count: int) -> None:
        for _ in range(count):
            assert refusals.acquire(timeout=30)

    monkeypatch.setattr(Writer, "_flush", refusing)
    with BrokerHost(tmp_path, HostConfig(tick_ms=10)):
        ticks(5)
        assert len(caplog.records) == 1
        full[0] = False
        ticks(5)
        full[0] = True
        ticks(5)
        full[0] = False
        ticks(2)
    assert [record.getMessage() for record in caplog.records] == [
        "the broker could not write everything and is trying again: The disk refused: the disk is full."
    ] * 2


def test_where_offsets_cannot_be_written_those_who_wait_do_not_hold_up_the_tick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    host = BrokerHost(tmp_path)
    writer = host._writer
    assert writer is not None
    writer.abandon()
    writer._stopping, writer._tick_s = False, 0.0
    done: list[str] = []

    def flush() -> None:
        done.append("flush")
        writer._stopping = len(done) > 3
        raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")

    monkeypatch.setattr(OffsetStore, "awaited", True)
    monkeypatch.setattr(writer, "_flush", flush)
    monkeypatch.setattr(writer, "_save_and_clean", lambda: done.append("tick"))
    writer._work()
    assert "tick" in done
    host.crash()
