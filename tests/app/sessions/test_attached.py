"""A window over a broker in another host, reached over HTTP: what it shows, what it does there, and what it cannot."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel

from app.commands.attach import AttachDialog
from app.presenters.connections import ConnectionsPresenter
from app.presenters.dead_letters import DeadLettersPresenter
from app.sessions.observed import attached
from app.shell.badge import shown_badge
from broker_core import Admin, BrokerHost, GroupConsumer, Producer, QueueConsumer
from broker_core.access import Acl, ClientQuota
from broker_core.events import EventKind
from broker_core.listeners.access.access import Access
from broker_core.listeners.http.listener import HttpListener
from broker_core.observation.peers import peer_at
from broker_core.observation.requests import AdvanceClock
from broker_core.operations.access import SetUser
from broker_core.operations.topics import LogSettings, TopicConfiguration
from broker_core.schemas.rule import SchemaRule
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.access import CreateAcls, DeleteUser, SetQuota
from broker_core.simulation.actions.clients import AddConsumer
from broker_core.simulation.actions.dead_letters import PurgeDeadLetters, Redrive
from broker_core.simulation.actions.groups import MoveConsumer, ResetOffsets
from broker_core.simulation.actions.queues import AckLease, NackLease
from broker_core.simulation.actions.topics import ConfigureTopic, Produce
from broker_core.simulation.simulation import Simulation
from tests.app.conftest import Hand
from tests.app.dialogs import fill
from tests.broker_core.admin import SchemaAdmin
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.panels.events import EventsPanel
from widgets.panels.messages import MessagesPanel


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as host:
        admin = Admin(host)
        admin.create_topic("orders", 3)
        admin.create_queue("jobs")
        with Producer(host, client_id="shop") as producer:
            for place in range(9):
                producer.publish("orders", b"order", str(place).encode())
                producer.publish("jobs", b"job")
        with QueueConsumer(host, "jobs", client_id="worker") as worker:
            for delivery in worker.take_many(3):
                delivery.nack("spoiled", requeue=False)
        yield host


@pytest.fixture
def listener(host: BrokerHost) -> Iterator[HttpListener]:
    with HttpListener(host, port=0) as listener:
        yield listener


class Attached:
    """A hand on a window that observes `host`."""

    def __init__(self, hand: Hand, host: BrokerHost, url: str, sessions: Path) -> None:
        self.hand, self.host, self.url, self.controller = hand, host, url, hand.workbench.controller
        self.controller.observe(attached(peer_at(url), sessions=sessions))
        self.wait(lambda: self.controller.source.end_ns)

    def wait(self, done: Callable[[], object]) -> None:
        def look() -> None:
            self.hand.workbench.draw()
            assert done()

        self.hand.qtbot.waitUntil(look, timeout=20_000)

    def do(self, action: UserAction) -> None:
        """Done, and answered."""
        with self.hand.qtbot.waitSignal(self.controller.acted, timeout=20_000):
            self.controller.perform(action)


@pytest.fixture
def window(open_workbench: Callable[..., Hand], host: BrokerHost, listener: HttpListener, tmp_path: Path) -> Attached:
    return Attached(open_workbench(), host, listener.url, tmp_path)


def test_the_window_shows_what_the_broker_has_and_what_happens_to_it(window: Attached) -> None:
    controller, host = window.controller, window.host
    assert [topic.published for topic in controller.snapshot.topics if topic.name == "orders"] == [9]
    assert shown_badge(controller).word.startswith("ATTACHED 127.0.0.1:")
    with Producer(host, client_id="shop") as producer:
        producer.publish("orders", b"one more")
    window.wait(lambda: controller.snapshot.totals.published == 1)
    window.wait(lambda: controller.time.moving)
    assert controller.live and controller.source.seed is None
    assert EventKind.PUBLISHED in [event.kind for event in controller.collectors.events.since(0)]


def test_what_cannot_be_done_there_is_disabled_from_the_first_frame_on(
    open_workbench: Callable[..., Hand], listener: HttpListener
) -> None:
    workbench = open_workbench().workbench
    workbench.controller.observe(attached(peer_at(listener.url), record=False))
    names = ("restart", "step", "run", "fast", "express", "run_until")
    assert [name for name in names if workbench.registry.action(name).isEnabled()] == []


def test_another_broker_is_seen_from_its_first_card_on(window: Attached) -> None:
    hand, canvas = window.hand, window.hand.canvas
    hand.workbench.window.resize(1500, 900)
    hand.workbench.window.show_tab("messages")
    for name in "abcdef":
        Admin(window.host).create_topic(name, 3)
    window.wait(lambda: canvas.draws("topic:f"))
    canvas.verticalScrollBar().setValue(canvas.verticalScrollBar().maximum())
    assert canvas.mapToScene(0, 0).y() > 100
    with BrokerHost() as other, HttpListener(other, port=0) as listener:
        for name in "uvwxyz":
            Admin(other).create_topic(name, 3)
        window.controller.observe(attached(peer_at(listener.url), record=False))
        window.wait(lambda: canvas.draws("topic:z"))
        assert canvas.mapToScene(0, 0).y() <= 24
        window.controller.close()


def test_looking_back_and_following_again(window: Attached) -> None:
    controller, host = window.controller, window.host
    window.wait(lambda: controller.source.end_ns > 0)
    before_ns = controller.source.end_ns
    with Producer(host) as producer:
        producer.publish("orders", b"later")
    window.wait(lambda: controller.source.latest.totals.published == 1)
    controller.time.pause()
    window.wait(lambda: controller.travel.looking_back)
    assert not controller.live and not controller.time.moving
    controller.travel.to(before_ns)
    window.wait(lambda: controller.snapshot.time_ns <= before_ns)
    assert controller.snapshot.totals.published == 0
    controller.travel.to_present()
    assert controller.live and controller.snapshot.totals.published == 1


def test_what_is_done_reaches_the_broker(window: Attached) -> None:
    host = window.host
    window.do(Redrive(queue="jobs", offsets=[0]))
    newest = window.controller.collectors.events.newest
    assert newest is not None and newest.kind == EventKind.USER_ACTION, "what was done, and when, is kept"
    assert Admin(host).describe_queue("jobs").dead == 2
    window.do(ConfigureTopic(topic="orders", log=LogSettings(retention_ms=5_000)))
    assert host.ask(TopicConfiguration(topic="orders")).log.retention_ms == 5_000
    window.do(Produce("orders", "by hand", count=2))
    assert Admin(host).describe_topic("orders").published == 11
    with GroupConsumer(host, "billing", ["orders"], client_id="reader") as consumer:
        read = 0
        while read < 11:
            read += len(consumer.poll(1))
        consumer.commit()
        window.wait(lambda: window.controller.source.latest.groups)
        window.do(MoveConsumer("reader", ""))
        assert not Admin(host).describe_group("billing").members
        window.wait(lambda: window.controller.source.latest.faults)
        assert window.hand.workbench.registry.reason("end_faults") == "No fault is active.", "the bench says it"
        window.do(MoveConsumer("reader", "billing"))
    window.do(ResetOffsets(group="billing", form="earliest"))
    assert sum(offset.lag or 0 for offset in Admin(host).describe_group("billing").offsets) == 11


def test_messages_of_the_broker_are_browsed(window: Attached) -> None:
    window.hand.workbench.registry.trigger("show_messages")
    panel = window.hand.workbench.window.findChild(MessagesPanel)
    assert panel is not None
    window.wait(lambda: panel.table.model().rowCount() == 9)


def test_dead_letters_of_topics_say_why_and_go_back_where_they_can(window: Attached) -> None:
    admin, schemas, workbench = Admin(window.host), SchemaAdmin(window.host), window.hand.workbench
    schemas.register("order", '{"type": "integer"}')
    admin.create_topic("events", schema=SchemaRule("order", "dead_letter"))
    admin.create_topic("mine.DLT")
    with Producer(window.host) as producer:
        for value in (b'"one"', b'"two"', b"3"):
            producer.publish("events", value)
        producer.publish("mine.DLT", b"x")
    panel, model = workbench.window.tab(DeadLettersPanel), workbench.views.presenter(DeadLettersPresenter).model
    workbench.window.show_tab("dead_letters")
    window.wait(lambda: model.rowCount() == 3 + 2 + 1)
    assert [(row.queue, row.cause) for row in model.rows if row.queue not in {"jobs", "mine.DLT/0"}] == [
        ("events", "schema order refused the value")
    ] * 2
    assert panel.buttons["redrive_all"].text() == "Redrive all (6)", "what a program wrote goes back by a plan"
    panel.table.selectRow(model.place_of(("mine.DLT/0", 0)))
    reason = workbench.registry.reason
    of_programs = "The dead letters that a program has put into a topic stay there."
    assert reason("purge_selected") == of_programs
    assert not reason("redrive_selected") and not reason("redrive_all") and not reason("purge_all")
    # The schema goes: what it refused goes back, but for one of them that was purged before.
    schemas.set_rule("events", None)
    window.do(PurgeDeadLetters(queue="events", offsets=[1]))
    window.wait(lambda: model.rowCount() == 5)
    panel.table.selectRow(model.place_of(("events", 0)))
    assert not reason("redrive_selected") and not reason("purge_selected")
    workbench.registry.refresh()
    panel.buttons["redrive_selected"].click()
    window.wait(lambda: {row.queue for row in model.rows} == {"jobs", "mine.DLT/0"})
    window.wait(lambda: workbench.views.presenter(DeadLettersPresenter).tab_count(window.controller.snapshot) == 4)


def test_what_a_broker_refuses_to_everybody_is_said_before_it_is_asked_for(window: Attached) -> None:
    registry, host = window.hand.workbench.registry, window.host
    registry.refresh()
    assert registry.reason("break_requests").startswith("Everybody may use this broker")
    assert registry.reason("advance_clock").startswith("The clock of this broker cannot be stopped or moved")
    host.broker.clock.movable = host.clock  # as with --testing
    with Producer(host) as producer:
        producer.publish("orders", b"one more")
    window.wait(lambda: window.controller.snapshot.totals.published == 1)
    registry.refresh()
    assert registry.reason("break_requests") == registry.reason("advance_clock") == ""


def test_the_clock_of_a_broker_for_tests_is_moved_on(window: Attached) -> None:
    host = window.host
    host.broker.clock.movable = host.clock
    with QueueConsumer(host, "jobs", client_id="worker") as worker:
        assert worker.take() is not None
        window.wait(lambda: any(queue.leases for queue in window.controller.snapshot.queues))
        window.do(AdvanceClock(by_ms=60_000))
    window.wait(lambda: not any(queue.leases for queue in window.controller.snapshot.queues))
    assert "moved the clock on by 60000 ms" in [event.cause for event in window.controller.collectors.events.since(0)]


def test_the_time_of_a_session_here_is_its_engines(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("first-session")
    hand.workbench.registry.refresh()
    assert "The engine controls the time" in hand.workbench.registry.reason("advance_clock")


def test_what_the_broker_does_not_tell_is_said_to_be_unknown(window: Attached) -> None:
    panels = window.hand.workbench.window.parts.panels
    unknown = {panel.info.name for panel in panels if panel._unknown}
    assert unknown == {"requests", "schemas"}


def test_a_panel_without_rows_says_what_it_takes_of_this_source(
    open_workbench: Callable[..., Hand], host: BrokerHost, listener: HttpListener, tmp_path: Path
) -> None:
    hand = open_workbench()
    empty = hand.workbench.window.tab(EventsPanel).empty_state

    def words() -> str:
        return " ".join(label.text() for label in empty.findChildren(QLabel))

    assert "Every event is listed here, in order. Run the scenario (F5)" in words()
    window = Attached(hand, host, listener.url, tmp_path)
    assert "as soon as it is seen" in words() and "F5" not in words()
    window.controller.stop()
    assert window.controller.source.folder is not None
    window.controller.open_session(window.controller.source.folder)
    assert "another moment on the timeline" in words()


def test_leases_and_connections_of_the_broker(window: Attached) -> None:
    controller, host = window.controller, window.host
    with QueueConsumer(host, "jobs", client_id="worker") as worker:
        worker.take_many(2)
        window.wait(lambda: sum(len(queue.leases) for queue in controller.snapshot.queues) == 2)
        one, two = (lease for queue in controller.snapshot.queues for lease in queue.leases)
        window.do(AckLease(one.queue, one.partition, one.offset, one.holder, one.attempt))
        window.do(NackLease(two.queue, two.partition, two.offset, two.holder, two.attempt, requeue=False))
        queue = Admin(host).describe_queue("jobs")
        assert (queue.in_flight, queue.acknowledged, queue.dead) == (0, 1, 4)
        with window.hand.qtbot.waitSignal(controller.refused, timeout=20_000):
            controller.perform(AckLease(one.queue, one.partition, one.offset, one.holder, one.attempt))
    host_name, _, port = window.url.rpartition("/")[2].partition(":")
    with socket.create_connection((host_name, int(port))) as other:
        # The window has one connection, or two where it asked for something during a look.
        name = ":".join(map(str, other.getsockname()))
        window.wait(lambda: name in [connection.peer for connection in controller.source.connections])
        (cut,) = (connection.id for connection in controller.source.connections if connection.peer == name)
        workbench = window.hand.workbench
        workbench.window.show_tab("connections")
        presenter = workbench.views.presenter(ConnectionsPresenter)
        window.wait(lambda: presenter.model.place_of(cut) >= 0)
        presenter.panel.select(presenter.model.place_of(cut))
        assert workbench.registry.trigger("cut_connection")
        window.wait(lambda: name not in [connection.peer for connection in controller.source.connections])
        assert other.recv(1) == b""


def test_members_of_before_have_had_their_partitions_before(
    open_workbench: Callable[..., Hand], host: BrokerHost, listener: HttpListener, tmp_path: Path
) -> None:
    with GroupConsumer(host, "billing", ["orders"], client_id="reader") as consumer:
        consumer.poll(1)
        window = Attached(open_workbench(), host, listener.url, tmp_path)
        spans = window.controller.collectors.ownership.spans(("billing", "orders", 0), 0)
        assert [(span.owner, span.end_ns) for span in spans] == [("reader", None)]
        assert spans[0].start_ns < 0


def test_commands_that_need_a_session_of_ones_own_say_so(window: Attached) -> None:
    registry = window.hand.workbench.registry
    registry.refresh()
    for command in ("add_consumer", "crash", "run_until", "restart", "listener_http"):
        assert "a broker elsewhere" in registry.reason(command), command
        assert not registry.action(command).isEnabled()
    assert "its own" in registry.reason("express") and "replayed" in registry.reason("branch")
    assert "began in the middle" in registry.reason("audit")
    for command in ("save_scenario", "save_test"):
        assert "observes a broker elsewhere" in registry.reason(command) and "Ctrl+S" in registry.reason(command)
    assert registry.reason("save_copy") == registry.reason("session_page") == ""
    for command in ("create_topic", "create_queue", "produce", "pause", "attach", "go_to"):
        assert registry.reason(command) == "", command
    with window.hand.qtbot.waitSignal(window.controller.reported):
        window.controller.perform(AddConsumer("c", "orders"))


def test_a_broker_that_is_away_is_told_with_its_age_and_comes_back(
    open_workbench: Callable[..., Hand], host: BrokerHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.sessions.observed._AWAY_S", 0.5)
    with HttpListener(host, port=0) as listener:
        window = Attached(open_workbench(), host, listener.url, tmp_path)
        controller = window.controller
    window.wait(lambda: "nothing listens" in shown_badge(controller).tip)
    assert shown_badge(controller).word.startswith("ATTACHED, not seen for ") and not controller.time.moving
    window.wait(lambda: window.hand.workbench.window.tint.stale)
    with BrokerHost() as other, HttpListener(other, port=listener.port):
        Admin(other).create_topic("anew")
        window.wait(lambda: [topic.name for topic in controller.source.latest.topics] == ["anew"])
        window.wait(lambda: controller.time.moving and not window.hand.workbench.window.tint.stale)
        assert [event.kind for event in controller.collectors.events.since(0)].count(EventKind.GAP) == 1
        assert any("restarted" in tick.label for tick in controller.collectors.timeline.ticks())
        controller.stop()


def test_its_recording_opens_as_a_session(window: Attached) -> None:
    controller, folder = window.controller, window.controller.source.folder
    with Producer(window.host) as producer:
        producer.publish("orders", b"one more")
    window.wait(lambda: controller.source.latest.totals.published == 1)
    controller.stop()
    assert shown_badge(controller).word == "STOPPED"
    assert folder is not None
    stored = controller.open_session(folder)
    about = window.hand.workbench.views.about
    assert about is not None and about.kind == "Broker"
    assert controller.source.scenario is not None and "elsewhere" in controller.source.scenario.about
    assert stored.problems == [] and not stored.knows("beginning") and stored.knows("leases")
    controller.travel.to(stored.end_ns)
    window.wait(lambda: controller.snapshot.totals.published == 1)
    assert [topic.published for topic in controller.snapshot.topics if topic.name == "orders"] == [10]
    assert "replayed" in controller.source.why_no_branch() and not controller.source.why_not(Simulation)


def test_the_dialog_says_what_is_wrong_and_remembers_addresses_and_no_token(
    open_workbench: Callable[..., Hand], host: BrokerHost
) -> None:
    hand = open_workbench(record=True)
    registry, controller, settings = hand.workbench.registry, hand.workbench.controller, hand.workbench.settings

    def pressed(address: str, token: str = "") -> AttachDialog:
        registry.trigger("attach")
        dialog = hand.workbench.window.findChildren(AttachDialog)[-1]
        fill(hand, dialog, address=address, token=token)
        dialog.accept_button.click()
        return dialog

    with HttpListener(host, port=0, access=Access.of_token("sixteen letters!")) as listener:
        dialog = pressed(listener.url)
        assert (dialog.note.text(), dialog.problem.text()) == ("Connecting...", ""), "it is no error"
        hand.qtbot.waitUntil(lambda: "token" in dialog.problem.text(), timeout=20_000)
        assert not dialog.note.isVisible()
        assert controller.simulated is not None and dialog.isVisible()
        fill(hand, dialog, token="sixteen letters!", hides_hosts=True)
        with hand.qtbot.waitSignal(controller.opened, timeout=20_000):
            dialog.accept_button.click()
        assert controller.simulated is None and controller.live
        assert settings.recent_addresses == (listener.url,)
        assert controller.source.folder is not None and controller.source.folder.name.endswith("-attached")
        assert "sixteen" not in str(vars(settings))
        registry.trigger("attach")
        dialog = hand.workbench.window.findChildren(AttachDialog)[-1]
        assert (dialog.values()["address"], dialog.values()["token"]) == (listener.url, "")
        fill(hand, dialog, address="http://h:1/path")
        assert not dialog.accept_button.isEnabled() and "path" in dialog.problem.text()
        dialog.reject()
        controller.stop()


def test_what_has_an_undo_there_can_be_undone(window: Attached) -> None:
    registry = window.hand.workbench.registry
    assert registry.reason("undo")
    window.do(Redrive(queue="jobs", offsets=[0, 1]))
    assert Admin(window.host).describe_queue("jobs").dead == 1
    registry.refresh()
    assert registry.reason("undo") == ""
    with window.hand.qtbot.waitSignal(window.controller.acted, timeout=20_000):
        registry.trigger("undo")
    assert Admin(window.host).describe_queue("jobs").dead == 3
    window.do(ConfigureTopic(topic="orders", log=LogSettings(retention_ms=5_000)))
    registry.refresh()
    assert "no operation that undoes this" in registry.reason("undo")


def test_acls_quotas_and_users_of_the_broker_are_seen_and_changed(window: Attached) -> None:
    acl, quota = Acl("shop", "read", "topic", "orders"), ClientQuota("producer_byte_rate", 5_000.0, "shop")
    window.host.ask(SetUser(user="shop", password="secret").salted(b"salt"))
    window.wait(lambda: window.controller.snapshot.users)
    window.do(CreateAcls(acls=(acl,)))
    window.do(SetQuota(quota=quota))
    assert window.host.broker.access.acls.all == (acl,)
    window.wait(lambda: (window.controller.snapshot.acls, window.controller.snapshot.quotas) == ((acl,), (quota,)))
    told = [
        event.cause for event in window.controller.collectors.events.since(0) if event.kind is EventKind.USER_ACTION
    ]
    assert told == [
        "set the SCRAM-SHA-256 credential of shop",
        "created the ACL: shop may read topic orders",
        "set the producer_byte_rate of user shop to 5000",
    ]
    window.do(DeleteUser(user="shop"))
    assert window.host.broker.access.credentials.all == ()
