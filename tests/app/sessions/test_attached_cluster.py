"""A window over a Kafka cluster: what it shows, and that it offers nothing that would change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from app.sessions.observed import why_no_address
from broker_core.testing import EmbeddedBroker
from tests.app.conftest import Hand
from tests.app.sessions.test_attached import Attached


@pytest.fixture
def cluster() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders", partitions=3)
        broker.publish("orders", {"number": 1}, partition=0)
        reader = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "billing", "log_level": 0})
        reader.commit(offsets=[TopicPartition("orders", 0, 0)], asynchronous=False)
        reader.close()
        yield broker


@pytest.fixture
def window(open_workbench: Callable[..., Hand], cluster: EmbeddedBroker, tmp_path: Path) -> Attached:
    return Attached(open_workbench(), cluster.host, cluster.bootstrap_servers, tmp_path)


def test_what_happens_in_the_cluster_is_seen(window: Attached, cluster: EmbeddedBroker) -> None:
    controller = window.controller
    assert [topic.name for topic in controller.snapshot.topics] == ["orders"]
    cluster.publish("orders", {"number": 2}, partition=0)
    window.wait(lambda: controller.snapshot.totals.published == 1)
    group = next(group for group in controller.snapshot.groups if group.name == "billing")
    assert group.lag == 2
    assert controller.source is not None
    assert not any(controller.source.knows(word) for word in ("deliveries", "leases", "beginning"))


def test_no_command_changes_anything(window: Attached) -> None:
    registry = window.hand.workbench.registry
    registry.refresh()
    for command in ("create_topic", "produce", "create_queue", "add_consumer", "listener_kafka"):
        assert registry.reason(command), command
    assert "only observed" in registry.reason("create_topic")
    for command in ("pause", "attach", "go_to"):
        assert registry.reason(command) == "", command


def test_what_is_not_known_is_not_shown_as_nothing(window: Attached, cluster: EmbeddedBroker) -> None:
    """Panels of it say so, nobody is made up, and what was committed is a reader's rate."""
    workbench = window.hand.workbench
    texts = {panel.info.name: panel.empty_state._sentence.text() for panel in workbench.window.parts.panels}
    assert texts["in_flight"] == texts["requests"] == "Not known from outside."
    assert texts["offsets"] != texts["requests"]
    assert "in flight" not in workbench.views.status.update(window.controller.snapshot).in_flight
    cluster.publish("orders", {"number": 2}, partition=0)
    window.wait(lambda: window.controller.snapshot.totals.published == 1)
    canvas, controller = workbench.views.canvas, window.controller
    window.wait(lambda: canvas.view(controller.snapshot).topics[0].rate_per_s > 0)
    assert canvas.view(controller.snapshot).producers == (), "who has published nobody knows"


def test_an_address_is_a_url_or_a_cluster() -> None:
    assert why_no_address("kafka:9092,other:9093") == ""
    assert why_no_address("http://127.0.0.1:8080") == ""
    assert "--config" in why_no_address("shop:secret@kafka:9092")
    assert why_no_address("ftp://there")
