"""Question 15: what would round-robin have done here? Two clicks: the group, then the command of its menu."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from tests.app.conftest import Hand
from tests.widgets.reading import column
from widgets.dialogs.assignors import AssignorsDialog


def ask(hand: Hand) -> AssignorsDialog:
    view = hand.canvas.viewport()
    at = hand.place("group:indexers")
    hand.canvas.contextMenuRequested.emit("group:indexers", view.mapToGlobal(at))
    menu = hand.workbench.window.findChild(QMenu, "canvas_menu")
    assert menu is not None
    next(entry for entry in menu.actions() if entry.text() == "Compare assignors...").trigger()
    menu.close()
    hand.show()
    dialog = hand.workbench.window.findChild(AssignorsDialog)
    assert dialog is not None
    return dialog


def owners(hand: Hand) -> list[str]:
    group = next(each for each in hand.workbench.controller.snapshot.groups if each.name == "indexers")
    owned = {place: member.client for member in group.members for place in member.partitions}
    return [owned["commits", number] for number in range(6)]


def test_round_robin_is_read_beside_the_owners_of_now(hand: Hand) -> None:
    dialog = ask(hand)
    items = [dialog.table.item(row, 1) for row in range(6)]
    now = [item.text() for item in items if item is not None]
    assert now == owners(hand) == [f"indexer-{number}" for number in (1, 1, 2, 2, 3, 3)]
    would = [f"indexer-{number}" for number in (1, 2, 3, 1, 2, 3)]
    assert column(dialog, "roundrobin") == [
        there if there == here else f"\u2192 {there}" for here, there in zip(now, would, strict=True)
    ]
    plan = dialog.plan()
    assert plan is not None
    assert (plan.name, plan.moved, plan.kept) == ("roundrobin", 4, 2)


def test_switching_does_what_was_foretold(hand: Hand) -> None:
    dialog = ask(hand)
    foretold = [text.removeprefix("\u2192 ") for text in column(dialog, "roundrobin")]
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    hand.show()
    hand.pass_time(5)
    assert owners(hand) == foretold
    group = next(each for each in hand.workbench.controller.snapshot.groups if each.name == "indexers")
    assert group.assignor == "roundrobin"
