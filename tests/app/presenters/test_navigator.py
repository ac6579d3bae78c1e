"""The navigator beside the canvas: what is chosen in one is chosen in the other."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from tests.app.conftest import Hand
from widgets.palette import CommandPalette


def test_what_is_chosen_in_the_navigator_is_framed_on_the_canvas_and_inspected(hand: Hand) -> None:
    navigator = hand.workbench.window.parts.navigator
    where = navigator.tree.visualItemRect(navigator._items["group:auditors"]).center()
    hand.qtbot.mouseClick(navigator.tree.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert hand.canvas._selected_id == "group:auditors"
    facts = hand.workbench.window.parts.inspector.facts
    assert facts is not None
    assert facts.name == "auditors"


def test_what_is_named_in_the_palette_is_framed_on_the_canvas_and_has_the_keyboard(hand: Hand) -> None:
    hand.workbench.registry.trigger("palette")
    palette = hand.workbench.window.findChild(CommandPalette)
    assert palette is not None
    hand.qtbot.keyClicks(palette.field, "builder-2")
    hand.qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert not palette.isVisible()
    assert hand.canvas._selected_id == "worker:builder-2"
    assert hand.workbench.window.parts.navigator.current_id() == "worker:builder-2"
    assert hand.workbench.window.focusWidget() is hand.canvas


def test_what_is_clicked_on_the_canvas_is_chosen_in_the_navigator(hand: Hand) -> None:
    hand.qtbot.mouseClick(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=hand.place("consumer:indexer-2"))
    assert hand.workbench.window.parts.navigator.current_id() == "consumer:indexer-2"


def test_its_menu_is_that_of_the_canvas(hand: Hand) -> None:
    navigator = hand.workbench.window.parts.navigator
    where = navigator.tree.visualItemRect(navigator._items["consumer:indexer-2"]).center()
    navigator.tree.customContextMenuRequested.emit(where)
    menu = hand.workbench.window.findChild(QMenu, "canvas_menu")
    assert menu is not None
    assert any("bench" in action.text() for action in menu.actions())
    menu.close()


def test_groups_show_their_lag_and_bins_their_count(hand: Hand) -> None:
    navigator, snapshot = hand.workbench.window.parts.navigator, hand.workbench.controller.snapshot
    for row, group in zip(navigator.rows("groups"), snapshot.groups, strict=True):
        assert row.figure == f"lag {sum(one.lag or 0 for one in group.offsets):,}"
    assert [row.figure for row in navigator.rows("dead")] == [f"{queue.dead:,}" for queue in snapshot.queues]


def test_it_is_hidden_where_there_is_no_room_and_comes_by_its_command(hand: Hand) -> None:
    navigator = hand.workbench.window.parts.navigator
    assert navigator.isVisible()
    hand.workbench.registry.trigger("toggle_left")
    assert not navigator.isVisible()
    hand.workbench.registry.trigger("toggle_left")
    assert navigator.isVisible()


def test_its_filter_hides_rows_and_dims_boxes_on_the_canvas(hand: Hand) -> None:
    navigator, stage = hand.workbench.window.parts.navigator, hand.canvas._stage
    navigator.filter_field.setText("kind = group and name contains audit")
    hand.qtbot.waitUntil(lambda: bool(stage.dimmed))
    assert [row.name for row in navigator.rows("groups")] == ["auditors"]
    assert "group:auditors" not in stage.dimmed
    assert {"group:indexers", "topic:commits", "consumer:indexer-1", "workers:builds"} <= stage.dimmed
    assert stage.boxes["group:indexers"].opacity() < 0.5
    navigator.filter_field.setText("lagg > 5")
    hand.qtbot.waitUntil(lambda: navigator.filter_field.property("invalid") is True)
    assert "did you mean lag" in navigator.filter_field.toolTip()
    navigator.filter_field.clear()
    hand.qtbot.waitUntil(lambda: not stage.dimmed)
    assert stage.boxes["group:indexers"].opacity() == 1.0


def test_every_topic_queue_and_bin_has_a_state(hand: Hand) -> None:
    sections = hand.workbench.views.navigator_model.update(hand.workbench.controller.snapshot)
    states = {row.id: row.state for section in sections[:6] for row in section.rows}
    assert all(states.values()), states
    assert states["topic:commits"] == "Open"
    assert states["queue:builds"] == "Open"
    assert states["dlq:builds"] in {"Empty", "Dead letter"}
