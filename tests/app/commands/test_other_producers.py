"""A producer of another program is a card on the canvas while it publishes: live, and in the recording."""

from __future__ import annotations

from collections.abc import Callable

from confluent_kafka import Producer as KafkaProducer
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu

from app.commands.listeners import ListenerHandlers
from app.presenters.palette_search import things
from broker_core.simulation.actions.topics import CreateTopic
from tests.app.commands.test_listeners import opened as open_listener
from tests.app.conftest import Hand
from tests.app.dialogs import opened
from tests.app.sessions.test_travel_window import arrive
from widgets.canvas.view import Link, ProducerCard
from widgets.dialogs.form import FormDialog

SHOP = "producer:my-shop"


def card(hand: Hand) -> ProducerCard | None:
    return next((each for each in hand.canvas.view.producers if each.id == SHOP), None)


def links(hand: Hand) -> list[Link]:
    return [link for link in hand.canvas.view.links if link.source == SHOP]


def publish(program: KafkaProducer, hand: Hand, counts: dict[str, int]) -> None:
    hand.workbench.controller.time.run()
    for topic, count in counts.items():
        for number in range(count):
            program.produce(topic, f"from Kafka {number}".encode())
    hand.qtbot.waitUntil(lambda: program.flush(0) == 0, timeout=20_000)
    hand.workbench.controller.time.pause()
    hand.show()


def test_a_kafka_producer_is_a_card_while_it_publishes(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench(record=True)
    hand.pass_time(10)
    workbench = hand.workbench
    listeners = workbench.family(ListenerHandlers)
    workbench.window.show_tab("connections")
    hand.show()
    where = open_listener(hand, "kafka")
    workbench.controller.perform(CreateTopic(name="orders", partitions=3))
    hand.show()
    own = [each.id for each in hand.canvas.view.producers]
    assert own and card(hand) is None
    settings = {"bootstrap.servers": where.partition("=")[2], "client.id": "my-shop", "log_level": 0}
    program = KafkaProducer(settings)
    publish(program, hand, {"commits": 60, "orders": 20})
    hand.pass_time(0.5)
    live = workbench.controller.snapshot
    assert [each.id for each in hand.canvas.view.producers] == [*own, SHOP]
    shown = card(hand)
    assert shown is not None and (shown.state, shown.rate_per_s) == ("running", 40.0)
    flows = sorted((link.target, link.rate_per_s) for link in links(hand))
    assert flows == [("topic:commits", 30.0), ("topic:orders", 10.0)]
    assert all(link.key in hand.canvas._stage.layout.links for link in links(hand))
    entries = things(live, workbench.views.sources.series, ())
    assert [each.title for each in entries if each.id == SHOP] == ["my-shop"]
    rows = {row.id: row for row in workbench.window.parts.navigator.rows("producers")}
    assert (rows[SHOP].state, rows[SHOP].figure) == ("running", "40/s")

    # Its menu breaks its requests, and offers nothing that only an actor can do.
    hand.canvas.contextMenuRequested.emit(SHOP, QPoint(10, 10))
    facts = workbench.window.parts.inspector.facts
    assert facts is not None and ("Published", "80 messages") in facts.sections[0][1]
    menu = workbench.window.findChild(QMenu, "canvas_menu")
    assert menu is not None
    offered = {action.text(): action for action in menu.actions()}
    assert not {"Duplicate", "Set rate...", "Remove client", "Faults"} & offered.keys()
    offered["Break requests..."].trigger()
    menu.close()
    hand.show()
    dialog = opened(hand, FormDialog)
    assert dialog.values()["client"] == "my-shop"
    dialog.reject()

    # It waits; then its connection ends, which is told; then it has left.
    hand.pass_time(3)
    shown = card(hand)
    assert shown is not None and (shown.state, shown.rate_per_s) == ("waiting", 0.0)
    del program
    timeline = workbench.controller.collectors.timeline
    hand.wait_until(lambda: "my-shop: connection ended" in [tick.label for tick in timeline.ticks()])
    hand.pass_time(1)
    shown = card(hand)
    assert shown is not None and shown.state == "stopped" and shown.note.startswith("since 00:")
    hand.pass_time(8)
    assert card(hand) is None and links(hand) == []
    assert [each.id for each in hand.canvas.view.producers] == own

    # The recording shows the same, and a producer of the session that was there is none of another program.
    listeners.listeners.close_all()
    folder = workbench.controller.source.folder
    assert folder is not None
    workbench.controller.stop()
    workbench.controller.open_session(folder, live.time_ns)
    arrive(hand)

    def is_there() -> bool:
        workbench.draw()
        return card(hand) is not None

    hand.qtbot.waitUntil(is_there, timeout=20_000)
    shown = card(hand)
    assert shown is not None and (shown.state, shown.rate_per_s) == ("running", 40.0)
    assert sorted((link.target, link.rate_per_s) for link in links(hand)) == flows
    assert [each.id for each in hand.canvas.view.producers] == [*own, SHOP]
    workbench.controller.travel.to(live.time_ns + 12_000_000_000)
    arrive(hand)
    assert card(hand) is None
