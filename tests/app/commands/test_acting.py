"""Acting on the broker from the window: every dialog is opened, filled in and accepted by keys and clicks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtWidgets import QApplication, QComboBox, QMenu

from broker_core.queues.config import QueueConfig
from broker_core.schemas.rule import SchemaRule
from broker_core.simulation.actions.queues import CreateSubscription
from tests.app.conftest import Hand
from tests.app.dialogs import accept, actor, fill, opened, run, said
from widgets.dialogs.form import FormDialog
from widgets.panels.backpressure import BackpressurePanel


def test_a_consumer_is_added_to_a_group_by_keyboard_alone(hand: Hand) -> None:
    hand.qtbot.keyClick(
        hand.workbench.window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    dialog = opened(hand, FormDialog)
    hand.qtbot.keyClicks(dialog.focusWidget(), "indexer-9")
    hand.qtbot.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)
    hand.show()
    assert said(hand) == "Added consumer indexer-9 to indexers."
    hand.pass_time(5)
    assert "indexer-9" in hand.members("indexers")


def test_a_name_that_is_taken_is_said_as_one_types(hand: Hand) -> None:
    dialog = run(hand, "add_consumer")
    fill(hand, dialog, name="indexer-1")
    assert dialog.problem.text() == "The name indexer-1 is already taken."
    assert not dialog.accept_button.isEnabled()
    fill(hand, dialog, name="a/b")
    assert "a/b" in dialog.problem.text()
    hand.qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


@pytest.mark.parametrize(
    ("command", "selected"),
    [("set_processing", "consumer:indexer-1"), ("set_rate", "producer:forge"), ("set_flow", "topic:commits")],
)
def test_an_answer_that_comes_after_its_form_was_closed_is_dropped(
    hand: Hand, command: str, selected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.workbench.views.select(selected)
    assert hand.workbench.registry.trigger(command)
    dialog = opened(hand, FormDialog)
    filled: list[object] = []
    monkeypatch.setattr(dialog, "set_values", filled.append)
    dialog.reject()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    hand.show()
    assert filled == [] and not shiboken6.isValid(dialog)
    dialog = run(hand, command, selected)
    assert dialog.isVisible(), "and the next one is filled"


def test_a_producer_and_a_worker_are_added_and_work(hand: Hand) -> None:
    dialog = run(hand, "add_producer")
    fill(hand, dialog, name="extra", to="commits", per_s=50)
    accept(hand, dialog)
    dialog = run(hand, "add_producer")
    fill(hand, dialog, name="gatherer", to="commits", per_s=50, linger_ms=1_000)
    accept(hand, dialog)
    facts = hand.workbench.window.parts.inspector.facts
    assert facts is not None
    assert facts.name == "gatherer", "what was added is selected"
    assert ("Lingers", "1.0 s for more to send together") in facts.sections[0][1]
    dialog = run(hand, "add_worker", "queue:builds")
    fill(hand, dialog, name="helper")
    accept(hand, dialog)
    hand.pass_time(5)
    extra, helper = actor(hand, "extra"), actor(hand, "helper")
    assert extra is not None
    assert helper is not None
    assert 230 <= extra.processed <= 260
    gatherer = actor(hand, "gatherer")
    assert gatherer is not None
    assert gatherer.processed
    assert gatherer.processed % 51 == 0, "in batches, each what one second brings"
    assert helper.processed


def test_a_client_is_duplicated_and_removed_by_menu_and_key(hand: Hand) -> None:
    hand.qtbot.mouseClick(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=hand.place("consumer:indexer-2"))
    hand.qtbot.keyClick(hand.workbench.window, Qt.Key.Key_U, Qt.KeyboardModifier.ControlModifier)
    hand.show()
    assert said(hand) == "Duplicated indexer-2 as indexer-5."
    assert hand.workbench.views.selected == "consumer:indexer-5"
    assert hand.workbench.window.parts.navigator.current_id() == "consumer:indexer-5"
    hand.canvas.contextMenuRequested.emit("consumer:indexer-5", QPoint(10, 10))
    menu = hand.workbench.window.findChild(QMenu, "canvas_menu")
    assert menu is not None
    next(entry for entry in menu.actions() if entry.text() == "Remove client").trigger()
    menu.close()
    hand.show()
    assert actor(hand, "indexer-5") is None
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert actor(hand, "indexer-5") is not None


def test_a_topic_is_created_configured_given_partitions_and_deleted_with_its_count(hand: Hand) -> None:
    dialog = run(hand, "create_topic")
    fill(hand, dialog, topic="payments", partitions=2)
    accept(hand, dialog)
    names = [topic.name for topic in hand.workbench.controller.snapshot.topics]
    assert "payments" in names
    dialog = run(hand, "add_partitions", "topic:payments")
    accept(hand, dialog)
    dialog = run(hand, "configure_topic", "topic:payments")
    fill(hand, dialog, retention_ms=60)
    accept(hand, dialog)
    assert said(hand) == "Configured payments."
    dialog = run(hand, "delete_topic", "topic:commits")
    assert f"has {sum(p.end_offset for p in hand.workbench.controller.snapshot.topics[0].partitions):,} messages" in (
        dialog.about.text()
    )
    accept(hand, dialog)
    assert "commits" not in [topic.name for topic in hand.workbench.controller.snapshot.topics]
    hand.workbench.registry.trigger("undo")
    hand.show()
    hand.pass_time(5)
    assert "commits" in [topic.name for topic in hand.workbench.controller.snapshot.topics]
    assert len(hand.members("indexers")) == 3


def test_whose_time_messages_have_is_chosen_in_the_forms_of_a_topic(hand: Hand) -> None:
    """`message.timestamp.type`: what is chosen holds, and the form of a topic begins with what holds."""
    live = hand.simulated.session
    topics = live.simulation.broker.topics
    dialog = run(hand, "create_topic")
    assert dialog.values()["timestamp_type"] == "CreateTime"
    fill(hand, dialog, topic="payments", timestamp_type="LogAppendTime")
    accept(hand, dialog)
    assert topics.config("payments").timestamp_type == "LogAppendTime"
    dialog = run(hand, "configure_topic", "topic:payments")
    hand.qtbot.waitUntil(lambda: dialog.values()["timestamp_type"] == "LogAppendTime")
    fill(hand, dialog, retention_ms=60)
    accept(hand, dialog)
    assert topics.config("payments").timestamp_type == "LogAppendTime"
    dialog = run(hand, "configure_topic", "topic:payments")
    hand.qtbot.waitUntil(lambda: dialog.values()["timestamp_type"] == "LogAppendTime")
    fill(hand, dialog, timestamp_type="CreateTime")
    accept(hand, dialog)
    assert topics.config("payments").timestamp_type == "CreateTime"
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert topics.config("payments").timestamp_type == "LogAppendTime"


def test_a_topic_is_created_with_its_log_and_schema_in_one_step(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("schema-evolution")
    hand.pass_time(1)
    dialog = run(hand, "create_topic")
    fill(hand, dialog, topic="payments", cleanup="compact", segment_bytes=1, subject="order", mode="dead_letter")
    accept(hand, dialog)
    live = hand.simulated.session
    broker = live.simulation.broker
    assert broker.topics.config("payments").cleanup == "compact"
    assert broker.topics.config("payments").segment_bytes == 1_024
    assert broker.schemas.rule("payments") == SchemaRule("order", "dead_letter")
    collected = hand.workbench.controller.collectors.schemas.at(hand.workbench.controller.snapshot.time_ns)
    assert collected.rules["payments"] == SchemaRule("order", "dead_letter")
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert "payments" not in [topic.name for topic in hand.workbench.controller.snapshot.topics]


def test_records_are_deleted_with_their_count_named(hand: Hand) -> None:
    dialog = run(hand, "delete_records", "lane:commits/0")
    end = hand.workbench.controller.snapshot.topics[0].partitions[0].end_offset
    fill(hand, dialog, offset=end + 1)
    assert dialog.problem.text() == f"The partition ends at {end:,}."
    fill(hand, dialog, offset=5)
    assert dialog.note.text() == "5 messages will be deleted for good."
    accept(hand, dialog)
    assert hand.workbench.controller.snapshot.topics[0].partitions[0].start_offset == 5


def test_a_queue_is_created_purged_and_deleted(hand: Hand) -> None:
    dialog = run(hand, "create_queue")
    fill(hand, dialog, queue="invoices")
    accept(hand, dialog)
    dialog = run(hand, "delete_queue", "queue:invoices")
    assert "0 messages and 0 dead letters" in dialog.about.text()
    accept(hand, dialog)
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert "invoices" in [queue.name for queue in hand.workbench.controller.snapshot.queues]
    hand.workbench.views.select("queue:invoices")
    assert hand.workbench.registry.reason("purge_queue") == "No messages are waiting in the queue."


def test_a_subscription_is_created_with_any_policy_and_priorities(hand: Hand) -> None:
    dialog = run(hand, "create_subscription")
    fill(hand, dialog, queue="commits")
    assert "commits" in dialog.problem.text()
    fill(hand, dialog, queue="feed", topic="commits", max_messages=5, policy="block", priorities=3)
    accept(hand, dialog)
    hand.pass_time(5)
    feed = next(queue for queue in hand.workbench.controller.snapshot.queues if queue.name == "feed")
    assert feed.topic == "commits" and feed.gate is not None
    assert (feed.gate.policy, feed.gate.limit, feed.gate.depth) == ("block", 5, 5)
    limits = run(hand, "set_flow", "topic:commits")
    target = limits.widgets["target"]
    assert isinstance(target, QComboBox)
    assert (target.findData("commits"), target.findData("feed")) == (0, -1), "its limit was made with it"
    limits.reject()
    hand.workbench.views.select("queue:feed")
    hand.show()
    assert hand.workbench.registry.reason("set_flow") == "Its limits are made with the subscription."
    assert hand.workbench.window.tab(BackpressurePanel)._forbidden == "", "those of others can be set"
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert "feed" not in [queue.name for queue in hand.workbench.controller.snapshot.queues]


def test_a_subscription_is_duplicated_as_one_of_the_same_topic(hand: Hand) -> None:
    settings = QueueConfig(priorities=3, dead_letter_topic="unread-commits")
    hand.workbench.controller.perform(
        CreateSubscription(name="feed", topic="commits", settings=settings, max_messages=5, policy="block")
    )
    hand.show()
    hand.workbench.views.select("queue:feed")
    assert hand.workbench.registry.trigger("duplicate_place")
    hand.qtbot.waitUntil(
        lambda: any(dialog.isVisible() for dialog in hand.workbench.window.findChildren(FormDialog)), timeout=5_000
    )
    accept(hand, opened(hand, FormDialog))
    queues = {queue.name: queue for queue in hand.workbench.controller.snapshot.queues}
    feed, made = queues["feed"], queues["feed-2"]
    assert made.topic == "commits" and made.gate is not None
    assert (made.gate.policy, made.gate.limit) == ("block", 5)
    assert made.priorities == feed.priorities
    assert (feed.dead_letter_topic, made.dead_letter_topic) == ("unread-commits", "feed-2.dlq")


def test_a_topic_is_subscribed_by_dialog_and_by_drag(hand: Hand) -> None:
    dialog = run(hand, "subscribe_group", "group:mailers")
    fill(hand, dialog, topic="mails")
    assert dialog.problem.text() == "mailers already reads mails."
    fill(hand, dialog, topic="commits")
    accept(hand, dialog)
    hand.pass_time(5)
    assert next(g for g in hand.workbench.controller.snapshot.groups if g.name == "mailers").topics == (
        "commits",
        "mails",
    )
    dialog = run(hand, "unsubscribe_group", "group:mailers")
    fill(hand, dialog, topic="commits")
    accept(hand, dialog)
    hand.pass_time(5)
    view = hand.canvas.viewport()
    start, to = hand.place("topic:mails"), hand.place("group:auditors")
    hand.qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 9):
        hand.qtbot.mouseMove(view, start + (to - start) * (step / 8))
    hand.qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=to)
    hand.show()
    assert said(hand) == "Subscribed auditors to mails."


def test_rates_and_processing_times_are_set_and_filled_in_with_what_holds(hand: Hand) -> None:
    dialog = run(hand, "set_rate", "producer:forge")
    fill(hand, dialog, rate=200)
    accept(hand, dialog)
    before = actor(hand, "forge")
    hand.pass_time(2)
    after = actor(hand, "forge")
    assert before is not None
    assert after is not None
    assert 390 <= after.processed - before.processed <= 410
    dialog = run(hand, "set_processing", "consumer:mailer-1")
    hand.qtbot.waitUntil(lambda: dialog.values()["mean_ms"] == 130, timeout=5_000)
    assert dialog.values()["kind"] == "exponential"
    fill(hand, dialog, mean_ms=5)
    accept(hand, dialog)
    assert said(hand) == "Set mailer-1 to 5 ms for each message."


def test_limits_are_set_by_dialog_and_in_the_gauge(hand: Hand) -> None:
    dialog = run(hand, "set_flow", "topic:commits")
    fill(hand, dialog, max_messages=30, policy="reject")
    accept(hand, dialog)
    hand.workbench.window.show_tab("backpressure")
    hand.show()
    panel = hand.workbench.window.tab(BackpressurePanel)
    gauge = next(each for each in panel.gauges if each.facts is not None and each.facts.target == "mails")
    gauge.controls.limit.setValue(7)
    hand.qtbot.waitUntil(lambda: "limited mails" in said(hand).lower(), timeout=5_000)
    hand.show()
    assert gauge.facts is not None
    assert gauge.facts.depth.endswith(" of 7")
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert gauge.facts.depth.endswith(" of 40")


def test_in_the_past_and_after_the_end_nothing_can_be_done_and_it_says_why(hand: Hand) -> None:
    hand.workbench.controller.stop()
    hand.workbench.draw()
    for command in ("add_consumer", "create_topic", "fail_matching", "reset_offsets", "set_flow", "undo"):
        reason = hand.workbench.registry.reason(command)
        assert reason, command
    assert "has ended" in hand.workbench.registry.reason("add_consumer")


def test_every_context_menu_opens_with_its_entries(hand: Hand) -> None:
    wanted = {
        "consumer:indexer-1": {"Duplicate", "Remove client", "Seek...", "Faults"},
        "producer:forge": {"Set rate...", "Faults"},
        "worker:builder-1": {"Set processing time...", "Faults"},
        "topic:commits": {"Limits...", "Delete topic...", "Subscribe group to topic..."},
        "lane:commits/1": {"Delete records..."},
        "group:indexers": {"Reset offsets...", "Compare assignors...", "Add consumer..."},
        "queue:builds": {"Purge queue...", "Limits...", "Make messages fail...", "Add worker..."},
        "": {"Add consumer...", "Create topic...", "Create queue...", "Create group...", "Faults"},
        # Rows of the navigator.
        "bookmark:7": {"Zoom in"},
        "transaction:till": {"Zoom in"},
        "fault:indexer-1": {"Zoom in"},
    }
    for item_id, entries in wanted.items():
        hand.canvas.contextMenuRequested.emit(item_id, QPoint(10, 10))
        menus = [menu for menu in hand.workbench.window.findChildren(QMenu, "canvas_menu") if menu.isVisible()]
        assert entries <= {action.text() for action in menus[-1].actions()}, item_id
        menus[-1].close()
        hand.show()


def test_the_rate_of_the_producer_that_waits_is_set_from_the_panel(hand: Hand) -> None:
    hand.workbench.window.show_tab("backpressure")
    hand.show()
    panel = hand.workbench.window.tab(BackpressurePanel)
    hand.qtbot.mouseClick(panel.buttons["set_rate"], Qt.MouseButton.LeftButton)
    dialog = opened(hand, FormDialog)
    fill(hand, dialog, client="notifier", rate=5)
    assert dialog.note.text().endswith("Its target's limit still applies.")
    accept(hand, dialog)
    assert said(hand) == "Set notifier to 5 messages/s."


@pytest.mark.parametrize(
    ("selected", "name"), [("topic:mails", "mails-2"), ("queue:builds", "builds-2"), ("group:auditors", "auditors-2")]
)
def test_a_topic_a_queue_and_a_group_are_duplicated_with_their_settings(hand: Hand, selected: str, name: str) -> None:
    hand.workbench.views.select(selected)
    assert hand.workbench.registry.trigger("duplicate_place")
    hand.qtbot.waitUntil(
        lambda: any(dialog.isVisible() for dialog in hand.workbench.window.findChildren(FormDialog)), timeout=5_000
    )
    dialog = opened(hand, FormDialog)
    assert dialog.values() == {"name": name}
    accept(hand, dialog)
    snapshot = hand.workbench.controller.snapshot
    if selected.startswith("topic:"):
        made = next(topic for topic in snapshot.topics if topic.name == name)
        assert len(made.partitions) == 2
        assert made.gate is not None
        assert made.gate.limit == 40
    elif selected.startswith("queue:"):
        assert next(queue for queue in snapshot.queues if queue.name == name).max_attempts == 3
    else:
        assert next(group for group in snapshot.groups if group.name == name).state == "Empty"
