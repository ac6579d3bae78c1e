"""Ctrl+P finds whatever the session has, by keyboard alone, and shows it: canvas, inspector, panel."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt

from broker_core.clock import NS_PER_S
from broker_core.events import EventKind
from tests.app.conftest import Hand
from tests.app.sessions.test_travel_window import arrive
from widgets.palette import CommandPalette
from widgets.panels.messages import MessagesPanel


def palette_of(hand: Hand, text: str) -> CommandPalette:
    """The palette, opened by its key, with `text` typed and everything found."""
    window = hand.workbench.window
    window.activateWindow()
    hand.qtbot.waitUntil(window.isActiveWindow, timeout=5_000)
    hand.qtbot.keyClick(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    palette = window.findChild(CommandPalette)
    assert palette is not None and palette.isVisible()
    hand.qtbot.keyClicks(palette.field, text)
    return palette


def find(hand: Hand, text: str, title: str = "") -> None:
    """Type `text` into the palette and press Enter, as soon as `title` is the first that is found."""
    palette = palette_of(hand, text)

    def found() -> bool:
        shown = palette.shown()
        return bool(shown) and shown[0].title.startswith(title)

    hand.qtbot.waitUntil(found, timeout=10_000)
    hand.qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    hand.show()


def shown_when(hand: Hand, reached: Callable[[], bool]) -> None:
    """Answers are taken and drawn until `reached`."""

    def so_far() -> bool:
        hand.show()
        return reached()

    hand.qtbot.waitUntil(so_far, timeout=10_000)


def test_hot_keys_of_topics_come_before_the_scenario_of_that_name(hand: Hand) -> None:
    titles = [entry.title for entry in palette_of(hand, "hot key").shown()]
    assert titles[0] == "Hot keys of commits" and "Hot key" in titles


@pytest.mark.parametrize(
    ("text", "selected", "tab"),
    [
        ("commits/3", "lane:commits/3", "offsets"),
        ("commits", "topic:commits", "offsets"),
        ("indexers", "group:indexers", "assignments"),
        ("indexer-2", "consumer:indexer-2", "assignments"),
        ("builds", "queue:builds", "in_flight"),
    ],
)
def test_a_thing_is_framed_inspected_and_its_panel_in_front(hand: Hand, text: str, selected: str, tab: str) -> None:
    find(hand, text, text)
    workbench = hand.workbench
    assert workbench.views.selected == hand.canvas._selected_id == selected
    facts = workbench.window.parts.inspector.facts
    assert facts is not None and facts.name == selected.partition(":")[2]
    assert workbench.window.shown_tab() == tab
    assert workbench.window.focusWidget() is hand.canvas


def test_a_message_is_found_by_its_id_and_shown_in_its_panel_and_in_the_inspector(hand: Hand) -> None:
    find(hand, "commits/2/3", "commits/2 at 3")
    window, panel = hand.workbench.window, hand.workbench.window.tab(MessagesPanel)
    assert window.shown_tab() == "messages"
    shown_when(hand, lambda: panel.current_key() is not None)
    assert str(panel.current_key()) == "commits/2 at 3"
    facts = window.parts.inspector.facts
    assert facts is not None and facts.name == "commits/2 at 3"
    assert hand.canvas._selected_id == "lane:commits/2"


def test_a_message_of_a_queue_frames_the_queue(hand: Hand) -> None:
    find(hand, "builds/0/1", "builds/0 at 1")
    assert hand.workbench.views.selected == "message:builds/0/1"
    assert hand.canvas._selected_id == "queue:builds"


def test_a_key_lists_its_messages(hand: Hand) -> None:
    event = next(
        each
        for each in hand.workbench.controller.collectors.events.since(0)
        if each.kind is EventKind.PUBLISHED and each.key
    )
    assert event.key is not None
    find(hand, event.key.decode(), event.key.decode())
    panel = hand.workbench.window.tab(MessagesPanel)
    wanted = {event.key.decode()}
    shown_when(hand, lambda: {panel.model.index(row, 3).data() for row in range(panel.model.rowCount())} == wanted)
    assert panel.where().topic == event.topic and panel.where().partitions == (event.partition,)


def test_a_moment_and_an_event_are_found_live_and_in_the_past(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench(record=True)
    for _ in range(12):
        hand.pass_time(1)
    find(hand, "00:07", "00:07")
    arrive(hand)
    assert hand.workbench.controller.snapshot.time_ns == 7 * NS_PER_S
    # In the past, what was published later is not there yet.
    ends = {
        part.partition: part.end_offset
        for topic in hand.workbench.controller.snapshot.topics
        if topic.name == "commits"
        for part in topic.partitions
    }
    palette = palette_of(hand, f"commits/0/{ends[0]}")
    assert not [each for each in palette.shown() if each.id.startswith("browse:")]
    palette.field.setText(f"commits/0/{ends[0] - 1}")
    assert palette.shown()[0].id == f"browse:commits/0/{ends[0] - 1}"
    palette.close()
    find(hand, "#17", "#17")
    assert hand.workbench.views.selected == "event:17"
