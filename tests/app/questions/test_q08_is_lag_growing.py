"""Question 8: is lag growing, and when will it drain? One click: the tab Offsets."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt

from app.presenters.offsets import OffsetsPanel
from tests.app.conftest import Hand


def click_offsets(hand: Hand) -> None:
    hand.qtbot.mouseClick(hand.workbench.window.tabs.tab("offsets"), Qt.MouseButton.LeftButton)
    hand.show()


def cells(hand: Hand, title: str, group: str) -> list[str]:
    model = hand.workbench.window.tab(OffsetsPanel).table.model()
    headers = [model.headerData(column, Qt.Orientation.Horizontal) for column in range(model.columnCount())]
    rows = [row for row in range(model.rowCount()) if model.index(row, 0).data() == group]
    return [model.index(row, headers.index(title)).data() for row in rows]


def look(hand: Hand, until_s: float) -> None:
    """Let time pass as a window sees it: a look now and then."""
    while hand.workbench.controller.snapshot.time_ns < until_s * 1e9:
        hand.pass_time(0.5)


def test_lag_that_grows_is_told_and_lag_that_falls_says_when_it_is_gone(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("lag-and-catch-up")
    click_offsets(hand)
    panel = hand.workbench.window.tab(OffsetsPanel)
    look(hand, 9)
    assert any(cell.startswith("Rising ") for cell in cells(hand, "Trend", "clerks"))
    assert "never at this rate" in cells(hand, "Drained in", "clerks")
    assert "clerks is" in panel.note.text()
    assert "rising by" in panel.note.text()
    look(hand, 16)
    assert any(cell.startswith("Falling ") for cell in cells(hand, "Trend", "clerks"))
    assert any(text.endswith(" s") for text in cells(hand, "Drained in", "clerks"))
    foretold = panel.note.text().partition("clerks is")[2].partition("drained in ")[2].partition(" s.")[0]
    lag_gone_s = 16 + float(foretold)
    look(hand, lag_gone_s + 2)
    assert set(cells(hand, "Drained in", "clerks")) == {"caught up"}
