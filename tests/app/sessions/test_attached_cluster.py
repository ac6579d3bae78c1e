"""A window over a Kafka cluster: what it shows, and that it offers nothing that would change it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFileDialog, QLabel

from app.commands.attach import AttachDialog
from app.environment.paths import find_scenario
from app.presenters.dead_letter_facts import dead_letter_sections
from app.presenters.dead_letters import DeadLettersPresenter
from app.presenters.messages_presenter import MessagesPresenter
from app.presenters.requests import RequestsPanel
from app.sessions.observed import attached, why_no_address
from app.shell.badge import shown_badge
from broker_core.errors import BrokerError
from broker_core.listeners.between.peer import BetweenPeer
from broker_core.observation.deed_journal import DeedJournal
from broker_core.observation.kafka.config import connection_config
from broker_core.observation.peers import peer_at
from broker_core.simulation.replay import recorded_action
from broker_core.testing import EmbeddedBroker
from tests.app.conftest import Hand
from tests.app.dialogs import fill, opened
from tests.app.sessions.test_attached import Attached
from tests.broker_core.guarded.test_origins import SPRING
from tests.broker_core.observation.kafka.tap import WRITING, tap
from tests.broker_core.recording.test_recorded_actions import EVERY_TAG
from widgets.dialogs.form import FormDialog
from widgets.dialogs.review import ReviewDialog
from widgets.panels.connections import ConnectionsPanel
from widgets.panels.dead_letters import DeadLettersPanel

#: Commands that end the session, open another one, or only change how the window looks.
LEAVING = (
    *("quit", "stop", "open_scenario", "scenario_", "help_", "layout_", "theme", "type_", "present", "palette"),
    "my_actions",
)


@pytest.fixture
def tapped(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    return tap(monkeypatch)


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


@pytest.fixture
def journal(window: Attached, cluster: EmbeddedBroker, tmp_path: Path) -> DeedJournal:
    """Of the cluster in the window, to which something may be done now."""
    kept = DeedJournal(tmp_path / "deeds.jsonl")
    window.controller.observe(attached(peer_at(cluster.bootstrap_servers, journal=kept), sessions=tmp_path))
    window.wait(lambda: window.controller.source.end_ns)
    return kept


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
    assert "in flight" not in workbench.views.status_model.update(window.controller.snapshot).in_flight
    cluster.publish("orders", {"number": 2}, partition=0)
    window.wait(lambda: window.controller.snapshot.totals.published == 1)
    canvas, controller = workbench.views.canvas_model, window.controller
    window.wait(lambda: canvas.view(controller.snapshot).topics[0].rate_per_s > 0)
    drawn = canvas.view(controller.snapshot)
    assert drawn.producers == (), "who has published nobody knows"
    assert not drawn.has_bench, "nobody can be put there"
    assert [(group.members, group.takes_members) for group in drawn.groups] == [((), False)]
    none = {section.key: section.none for section in workbench.views.navigator_model.update(controller.snapshot)}
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
    facts = dead_letter_sections(letter, workbench.views.times)[1][1]
    assert {("Given up by", "billing"), ("Attempts", "not given")} <= {*facts}
    panel = workbench.window.tab(DeadLettersPanel)
    panel.table.selectRow(0)
    window.wait(lambda: panel.details.payload.data == b'{"number":1}')
    assert not workbench.registry.reason("redrive_all"), "a plan may be looked at while the cluster is locked"
    assert "only observed" in workbench.registry.reason("purge_all")
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


@pytest.mark.promise("47")
@pytest.mark.parametrize("is_between", [False, pytest.param(True, marks=pytest.mark.long)])
def test_no_command_of_the_window_and_no_action_writes_to_a_locked_cluster(
    tapped: list[int],
    window: Attached,
    cluster: EmbeddedBroker,
    journal: DeedJournal,
    monkeypatch: pytest.MonkeyPatch,
    is_between: bool,
) -> None:
    """But those that leave the cluster, or show and say what has nothing to do with it. Each dialog is accepted, and
    once more where that was a review.
    """
    for ask in ("getSaveFileName", "getOpenFileName", "getExistingDirectory"):
        monkeypatch.setattr(QFileDialog, ask, lambda *_args: ("", ""))
    cluster.create_topic("orders.DLT", partitions=1)
    cluster.publish("orders.DLT", {"number": 1}, partition=0, headers=SPRING)
    if is_between:
        peer = BetweenPeer(connection_config(cluster.bootstrap_servers), port=0, journal=journal)
        window.controller.observe(attached(peer, record=False))
        window.wait(lambda: window.controller.source.end_ns)
    workbench, source = window.hand.workbench, window.controller.source
    registry, letters = workbench.registry, workbench.views.presenter(DeadLettersPresenter)
    workbench.window.show_tab("dead_letters")
    window.wait(lambda: letters.model.rowCount() == 1)
    tried, reviewed = [], 0
    reviewing = {"redrive_selected", "redrive_all", "try_redrive", "try_redrive_all", "reset_offsets"}
    writing = reviewing | {"unlock"}
    workbench.window.tab(DeadLettersPanel).table.selectRow(0)
    for command in sorted(registry.commands(), key=lambda command: command.id not in writing):
        for selected in ("", "topic:orders", "group:billing"):
            workbench.views.select(selected)
            if registry.reason(command.id) or (command.id.startswith(LEAVING) and command.id not in writing):
                continue
            tried.append(command.id)
            registry.trigger(command.id)
            for dialog in workbench.window.findChildren(QDialog):
                if isinstance(dialog, ReviewDialog) and dialog.isVisible():
                    dialog.accept_button.click()
                    window.wait(lambda dialog=dialog: dialog.reviewing or dialog.problem.text())  # type: ignore[misc]
                    dialog.accept_button.click()
                    reviewed += dialog.reviewing
                dialog.close()
            break
        assert window.controller.source is source, f"{command.id} has left the cluster"
    assert writing <= set(tried) and len(tried) > 50
    assert registry.reason("stop_redrive") == "No redrive is under way.", "as none has been let begin"
    assert reviewed == len(reviewing)
    actions = [recorded_action(0, sample["plain"]).action for sample in EVERY_TAG]
    for action in actions:
        with contextlib.suppress(BrokerError):
            source.perform(action).result(30)
    assert tapped and not WRITING & set(tapped)
    assert len(actions) > 70 and not journal.read()


def _says(label: QLabel, text: str) -> bool:
    return text in label.text()


def test_a_window_between_says_whose_rights_it_gives_away_and_how_programs_come(
    window: Attached, cluster: EmbeddedBroker, tmp_path: Path
) -> None:
    workbench = window.hand.workbench
    peer = BetweenPeer(connection_config(cluster.bootstrap_servers), port=0)
    peer._rights = "me.pem"  # as if the configuration named a certificate, which this cluster does not ask for
    window.controller.observe(attached(peer, sessions=tmp_path))
    window.wait(lambda: window.controller.source.end_ns)
    assert "has the rights of me.pem" in workbench.window.hint.sentence.text()
    for kind in (ConnectionsPanel, RequestsPanel):
        shown = workbench.window.tab(kind).empty_state._how
        workbench.window.show_tab(kind.info.name)
        window.wait(functools.partial(_says, shown, f"bootstrap.servers={peer.bootstrap_servers}"))
    assert not any(line.isVisible() for line in workbench.window.tab(ConnectionsPanel).listeners.values())
    window.hand.workbench.controller.open(find_scenario("first-session"))
    window.hand.show()
    assert not workbench.window.hint.isVisible()
    assert workbench.window.tab(ConnectionsPanel).listeners["kafka"].button.isEnabled()


@pytest.mark.long  # on a busy machine the plan has once not come within the patience of the test
def test_a_cluster_is_unlocked_by_its_name_and_its_dead_letters_go_back(
    window: Attached, cluster: EmbeddedBroker, journal: DeedJournal
) -> None:
    cluster.create_topic("orders.DLT", partitions=1)
    headers = tuple((name, value) for name, value in SPRING if name != "retry_topic-attempts")
    cluster.publish("orders.DLT", {"number": 1}, key=b"k", partition=0, headers=headers)
    hand, workbench = window.hand, window.hand.workbench
    shown, panel = workbench.views.presenter(DeadLettersPresenter), workbench.window.tab(DeadLettersPanel)
    workbench.window.show_tab("dead_letters")
    window.wait(lambda: shown.model.rowCount() == 1)

    def badge() -> str:
        return shown_badge(window.controller).word

    def reviewed() -> ReviewDialog:
        hand.qtbot.mouseClick(panel.buttons["redrive_all"], Qt.MouseButton.LeftButton)
        dialog = opened(hand, ReviewDialog)
        hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
        window.wait(lambda: dialog.review_table.rowCount() or dialog.problem.text())
        assert dialog.review_table.rowCount(), dialog.problem.text()
        return dialog

    locked = reviewed()
    assert not locked.accept_button.isEnabled() and "read-only" in badge()
    locked.reject()
    assert workbench.registry.trigger("unlock")
    unlock = opened(hand, FormDialog)
    fill(hand, unlock, name="another")
    assert not unlock.accept_button.isEnabled()
    fill(hand, unlock, name=unlock.widgets["name"].placeholderText())  # type: ignore[attr-defined]
    hand.qtbot.mouseClick(unlock.accept_button, Qt.MouseButton.LeftButton)
    window.wait(lambda: "UNLOCKED 1" in badge())
    dialog = reviewed()
    assert dialog.accept_button.isEnabled()
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    window.wait(lambda: journal.read() and journal.read()[-1].outcome == "done")
    assert cluster.messages("orders")[-1].value == b'{"number":1}'
    assert [deed.outcome for deed in journal.read()] == ["begun", "done"]
    window.controller.travel.to(1)
    window.wait(lambda: "REPLAY" in badge() and "UNLOCKED 1" in badge())
    assert workbench.registry.trigger("lock"), "looking back, too"
    window.controller.travel.to_present()
    window.wait(lambda: "read-only" in badge())


def test_a_filter_of_the_navigator_is_kept_by_cluster(window: Attached, cluster: EmbeddedBroker, tmp_path: Path):
    parts, settings = window.hand.workbench.window.parts, window.hand.workbench.settings
    window.hand.qtbot.keyClicks(parts.navigator.filter_field, "orders")
    window.wait(lambda: settings.cluster_filters == {cluster.bootstrap_servers: "orders"})
    parts.navigator.filter_field.setText("")
    window.wait(lambda: settings.cluster_filters == {})
    settings.cluster_filters = {cluster.bootstrap_servers: "billing"}
    window.controller.observe(attached(peer_at(cluster.bootstrap_servers), sessions=tmp_path))
    window.wait(lambda: parts.navigator.filter_field.text() == "billing")


def test_the_card_of_a_rebalance_seen_from_outside_offers_to_go_between(
    window: Attached, cluster: EmbeddedBroker
) -> None:
    reader = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "late", "log_level": 0})
    with contextlib.closing(reader):
        reader.subscribe(["orders"])
        reader.poll(1.0)
        rebalances = window.hand.workbench.window.parts.rebalances
        window.wait(lambda: rebalances.cards)
        card = rebalances.cards[0]
        window.hand.qtbot.mouseClick(card.between, Qt.MouseButton.LeftButton)
        dialog = opened(window.hand, AttachDialog)
        assert "Go between" in dialog.windowTitle()
        dialog.reject()
