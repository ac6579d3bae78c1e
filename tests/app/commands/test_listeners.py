"""Listeners opened by clicks in the window: used by real clients, seen, cut, closed with the session."""

from __future__ import annotations

import http.client
import json
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from confluent_kafka import Consumer as KafkaConsumer
from confluent_kafka import Producer as KafkaProducer
from confluent_kafka import TopicPartition
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMessageBox, QPushButton

from app.commands.clients import move_choices
from app.commands.listeners import ListenerHandlers
from app.presenters.connections import ConnectionsPresenter
from app.presenters.requests import RequestsPresenter, by_api
from broker_core.groups.joining import JoinRequest
from broker_core.groups.protocol import MemberSubscription, encode_subscription
from broker_core.simulation.actions.groups import MoveConsumer
from broker_core.simulation.simulation import Simulation
from tests.app.commands.test_audit import asked
from tests.app.conftest import Hand
from tests.app.dialogs import accept, fill, run, said
from widgets.canvas.view import NEW_GROUP
from widgets.dialogs.move_to_group import MoveToGroupDialog
from widgets.panels.connections import ConnectionsPanel


@pytest.fixture
def listeners(hand: Hand) -> Iterator[ListenerHandlers]:
    handlers = hand.workbench.family(ListenerHandlers)
    hand.workbench.window.show_tab("connections")
    hand.show()
    yield handlers
    handlers.listeners.close_all()


def opened(hand: Hand, kind: str) -> str:
    """Where the listener is that a click opens on any free port."""
    line = hand.workbench.window.tab(ConnectionsPanel).listeners[kind]
    line.port.setValue(0)
    hand.qtbot.mouseClick(line.button, Qt.MouseButton.LeftButton)
    hand.qtbot.waitUntil(lambda: line.where.text() != "closed" and line.button.text() == "Close", timeout=20_000)
    return line.where.text()


def port_of(where: str) -> int:
    return int(where.rpartition(":")[2])


