"""The workbench as a user works with it: real mouse and key events on the real window, a real broker behind it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QMessageBox

from app.commands.clients import ConsumerHandlers
from app.commands.dead_letters import DeadLetterHandlers
from app.commands.scenarios import scenario_commands
from app.sessions.event_text import event_line
from app.shell.workbench import Workbench
from broker_core.clock import NS_PER_MS
from broker_core.engine.runner import Mode
from broker_core.events import Event, EventKind
from broker_core.simulation.scenario import load_scenario
from tests.app.conftest import Hand
from tests.app.one_window import end
from tests.long_form import TELLING, some
from widgets.dialogs.move_to_group import MoveToGroupDialog
from widgets.hint_bar import Notice
from widgets.panel_tabs import GAP
from widgets.panels.assignments import AssignmentsPanel
from widgets.panels.charts import ChartsPanel
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.theme import current_theme


def events(hand: Hand) -> list[Event]:
    """Everything that happens from now on."""
    seen: list[Event] = []
    simulation = hand.simulated.session.simulation
    simulation.events.attach(seen.append)
    return seen


def test_a_consumer_is_dragged_from_the_bench_into_a_group(hand: Hand) -> None:
    seen = events(hand)
    before = hand.generation("indexers")
    hand.drag("indexer-4", hand.place("group:indexers"))
    hand.pass_time(5)
    assert hand.members("indexers") == {"indexer-1": 2, "indexer-2": 2, "indexer-3": 1, "indexer-4": 1}
    assert hand.generation("indexers") == before + 1
    kinds = [event.kind for event in seen if event.group == "indexers" and event.detail is not None]
    revoked, assigned = kinds.index(EventKind.PARTITIONS_REVOKED), kinds.index(EventKind.PARTITIONS_ASSIGNED)
    assert revoked < assigned
    action = next(event for event in seen if event.kind is EventKind.USER_ACTION)
    assert action.detail == {"action": "move_consumer", "consumer": "indexer-4", "group": "indexers"}


def test_the_rebalance_leaves_a_card_with_its_cause_and_what_moved(hand: Hand) -> None:
    hand.drag("indexer-4", hand.place("group:indexers"))
    hand.pass_time(5)
    card = hand.workbench.controller.snapshot.rebalances[-1]
    assert card.cause == "indexer-4 joined"
    assert card.generation_after == card.generation_before + 1
    assert len(card.moved) + len(card.kept) == 6
    shown = hand.workbench.window.parts.rebalances.cards[0]
    assert "indexer-4 joined" in [label.text() for label in shown.findChildren(QLabel)]


def test_a_consumer_is_dragged_out_to_the_bench_and_others_take_over(hand: Hand) -> None:
    hand.drag("indexer-2", hand.place("bench"))
    hand.pass_time(5)
    assert hand.members("indexers") == {"indexer-1": 3, "indexer-3": 3}
    actor = next(one for one in hand.workbench.controller.snapshot.actors if one.name == "indexer-2")
    assert (actor.state, actor.target) == ("idle", "")
    assert hand.place("consumer:indexer-2")


def test_a_consumer_is_dragged_into_another_group_and_both_rebalance(hand: Hand) -> None:
    before = hand.generation("indexers"), hand.generation("auditors")
    hand.drag("indexer-3", hand.place("group:auditors"))
    hand.pass_time(5)
    assert hand.members("indexers") == {"indexer-1": 3, "indexer-2": 3}
    assert hand.members("auditors") == {"auditor-1": 2, "auditor-2": 2, "indexer-3": 2}
    assert (hand.generation("indexers"), hand.generation("auditors")) == (before[0] + 1, before[1] + 1)


def test_reading_stops_while_the_group_rebalances_and_nothing_is_lost(hand: Hand) -> None:
    seen = events(hand)
    hand.drag("indexer-4", hand.place("group:indexers"))
    hand.pass_time(20)
    started = next(e for e in seen if e.kind is EventKind.REBALANCE_STARTED)
    completed = next(e for e in seen if e.kind is EventKind.REBALANCE_COMPLETED)
    rejoined = {e.client for e in seen if e.kind is EventKind.PARTITIONS_ASSIGNED}
    assert rejoined == {"indexer-1", "indexer-2", "indexer-3", "indexer-4"}
    assert completed.time_ns > started.time_ns
    group = next(one for one in hand.workbench.controller.snapshot.groups if one.name == "indexers")
    assert group.state == "Stable"
    offsets: dict[int | None, int] = {}
    for event in seen:
        if event.kind is EventKind.DELIVERED and event.group == "indexers" and event.attempt == 1:
            assert event.offset is not None
            assert event.offset == offsets.get(event.partition, event.offset), "a message was skipped"
            offsets[event.partition] = event.offset + event.count


def test_a_drop_on_an_empty_spot_asks_for_a_name_and_makes_a_group(hand: Hand) -> None:
    hand.drag("indexer-4", QPoint(8, hand.canvas.viewport().height() - 8))
    dialog = hand.workbench.window.findChild(MoveToGroupDialog)
    assert dialog is not None
    assert dialog.name.text() == "group-2" and dialog.name.hasSelectedText()
    hand.qtbot.keyClicks(dialog.name, "explorers")
    ends = ends_of(hand, "commits")
    hand.qtbot.keyClick(dialog.start, Qt.Key.Key_Down)
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    hand.show()
    assert hand.workbench.window.status.last_action.whole == "Moved indexer-4 to explorers to read from the end."
    hand.pass_time(5)
    assert hand.members("explorers") == {"indexer-4": 6}
    # Only what was published since.
    first: dict[int | None, int] = {}
    for event in hand.workbench.controller.collectors.events.since(0):
        if event.kind is EventKind.DELIVERED and event.group == "explorers" and event.offset is not None:
            first.setdefault(event.partition, event.offset)
    assert first and all(offset == ends[partition] for partition, offset in first.items())


def ends_of(hand: Hand, topic: str) -> dict[int | None, int]:
    """The next offset of each partition."""
    found = next(one for one in hand.workbench.controller.snapshot.topics if one.name == topic)
    return {part.partition: part.end_offset for part in found.partitions}


def test_moving_by_keyboard_asks_the_same_and_shows_the_ghost(hand: Hand) -> None:
    canvas = hand.canvas
    canvas.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(60):
        if canvas.focused_id == "consumer:indexer-1":
            break
        hand.qtbot.keyClick(canvas, Qt.Key.Key_Tab)
    assert canvas.focused_id == "consumer:indexer-1"
    hand.qtbot.keyClick(canvas, Qt.Key.Key_M)
    dialog = hand.workbench.window.findChild(MoveToGroupDialog)
    assert dialog is not None
    dialog.choose("auditors")
    QApplication.processEvents()
    shown = [label.text() for label in dialog.findChildren(QLabel)]
    assert "indexer-1 to auditors" in shown
    assert any(text.endswith("stay.") and "partitions move" in text for text in shown)
    hand.qtbot.keyClick(dialog.accept_button, Qt.Key.Key_Return)
    hand.pass_time(5)
    assert hand.members("auditors") == {"auditor-1": 2, "auditor-2": 2, "indexer-1": 2}


def test_the_bench_command_says_why_it_is_disabled(hand: Hand) -> None:
    registry = hand.workbench.registry
    assert registry.reason("bench_consumer") == "Select a consumer on the canvas first."
    hand.qtbot.mouseClick(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=hand.place("consumer:indexer-4"))
    assert registry.reason("bench_consumer") == "indexer-4 is already on the bench."
    hand.qtbot.mouseClick(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=hand.place("consumer:indexer-1"))
    assert registry.trigger("bench_consumer")
    hand.pass_time(5)
    assert "indexer-1" not in hand.members("indexers")


def test_dead_letters_are_selected_and_redriven_by_clicks_and_consumed(hand: Hand) -> None:
    hand.pass_time(50)
    window = hand.workbench.window
    window.show_tab("dead_letters")
    hand.show()
    panel = window.tab(DeadLettersPanel)
    before = hand.workbench.controller.snapshot
    dead = before.queues[0].dead
    assert dead >= 3
    view = panel.table
    shown = next(column for column in range(view.model().columnCount()) if not view.isColumnHidden(column))
    for row in (0, 1):
        at = view.visualRect(view.model().index(row, shown)).center()
        modifier = Qt.KeyboardModifier.ControlModifier if row else Qt.KeyboardModifier.NoModifier
        hand.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, modifier, at)
    keys: list[Any] = panel.selected_keys()
    chosen = {offset for _queue, offset in keys}
    assert len(chosen) == 2
    seen = events(hand)
    hand.qtbot.mouseClick(panel.buttons["redrive_selected"], Qt.MouseButton.LeftButton)
    hand.show()
    after = hand.workbench.controller.snapshot
    assert after.queues[0].dead == dead - 2
    assert after.totals.redriven == 2
    redriven = [event for event in seen if event.kind is EventKind.REDRIVEN]
    assert {event.offset for event in redriven} == chosen
    copies = {event.to_offset for event in redriven}
    hand.pass_time(20)
    assert copies <= {event.offset for event in seen if event.kind is EventKind.DELIVERED and event.group == "builds"}


def test_time_runs_pauses_steps_and_keeps_to_its_keys(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("static-members")
    hand.pass_time(10)
    window, controller = hand.workbench.window, hand.workbench.controller
    hand.workbench.frames.start()
    hand.qtbot.keyClick(window, Qt.Key.Key_F5)
    hand.qtbot.waitUntil(lambda: controller.snapshot.time_ns > 10_200 * NS_PER_MS, timeout=10_000)
    hand.qtbot.keyClick(window, Qt.Key.Key_Space)
    hand.qtbot.waitUntil(lambda: not controller.time.moving, timeout=5_000)
    stopped = controller.snapshot.events
    hand.qtbot.keyClick(window, Qt.Key.Key_F4)
    hand.qtbot.waitUntil(lambda: controller.snapshot.events > stopped, timeout=5_000)
    hand.pass_time(70)
    hand.qtbot.keyClick(window, Qt.Key.Key_F7)
    hand.qtbot.waitUntil(lambda: controller.source.status.mode is Mode.FINISHED, timeout=30_000)
    assert hand.workbench.registry.reason("run").startswith("The session has ended.")


def test_a_restart_with_the_same_seed_gives_the_same_session(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench()
    hand.pass_time(30)
    first = hand.workbench.controller.snapshot.totals
    hand.workbench.registry.trigger("restart")
    hand.workbench.controller.time.pause()
    hand.show()
    assert hand.workbench.controller.snapshot.time_ns < 30_000 * NS_PER_MS
    controller = hand.workbench.controller
    controller.time.run_until(30_000 * NS_PER_MS)
    assert controller.snapshot.totals == first


def test_stopping_seals_the_recording_and_keeps_the_actions(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench(record=True)
    hand.pass_time(5)
    folder = hand.workbench.controller.source.folder
    assert folder is not None
    assert hand.workbench.registry.reason("export_report").startswith("Stop the session first")
    hand.workbench.family(ConsumerHandlers).move("indexer-4", "indexers")
    hand.pass_time(5)
    hand.qtbot.keyClick(hand.workbench.window, Qt.Key.Key_F8)
    hand.workbench.draw()
    metadata = json.loads((folder / "session.json").read_text())
    assert metadata["ended"] == "stopped"
    action = json.loads((folder / "actions.jsonl").read_text())
    moved = {"action": "move_consumer", "consumer": "indexer-4", "group": "indexers"}
    assert action["action"].items() >= moved.items()
    assert hand.workbench.registry.reason("export_report") == ""
    for command in ("run", "fast", "express", "step"):
        assert hand.workbench.registry.reason(command).startswith("The session has ended."), command
    hand.workbench.family(ConsumerHandlers).move("indexer-4", "")
    assert "has ended" in hand.workbench.window.status.last_action.whole


@pytest.mark.parametrize("telling", some((True, False), {"True"}))
def test_every_shipped_scenario_opens_from_the_menu_and_runs(
    open_workbench: Callable[..., Hand], telling: bool
) -> None:
    hand = open_workbench()
    controller = hand.workbench.controller
    commands = scenario_commands()
    assert len(commands) >= 12
    for command, path in commands.values():
        if (path.stem in TELLING) is not telling:
            continue
        hand.workbench.registry.trigger(command.id)
        controller.time.pause()
        hand.pass_time(5)
        assert hand.workbench.window.windowTitle().startswith(command.title)
        assert command.hint == " ".join(load_scenario(path)[0].about.split())
        assert controller.snapshot.events > 0
        assert controller.source.status.error == ""


def test_a_bad_scenario_is_told_and_the_session_goes_on(hand: Hand, tmp_path_factory: pytest.TempPathFactory) -> None:
    bad = tmp_path_factory.mktemp("bad") / "bad.yaml"
    bad.write_text("title: Bad\nabuot: x\n")
    title = hand.workbench.window.windowTitle()
    hand.workbench.context.open_scenario(bad)
    box = hand.workbench.window.findChild(QMessageBox)
    assert box is not None
    assert "bad.yaml, line 2" in box.text()
    assert box.textFormat() is Qt.TextFormat.PlainText
    assert hand.workbench.window.windowTitle() == title
    hand.pass_time(1)


def test_the_theme_changes_while_it_runs(hand: Hand) -> None:
    for _ in range(3):
        hand.workbench.registry.trigger("theme")
        hand.show()
    assert not hand.workbench.window.grab().isNull()


def test_the_context_menu_moves_a_consumer_and_says_why_it_cannot(hand: Hand) -> None:
    hand.canvas.contextMenuRequested.emit("consumer:indexer-2", QPoint(10, 10))
    menu = hand.workbench.window.findChild(QMenu, "canvas_menu")
    assert menu is not None
    entries = {action.text(): action for action in menu.actions() if action.text()}
    assert not entries["Move to indexers"].isEnabled()
    assert entries["Move to indexers"].toolTip() == "indexer-2 is already in this group."
    entries["Move to the bench"].trigger()
    menu.close()
    hand.pass_time(5)
    assert "indexer-2" not in hand.members("indexers")


def test_a_second_redrive_of_the_same_letters_does_nothing_and_says_so(hand: Hand) -> None:
    hand.pass_time(50)
    queue = hand.workbench.controller.snapshot.queues[0]
    keys = [(queue.name, letter.offset) for letter in queue.dead_letters]
    seen = events(hand)
    hand.workbench.family(DeadLetterHandlers).redrive(keys)
    hand.workbench.family(DeadLetterHandlers).redrive(keys)
    hand.show()
    box = hand.workbench.window.findChild(QMessageBox)
    assert box is not None
    assert f"all {len(keys)} are already redriven or purged" in box.text()
    assert len([event for event in seen if event.kind is EventKind.USER_ACTION]) == 1
    assert hand.workbench.controller.snapshot.totals.redriven == len(keys)


def test_a_scenario_that_comes_to_its_end_is_sealed_and_can_be_reported(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("static-members", record=True)
    hand.pass_time(80)
    hand.workbench.frames.start()
    hand.workbench.controller.time.express()
    hand.qtbot.waitUntil(lambda: hand.workbench.controller.time.stopped, timeout=60_000)
    hand.workbench.draw()
    folder = hand.workbench.controller.source.folder
    assert folder is not None
    assert json.loads((folder / "session.json").read_text())["ended"] == "finished"
    assert hand.workbench.registry.reason("export_report") == ""
    assert hand.workbench.window.toolbar.badge.text() == "FINISHED"
    assert f"Ctrl+E makes a report of its recording {folder.name}." in hand.workbench.window.status.last_action.whole


def test_the_badge_says_paused_and_a_step_says_what_happened(hand: Hand) -> None:
    assert hand.workbench.window.toolbar.badge.text() == "LIVE, PAUSED"
    seen = events(hand)
    hand.workbench.registry.trigger("step")
    hand.qtbot.waitUntil(lambda: "Stepped to" in hand.workbench.window.status.last_action.whole, timeout=5_000)
    assert event_line(seen[-1]) in hand.workbench.window.status.last_action.whole


def test_the_theme_is_remembered(qapp: QApplication, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    first = Workbench(qapp, record=False, settings=settings)
    first.appearance.choose_theme("light")
    first.appearance.toggle_theme()
    second = Workbench(qapp, record=False, settings=settings)
    assert current_theme().name == "dark"
    end(first, second)


def test_an_empty_broker_that_runs_is_not_told_to_run(open_workbench: Callable[..., Hand], tmp_path: Path) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text("title: Empty\nabout: Nothing.\nseed: 1\nuntil_s: 60\n", encoding="utf-8")
    hand = open_workbench()
    hand.workbench.controller.open(path)
    hand.pass_time(1)
    assert hand.canvas.view.is_empty
    assert "create a topic" in hand.canvas.view.notice
    window = hand.workbench.window
    for panel in (window.tab(AssignmentsPanel), window.tab(ChartsPanel)):
        assert "F5" not in " ".join(label.text() for label in panel.empty_state.findChildren(QLabel))


def test_a_title_cannot_turn_what_stands_beside_it(open_workbench: Callable[..., Hand], tmp_path: Path) -> None:
    path = tmp_path / "turned.yaml"
    path.write_text('title: "Safe \\u202Edetsurt \\u2066x"\nabout: A.\nseed: 1\nuntil_s: 60\n', encoding="utf-8")
    hand = open_workbench()
    hand.workbench.controller.open(path)
    window = hand.workbench.window
    window.hint.show_notice(Notice("Opened \u202eit."))
    bar, said = window.toolbar.scenario, window.status.last_action
    shown = [window.windowTitle(), bar.whole, bar.toolTip(), bar.accessibleName(), said.whole, said.toolTip()]
    shown += [label.text() for label in window.findChildren(QLabel)]
    assert "\\u202edetsurt" in window.windowTitle()
    assert not [text for text in shown if "\u202e" in text or "\u2066" in text]


def test_a_panel_whose_tab_was_spared_is_named_in_the_row_while_it_is_open(hand: Hand, qtbot) -> None:
    window = hand.workbench.window
    tabs = window.tabs
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: window.width() == 1280 and not tabs.tab("brokers").isVisible())
    places = {name: tabs.tab(name).geometry() for name in tabs.panels if tabs.tab(name).isVisible()}
    assert "report" in places and not tabs.more.isVisible()
    assert tabs.spared.isVisible() and tabs.place("access") is tabs.spared
    tabs.spared.menu().aboutToShow.emit()
    entries = {action.text(): action for action in tabs.spared.menu().actions() if not action.isSeparator()}
    assert list(entries) == ["Brokers", "Access"] and tabs.spared.text() == "2 more"
    last = tabs.tab("jobs").geometry()
    assert tabs.spared.geometry().bottom() <= last.top() and tabs.spared.geometry().right() <= last.right() + GAP
    entries["Access"].trigger()
    assert window.shown_tab() == "access"
    window.show_tab("brokers")
    assert tabs.tab("brokers").isVisible() or (tabs.more.isVisible() and tabs.more.text() == "Brokers")
    window.show_tab("events")
    assert not tabs.tab("brokers").isVisible() and tabs.more.text() != "Brokers"
