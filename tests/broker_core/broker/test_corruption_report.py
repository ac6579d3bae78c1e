"""Promises 4 and 28: what is damaged on the disk is said aloud, once, by the broker itself: on a host as in the lab."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from broker_core import BrokerHost, Producer
from broker_core.engine.data_directory import OFFSETS_FILE
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.files import DiskFiles
from broker_core.messages import Message
from broker_core.simulation import Simulation, parse_scenario
from tests.broker_core.admin import Admin
from tests.broker_core.clients.virtual_broker import VirtualBroker
from tests.broker_core.log.logs import EPOCH_MS, batch, open_log


@pytest.mark.promise("4")
def test_corruption_found_by_reading_is_told_once_and_degrades_the_partition():
    virtual = VirtualBroker(2)
    partition = virtual.broker.logs.partition_for("commits", Message(b"", b"k"))
    for value in (b"first", b"second", b"third"):
        virtual.publish(value, key=b"k")
    files = virtual.files
    path = f"commits-{partition}/{0:020d}.log"
    data = bytearray(files.read(path, 0, files.size(path)))
    data[data.index(b"second")] ^= 1
    files.write_whole(path, data, durable=False)
    with pytest.raises(BrokerError) as damaged:
        virtual.broker.logs.partition("commits", partition).read(1, max_messages=1)
    assert damaged.value.code is ErrorCode.DAMAGED
    assert virtual.kinds(EventKind.DAMAGE) == []
    for _ in range(2):
        virtual.broker.cleaning.clean(virtual.now_ns)
    (reported,) = virtual.kinds(EventKind.DAMAGE)
    assert (reported.topic, reported.partition) == ("commits", partition)
    assert "offsets 1 to 1 are lost" in reported.cause and path in reported.cause
    views = virtual.broker.views.topic(virtual.now_ns, "commits").partitions
    assert [view.lost for view in views] == [((1, 2),) if number == partition else () for number in (0, 1)]


def test_what_opening_found_is_reported_by_a_host_and_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    with BrokerHost(tmp_path) as host:
        Admin(host).create_topic("orders")
        with Producer(host) as producer:
            for value in (b"first", b"second", b"third"):
                producer.send("orders", value).result()
        assert Admin(host).damage() == ()
    log_path = next((tmp_path / "orders-0").glob("*.log"))
    data = bytearray(log_path.read_bytes())
    data[data.index(b"second")] ^= 1
    log_path.write_bytes(data)
    for name in ("checkpoint", *(path.name for path in (tmp_path / "orders-0").glob("*.index"))):
        (tmp_path / "orders-0" / name).unlink(missing_ok=True)
    (tmp_path / OFFSETS_FILE).unlink()
    with caplog.at_level(logging.WARNING), BrokerHost(tmp_path) as host:
        reported = Admin(host).damage()
        degraded = Admin(host).describe_topic("orders").partitions[0].lost
    assert any("orders/0: offsets 1 to 1 are lost" in sentence for sentence in reported)
    assert any("was missing; it is rebuilt from its journal" in sentence for sentence in reported)
    assert degraded == ((1, 2),)
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == list(reported)


def test_the_lab_says_at_its_start_what_it_found(tmp_path: Path):
    text = "{title: T, about: x, until_s: 1, topics: [{name: t}]}"
    files = DiskFiles(tmp_path)
    log = open_log(files)
    log.append_batch(0, batch("a", "b"))
    log.append_batch(0, batch("c"))
    log.close()
    path = next((tmp_path / "t-0").glob("*.log"))
    path.write_bytes(path.read_bytes()[:-5])
    simulation = Simulation(parse_scenario(text), files=files, epoch_ms=EPOCH_MS)
    events: list[Event] = []
    simulation.events.attach(events.append)
    simulation.run()
    causes = [event.cause for event in events if event.kind is EventKind.DAMAGE]
    assert len(causes) == 1 and "offsets 2 to 2 are lost" in causes[0]
    assert simulation.snapshot().topics[0].partitions[0].lost == ((2, 3),)
    simulation.close()
