"""Questions 6 and 17, each answered by one click on the tab Charts."""

import pytest
from PySide6.QtCore import Qt

from app.presenters.charts import ChartsPresenter
from tests.app.conftest import Hand


def click_charts(hand: Hand) -> None:
    hand.qtbot.mouseClick(hand.workbench.window.tabs.tab("charts"), Qt.MouseButton.LeftButton)
    hand.show()


def cells(hand: Hand, column: int) -> dict[str, str]:
    model = hand.workbench.views.presenter(ChartsPresenter).model
    return {model.index(row, 0).data(): model.index(row, column).data() for row in range(model.rowCount())}


def test_q06_which_consumer_is_slowest(hand: Hand) -> None:
    hand.pass_time(10)
    click_charts(hand)
    slowest = [name for name, state in cells(hand, 5).items() if state == "slowest"]
    behind = {
        row.name: row.behind_ns or 0
        for row in hand.workbench.views.presenter(ChartsPresenter).model.rows
        if row.kind in {"consumer", "worker"}
    }
    assert slowest == [max(behind, key=lambda name: behind[name])]
    assert max(behind.values()) > 0


def test_q17_how_many_messages_and_bytes_a_second_per_topic(hand: Hand) -> None:
    before = {topic.name: topic for topic in hand.workbench.controller.snapshot.topics}
    hand.pass_time(2)
    click_charts(hand)
    for topic in hand.workbench.controller.snapshot.topics:
        messages = topic.published - before[topic.name].published
        row = next(row for row in hand.workbench.views.presenter(ChartsPresenter).model.rows if row.name == topic.name)
        # Over two whole seconds, but for what came on the last line of the grid.
        assert row.per_s == pytest.approx(messages / 2, abs=1)
        published_bytes = topic.published_bytes - before[topic.name].published_bytes
        assert row.bytes_per_s == pytest.approx(published_bytes / 2, rel=0.1)
    assert cells(hand, 3)["commits"].endswith(("B", "KiB"))
