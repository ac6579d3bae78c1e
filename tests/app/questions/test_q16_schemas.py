"""Question 16, answered by two clicks: the tab Schemas, its page Refused. And what else the panel does."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt

from app.presenters.schemas import SchemasPresenter
from app.sessions.collectors.schemas import SchemaCollector
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from tests.app.conftest import Hand
from widgets.panels.schemas import SchemasPanel


def opened(open_workbench: Callable[..., Hand], seconds: float) -> Hand:
    hand = open_workbench("schema-evolution")
    hand.pass_time(seconds)
    hand.qtbot.mouseClick(hand.workbench.window.tabs.tab("schemas"), Qt.MouseButton.LeftButton)
    hand.show()
    return hand


def test_q16_what_did_the_schema_refuse(open_workbench: Callable[..., Hand]) -> None:
    hand = opened(open_workbench, 50)
    panel = hand.workbench.window.tab(SchemasPanel)
    bar = panel.pages.tabBar()
    hand.qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(3).center())
    model = panel.refusals.model()
    assert panel.refusals.isVisible()
    assert model.rowCount() == 1
    shown = [model.index(0, column).data() for column in range(1, 6)]
    rejected = hand.workbench.controller.snapshot.totals.rejected
    assert shown == [f"{rejected:,}", "orders", "shop-b", "refused", "schema order refused /currency"]
    assert rejected > 0


def test_versions_are_listed_with_what_each_changed(open_workbench: Callable[..., Hand]) -> None:
    hand = opened(open_workbench, 50)
    panel = hand.workbench.window.tab(SchemasPanel)
    assert [row.found.version for row in hand.workbench.views.presenter(SchemasPresenter).model.rows] == [2, 1]
    panel.select(0)
    assert '"currency"' in panel.text.toPlainText()
    assert panel.changes.toPlainText() == 'Added at /properties/currency: {"type":"string"}'
    panel.select(1)
    assert "no earlier one" in panel.changes.toPlainText()


def test_a_message_is_checked_by_hand_against_the_latest_version(open_workbench: Callable[..., Hand]) -> None:
    hand = opened(open_workbench, 50)
    panel = hand.workbench.window.tab(SchemasPanel)
    assert not panel.check_button.isEnabled()
    panel.select(0)
    panel.pages.setCurrentIndex(2)
    panel.message.setPlainText('{"id": "x", "amount": 1}')
    hand.qtbot.mouseClick(panel.check_button, Qt.MouseButton.LeftButton)
    hand.qtbot.waitUntil(lambda: panel.verdict.text() != "")
    assert panel.verdict.text().startswith("Refused.")
    assert "/id" in panel.verdict.text()
    panel.message.setPlainText('{"id": 1, "amount": 1, "currency": "EUR"}')
    hand.qtbot.mouseClick(panel.check_button, Qt.MouseButton.LeftButton)
    hand.qtbot.waitUntil(lambda: panel.verdict.text().startswith("Accepted."))


def test_a_scenario_without_schemas_says_how_to_see_some(hand: Hand) -> None:
    hand.workbench.window.show_tab("schemas")
    hand.show()
    panel = hand.workbench.window.tab(SchemasPanel)
    assert panel.empty_state.isVisible()
    assert "Schema evolution" in panel.empty_state.text()


def shown(hand: Hand) -> tuple[list[tuple[int, tuple[tuple[str, str], ...]]], list[tuple[str, int]]]:
    """Versions with their topics, and refusals with their counts."""
    views = hand.workbench.views
    versions = [(row.found.version, row.users) for row in views.presenter(SchemasPresenter).model.rows]
    return versions, [(row.client, row.messages) for row in views.presenter(SchemasPresenter).refusals.rows]


def go(hand: Hand, seconds: float) -> None:
    """Show that moment."""
    hand.workbench.controller.travel.to(round(seconds * NS_PER_S))
    hand.qtbot.waitUntil(lambda: not hand.workbench.controller.travel.busy, timeout=10_000)
    for _ in range(4):
        hand.workbench.draw()


def test_a_moment_has_its_schemas_in_the_past_after_the_end_and_in_an_opened_recording(
    open_workbench: Callable[..., Hand],
) -> None:
    hand = open_workbench("schema-evolution", record=True)
    hand.workbench.window.show_tab("schemas")
    live = []
    for _ in range(6):
        hand.pass_time(9)
        live.append((hand.workbench.controller.snapshot.time_ns / NS_PER_S, shown(hand)))
    assert {len(versions) for _s, (versions, _refused) in live} == {1, 2}
    assert ("orders", "refuse") in live[0][1][0][0][1]
    assert not live[0][1][1] and live[-1][1][1], "nothing was refused at first"
    for stage in ("the past", "after the end", "opened"):
        if stage == "after the end":
            hand.workbench.controller.travel.to_present()
            hand.workbench.controller.stop()
            for _ in range(4):
                hand.workbench.draw()
            assert shown(hand) == live[-1][1], stage
        elif stage == "opened":
            folder = hand.workbench.controller.source.folder
            assert folder is not None
            hand.workbench.controller.open_session(folder)
            reading = hand.workbench.controller._reading
            assert reading is not None
            reading.thread.join(20)
            assert not reading.thread.is_alive()
        for second, there in reversed(live):
            go(hand, second)
            assert shown(hand) == there, (stage, second)


@pytest.mark.parametrize(
    "detail", [{"subject": "s", "text": "{}", "kind": "zz"}, {"subject": "s", "compatibility": "ZZ"}], ids=str
)
def test_a_change_of_schemas_in_words_of_another_version_is_left_out(detail: dict[str, str]) -> None:
    collector = SchemaCollector()
    collector(Event(0, 1, EventKind.USER_ACTION, detail=detail))
    collector(Event(1, 2, EventKind.USER_ACTION, detail={"subject": "orders", "text": "{}"}))
    assert collector.at(5).registry.subjects() == ("orders",)
