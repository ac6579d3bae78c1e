"""The lesson on a cluster of one's own: the window attaches to what it starts, and each step can be done."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from app.environment.paths import find_scenario
from app.sessions import observed
from app.sessions.observed import ObservedSource
from app.shell.badge import shown_badge
from app.shell.workbench import Workbench
from broker_core.observation.kafka import pace
from broker_core.simulation.actions.alerts import SetAlert
from broker_core.simulation.actions.groups import MoveConsumer
from tests.app.conftest import Hand


def _shows(workbench: Workbench, tab: str) -> bool:
    return workbench.window.shown_tab() == tab


def test_all_ten_steps_are_done(
    open_workbench: Callable[..., Hand], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observed, "OWN_SPEED", 12.0)
    monkeypatch.setattr(pace, "MOST_SHARE", 0.5)
    path = tmp_path / "your-own-cluster.yaml"
    # Who leaves comes back too soon for a window that is slow.
    shipped = find_scenario("your-own-cluster").read_text("utf-8")
    path.write_text(re.sub(r".*move_consumer, consumer: billing-2.*\n", "", shipped), "utf-8")
    hand = open_workbench()
    workbench = hand.workbench
    controller, registry = workbench.controller, workbench.registry
    recent = workbench.settings.recent_addresses
    workbench.context.open_scenario(path)
    assert isinstance(controller.source, ObservedSource)
    assert controller.source.scenario is not None and controller.source.scenario.title == "Your own cluster"
    assert workbench.settings.recent_addresses == recent, "it is there for the lesson only"
    assert shown_badge(controller).look == "attached"
    lesson = controller.collectors.lesson

    def wait(done: Callable[[], object]) -> None:
        def look() -> None:
            workbench.draw()
            assert done()

        hand.qtbot.waitUntil(look, timeout=60_000)

    workbench.views.select("group:billing")
    for command in ("show_offsets", "show_in_flight", "show_dead_letters"):
        registry.trigger(command)
        wait(partial(_shows, workbench, command.removeprefix("show_")))
    wait(lambda: "billing-2" in {each.client for group in controller.source.latest.groups for each in group.members})
    cluster = controller.source.closing.__self__  # type: ignore[attr-defined]
    cluster._host.call(lambda _now: cluster._session.simulation.perform(MoveConsumer("billing-2", "")))
    wait(lambda: lesson.done[3])
    controller.travel.to(1)
    wait(lambda: controller.travel.looking_back)
    registry.trigger("follow_live")
    assert controller.live
    controller.perform(SetAlert("behind", 'lag("billing") > 100000'))
    wait(lambda: lesson.done[8])
    registry.triggered.emit("session_page")
    wait(lambda: all(lesson.done))
    dead = next(topic for topic in controller.source.latest.topics if topic.name == "orders.DLT")
    assert dead.messages_count >= 1
    controller.stop()
    assert shown_badge(controller).word == "STOPPED"
