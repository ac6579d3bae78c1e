"""Who owned what and since when, as a matrix; and how long nobody read, on the card of a rebalance."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.presenters.owners import Owners
from app.presenters.ownership import OwnershipModel
from app.presenters.rebalances import RebalanceCards
from broker_core.clock import NS_PER_S, ns_from_s
from broker_core.events import EventKind
from broker_core.snapshots import RebalanceView, Snapshot
from tests.broker_core.recording.test_ownership import Written
from widgets.cards import RebalanceFacts
from widgets.formats import Times
from widgets.roles import Role


def test_the_matrix_has_a_column_a_member_and_tells_all_spans_on_hover(qtbot: QtBot) -> None:
    told = Written()
    told.rebalance(0, 1, "", "a")
    told.rebalance(5, 7, "a", "b")
    told.rebalance(9, 10, "b", "a")
    model = OwnershipModel(Owners())
    model.attach(told.ownership)
    model.update(Snapshot(20 * NS_PER_S, 1_000), "g")
    heads = [model.headerData(at, Qt.Orientation.Horizontal) for at in range(model.columnCount())]
    assert heads == ["a", "b"] and model.headerData(0, Qt.Orientation.Vertical) == "orders/3"
    assert model.index(0, 0).data() == "since 00:10.000"
    assert model.index(0, 1).data() == "00:07.000 to 00:09.000"
    assert "00:01.000 to 00:05.000" in model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    model.update(Snapshot(6 * NS_PER_S, 1_000), "g")
    assert model.columnCount() == 1 and model.index(0, 0).data() == "00:01.000 to 00:05.000"


def test_who_reads_on_until_it_is_told_is_shown_as_a_reader_until_there_is_another_owner(qtbot: QtBot) -> None:
    told = Written()
    owners = Owners()
    owners.update(("a", "b"))
    told.rebalance(0, 1, "", "a")
    told.tell(5, EventKind.PARTITIONS_REVOKED, "a")
    told.read(5.4, "a", 5.4)
    told.read(5.8, "a", 5.8)
    told.tell(6, EventKind.PARTITIONS_ASSIGNED, "b")
    model = OwnershipModel(owners)
    model.attach(told.ownership)

    def cell(at_s: float) -> tuple[object, object]:
        model.update(Snapshot(ns_from_s(at_s), 1_000), "g")
        return model.index(0, 0).data(), model.index(0, 0).data(Role.BADGE)

    assert cell(4) == ("since 00:01.000", "A")
    assert cell(5.2) == ("00:01.000 to 00:05.000", None)
    assert cell(5.5) == cell(5.9) == ("00:01.000 to 00:05.000, reads on until its next heartbeat", "A")
    assert cell(6) == ("00:01.000 to 00:05.000, read on until 00:05.800", None)


def card(told: Written, now_s: float, started_s: float, ended_s: float | None) -> RebalanceFacts:
    """The card of a rebalance from a moment."""
    cards = RebalanceCards(Owners(), Times())
    cards.attach(told.ownership)
    ended_ns = None if ended_s is None or ended_s > now_s else ns_from_s(ended_s)
    view = RebalanceView("g", "why", ns_from_s(started_s), ended_ns, 1, 2, (), ())
    (facts,) = cards.of(Snapshot(ns_from_s(now_s), 0, rebalances=(view,)))
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


def test_a_card_is_put_into_words_anew_when_somebody_reads_again_long_after() -> None:
    told = Written()
    told.rebalance(0, 1, "", "a")
    told.rebalance(5, 6, "a", "")
    cards = RebalanceCards(Owners(), Times())
    cards.attach(told.ownership)
    view = RebalanceView("g", "why", 5 * NS_PER_S, 6 * NS_PER_S, 1, 2, (), ())
    assert cards.of(Snapshot(10 * NS_PER_S, 0, rebalances=(view,)))[0].no_reader == "no reader for 5.0 s so far"
    told.rebalance(40, 41, "", "b")
    later = cards.of(Snapshot(50 * NS_PER_S, 0, rebalances=(view,)))[0]
    assert later.no_reader == "no reader 36.0 s"
    assert cards.of(Snapshot(51 * NS_PER_S, 0, rebalances=(view,)))[0] is later
    assert cards.of(Snapshot(10 * NS_PER_S, 0, rebalances=(view,)))[0].no_reader == "no reader for 5.0 s so far"
