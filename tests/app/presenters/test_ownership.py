"""Who owned what, over time; and how long nobody read, on the card of a rebalance."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.presenters.assignments import OwnershipModel
from app.presenters.owners import Owners
from app.presenters.rebalances import RebalanceCards
from broker_core.clock import NS_PER_S, ns_from_s
from broker_core.events import EventKind
from broker_core.snapshots import RebalanceView, Snapshot
from tests.app.conftest import Hand
from tests.broker_core.recording.test_ownership import Written
from widgets.cards import RebalanceFacts
from widgets.cells import PAD
from widgets.formats import Times
from widgets.panels.assignments import AssignmentsPanel
from widgets.roles import Role
from widgets.theme import current_theme


def shown(model: OwnershipModel) -> list[list[object]]:
    """The texts of all rows."""
    return [[model.index(row, at).data() for at in range(model.columnCount())] for row in range(model.rowCount())]


def test_each_partition_has_a_row_with_its_owner_and_all_before_on_hover(qtbot: QtBot) -> None:
    told = Written()
    told.rebalance(0, 1, "", "a")
    told.rebalance(5, 7, "a", "b")
    told.rebalance(9, 10, "b", "a")
    model = OwnershipModel(Owners(), Times())
    model.attach(told.ownership)
    model.update(Snapshot(20 * NS_PER_S, 1_000), "g")
    assert shown(model) == [["orders", "3", "a", "00:10.000", "2", "a b"]]
    tip = str(model.index(0, 5).data(Role.TOOLTIP)).splitlines()
    assert tip == ["a: 00:01.000 to 00:05.000", "b: 00:07.000 to 00:09.000", "a: since 00:10.000"]
    model.update(Snapshot(6 * NS_PER_S, 1_000), "g")
    assert shown(model) == [["orders", "3", "nobody", "", "1", "a"]], "as it was known then"
    model.update(Snapshot(NS_PER_S // 2, 0), "g")
    assert model.rowCount() == 0


def test_the_bar_has_each_owner_for_its_time_and_a_gap_where_nobody_read(qtbot: QtBot) -> None:
    told, owners = Written(), Owners()
    owners.update(("a", "b"))
    told.rebalance(0, 1, "", "a")
    told.rebalance(5, 7, "a", "b")
    model = OwnershipModel(owners, Times())
    model.attach(told.ownership)
    model.update(Snapshot(10 * NS_PER_S, 1_000), "g")
    first, second = model.index(0, 5).data(Role.OWNED_TIMES)
    assert (first.start, first.end, first.letter) == (0.1, 0.5, "A")
    assert (second.start, second.end, second.letter) == (0.7, 1.0, "B")
    assert first.hue != second.hue


def test_who_reads_on_until_it_is_told_is_drawn_as_a_reader(qtbot: QtBot) -> None:
    told, owners = Written(), Owners()
    told.rebalance(0, 1, "", "a")
    told.tell(5, EventKind.PARTITIONS_REVOKED, "a")
    told.read(5.4, "a", 5.4)
    told.read(5.8, "a", 5.8)
    told.tell(6, EventKind.PARTITIONS_ASSIGNED, "b")
    model = OwnershipModel(owners, Times())
    model.attach(told.ownership)

    def cell(at_s: float) -> tuple[str, float]:
        model.update(Snapshot(ns_from_s(at_s), 1_000), "g")
        tip = str(model.index(0, 5).data(Role.TOOLTIP)).splitlines()[0]
        return tip, round(model.index(0, 5).data(Role.OWNED_TIMES)[0].end * at_s, 3)

    assert cell(4) == ("a: since 00:01.000", 4)
    assert cell(5.2) == ("a: 00:01.000 to 00:05.000", 5)
    assert cell(5.5) == ("a: 00:01.000 to 00:05.000, reads on until its next heartbeat", 5.5)
    assert cell(6) == ("a: 00:01.000 to 00:05.000, read on until 00:05.800", 5.8)


def test_the_history_of_many_is_found_by_a_filter_and_its_bars_are_drawn(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("range-versus-sticky")
    hand.pass_time(60)
    window = hand.workbench.window
    window.show_tab("assignments")
    panel = window.tab(AssignmentsPanel)
    panel.set_filter_text("state = Stable")
    hand.show()
    hand.qtbot.mouseClick(panel.second_button, Qt.MouseButton.LeftButton)
    hand.show()
    assert panel.filter_text == ""
    model = panel.second.model()
    whole = model.rowCount()
    owner = str(model.index(0, 5).data()).split()[0]
    panel.set_filter_text(f'owned_by contains "{owner}" and partition < 2')
    hand.show()
    assert 0 < model.rowCount() < whole and not panel.problem.isVisible()
    assert panel.count_label.text() == str(model.rowCount())
    panel.set_filter_text("state = Stable")
    assert panel.problem.isVisible(), "that is a column of the other table"
    panel.clear_filter()
    hand.show()
    where = panel.second.visualRect(model.index(0, 5))
    times = model.index(0, 5).data(Role.OWNED_TIMES)
    picture = panel.second.viewport().grab().toImage()
    middle = (times[-1].start + times[-1].end) / 2
    x = where.x() + PAD + round((where.width() - 2 * PAD) * middle)
    assert picture.pixelColor(x, where.center().y() - 6).name().upper() == current_theme().owner(times[-1].hue).upper()
    hand.qtbot.mouseClick(panel.second_button, Qt.MouseButton.LeftButton)
    panel.set_filter_text("state = Stable")
    assert not panel.problem.isVisible()


def card(told: Written, now_s: float, started_s: float, ended_s: float | None) -> RebalanceFacts:
    """The card of a rebalance from a moment."""
    cards = RebalanceCards(Owners(), Times())
    cards.attach(told.ownership)
    ended_ns = None if ended_s is None or ended_s > now_s else ns_from_s(ended_s)
    view = RebalanceView("g", "why", ns_from_s(started_s), ended_ns, 1, 2, (), ())
    (facts,) = cards.of(Snapshot(ns_from_s(now_s), told.events_by(now_s), rebalances=(view,)))
    return facts


def test_the_card_of_a_crash_says_how_long_it_was_not_noticed_and_how_long_the_rebalance_took() -> None:
    told = Written()
    told.tell(0, EventKind.MEMBER_JOINED, "a")
    told.rebalance(0, 1, "", "a")
    told.tell(20, EventKind.FAULT, "a", detail={"fault": "crash"})
    told.tell(25.9, EventKind.MEMBER_LEFT, "a", detail={"heard_ns": ns_from_s(19.9)})
    told.rebalance(25.9, 27, "a", "b")
    assert card(told, 26, 25.9, 27).no_reader == "no reader for 6.0 s so far"
    facts = card(told, 30, 25.9, 27)
    assert facts.no_reader == "no reader 7.0 s: 5.9 s until the crash was noticed, 1.1 s rebalance"
    assert facts.gaps == "orders/3: no reader for 7.0 s, from 00:20.000"
    told.read(28, "b", 21)
    assert card(told, 30, 25.9, 27).no_reader == (
        "no reader 8.0 s: 5.9 s until the crash was noticed, 1.1 s rebalance, 1.0 s until the first fetch"
    )


def test_the_card_of_a_move_says_the_rebalance_alone_and_one_that_takes_nothing_away_says_so() -> None:
    told = Written()
    told.rebalance(0, 1.2, "", "a")
    told.rebalance(5, 6.1, "a", "b")
    assert card(told, 30, 5, 6.1).no_reader == "no reader 1.1 s"
    assert card(told, 30, 0, 1.2).no_reader == "took 1.2 s; no partition lost its reader"
    assert card(Written(), 0.6, 0, None).no_reader == "600 ms so far; no partition has lost its reader"


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ((), "took 0 ms; afterwards no member read orders"),
        ((("orders", 3, "b"),), "took 0 ms; for how long nobody read is not known"),
    ],
)
def test_a_card_from_before_the_session_does_not_say_that_everything_was_read(
    after: tuple[tuple[str, int, str], ...], words: str
) -> None:
    cards = RebalanceCards(Owners(), Times())
    cards.attach(Written().ownership)
    view = RebalanceView("g", "a left", -NS_PER_S, -NS_PER_S, 1, 2, (("orders", 3, "a"),), after)
    assert cards.of(Snapshot(NS_PER_S, 0, rebalances=(view,)))[0].no_reader == words


@pytest.mark.parametrize("heard_s", [None, 4.0])
def test_nobody_is_missed_where_the_last_member_has_left_unless_it_fell_silent(heard_s: float | None) -> None:
    told = Written()
    told.tell(0, EventKind.MEMBER_JOINED, "a")
    told.rebalance(0, 1, "", "a")
    told.tell(5, EventKind.MEMBER_LEFT, "a", detail={} if heard_s is None else {"heard_ns": ns_from_s(heard_s)})
    told.rebalance(5, 6, "a", "")
    cards = RebalanceCards(Owners(), Times())
    cards.attach(told.ownership)
    view = RebalanceView("g", "a left", 5 * NS_PER_S, 6 * NS_PER_S, 1, 2, (("orders", 3, "a"),), ())
    (card,) = cards.of(Snapshot(10 * NS_PER_S, told.events_by(10), rebalances=(view,)))
    if heard_s is None:
        assert (card.no_reader, card.gaps) == ("took 1.0 s; afterwards no member read orders", "")
    else:
        assert card.no_reader == "no reader for 6.0 s so far"


def test_a_card_is_put_into_words_anew_when_somebody_reads_again_long_after() -> None:
    told = Written()
    told.rebalance(0, 1, "", "a")
    told.rebalance(5, 6, "a", "")
    cards = RebalanceCards(Owners(), Times())
    cards.attach(told.ownership)
    view = RebalanceView("g", "why", 5 * NS_PER_S, 6 * NS_PER_S, 1, 2, (), ())
    assert (
        cards.of(Snapshot(10 * NS_PER_S, told.events_by(10), rebalances=(view,)))[0].no_reader
        == "no reader for 5.0 s so far"
    )
    told.rebalance(40, 41, "", "b")
    later = cards.of(Snapshot(50 * NS_PER_S, told.events_by(50), rebalances=(view,)))[0]
    assert later.no_reader == "no reader 36.0 s"
    assert cards.of(Snapshot(51 * NS_PER_S, told.events_by(51), rebalances=(view,)))[0] is later
    assert (
        cards.of(Snapshot(10 * NS_PER_S, told.events_by(10), rebalances=(view,)))[0].no_reader
        == "no reader for 5.0 s so far"
    )
