"""Promise 37: what is opened for one is closed to others."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from broker_core import Admin, BrokerHost, GroupConsumer, HostConfig, LogConfig, Producer, QueueConsumer

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the system has no modes")


def modes(root: Path) -> tuple[set[int], set[int]]:
    """Of the directories and of the files, the root's included."""
    every = [root, *root.rglob("*")]
    found = [{path.stat().st_mode & 0o777 for path in every if path.is_dir() is folder} for folder in (True, False)]
    return found[0], found[1]


def use(root: Path) -> None:
    """Everything of which something is kept."""
    with BrokerHost(root, HostConfig(log=LogConfig(durability="file", segment_bytes=200))) as host:
        Admin(host).create_topic("orders")
        Admin(host).create_queue("jobs")
        with Producer(host) as producer:
            for number in range(10):
                producer.publish("orders", str(number))
            producer.publish("jobs", "mend")
        with GroupConsumer(host, "billing", ["orders"]) as consumer:
            while not consumer.poll(0.1):
                pass
            consumer.commit()
        with QueueConsumer(host, "jobs") as worker:
            delivery = worker.take()
            assert delivery is not None
            delivery.ack()
        assert modes(root) == ({0o700}, {0o600}), "while it is open: SQLite has files beside its own"


@pytest.mark.promise("37")
def test_a_data_directory_is_its_owners_alone(tmp_path: Path):
    before = os.umask(0)
    try:
        use(tmp_path / "kept")
    finally:
        os.umask(before)
    assert modes(tmp_path / "kept") == ({0o700}, {0o600})


def test_one_that_was_left_open_is_closed(tmp_path: Path, caplog):
    root = tmp_path / "kept"
    BrokerHost(root).close()
    root.chmod(0o755)
    BrokerHost(root).close()
    assert root.stat().st_mode & 0o777 == 0o700
    assert caplog.records == []


def test_where_other_things_are_it_is_said_instead(tmp_path: Path, caplog):
    root = tmp_path / "kept"
    BrokerHost(root).close()
    (root / "holiday.jpg").touch()
    root.chmod(0o755)
    with caplog.at_level(logging.WARNING):
        BrokerHost(root).close()
    assert root.stat().st_mode & 0o777 == 0o755
    (told,) = caplog.messages
    assert "holiday.jpg" in told and "chmod 700" in told


def test_a_folder_for_everybody_stays_one(tmp_path: Path, caplog):
    tmp_path.chmod(0o1777)
    BrokerHost(tmp_path).close()
    assert tmp_path.stat().st_mode & 0o7777 == 0o1777
    assert "chmod 700" in caplog.text
