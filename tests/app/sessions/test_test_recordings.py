"""The recording of a test that failed opens in the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from broker_core.testing.embedded_broker import EmbeddedBroker
from tests.app.conftest import Hand
from tests.app.sessions.test_travel_window import arrive


def test_it_opens_at_the_failing_moment(open_workbench: Callable[..., Hand], tmp_path: Path) -> None:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders", partitions=2)
        broker.publish("orders", "1", "2", "3")
        at_ns = broker.host.now_ns
        broker.save(tmp_path / "session", title="test_orders.py::test_x", about="A test that failed: assert 3 == 4")
    hand = open_workbench()
    controller = hand.workbench.controller
    controller.open_session(tmp_path / "session", at_ns)
    arrive(hand)
    assert hand.workbench.window.toolbar.badge.text() == "REPLAY 00:00"
    assert controller.snapshot.topics[0].published == 3
    assert "topic:orders" in hand.canvas._stage.layout.rects
    hand.workbench.views.inspect("topic:orders")
    hand.workbench.draw()
    facts = hand.workbench.window.parts.inspector.facts
    assert facts is not None and ("Stored", "size not recorded") in facts.sections[0][1]
    assert controller.source.scenario is not None
    assert controller.source.scenario.about == "A test that failed: assert 3 == 4"
    assert "it can be replayed" in hand.workbench.registry.reason("branch")
