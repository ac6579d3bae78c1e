"""Offsets reset and sought, and assignors compared, each reviewed before it is done."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt

from tests.app.conftest import Hand
from tests.app.dialogs import accept, fill, opened, run, said
from tests.widgets.reading import shown_rows
from widgets.dialogs.assignors import AssignorsDialog
from widgets.dialogs.review import ReviewDialog


def committed(hand: Hand) -> list[int]:
    group = next(each for each in hand.workbench.controller.snapshot.groups if each.name == "indexers")
    return [at.committed or 0 for at in group.offsets]


def test_a_reset_is_reviewed_then_applied_and_undone(hand: Hand) -> None:
    hand.pass_time(20)
    before = committed(hand)
    dialog = run(hand, "reset_offsets", "group:indexers")
    assert isinstance(dialog, ReviewDialog)
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    hand.qtbot.waitUntil(lambda: dialog.reviewing, timeout=5_000)
    rows = shown_rows(dialog.review_table)
    assert len(rows) == 6
    assert rows[0][0] == "commits/0"
    assert rows[0][2] == "0"
    assert rows[0][3].endswith(" read again")
    assert "Its consumers stop and start again" in dialog.summary.text()
    hand.qtbot.mouseClick(dialog.back_button, Qt.MouseButton.LeftButton)
    assert not dialog.reviewing
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    hand.qtbot.waitUntil(lambda: dialog.reviewing, timeout=5_000)
    accept(hand, dialog)
    assert said(hand) == "Reset indexers to the earliest message."
    assert committed(hand) == [0] * 6
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert said(hand) == "indexers is rebalancing; wait until it is stable."
    hand.pass_time(2)
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert committed(hand) == before
    hand.pass_time(5)
    assert len(hand.members("indexers")) == 3


def test_a_reset_that_cannot_be_says_so_before_it_is_applied(hand: Hand) -> None:
    dialog = run(hand, "reset_offsets", "group:indexers")
    assert isinstance(dialog, ReviewDialog)
    dialog.set_values({"restart": False})
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    hand.qtbot.waitUntil(lambda: bool(dialog.problem.text()), timeout=5_000)
    assert "indexers has 3 members; stop them first" in dialog.problem.text()
    assert not dialog.reviewing
    dialog.close()


def test_a_seek_moves_where_a_consumer_reads(hand: Hand) -> None:
    hand.pass_time(20)
    dialog = run(hand, "seek", "consumer:indexer-1")
    assert isinstance(dialog, ReviewDialog)
    fill(hand, dialog, form="timestamp", time_s=10)
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    hand.qtbot.waitUntil(lambda: dialog.reviewing, timeout=5_000)
    (row,) = shown_rows(dialog.review_table)
    assert row[0].startswith("commits/")
    accept(hand, dialog)
    assert said(hand).startswith("indexer-1 seeks to session time 10 s in commits/")


def test_assignors_are_compared_side_by_side(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("range-versus-sticky")
    hand.pass_time(10)
    hand.workbench.registry.trigger("what_if")
    hand.show()
    dialog = opened(hand, AssignorsDialog)
    assert [radio.text() for radio in dialog.radios.values() if radio.text().endswith("(now)")]
    dialog.close()


def test_a_group_is_configured_from_what_holds_and_taken_back(hand: Hand) -> None:
    configs = hand.simulated.session.simulation.broker.groups.configs
    dialog = run(hand, "configure_group", "group:indexers")
    assert dialog.values()["group"] == "indexers"
    fill(hand, dialog, consumer_session_timeout_ms=60_000, isolation_level="read_committed", renew_enabled=False)
    accept(hand, dialog)
    assert said(hand) == "Configured indexers."
    found = configs.of("indexers")
    assert (found.consumer_session_timeout_ms, found.isolation_level, found.renew_enabled) == (
        60_000,
        "read_committed",
        False,
    )
    dialog = run(hand, "configure_group", "group:indexers")
    hand.qtbot.waitUntil(lambda: dialog.values()["consumer_session_timeout_ms"] == 60_000)
    fill(hand, dialog, group="not there yet")
    assert dialog.problem.text() and not dialog.accept_button.isEnabled()
    fill(hand, dialog, group="new")
    hand.qtbot.waitUntil(lambda: dialog.values()["consumer_session_timeout_ms"] == 45_000)
    fill(hand, dialog, auto_offset_reset="tomorrow")
    assert "must be earliest, latest, or by_duration" in dialog.problem.text()
    fill(hand, dialog, auto_offset_reset="earliest")
    accept(hand, dialog)
    assert (configs.of("new").auto_offset_reset, configs.of("indexers")) == ("earliest", found)
    hand.workbench.registry.trigger("undo")
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert configs.of("indexers") == configs.of("new") == configs.default
