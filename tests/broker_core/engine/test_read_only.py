"""A data directory that is opened read-only: everything can be read, nothing changes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from broker_core import BrokerHost, GroupConsumer, HostConfig, LogConfig, Producer, QueueConsumer
from broker_core.errors import BrokerError, ErrorCode
from tests.broker_core.admin import Admin


def contents(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below `root` with its time of change and its bytes."""
    return {
        str(path.relative_to(root)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A directory with a topic, a group's offsets, and a queue with a message that is leased."""
    root = tmp_path / "kept"
    with BrokerHost(root) as host:
        admin = Admin(host)
        admin.create_topic("orders", partitions=2)
        admin.create_queue("jobs")
        with Producer(host) as producer:
            for number in range(20):
                producer.publish("orders", str(number))
            producer.publish("jobs", "mend")
        with GroupConsumer(host, "billing", ["orders"]) as consumer:
            while sum(consumer.position(*place) or 0 for place in consumer.assignment) < 20:
                consumer.poll(0.1)
            consumer.commit()
        worker = QueueConsumer(host, "jobs")
        assert worker.take() is not None
    # What a killed program leaves: an unfinished batch at the end, and a file that was being written.
    with next(root.glob("orders-0/*.log")).open("ab") as file:
        file.write(b"half a batch")
    (root / "orders-0" / "checkpoint.tmp").write_bytes(b"half")
    return root


def test_everything_can_be_read_and_no_byte_changes(kept: Path):
    before = contents(kept)
    with BrokerHost(kept, read_only=True) as host:
        admin = Admin(host)
        assert (admin.topics(), admin.queues(), admin.groups()) == (("orders",), ("jobs",), ["billing"])
        read = [message.value for number in (0, 1) for message in admin.messages("orders", number, 0)]
        assert sorted(map(int, filter(None, read))) == list(range(20))
        assert sum(offset.committed or 0 for offset in admin.describe_group("billing").offsets) == 20
        assert admin.describe_queue("jobs").in_flight + admin.describe_queue("jobs").ready == 1
    assert contents(kept) == before


CHANGES: dict[str, Callable[[BrokerHost, Admin], object]] = {
    "create": lambda _host, admin: admin.create_topic("more"),
    "delete topic": lambda _host, admin: admin.delete_topic("orders"),
    "delete queue": lambda _host, admin: admin.delete_queue("jobs"),
    "delete records": lambda _host, admin: admin.delete_records("orders", {0: 1}),
    "delete group": lambda _host, admin: admin.delete_group("billing"),
    "configure": lambda _host, admin: admin.configure_topic("orders", log=LogConfig(durability="file", retention_ms=1)),
    "partitions": lambda _host, admin: admin.create_partitions("orders", 3),
    "purge": lambda _host, admin: admin.purge_queue("jobs"),
    "publish": lambda host, _admin: Producer(host).publish("orders", "x"),
    "take": lambda host, _admin: QueueConsumer(host, "jobs").take(),
    "join": lambda host, _admin: GroupConsumer(host, "billing", ["orders"]).poll(1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_refused_and_no_byte_changes(kept: Path, change: str):
    before = contents(kept)
    with BrokerHost(kept, read_only=True) as host, pytest.raises(BrokerError) as refused:
        CHANGES[change](host, Admin(host))
    assert refused.value.code is ErrorCode.READ_ONLY
    assert "without read_only" in str(refused.value)
    assert contents(kept) == before


def test_two_may_look_at_once_but_not_while_a_broker_writes(kept: Path):
    with BrokerHost(kept, read_only=True), BrokerHost(kept, read_only=True), pytest.raises(BrokerError) as refused:
        BrokerHost(kept)
    assert refused.value.code is ErrorCode.DIRECTORY_IN_USE
    with BrokerHost(kept), pytest.raises(BrokerError) as refused:
        BrokerHost(kept, read_only=True)
    assert refused.value.code is ErrorCode.DIRECTORY_IN_USE


def test_what_is_no_data_directory_is_not_made_one(tmp_path: Path):
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(BrokerError, match=r"is not a data directory|it is missing"):
            BrokerHost(path, read_only=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_full_disk_is_opened_trimmed_and_read(tmp_path: Path):
    options = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(tmp_path)]
    if subprocess.run(options, capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine mounts no small disk")
    config = HostConfig(log=LogConfig(durability="file", segment_bytes=100_000))
    root = tmp_path / "kept"
    try:
        with BrokerHost(root, config) as host, Producer(host) as producer:
            Admin(host).create_topic("orders")
            for _ in range(300):
                producer.publish("orders", "x" * 2_000)
        with (tmp_path / "ballast").open("wb", buffering=0) as ballast:
            for size in (4_096, 1):
                try:
                    while ballast.write(bytes(size)):
                        pass
                except OSError:
                    continue
        with BrokerHost(root, config, read_only=True) as host:
            assert len(Admin(host).messages("orders", 0, 0, limit=300)) == 300
        with BrokerHost(root, config) as host:
            assert Admin(host).delete_records("orders", {0: 200}) == {0: 200}
            with Producer(host) as producer:
                assert producer.publish("orders", "again") == (0, 300)
        (root / "reserve").unlink()
        with (tmp_path / "ballast").open("ab", buffering=0) as ballast:
            for size in (4_096, 1):
                try:
                    while ballast.write(bytes(size)):
                        pass
                except OSError:
                    continue
        with pytest.raises(BrokerError, match="it can still be read"):
            BrokerHost(root, config)
        with BrokerHost(root, config, read_only=True) as host:
            assert [message.offset for message in Admin(host).messages("orders", 0, 299)] == [299, 300]
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=False)


@pytest.mark.parametrize("path", ["", "\0", "a\0b"])
@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_no_path_is_one_sentence_and_opens_nothing(tmp_path: Path, monkeypatch, path: str, read_only: bool):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BrokerError) as refused:
        BrokerHost(path, read_only=read_only)
    assert refused.value.code is ErrorCode.STORAGE_ERROR
    assert list(tmp_path.iterdir()) == []