def connected(where: str) -> closing[http.client.HTTPConnection]:
    """A connection that has asked for something, and is kept."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(where), timeout=10)
    connection.request("GET", "/health")
    connection.getresponse().read()
    return closing(connection)


def test_a_program_publishes_through_the_http_listener_and_the_window_shows_it(
    hand: Hand, listeners: ListenerHandlers
) -> None:
    where = opened(hand, "http")
    before = hand.workbench.controller.snapshot.totals.published
    with connected(where) as program:
        for number in range(5):
            body = json.dumps({"topic": "commits", "value": f"from outside {number}"})
            program.request("POST", "/produce", body, {"Content-Type": "application/json"})
            assert json.loads(program.getresponse().read())["status"] == "ok"
        hand.show()
        hand.workbench.draw()
        rows = hand.workbench.views.presenter(ConnectionsPresenter).model.rows
        assert [(row.listener, row.messages_in) for row in rows] == [("http", 5)]
        # The tab and the title count the same: connections.
        window = hand.workbench.window
        assert window.tabs.tab("connections").count == 1
        assert window.tab(ConnectionsPanel).count_label.text() == "1"
    hand.show()
    assert hand.workbench.controller.snapshot.totals.published >= before + 5


def test_an_unmodified_kafka_program_takes_part_in_the_session(hand: Hand, listeners: ListenerHandlers) -> None:
    where = opened(hand, "kafka")
    assert where.startswith("bootstrap.servers=127.0.0.1:")
    before = hand.workbench.controller.snapshot.totals.published
    program = KafkaProducer({"bootstrap.servers": where.partition("=")[2], "client.id": "my-shop", "log_level": 0})
    delivered: list[object] = []
    hand.workbench.controller.time.run()
    for number in range(5):
        program.produce(
            "commits", f"from Kafka {number}".encode(), on_delivery=lambda error, _m: delivered.append(error)
        )
    hand.qtbot.waitUntil(lambda: program.flush(0) == 0 and len(delivered) == 5, timeout=20_000)
    hand.show()
    hand.workbench.draw()
    assert delivered == [None] * 5
    rows = [row for row in hand.workbench.views.presenter(ConnectionsPresenter).model.rows if row.messages_in]
    assert [(row.listener, row.client, row.messages_in) for row in rows] == [("kafka", "my-shop", 5)]
    assert rows[0].software.startswith("confluent-kafka-python")
    connections = hand.workbench.views.presenter(ConnectionsPresenter)
    assert not connections.apis.rows
    connections.panel.select(connections.model.rows.index(rows[0]))
    of_produce = next(row for row in connections.apis.rows if row.api == "Produce")
    assert (of_produce.requests >= 1, of_produce.errors, of_produce.last_error) == (True, 0, "")
    assert 0 < of_produce.p50_ns <= of_produce.p99_ns
    assert of_produce.request_bytes > of_produce.reply_bytes > 0
    hand.workbench.window.show_tab("requests")
    hand.show()
    hand.workbench.draw()
    presenter = hand.workbench.views.presenter(RequestsPresenter)
    asked = [row for row in presenter.model.rows if row.api == "Produce"]
    assert asked and {(row.client, row.error) for row in asked} == {("my-shop", "")}
    assert all(row.latency_ns > 0 and row.reply_bytes > 0 and row.size_bytes > 0 for row in asked)
    assert "Produce: " in by_api(presenter.model.rows)
    assert hand.workbench.controller.snapshot.totals.published >= before + 5


def test_a_kafka_program_meets_a_fault_that_was_set_in_the_window(hand: Hand, listeners: ListenerHandlers) -> None:
    """The reply of its first request is lost; it is not idempotent, so its message is there twice."""
    where = opened(hand, "kafka")
    dialog = run(hand, "break_requests")
    fill(hand, dialog, effect="lose_reply", api="Produce", client="my-shop", times=1)
    accept(hand, dialog)
    before = hand.workbench.controller.snapshot.totals.published
    settings = {"bootstrap.servers": where.partition("=")[2], "client.id": "my-shop", "retry.backoff.ms": 10}
    program = KafkaProducer({**settings, "enable.idempotence": False, "log_level": 0})
    program.produce("commits", b"once")
    hand.workbench.controller.time.run()
    hand.qtbot.waitUntil(lambda: program.flush(0) == 0, timeout=20_000)
    hand.show()
    assert hand.workbench.controller.snapshot.totals.published >= before + 2
    assert hand.workbench.controller.snapshot.faults == ()


def test_who_belongs_to_another_program_is_told_where_its_group_is_set(hand: Hand, listeners: ListenerHandlers) -> None:
    where = opened(hand, "kafka")
    settings = {"bootstrap.servers": where.partition("=")[2], "client.id": "my-reader", "group.id": "shipping"}
    consumer = KafkaConsumer({**settings, "auto.offset.reset": "earliest", "log_level": 0})
    consumer.subscribe(["commits"])
    hand.workbench.controller.time.run()

    def joined() -> bool:
        consumer.poll(0.05)
        return "my-reader" in hand.members("shipping")

    hand.qtbot.waitUntil(joined, timeout=20_000)
    told: list[str] = []
    hand.workbench.controller.refused.connect(lambda *said: told.append(str(said)))
    hand.workbench.controller.perform(MoveConsumer("my-reader", "auditors"))
    hand.qtbot.waitUntil(lambda: bool(told), timeout=20_000)
    assert "group.id" in told[0]
    consumer.close()


def test_what_a_program_has_skipped_by_a_seek_is_told_as_its_own_doing(hand: Hand, listeners: ListenerHandlers) -> None:
    """Forward past what it never gets, and commits there; then back to what it has committed."""
    settings = {"bootstrap.servers": opened(hand, "kafka").partition("=")[2], "group.id": "seekers", "log_level": 0}
    one_by_one = {"max.partition.fetch.bytes": 1, "queued.min.messages": 1, "enable.auto.commit": False}
    consumer = KafkaConsumer({**settings, **one_by_one, "auto.offset.reset": "earliest"})
    consumer.subscribe(["commits"])
    hand.workbench.controller.time.run()

    def reads(offset: int) -> Callable[[], bool]:
        def read() -> bool:
            message = consumer.poll(0.02)
            return message is not None and (message.partition(), message.offset()) == (0, offset)

        return read

    hand.qtbot.waitUntil(reads(0), timeout=20_000)
    for offset in (20, 0):
        consumer.seek(TopicPartition("commits", 0, offset))
        hand.qtbot.waitUntil(reads(offset), timeout=20_000)
        consumer.commit(offsets=[TopicPartition("commits", 0, 21)], asynchronous=False)
    consumer.close()
    dialog, _job = asked(hand)
    (texts,) = (texts for texts in dialog.texts() if texts[1] == "seekers")
    assert dialog.sentence.text() == "19 messages were lost."
    assert texts[6] == "19", "skipped by its reader"


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_consumer_of_another_program_is_dragged_to_the_bench_and_back(
    hand: Hand, listeners: ListenerHandlers, protocol: str
) -> None:
    """Its join is held: it sees a rebalance that takes long, and nothing that it does not know."""
    where = opened(hand, "kafka")
    settings = {"bootstrap.servers": where.partition("=")[2], "group.id": "shipping"}
    classic = {"session.timeout.ms": 6_000, "heartbeat.interval.ms": 100}
    spoken = classic if protocol == "classic" else {"group.protocol": "consumer"}
    consumers = {}
    for name in ("reader-a", "reader-b"):
        consumers[name] = KafkaConsumer(
            {**settings, **spoken, "client.id": name, "auto.offset.reset": "latest", "log_level": 0}
        )
        consumers[name].subscribe(["commits"])
    hand.workbench.controller.time.run()

    def members(*wanted: str) -> Callable[[], bool]:
        def there() -> bool:
            for each in consumers.values():
                each.poll(0.02)
            return set(hand.members("shipping")) == set(wanted)

        return there

    def bench() -> list[str]:
        hand.show()
        return [actor.name for actor in hand.workbench.controller.snapshot.actors if not actor.target]

    hand.qtbot.waitUntil(members("reader-a", "reader-b"), timeout=20_000)
    hand.workbench.controller.perform(MoveConsumer("reader-a", ""))
    hand.qtbot.waitUntil(members("reader-b"), timeout=20_000)
    hand.qtbot.waitUntil(lambda: members("reader-b")() and not consumers["reader-a"].assignment(), timeout=20_000)
    for _ in range(20):
        assert members("reader-b")()
    assert "reader-a" in bench()
    assert [each.target for each in move_choices(hand.workbench.controller.snapshot, "reader-a")] == ["shipping", ""]
    hand.workbench.controller.perform(MoveConsumer("reader-a", "shipping"))
    hand.qtbot.waitUntil(members("reader-a", "reader-b"), timeout=20_000)
    assert "reader-a" not in bench()
    hand.workbench.controller.perform(MoveConsumer("reader-a", ""))
    hand.qtbot.waitUntil(members("reader-b"), timeout=20_000)
    hand.workbench.registry.trigger("undo")
    hand.qtbot.waitUntil(members("reader-a", "reader-b"), timeout=20_000)
    for each in consumers.values():
        each.close()


def test_a_consumer_of_another_program_is_promised_no_group_but_its_own(hand: Hand) -> None:
    workbench, canvas = hand.workbench, hand.canvas

    def join(simulation: Simulation) -> None:
        simulation.broker.groups.join(
            simulation.loop.now_ns,
            "shipping",
            JoinRequest(
                client_id="reader",
                session_timeout_ms=45_000,
                rebalance_timeout_ms=60_000,
                protocol_type="consumer",
                protocols={"range": encode_subscription(MemberSubscription(("commits",)))},
            ),
        )

    hand.simulated.look(join)
    hand.pass_time(5)
    canvas.fit()
    choices = move_choices(workbench.controller.snapshot, "reader")
    assert [(one.target, bool(one.reason)) for one in choices] == [("shipping", True), ("", False)]
    drag = canvas.drag
    start, empty = hand.place("consumer:reader"), QPoint(6, 6)
    hand.qtbot.mousePress(canvas.viewport(), Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 9):
        hand.qtbot.mouseMove(canvas.viewport(), start + (empty - start) * (step / 8))
    assert drag.target == NEW_GROUP
    told = drag.panel.ghost
    assert told.title == "reader cannot go there." and "group.id" in told.note and not told.moves
    assert not drag._spot.isVisible()
    hand.qtbot.mouseRelease(canvas.viewport(), Qt.MouseButton.LeftButton, pos=empty)
    hand.show()
    assert not workbench.window.findChildren(MoveToGroupDialog)
    assert said(hand) == told.note
    hand.drag("indexer-1", empty)
    assert workbench.window.findChildren(MoveToGroupDialog), "one of the session may"


def test_a_paused_session_answers_no_kafka_program(hand: Hand, listeners: ListenerHandlers) -> None:
    """What is produced while time stands still would all have come at one moment."""
    where = opened(hand, "kafka")
    program = KafkaProducer({"bootstrap.servers": where.partition("=")[2], "log_level": 0})
    delivered: list[object] = []
    program.produce("commits", b"waits", on_delivery=lambda error, _m: delivered.append(error))
    assert program.flush(1) == 1 and delivered == []
    hand.workbench.controller.time.run()
    hand.qtbot.waitUntil(lambda: program.flush(0) == 0, timeout=20_000)
    assert delivered == [None]


def test_the_http_listener_answers_from_the_session(hand: Hand, listeners: ListenerHandlers) -> None:
    where = opened(hand, "http")
    with urllib.request.urlopen(where + "/stats", timeout=10) as answer:
        assert "commits" in json.loads(answer.read())["topics"]


def test_after_the_end_nobody_is_advised_to_open_a_listener(hand: Hand, listeners: ListenerHandlers) -> None:
    panel = hand.workbench.window.tab(ConnectionsPanel)
    assert "Open Kafka" in panel.empty_state.text()
    hand.workbench.controller.stop()
    hand.workbench.draw()
    assert not panel.listeners["kafka"].button.isEnabled()
    assert panel.empty_state.text() == (
        "No client is connected. The session has ended. Continue it (Shift+F8) or start it again (Ctrl+R) to change it."
    )


def test_a_connection_is_cut_by_a_click(hand: Hand, listeners: ListenerHandlers) -> None:
    where = opened(hand, "http")
    panel = hand.workbench.window.tab(ConnectionsPanel)
    with connected(where) as program:
        hand.show()
        assert not panel.buttons["cut_connection"].isEnabled()
        panel.select(0)
        hand.qtbot.mouseClick(panel.buttons["cut_connection"], Qt.MouseButton.LeftButton)
        assert program.sock.recv(1) == b""
        hand.qtbot.waitUntil(lambda: bool(listeners.listeners.ended()), timeout=10_000)
        hand.show()
        hand.workbench.draw()
        model = hand.workbench.views.presenter(ConnectionsPresenter).model
        ended = model.place_of(1)
        texts = [str(model.index(ended, column).data()) for column in range(model.columnCount())]
        assert texts[1].startswith("ended ")
        assert texts[-1] == "cut in the window"
        assert panel.current_key() == 1, "a second click does not cut the next one"
        assert not panel.buttons["cut_connection"].isEnabled()
        assert panel.buttons["cut_connection"].toolTip() == "The connection has already ended."


def test_listeners_close_by_a_click_and_with_the_session(hand: Hand, listeners: ListenerHandlers) -> None:
    where = opened(hand, "http")
    line = hand.workbench.window.tab(ConnectionsPanel).listeners["http"]
    hand.qtbot.mouseClick(line.button, Qt.MouseButton.LeftButton)
    assert line.where.text() == "closed"
    with pytest.raises(ConnectionError):
        connected(where)
    where = opened(hand, "http")
    hand.workbench.controller.stop()
    hand.workbench.draw()
    assert line.where.text() == "closed"
    assert not line.button.isEnabled()
    with pytest.raises(ConnectionError):
        connected(where)


def test_a_session_with_clients_from_outside_says_that_it_cannot_be_branched(
    hand: Hand, listeners: ListenerHandlers
) -> None:
    opened(hand, "kafka")
    assert "External clients" in hand.simulated.why_no_branch()


def test_a_port_that_is_taken_is_told(hand: Hand, listeners: ListenerHandlers) -> None:
    where = opened(hand, "http")
    line = hand.workbench.window.tab(ConnectionsPanel).listeners["kafka"]
    line.port.setValue(port_of(where))
    hand.qtbot.mouseClick(line.button, Qt.MouseButton.LeftButton)
    hand.qtbot.waitUntil(lambda: line.button.text() == "Open", timeout=10_000)
    assert str(port_of(where)) in hand.workbench.window.status.last_action.whole
    # Beside the button, too, until it is tried again.
    assert line.problem.isVisible() and str(port_of(where)) in line.problem.text()
    line.port.setValue(0)
    hand.qtbot.mouseClick(line.button, Qt.MouseButton.LeftButton)
    assert not line.problem.isVisible()
    hand.qtbot.waitUntil(lambda: line.button.text() == "Close", timeout=10_000)


def test_another_scenario_closes_the_listeners_of_the_last(
    hand: Hand, listeners: ListenerHandlers, open_workbench: Callable[..., Hand]
) -> None:
    opened(hand, "kafka")
    hand.workbench.controller.restart()
    hand.show()
    assert hand.workbench.window.tab(ConnectionsPanel).listeners["kafka"].where.text() == "closed"


def test_a_listener_that_opens_after_its_session_has_ended_is_closed(
    hand: Hand, listeners: ListenerHandlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, closed = threading.Event(), threading.Event()

    def open_late(*_arguments: object) -> tuple[str, Callable[[], None]]:
        assert loaded.wait(10)
        return "late", closed.set

    lines = hand.workbench.window.tab(ConnectionsPanel).listeners
    with monkeypatch.context() as patch:
        patch.setattr("app.sessions.listeners._open", open_late)
        hand.qtbot.mouseClick(lines["kafka"].button, Qt.MouseButton.LeftButton)
    hand.workbench.controller.restart()
    hand.show()
    opened(hand, "http")
    loaded.set()
    hand.qtbot.waitUntil(lambda: lines["kafka"].button.text() == "Open", timeout=10_000)
    assert closed.is_set() and lines["kafka"].where.text() == "closed"
    assert lines["http"].button.text() == "Close"


def test_in_a_small_window_the_buttons_keep_their_height(hand: Hand, listeners: ListenerHandlers) -> None:
    window = hand.workbench.window
    window.resize(960, 640)
    hand.qtbot.waitUntil(lambda: window.height() <= 700, timeout=5_000)
    hand.show()
    lines = [window.tab(ConnectionsPanel).listeners[kind] for kind in ("http", "kafka")]
    for line in lines:
        assert line.button.height() >= line.button.sizeHint().height()
        assert line.port.height() >= line.port.sizeHint().height()
        assert line.button.visibleRegion().boundingRect().height() == line.button.height()
    assert not lines[0].geometry().intersects(lines[1].geometry())


def test_what_ends_a_session_that_programs_use_asks_first(hand: Hand, listeners: ListenerHandlers) -> None:
    controller, registry, window = hand.workbench.controller, hand.workbench.registry, hand.workbench.window
    where = opened(hand, "http")
    with connected(where) as program:
        hand.wait_until(listeners.listeners.views)
        peer = listeners.listeners.views()[0].peer
        source = controller.source
        for command in ("restart", "restart_new_seed", "stop", "scenario_hot-key", "quit"):
            assert registry.trigger(command)
            (box,) = window.findChildren(QMessageBox, "leave_question")
            assert peer in box.text() and box.textFormat() is Qt.TextFormat.PlainText
            hand.qtbot.keyClick(box, Qt.Key.Key_Escape)
            hand.wait_until(lambda: not window.findChildren(QMessageBox, "leave_question"))
            assert controller.source is source and not controller.time.stopped and window.isVisible()
        program.request("GET", "/health")
        assert program.getresponse().read()
        registry.trigger("scenario_hot-key")
        (box,) = window.findChildren(QMessageBox, "leave_question")
        (leave,) = [one for one in box.findChildren(QPushButton) if one.text() == "End it"]
        hand.qtbot.mouseClick(leave, Qt.MouseButton.LeftButton)
        hand.wait_until(lambda: controller.source is not source)
    assert controller.source.scenario is not None and controller.source.scenario.title == "Hot key"


def test_nobody_is_asked_if_no_program_is_connected(hand: Hand, listeners: ListenerHandlers) -> None:
    opened(hand, "http")
    assert hand.workbench.registry.trigger("stop")
    assert hand.workbench.controller.time.stopped
