"""A window over a Kafka cluster: what it shows, and that it offers nothing that would change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from app.presenters.dead_letters import DeadLettersPresenter, dead_letter_facts
from app.presenters.messages_presenter import MessagesPresenter
from app.sessions.observed import why_no_address
from broker_core.testing import EmbeddedBroker
from tests.app.conftest import Hand
from tests.app.sessions.test_attached import Attached
from tests.broker_core.observation.kafka.test_dead_letters import SPRING
from widgets.panels.dead_letters import DeadLettersPanel


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
    drawn = canvas.view(controller.snapshot)
    assert drawn.producers == (), "who has published nobody knows"
    assert not drawn.has_bench, "nobody can be put there"
    assert [(group.members, group.takes_members) for group in drawn.groups] == [((), False)]
    none = {section.key: section.none for section in workbench.views.navigator.update(controller.snapshot)}
    assert (none["producers"], none["consumers"]) == ("Not known from outside.", "No group has a member.")


def test_an_address_is_a_url_or_a_cluster() -> None:
    assert why_no_address("kafka:9092,other:9093") == ""
    assert why_no_address("http://127.0.0.1:8080") == ""
    assert "--config" in why_no_address("shop:secret@kafka:9092")
    assert why_no_address("ftp://there")


def test_messages_and_dead_letters_are_browsed(window: Attached, cluster: EmbeddedBroker) -> None:
    cluster.create_topic("orders.DLT", partitions=2)
    headers = tuple((name, value) for name, value in SPRING if name != "retry_topic-attempts")
    cluster.publish("orders.DLT", {"number": 1}, key=b"k", partition=1, headers=headers)
    workbench = window.hand.workbench
    shown = workbench.views.presenter(DeadLettersPresenter)
    workbench.window.show_tab("dead_letters")
    window.wait(lambda: shown.model.rowCount() == 1)
    (letter,) = shown.model.rows
    assert (letter.queue, letter.cause) == ("orders.DLT/1", "IllegalStateException: no price")
    assert shown.tab_count(window.controller.snapshot) == 1
    navigator = workbench.window.parts.navigator
    window.wait(lambda: [(row.name, row.figure) for row in navigator.rows("dead")] == [("orders.DLT", "1")])
    navigator.select("topic:orders.DLT")
    head = navigator.tree.currentIndex().parent()
    assert head.data() == "Topics", "it has a row in both sections"
    texts = [shown.model.index(0, column).data() for column in range(shown.model.columnCount())]
    assert "orders/2 at 1,099,511,627,776" in texts
    facts = dict(dead_letter_facts(letter, workbench.views.times).facts)
    assert (facts["Given up by"], facts["Attempts"]) == ("billing", "not given")
    panel = workbench.window.tab(DeadLettersPanel)
    panel.table.selectRow(0)
    window.wait(lambda: panel.details.payload.toPlainText() == '{"number":1}')
    assert "only observed" in panel.why_not_all()
    # In the past it was not there yet; by hand, another topic is one of dead letters.
    window.controller.travel.to(1)
    window.wait(lambda: shown.model.rowCount() == 0)
    window.controller.travel.to_present()
    workbench.views.select("topic:orders")
    workbench.registry.trigger("mark_dead_letters")
    window.wait(lambda: shown.model.rowCount() == 2)
    assert {row.cause for row in shown.model.rows} == {"", letter.cause}
    workbench.window.show_tab("messages")
    messages = workbench.views.presenter(MessagesPresenter)
    window.wait(lambda: messages.model.rowCount() == 1)
