"""Ten minutes of kills, of clients, connections, the cluster and the ports: what was acknowledged is there once, and
what is told equals the logs of the clients.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO

import pytest
from confluent_kafka import Producer

from broker_core.events import Event
from broker_core.listeners.between.peer import BetweenPeer
from broker_core.observation.kafka.config import connection_config
from broker_core.testing import EmbeddedBroker

SOAK_S, PAUSE_S, SEED = 600.0, 2.0, 46
PATIENCE_S = 150
#: Each line is what it got, and each line after a commit what it has committed, written before the next poll.
CONSUMER = """
import json, sys
from confluent_kafka import Consumer, KafkaException
more = {"group.id": "billing", "auto.offset.reset": "earliest", "enable.auto.commit": False, "session.timeout.ms": 6000}
consumer = Consumer({"bootstrap.servers": sys.argv[1], "client.id": "biller", "log_level": 0, **more})
consumer.subscribe(["orders"])
while True:
    got = [(each.partition(), each.offset()) for each in consumer.consume(500, 0.2) if not each.error()]
    if got:
        print(json.dumps(["got", got]), flush=True)
        try:
            done = consumer.commit(asynchronous=False)
        except KafkaException:
            continue
        print(json.dumps(["committed", [(each.partition, each.offset) for each in done]]), flush=True)
"""


class Told:
    """What all ports have told, as offsets of partitions."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.before = 0

    def look(self, peer: BetweenPeer) -> None:
        found = peer.look()
        self.events += found.events if found is not None else ()

    def close(self, peer: BetweenPeer) -> None:
        peer.close()
        rest = peer.rest()
        self.before += peer.published_before
        self.events += rest.events if rest is not None else ()

    def offsets(self, kind: str) -> list[tuple[int, int]]:
        return [(e.partition or 0, offset) for e in self.events if e.kind == kind for offset in e.offsets]


def whole(log: Path) -> list[tuple[str, list[list[int]]]]:
    """Without a line that a kill has cut off."""
    return [json.loads(line) for line in log.read_text().rpartition("\n")[0].splitlines()]


def committed(rows: Iterable[tuple[str, list[list[int]]]]) -> dict[int, int]:
    found: dict[int, int] = {}
    for kind, places in rows:
        for partition, offset in places if kind == "committed" else ():
            found[partition] = max(offset, found.get(partition, 0))
    return found


@pytest.mark.soak
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize(
    ("kills", "part"),
    [
        (("cluster", "ports", "connection", "client"), 0.4),
        (("ports", "connection", "client"), 0.3),
        (("connection", "client"), 0.3),
    ],
)
def test_what_was_acknowledged_is_there_once(tmp_path: Path, kills: tuple[str, ...], part: float) -> None:
    dice, acknowledged, failed = random.Random(SEED), list[bytes](), list[bytes]()
    told, log = Told(), tmp_path / "consumer"
    with EmbeddedBroker(durability="file") as cluster, log.open("a") as lines:
        cluster.create_topic("orders", 3)

        def opened(port: int) -> BetweenPeer:
            peer = BetweenPeer(connection_config(cluster.bootstrap_servers), port=port)
            peer.open()
            return peer

        def client(out: IO[str]) -> subprocess.Popen[str]:
            return subprocess.Popen([sys.executable, "-c", CONSUMER, servers], stdout=out, text=True)

        peer = opened(0)
        port = peer.ports.port
        servers = f"127.0.0.1:{port}"
        more = {"enable.idempotence": True, "delivery.timeout.ms": 120_000, "linger.ms": 5, "log_level": 0}
        producer = Producer({"bootstrap.servers": servers, "client.id": "shop", **more})
        consumer = client(lines)
        until_s, next_s, number, killed = time.monotonic() + SOAK_S * part, time.monotonic() + PAUSE_S, 0, 0
        while time.monotonic() < until_s:
            value = b"%d" % number
            number += 1
            producer.produce(
                "orders",
                value,
                on_delivery=lambda error, message: (failed if error else acknowledged).append(message.value()),
            )
            producer.poll(0.01)
            if number % 10 == 0:
                told.look(peer)
            if time.monotonic() < next_s:
                continue
            next_s, killed = time.monotonic() + PAUSE_S, killed + 1
            kind = dice.choice(kills)
            if kind == "cluster":
                cluster.restart()
            elif kind == "ports":
                told.close(peer)
                peer = opened(port)
            elif kind == "client":
                consumer.kill()
                consumer.wait()
                consumer = client(lines)
            else:
                for view in peer.clients.views():
                    peer.clients.cut(view.id)
        assert producer.flush(PATIENCE_S) == 0
        there = [message.value or b"" for message in cluster.messages("orders")]
        deadline_s = time.monotonic() + PATIENCE_S
        while sum(committed(whole(log)).values()) < len(there):
            assert time.monotonic() < deadline_s, "the consumer did not come to the end"
            told.look(peer)
        for _ in range(20):
            told.look(peer)
        consumer.kill()
        consumer.wait()
        told.close(peer)
    rows = whole(log)
    got = {(partition, offset) for kind, places in rows if kind == "got" for partition, offset in places}
    print(f"{killed} kills; {number} sent, {len(acknowledged)} acknowledged, {len(failed)} failed, {len(there)} there")
    print(
        {kind: len(told.offsets(kind)) for kind in ("published", "delivered", "acknowledged")},
        len(got),
        "got",
        told.before,
        "before",
    )
    assert sorted(set(there)) == sorted(there) and not failed
    assert set(acknowledged) <= set(there)
    published = told.offsets("published")
    assert got >= {*told.offsets("acknowledged")}
    if "cluster" in kills:  # what was told of it before it was killed
        return
    assert len(published) + told.before == len(there) and len(published) == len(set(published))
    if "ports" in kills:  # who reads is found out anew each time
        return
    assert peer.not_seen == 0
    assert {each.client for each in told.events if each.kind == "published"} == {"shop"}
    assert got <= {*told.offsets("delivered")}
    done = told.offsets("acknowledged")
    assert sorted(done) == sorted(published), "each is acknowledged once, as the consumer has committed"
