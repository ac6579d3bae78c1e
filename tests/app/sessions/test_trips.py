"""A moment has one set of figures: a trip into the past changes nothing, and the past of any session has its rates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.presenters.charts import ChartsPresenter
from app.presenters.offsets import OffsetsPresenter
from broker_core.clock import NS_PER_S
from tests.app.conftest import Hand


def draw(hand: Hand) -> None:
    hand.qtbot.waitUntil(lambda: not hand.workbench.controller.travel.busy, timeout=10_000)
    for _ in range(6):
        QApplication.processEvents()
        hand.workbench.draw()


def figures(hand: Hand) -> dict[str, Any]:
    """Whatever moves with time, as it is shown."""
    workbench, view = hand.workbench, hand.canvas.view
    labels = workbench.window.status.labels
    rates = [
        (row.name, row.per_s, row.bytes_per_s, row.behind)
        for row in workbench.views.presenter(ChartsPresenter).model.rows
    ]
    sections = workbench.views.navigator_model.update(workbench.controller.snapshot)
    return {
        "status": (labels["rate"].text(), labels["in_flight"].text()),
        "links": {link.key: link.rate_per_s for link in view.links},
        "producers": [(card.name, card.rate_per_s, card.turned_away) for card in view.producers],
        "groups": [(box.name, box.lag, box.trend, [card.rate_per_s for card in box.members]) for box in view.groups],
        "queues": [(box.name, box.rate_per_s, box.ready + box.delayed, box.dead) for box in view.queues],
        "navigator": [(row.id, row.figure, row.series) for part in sections for row in part.rows],
        "table": rates,
        "offsets": workbench.views.presenter(OffsetsPresenter).model.rows,
    }


@pytest.mark.parametrize("record", [True, False])
def test_a_trip_into_the_past_changes_nothing_of_the_present(
    open_workbench: Callable[..., Hand], keyframe_each_second: None, record: bool
) -> None:
    hand = open_workbench(record=record)
    hand.workbench.window.show_tab("charts")
    hand.pass_time(21.3)
    before = figures(hand)
    assert before["status"][0] not in {"", "0 messages/s"}
    for second in (3, 17):
        hand.workbench.controller.travel.to(second * NS_PER_S)
        draw(hand)
        past = figures(hand)
        assert past["status"][0] != "0 messages/s" and past["links"] != before["links"]
        assert any(rate for rate in past["links"].values()), "the past has its rates, recorded or not"
        hand.workbench.registry.trigger("follow_live")
        draw(hand)
        assert figures(hand) == before


def test_the_same_moment_live_scrubbed_branched_ended_and_opened(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench(record=True)
    controller = hand.workbench.controller
    hand.workbench.window.show_tab("charts")
    live: dict[int, dict[str, Any]] = {}
    for _ in range(4):
        hand.pass_time(3.7)
        live[controller.snapshot.time_ns] = figures(hand)

    def check(stage: str) -> None:
        for time_ns, there in live.items():
            controller.travel.to(time_ns)
            draw(hand)
            now = figures(hand)
            assert controller.snapshot.time_ns == time_ns
            assert {name: now[name] == there[name] for name in there} == dict.fromkeys(there, True), (stage, time_ns)

    hand.pass_time(2)
    check("scrubbed")
    folder = controller.source.folder
    assert folder is not None
    controller.branching.branch()

    def there() -> bool:
        controller.time.grant(0.01)
        return controller.time.background_tasks == 0

    hand.qtbot.waitUntil(there, timeout=20_000)
    draw(hand)
    last = max(live)
    assert controller.snapshot.time_ns == last
    assert figures(hand) == live[last], "a branch is the same up to its moment"
    hand.pass_time(1)
    controller.stop()
    check("a branch that has ended")
    controller.open_session(folder)
    reading = controller._reading
    assert reading is not None
    reading.thread.join(20)
    assert not reading.thread.is_alive()
    check("opened")
