"""A test that ran on a broker of our own runs on a cluster by one word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException

from broker_core.errors import BrokerError
from broker_core.recording.reader import open_session
from broker_core.testing import EmbeddedBroker
from broker_core.testing.cluster_broker import ClusterBroker
from tests.broker_core.observation.kafka.tap import WRITING, ask_everything, tap


@pytest.fixture
def tapped(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    return tap(monkeypatch)


@pytest.fixture
def made(make_broker: Callable[..., ClusterBroker]) -> ClusterBroker:
    cluster = make_broker()
    return make_broker(cluster=cluster.bootstrap_servers)


def test_the_same_words_on_a_cluster(made: ClusterBroker, tmp_path: Path):
    made.create_topic("orders", 2)
    fault = made.faults.error("OffsetCommit", "REBALANCE_IN_PROGRESS", group="billing", times=1, must_fire=True)
    assert len(made.publish("orders", {"id": 1}, "two", b"three", key="one")) == 3
    settings = {"bootstrap.servers": made.bootstrap_servers, "group.id": "billing", "client.id": "biller"}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest", "enable.auto.commit": False, "log_level": 0})
    consumer.subscribe(["orders"])
    got = 0
    while got < 3:
        got += len(consumer.consume(3 - got, 0.2))
    with pytest.raises(KafkaException):
        consumer.commit(asynchronous=False)
    assert fault.hits == 1
    consumer.commit(asynchronous=False)
    assert "billing" in made.wait_until('group = "billing" and lag = 0 and members = 1', timeout_s=20)
    assert made.audit().nothing_lost() and made.audit().nothing_twice()
    consumer.close()
    made.wait_until('group = "billing" and members = 0', timeout_s=20)
    assert "biller" in made.timeline() and "REBALANCE_IN_PROGRESS" in made.timeline()
    assert open_session(made.save(tmp_path / "session")).metadata.events


@pytest.mark.parametrize("use", ["clock", "http_url", "create_queue", "crash", "reset"])
def test_what_only_our_broker_can_do_says_so(made: ClusterBroker, use: str):
    with pytest.raises(BrokerError, match="only an embedded broker"):
        getattr(made, use)


def test_a_condition_that_does_not_hold_tells_the_state(made: ClusterBroker):
    with pytest.raises(TimeoutError, match="no group"):
        made.wait_until('group = "nobody" and lag = 0', timeout_s=0.1)


def test_no_cluster(make_broker: Callable[..., EmbeddedBroker]):
    with pytest.raises(BrokerError, match="nothing listens"):
        make_broker(cluster="127.0.0.1:1")


@pytest.mark.promise("47")
def test_what_is_asked_of_the_kit_writes_nothing_to_the_cluster(tapped: list[int], made: ClusterBroker, tmp_path: Path):
    """It publishes and creates topics where a test says so, as a client of the ports. The cluster stays locked."""
    made.create_topic("orders")
    made.publish("orders", "one")
    before = {each.id for each in made.connections.views()}
    assert ask_everything(made.host.ask)[False] > 60
    made.wait_until('topic = "orders" and messages = 1')
    made.audit(), made.timeline(), made.save(tmp_path / "session")
    made.close()
    assert tapped and not WRITING & set(tapped)
    assert {each.id for each in made.connections.views()} <= before
