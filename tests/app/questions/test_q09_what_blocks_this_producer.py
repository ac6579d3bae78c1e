"""Question 9: what is blocking this producer? One click: the tab Backpressure, which names the whole chain."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt

from broker_core.simulation.actions.faults import Pause
from tests.app.conftest import Hand
from tests.widgets.reading import links_of
from widgets.panels.backpressure import BackpressurePanel


def click_backpressure(hand: Hand) -> None:
    hand.qtbot.mouseClick(hand.workbench.window.tabs.tab("backpressure"), Qt.MouseButton.LeftButton)
    hand.show()


def blocked(hand: Hand) -> bool:
    return any(topic.gate is not None and topic.gate.blocked for topic in hand.workbench.controller.snapshot.topics)


def test_the_chain_leads_from_the_producer_to_the_consumer_that_is_slow(hand: Hand) -> None:
    for _ in range(60):
        hand.pass_time(1)
        if blocked(hand):
            break
    click_backpressure(hand)
    chains = hand.workbench.window.tab(BackpressurePanel).chains
    (chain,) = chains.chains
    words = [link.words for link in chain.links]
    assert words[0] == "notifier"
    assert words[1].startswith("mails is full: 40 of 40")
    assert words[2] == "slowest reader mailers"
    assert words[3].startswith("mailer-1 does ")
    assert chain.since.startswith("since 00:")
    last = links_of(chains)[-1]
    hand.qtbot.mouseClick(last, Qt.MouseButton.LeftButton)
    hand.show()
    assert hand.workbench.views.selected == "consumer:mailer-1"


def test_a_paused_reader_is_named_as_paused(hand: Hand) -> None:
    hand.workbench.controller.perform(Pause("mailer-1", 100))
    for _ in range(60):
        hand.pass_time(1)
        if blocked(hand):
            break
    click_backpressure(hand)
    (chain,) = hand.workbench.window.tab(BackpressurePanel).chains.chains
    assert chain.links[0].words == "notifier"
    assert any("mail" in link.words for link in chain.links[1:])


def test_a_rate_limit_is_named_as_one(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("rate-limits")
    for _ in range(60):
        hand.pass_time(2)
        if blocked(hand):
            break
    assert blocked(hand)
    click_backpressure(hand)
    chains = hand.workbench.window.tab(BackpressurePanel).chains.chains
    assert any("messages/s" in link.words for chain in chains for link in chain.links[1:])
