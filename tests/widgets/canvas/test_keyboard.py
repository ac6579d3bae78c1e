"""Everything that the mouse can do, the keyboard can do too."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.widgets.canvas.conftest import Hand, Heard
from tests.widgets.canvas.sample_views import first_view
from widgets.canvas.canvas import Canvas
from widgets.canvas.view import CanvasView
from widgets.theme import LIGHT


def focus_on(canvas: Canvas, item_id: str) -> None:
    canvas._focus_on(item_id)


def test_tab_goes_round_everything_and_then_leaves(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    before, canvas, after = QLineEdit(), Canvas(LIGHT), QLineEdit()
    box = QVBoxLayout(window)
    for widget in (before, canvas, after):
        box.addWidget(widget)
    canvas.set_view(first_view(), LIGHT)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    before.setFocus()
    qtbot.waitUntil(before.hasFocus)
    seen = []
    for _ in range(40):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        if not canvas.hasFocus():
            break
        seen.append(canvas.focused_id)
    assert seen == canvas._stage.layout.order
    assert len(seen) == len(set(seen)) == len(canvas._stage.layout.rects)
    assert after.hasFocus()
    qtbot.keyClick(after, Qt.Key.Key_Backtab)
    assert canvas.focused_id == seen[-1]


def test_the_focus_shows_a_ring_and_speaks(canvas: Canvas) -> None:
    focus_on(canvas, "consumer:indexer-2")
    assert canvas._focus_frame.isVisible()
    assert canvas.accessibleDescription() == "Consumer indexer-2, Running, 2 partitions, 12/s"
    focus_on(canvas, "group:indexers")
    assert "Group indexers, Stable, generation 7, 3 consumers, lag 233 rising" in canvas.accessibleDescription()


@pytest.mark.parametrize(
    ("start", "key", "end"),
    [
        ("producer:commit-feed", Qt.Key.Key_Right, "topic:commits"),
        ("topic:commits", Qt.Key.Key_Down, "topic:audit"),
        ("topic:audit", Qt.Key.Key_Up, "topic:commits"),
        ("consumer:indexer-1", Qt.Key.Key_Down, "consumer:indexer-2"),
        ("topic:audit", Qt.Key.Key_Left, "producer:audit-feed"),
        ("producer:commit-feed", Qt.Key.Key_Left, "producer:commit-feed"),
    ],
)
def test_arrows_go_to_what_lies_that_way(canvas: Canvas, qtbot: QtBot, start: str, key: Qt.Key, end: str) -> None:
    focus_on(canvas, start)
    qtbot.keyClick(canvas, key)
    assert canvas.focused_id == end


def test_every_box_can_be_reached_by_arrows(canvas: Canvas, qtbot: QtBot) -> None:
    reached, edge = {"producer:commit-feed"}, ["producer:commit-feed"]
    while edge:
        start = edge.pop()
        for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down):
            focus_on(canvas, start)
            qtbot.keyClick(canvas, key)
            if canvas.focused_id not in reached:
                reached.add(canvas.focused_id)
                edge.append(canvas.focused_id)
    consumers = {name for name in canvas._stage.layout.rects if name.startswith("consumer:")}
    assert consumers <= reached


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_M])
def test_enter_or_m_on_a_consumer_asks_to_move_it(canvas: Canvas, qtbot: QtBot, heard: Heard, key: Qt.Key) -> None:
    focus_on(canvas, "consumer:indexer-4")
    qtbot.keyClick(canvas, key)
    assert heard.reported == [("moveRequested", "indexer-4")]


def test_enter_on_a_box_selects_it(canvas: Canvas, qtbot: QtBot, heard: Heard) -> None:
    focus_on(canvas, "queue:builds")
    qtbot.keyClick(canvas, Qt.Key.Key_Return)
    assert heard.reported == [("selected", "queue:builds")]


def test_enter_after_a_click_moves_the_clicked_consumer(hand: Hand, qtbot: QtBot, heard: Heard, canvas: Canvas) -> None:
    hand.press("consumer:indexer-1")
    hand.release("consumer:indexer-1")
    assert not canvas._focus_frame.isVisible()
    qtbot.keyClick(canvas, Qt.Key.Key_M)
    assert heard.reported[-1] == ("moveRequested", "indexer-1")


def test_shift_f10_and_the_menu_key_ask_once_for_a_menu_at_the_focus(
    canvas: Canvas, qtbot: QtBot, heard: Heard, hand: Hand
) -> None:
    focus_on(canvas, "consumer:indexer-2")
    qtbot.keyClick(canvas, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    QApplication.sendEvent(canvas, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0)))
    asked = heard.only("contextMenuRequested")
    assert len(asked) == 1
    assert asked[0][1] == "consumer:indexer-2"
    assert asked[0][2] == canvas.viewport().mapToGlobal(hand.point("consumer:indexer-2"))


def test_a_right_click_asks_for_a_menu_at_the_pointer(canvas: Canvas, hand: Hand, heard: Heard) -> None:
    at = hand.point("consumer:indexer-2")
    everywhere = canvas.viewport().mapToGlobal(at)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, everywhere)
    QApplication.sendEvent(canvas.viewport(), event)
    assert heard.reported == [("contextMenuRequested", "consumer:indexer-2", everywhere)]


def overrides(canvas: Canvas, key: Qt.Key) -> bool:
    event = QKeyEvent(QKeyEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.NoModifier)
    event.ignore()
    QApplication.sendEvent(canvas, event)
    return event.isAccepted()


def test_the_windows_shortcuts_keep_the_arrows_until_the_ring_shows(canvas: Canvas) -> None:
    assert not overrides(canvas, Qt.Key.Key_Left)
    focus_on(canvas, "topic:commits")
    assert overrides(canvas, Qt.Key.Key_Left) and overrides(canvas, Qt.Key.Key_M)
    assert not overrides(canvas, Qt.Key.Key_Space) and not overrides(canvas, Qt.Key.Key_Home)


def test_the_focus_goes_when_its_box_goes(canvas: Canvas) -> None:
    focus_on(canvas, "consumer:indexer-4")
    canvas.set_view(CanvasView())
    assert canvas.focused_id == "" and not canvas._focus_frame.isVisible()


def test_keys_on_an_empty_canvas_do_nothing(qtbot: QtBot) -> None:
    canvas = Canvas(LIGHT)
    qtbot.addWidget(canvas)
    canvas.show()
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Return, Qt.Key.Key_M, Qt.Key.Key_Escape, Qt.Key.Key_Tab):
        qtbot.keyClick(canvas, key)
    assert canvas.focused_id == ""
