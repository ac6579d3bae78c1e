"""Going back by key, click and drag: what the window shows, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QTreeView

from app.commands.timeline import TimelineHandlers
from app.presenters.assignments import AssignmentsPresenter
from app.presenters.charts import ChartsPresenter
from app.sessions.bookmarks import Bookmark, Bookmarks
from app.sessions.history.series import of_actor
from broker_core.clock import NS_PER_S
from broker_core.simulation.actions.groups import MoveConsumer
from tests.app.conftest import Hand
from tests.app.sessions.open_dialog import open_dialog
from widgets.bookmark_field import BookmarkField
from widgets.dialogs.form import FormDialog
from widgets.formats import time_of
from widgets.palette import CommandPalette
from widgets.panels.assignments import AssignmentsPanel

pytestmark = pytest.mark.usefixtures("keyframe_each_second")

Key, Mod = Qt.Key, Qt.KeyboardModifier


@pytest.fixture
def hand(open_workbench: Callable[..., Hand]) -> Hand:
    """First session at 00:20, recorded."""
    hand = open_workbench(record=True)
    for second in range(1, 20):
        hand.workbench.controller.time.run_until(second * NS_PER_S)
    hand.pass_time(1)
    return hand


def arrive(hand: Hand) -> None:
    hand.qtbot.waitUntil(lambda: not hand.workbench.controller.travel.busy, timeout=10_000)
    for _ in range(2):
        QApplication.processEvents()
        hand.workbench.draw()


def press(hand: Hand, key: Qt.Key, modifier: Qt.KeyboardModifier = Mod.NoModifier) -> None:
    hand.qtbot.keyClick(hand.workbench.window.timeline, key, modifier)
    arrive(hand)


def shown_s(hand: Hand) -> float:
    return hand.workbench.controller.snapshot.time_ns / NS_PER_S


def test_keys_go_back_and_forth_and_live_again(hand: Hand) -> None:
    for key, modifier, expected in (
        (Key.Key_Left, Mod.NoModifier, 19),
        (Key.Key_Left, Mod.ShiftModifier, 9),
        (Key.Key_Right, Mod.NoModifier, 10),
        (Key.Key_Home, Mod.NoModifier, 0),
        (Key.Key_Right, Mod.ShiftModifier, 10),
    ):
        press(hand, key, modifier)
        assert shown_s(hand) == expected
        assert not hand.workbench.controller.live
    badge = hand.workbench.window.toolbar.badge
    assert (badge.text(), badge.property("mode")) == ("REPLAY 00:10", "replay")
    assert hand.workbench.window.tint.isVisible()
    assert hand.workbench.window.toolbar.clock.text() == "00:10.000"
    press(hand, Key.Key_Right, Mod.AltModifier)
    assert hand.workbench.controller.live and shown_s(hand) == 20
    assert badge.text() == "LIVE, PAUSED"
    assert not hand.workbench.window.tint.isVisible()
    press(hand, Key.Key_Left)
    press(hand, Key.Key_Right)
    assert hand.workbench.controller.live


def test_keys_step_from_event_to_event_and_say_which(hand: Hand) -> None:
    events = hand.workbench.controller.snapshot.events
    press(hand, Key.Key_Left, Mod.ControlModifier)
    press(hand, Key.Key_Left, Mod.ControlModifier)
    assert hand.workbench.controller.snapshot.events == events - 2
    assert f"#{events - 3:,} " in hand.workbench.window.status.last_action.whole
    press(hand, Key.Key_Right, Mod.ControlModifier)
    assert hand.workbench.controller.snapshot.events == events - 1


def test_a_click_on_the_timeline_shows_that_moment_in_panels_and_canvas(hand: Hand) -> None:
    window = hand.workbench.window
    hand.workbench.controller.perform(MoveConsumer("indexer-4", "indexers"))
    for _ in range(5):
        hand.pass_time(1)
    assert "indexer-4" in hand.members("indexers")
    x = round(window.timeline.shape.x_of(12 * NS_PER_S))
    hand.qtbot.mouseClick(window.timeline, Qt.MouseButton.LeftButton, pos=QPoint(x, 20))
    arrive(hand)
    assert abs(shown_s(hand) - 12) < 0.1
    assert "indexer-4" not in hand.members("indexers")
    window.show_tab("assignments")
    table = hand.workbench.views.presenter(AssignmentsPresenter).model
    owners = {table.index(row, 3).data() for row in range(table.rowCount())}
    assert "indexer-4" not in owners and "indexer-3" in owners
    assert hand.workbench.window.timeline.facts.head_ns == hand.workbench.controller.snapshot.time_ns
    assert hand.workbench.window.timeline.facts.now_ns == 25 * NS_PER_S
    assert hand.workbench.canvas.view.groups
    assert not any(group.name == "indexers" and len(group.members) > 3 for group in hand.workbench.canvas.view.groups)


def test_nothing_can_be_changed_in_the_past_and_the_reason_is_said(hand: Hand) -> None:
    press(hand, Key.Key_Left)
    workbench = hand.workbench
    assert "This is the past" in workbench.controller.why_not()
    assert "This is the past" in workbench.registry.reason("move_consumer")
    generation = hand.generation("indexers")
    workbench.controller.perform(MoveConsumer("indexer-4", "indexers"))
    assert "This is the past" in workbench.window.status.last_action.whole
    press(hand, Key.Key_Right, Mod.AltModifier)
    hand.pass_time(3)
    assert hand.generation("indexers") == generation


def test_the_past_of_a_paused_session_is_not_said_to_go_on(hand: Hand) -> None:
    status = hand.workbench.window.status.last_action
    press(hand, Key.Key_Left)
    assert "the session is paused" in status.whole
    hand.workbench.registry.trigger("follow_live")
    hand.workbench.controller.time.run()
    hand.show()
    press(hand, Key.Key_Left)
    assert "the session continues in the background" in status.whole


def test_rates_are_those_of_the_moment(hand: Hand) -> None:
    press(hand, Key.Key_Left, Mod.ShiftModifier)
    assert hand.workbench.window.status.labels["rate"].text() not in {"", "0 messages/s"}
    hand.workbench.window.show_tab("charts")
    hand.workbench.draw()
    past = hand.workbench.controller.snapshot
    views = hand.workbench.views
    rates = {(row.kind, row.name): row.per_s for row in views.presenter(ChartsPresenter).model.rows}
    assert rates["topic", "commits"] > 0
    assert {name: per_s for (kind, name), per_s in rates.items() if kind != "topic"} == {
        actor.name: views.sources.series.rate(of_actor(actor), past.time_ns) for actor in past.actors
    }, "as their cards say"
    assert rates["producer", "forge"] > 0


def test_the_past_plays_by_the_keys_that_run_the_session(hand: Hand) -> None:
    press(hand, Key.Key_Left, Mod.ShiftModifier)
    assert hand.workbench.registry.reason("express") == "The past can be played no faster than fast (F6)."
    press(hand, Key.Key_F6)
    hand.workbench.draw()
    assert hand.workbench.registry.action("fast").isChecked()
    hand.qtbot.waitUntil(lambda: not hand.workbench.controller.time.moving, timeout=10_000)
    arrive(hand)
    assert shown_s(hand) == 20 and not hand.workbench.controller.live


def test_a_bookmark_is_kept_drawn_and_found_by_name(hand: Hand) -> None:
    press(hand, Key.Key_Left, Mod.ShiftModifier)
    press(hand, Key.Key_K, Mod.ControlModifier)
    # It is there at once, and its name is typed over where it stands.
    assert [mark.name for mark in bookmarks_of(hand)] == ["Bookmark 1"]
    field = name_field(hand)
    assert field.isVisible() and field.selectedText() == "Bookmark 1"
    hand.qtbot.keyClicks(field, "<b>odd</b>")
    hand.qtbot.keyClick(field, Key.Key_Return)
    assert not field.isVisible()
    arrive(hand)
    assert [tick.label for tick in hand.workbench.window.timeline.facts.ticks if tick.kind == "bookmark"] == [
        "<b>odd</b>"
    ]
    hand.workbench.registry.trigger("follow_live")
    hand.workbench.registry.trigger("go_to")
    dialog = open_dialog(hand.workbench.window, FormDialog)
    line = dialog.widgets["moment"]
    hand.qtbot.keyClicks(line, "<B>Odd</b>")
    hand.qtbot.keyClick(line, Key.Key_Return)
    arrive(hand)
    assert shown_s(hand) == 10
    hand.workbench.registry.trigger("follow_live")
    hand.show()
    navigator = hand.workbench.window.parts.navigator
    navigator.chosen.emit(f"bookmark:{10 * NS_PER_S}")
    arrive(hand)
    assert shown_s(hand) == 10
    hand.workbench.registry.trigger("follow_live")
    hand.show()
    hand.workbench.registry.trigger("palette")
    palette = hand.workbench.window.findChild(CommandPalette)
    assert palette is not None
    hand.qtbot.keyClicks(palette.field, "odd")
    first = palette.shown()[0]
    assert (first.title, first.category) == ("<b>odd</b>", "Bookmark, 00:10.000")
    assert palette.reason.text() == "Enter goes to this moment, Escape closes."
    hand.qtbot.keyClick(palette.field, Key.Key_Return)
    arrive(hand)
    assert hand.workbench.controller.snapshot.time_ns == 10 * NS_PER_S
    assert [mark.name for mark in bookmarks_of(hand)] == ["<b>odd</b>"]


def bookmarks_of(hand: Hand) -> tuple[Bookmark, ...]:
    folder = hand.workbench.controller.source.folder
    assert folder is not None
    return Bookmarks(folder).all()


def name_field(hand: Hand) -> BookmarkField:
    field = hand.workbench.window.timeline.findChild(BookmarkField)
    assert field is not None
    return field


def test_a_bookmark_is_renamed_by_the_same_key_kept_by_escape_and_removed_by_an_empty_name(hand: Hand) -> None:
    press(hand, Key.Key_Left, Mod.ShiftModifier)
    field = name_field(hand)
    for typed, end, names in (
        ("first", Key.Key_Escape, ["Bookmark 1"]),
        ("second", Key.Key_Return, ["second"]),
        ("", Key.Key_Return, []),
    ):
        press(hand, Key.Key_K, Mod.ControlModifier)
        assert field.isVisible()
        hand.qtbot.keyClick(field, Key.Key_Delete)
        hand.qtbot.keyClicks(field, typed)
        hand.qtbot.keyClick(field, end)
        assert [mark.name for mark in bookmarks_of(hand)] == names
    # Who goes elsewhere is done; another session has nothing to do with it.
    press(hand, Key.Key_K, Mod.ControlModifier)
    hand.qtbot.keyClicks(field, "third")
    hand.canvas.setFocus()
    assert [mark.name for mark in bookmarks_of(hand)] == ["third"]
    press(hand, Key.Key_K, Mod.ControlModifier)
    hand.qtbot.keyClicks(field, "of the session before")
    hand.workbench.controller.restart()
    hand.show()
    assert not field.isVisible() and bookmarks_of(hand) == ()


def test_go_to_refuses_what_is_no_moment(hand: Hand) -> None:
    press(hand, Key.Key_J, Mod.ControlModifier)
    dialog = open_dialog(hand.workbench.window, FormDialog)
    line = dialog.widgets["moment"]
    assert isinstance(line, QLineEdit)
    hand.qtbot.keyClicks(line, "now")
    for text, why in (("soon", "neither a time"), ("00:42", "has reached 00:20.000"), ("00:12.5", "")):
        line.setText(text)
        assert why in dialog.problem.text() and dialog.accept_button.isEnabled() == (not why)
    dialog.reject()


@pytest.mark.parametrize(
    ("text", "seconds"), [("42", 42), ("00:42", 42), ("1:02:03.5", 3723.5), ("-1", None), ("4e9", None), ("", None)]
)
def test_times_as_people_write_them(text: str, seconds: float | None) -> None:
    assert time_of(text) == (None if seconds is None else seconds * NS_PER_S)


def test_branch_here_goes_on_live_under_its_own_badge(hand: Hand) -> None:
    press(hand, Key.Key_Left, Mod.ShiftModifier)
    hand.workbench.registry.trigger("branch")

    def there() -> bool:
        hand.workbench.controller.time.grant(0.05)
        return not hand.workbench.controller.time.moving

    hand.qtbot.waitUntil(there, timeout=20_000)
    hand.show()
    assert hand.workbench.window.toolbar.badge.text() == "BRANCH, PAUSED"
    assert hand.workbench.window.tint.mode == "branch"
    assert hand.workbench.window.timeline.facts.branch_ns == 10 * NS_PER_S
    assert "branched from" in hand.workbench.window.status.last_action.whole
    hand.workbench.controller.perform(MoveConsumer("indexer-4", "indexers"))
    hand.pass_time(3)
    assert "indexer-4" in hand.members("indexers")


def test_the_key_for_a_branch_pressed_twice_makes_one(hand: Hand) -> None:
    press(hand, Key.Key_Left, Mod.ShiftModifier)
    window, controller = hand.workbench.window, hand.workbench.controller
    for _twice in range(2):
        hand.qtbot.keyClick(window.timeline, Key.Key_B, Mod.ControlModifier)
    assert hand.workbench.registry.reason("branch") == "The rerun has not reached that moment yet."

    def there() -> bool:
        controller.time.grant(0.05)
        return not controller.time.moving

    hand.qtbot.waitUntil(there, timeout=20_000)
    hand.show()
    assert controller.source.end_ns == 10 * NS_PER_S
    assert controller.source.folder is not None
    assert len(list(controller.source.folder.parent.iterdir())) == 2


def test_a_rebalance_card_leads_to_its_moment(hand: Hand) -> None:
    card = hand.workbench.window.parts.rebalances.cards[-1]
    hand.qtbot.mouseClick(card, Qt.MouseButton.LeftButton, pos=QPoint(30, 8))
    assert hand.workbench.controller.live
    hand.qtbot.mouseDClick(card, Qt.MouseButton.LeftButton, pos=QPoint(30, 8))
    arrive(hand)
    assert not hand.workbench.controller.live and shown_s(hand) < 3


def test_the_keys_of_a_tree_stay_its_own_and_a_table_keeps_its_ends(hand: Hand) -> None:
    window = hand.workbench.window
    window.show_tab("assignments")
    table = window.tab(AssignmentsPanel).table
    table.setFocus()
    hand.show()
    hand.qtbot.keyClick(table, Key.Key_Home)
    arrive(hand)
    assert hand.workbench.controller.live
    hand.qtbot.keyClick(table, Key.Key_Left)
    arrive(hand)
    assert not hand.workbench.controller.live
    hand.workbench.registry.trigger("follow_live")
    tree = window.parts.navigator.findChild(QTreeView)
    assert isinstance(tree, QTreeView)
    tree.setFocus()
    hand.show()
    hand.qtbot.keyClick(tree, Key.Key_Left)
    arrive(hand)
    assert hand.workbench.controller.live


def test_left_and_right_belong_to_a_text_field_that_has_the_focus(hand: Hand) -> None:
    hand.workbench.window.focus_filter()
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    hand.qtbot.keyClick(field, Key.Key_Left)
    arrive(hand)
    assert hand.workbench.controller.live
    assert isinstance(hand.workbench.family(TimelineHandlers), TimelineHandlers)
