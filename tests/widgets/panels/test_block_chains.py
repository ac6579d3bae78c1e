"""Chains of what blocks whom, and the controls of a gauge, alone with made-up facts."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.widgets.reading import links_of
from widgets.panels.backpressure import (
    CHAINS_MAX,
    BackpressurePanel,
    BlockChain,
    BlockChains,
    ChainLink,
    GaugeControls,
    GaugeFacts,
    Limits,
)

CHAIN = BlockChain(
    (ChainLink("shop", "producer:shop"), ChainLink("orders is full: 9 of 9", "topic:orders")), "since 00:12, for 4 s"
)
FACTS = GaugeFacts(
    target="orders",
    kind="topic",
    state="Full",
    depth="9 of 9",
    share=1.0,
    policy="blocks producers",
    rate="No rate limit",
    slowest="Slowest reader: readers",
    blocked=(),
    turned_away="Blocked 4 s in all",
    limits=Limits(9, None, "block"),
)


def test_a_chain_is_read_as_a_line_and_each_link_leads_somewhere(qtbot: QtBot) -> None:
    chains = BlockChains()
    qtbot.addWidget(chains)
    followed: list[str] = []
    chains.followed.connect(followed.append)
    chains.set_chains([CHAIN])
    chains.show()
    assert CHAIN.sentence() == "shop \u2190 orders is full: 9 of 9 (since 00:12, for 4 s)"
    for button in links_of(chains):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert followed == ["producer:shop", "topic:orders"]


def test_other_figures_keep_the_buttons_and_fewer_links_hide_some(qtbot: QtBot) -> None:
    chains = BlockChains()
    qtbot.addWidget(chains)
    chains.set_chains([CHAIN])
    before = links_of(chains)
    chains.set_chains([replace(CHAIN, since="since 00:12, for 5 s")])
    assert links_of(chains) == before
    chains.set_chains([BlockChain(CHAIN.links[:1], "since 00:12")])
    assert [button.whole for button in links_of(chains)] == ["shop"]
    chains.set_chains([])
    assert not chains.isVisible()
    assert links_of(chains) == []


def test_many_chains_are_cut(qtbot: QtBot) -> None:
    chains = BlockChains()
    qtbot.addWidget(chains)
    chains.set_chains([replace(CHAIN, since=str(number)) for number in range(20)])
    assert len(chains.chains) == CHAINS_MAX


def test_limits_are_told_when_a_person_changes_them_and_not_when_figures_come(qtbot: QtBot) -> None:
    gauge = QWidget()
    qtbot.addWidget(gauge)
    controls = GaugeControls(gauge)
    told: list[Limits] = []
    controls.changed.connect(told.append)
    controls.set_limits(Limits(9, None, "block"))
    controls.set_limits(Limits(10, 5.0, "reject"))
    assert told == []
    controls.limit.setValue(0)
    assert told == [Limits(None, 5.0, "reject")]
    controls.set_limits(Limits(None, 5.0, "reject"), "The session has ended.")
    for field in (controls.limit, controls.rate, controls.policy):
        assert not field.isEnabled()
        assert "The session has ended." in field.toolTip()


def test_a_field_that_is_changed_leaves_the_others_as_they_are(qtbot: QtBot) -> None:
    """Also a rate with more decimals than its field shows."""
    gauge = QWidget()
    qtbot.addWidget(gauge)
    controls = GaugeControls(gauge)
    told: list[Limits] = []
    controls.changed.connect(told.append)
    controls.set_limits(Limits(100, 0.04, "block"))
    assert controls.rate.text() == "0.04/s"
    controls.set_limits(Limits(100, 1e-7, "block"))
    controls.limit.setValue(200)
    controls.policy.setCurrentIndex(1)
    controls.policy.activated.emit(1)
    assert told == [Limits(200, 1e-7, "block"), Limits(200, 1e-7, "reject")]
    controls.rate.setValue(2.5)
    controls.rate.setValue(0)
    assert told[2:] == [Limits(200, 2.5, "reject"), Limits(200, None, "reject")]


def test_the_panel_says_why_nothing_can_be_changed(qtbot: QtBot) -> None:
    panel = BackpressurePanel()
    qtbot.addWidget(panel)
    chosen: list[tuple[str, Limits]] = []
    panel.limitsChosen.connect(lambda target, limits: chosen.append((target, limits)))
    panel.set_gauges([FACTS, replace(FACTS, target="audit", limits=None)])
    first, second = panel.gauges
    first.controls.limit.setValue(20)
    assert chosen == [("orders", Limits(20, None, "block"))]
    assert second.controls.limit.isHidden() and second.controls.policy.isHidden()
    panel.forbid("This is the past.")
    assert not first.controls.policy.isEnabled()
    panel.resize(1_000, 400)
    panel.show()
    policy = first.controls.policy
    words = max(policy.fontMetrics().horizontalAdvance(policy.itemText(at)) for at in range(policy.count()))
    assert policy.width() >= words + 40, "the longest policy and the arrow have room"
    assert not policy.geometry().intersects(first.controls.limit.geometry())
