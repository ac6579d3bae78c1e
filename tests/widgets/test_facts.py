"""Facts in a grid that is kept while what it shows changes."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from widgets.facts import FactsGrid


def test_a_tip_goes_with_its_fact(qtbot: QtBot) -> None:
    grid = FactsGrid()
    qtbot.addWidget(grid)
    grid.set_facts([("Lag", "5")], ["of 2 partitions it is not known"])
    grid.set_facts([("Lag", "5")])
    assert grid._rows[0][1].toolTip() == ""
