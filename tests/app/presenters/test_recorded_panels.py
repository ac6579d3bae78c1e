"""A recorded session, opened later: events, lives and hot keys come from the recording; what it lacks is said."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.presenters.segments import LogOnDiskPanel
from broker_core.clock import NS_PER_S
from broker_core.events import EventKind
from broker_core.simulation.actions.groups import MoveConsumer
from tests.long_form import some
from widgets.panels.events import EventsPanel


@pytest.fixture
def stored(open_workbench):
    hand = open_workbench(record=True)
    hand.pass_time(10)
    hand.workbench.controller.perform(MoveConsumer("indexer-4", "indexers"))
    hand.pass_time(20)
    controller = hand.workbench.controller
    hand.events = list(controller.collectors.events.since(0))
    folder = controller.source.folder
    controller.stop()
    controller.open_session(folder, 20 * NS_PER_S)
    return hand


def wait(hand, done):
    def look():
        QApplication.processEvents()
        hand.workbench.draw()
        assert done()

    hand.qtbot.waitUntil(look, timeout=60_000)


def test_events_come_from_the_recording_up_to_the_moment_shown(stored):
    window, controller = stored.workbench.window, stored.workbench.controller
    wait(stored, lambda: controller.snapshot.time_ns == 20 * NS_PER_S)
    window.show_tab("events")
    panel = window.tab(EventsPanel)
    until = [event for event in stored.events if event.time_ns <= 20 * NS_PER_S]
    wait(stored, lambda: panel.model.rowCount() == len(until))
    last = panel.model.rowCount() - 1
    wait(stored, lambda: panel.model.index(last, 0).data() == f"{until[-1].seq:,}")
    panel.choose("mine")
    wait(stored, lambda: panel.model.rowCount() == 1)
    assert panel.model.index(0, 8).data() == "moved indexer-4 to indexers"
    controller.travel.to(5 * NS_PER_S)
    wait(stored, lambda: panel.model.rowCount() == 0)


def test_a_life_comes_from_the_recording_and_what_is_later_is_marked(stored):
    window, controller = stored.workbench.window, stored.workbench.controller
    died = next(event for event in stored.events if event.kind is EventKind.DEAD_LETTERED)
    controller.travel.to(died.time_ns - 1)
    wait(stored, lambda: controller.snapshot.time_ns == died.time_ns - 1)
    stored.workbench.views.select(f"message:{died.topic}/{died.partition}/{died.offset}")
    inspector = window.parts.inspector
    wait(stored, lambda: inspector.facts is not None and len(inspector.facts.steps) > 3)
    steps = inspector.facts.steps
    assert [step.later for step in steps] == [step.time_ns > died.time_ns - 1 for step in steps]
    assert steps[-1].later
    assert inspector.facts.state != "Dead-lettered"
    wait(stored, lambda: "A recording contains the events" in inspector.facts.note)


def test_messages_and_the_log_say_that_a_recording_does_not_keep_them(stored):
    window = stored.workbench.window
    for tab in ("messages", "log_on_disk"):
        window.show_tab(tab)
        panel = window.panel(tab)
        wait(stored, lambda panel=panel: "A recording contains the events" in panel.empty_state.text())
        assert panel.model.rowCount() == 0


@pytest.mark.parametrize("tab", some(["messages", "log_on_disk"], {"messages"}))
def test_what_a_recording_lacks_is_one_click_away(stored, tab):
    controller, window = stored.workbench.controller, stored.workbench.window
    wait(stored, lambda: controller.snapshot.time_ns == 20 * NS_PER_S)
    window.show_tab(tab)
    panel = window.panel(tab)
    wait(stored, lambda: not panel.empty_state.offer.isHidden())
    assert "reruns the same inputs up to the moment shown" in panel.empty_state.text()
    stored.qtbot.mouseClick(panel.empty_state.offer, Qt.MouseButton.LeftButton)
    assert controller.stored is None and controller.branching.origin
    wait(stored, lambda: controller.source.end_ns >= 20 * NS_PER_S and panel.model.rowCount() > 0)
    assert panel.empty_state.offer.isHidden()


def test_where_a_recording_cannot_be_run_again_the_reason_stands_there(stored):
    controller, window = stored.workbench.controller, stored.workbench.window
    folder = controller.source.folder
    (folder / "scenario.yaml").write_text("nonsense")
    controller.open_session(folder, 20 * NS_PER_S)
    for tab in ("messages", "log_on_disk"):
        window.show_tab(tab)
        panel = window.panel(tab)
        wait(stored, lambda panel=panel: "scenario cannot be run again" in panel.empty_state.text())
        assert panel.empty_state.offer.isHidden()


def test_the_log_on_disk_never_shows_the_present_in_the_past(open_workbench):
    hand = open_workbench(record=True)
    hand.pass_time(10)
    controller, window = hand.workbench.controller, hand.workbench.window
    window.show_tab("log_on_disk")
    panel = window.tab(LogOnDiskPanel)
    wait(hand, lambda: panel.model.rowCount() > 0)
    controller.travel.to(5 * NS_PER_S)
    wait(hand, lambda: controller.snapshot.time_ns == 5 * NS_PER_S)
    wait(hand, lambda: panel.model.rowCount() == 0)
    assert "not available" in panel.empty_state.text() and not panel.summary.text() and not panel.note.text()
    hand.qtbot.mouseClick(panel.empty_state.offer, Qt.MouseButton.LeftButton)
    wait(hand, lambda: controller.live and panel.model.rowCount() > 0)
    assert panel.summary.text() and panel.empty_state.offer.isHidden()
