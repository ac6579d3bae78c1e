"""Going on past the end of a scenario: before it, after it, and where other programs take part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.sessions.session_controller import SessionController
from app.shell.badge import shown_badge
from broker_core.clock import NS_PER_S
from broker_core.engine.runner import Mode
from broker_core.simulation.actions.clients import SetProducerRate
from broker_core.simulation.actions.dead_letters import Redrive
from broker_core.snapshots import Snapshot
from tests.app.conftest import Hand

SHORT = """\
title: Short
about: Every job fails.
until_s: 6
queues: [{name: jobs, config: {max_attempts: 1}}]
producers: [{name: boss, to: jobs, arrivals: {kind: rate, per_s: 2}}]
workers: [{name: hand, queue: jobs, failures: [{cause: bad luck, rate: 1}]}]
"""


@pytest.fixture
def short(open_workbench: Callable[..., Hand], tmp_path: Path) -> Hand:
    """The short scenario, at 0."""
    path = tmp_path / "short.yaml"
    path.write_text(SHORT, encoding="utf-8")
    hand = open_workbench(record=True)
    hand.workbench.controller.open(path)
    hand.show()
    return hand


def run_while(hand: Hand, condition: Callable[[SessionController], bool]) -> None:
    """Let the engine work in slots, as frames do, for as long as that holds."""

    def ended() -> bool:
        hand.workbench.controller.time.grant(0.02)
        QApplication.processEvents()
        hand.workbench.draw()
        return not condition(hand.workbench.controller)

    hand.qtbot.waitUntil(ended, timeout=20_000)


def dead(hand: Hand) -> int:
    return sum(queue.dead for queue in hand.workbench.controller.snapshot.queues)


def test_after_the_end_it_goes_on_from_there_and_a_redrive_is_possible(short: Hand) -> None:
    controller, registry = short.workbench.controller, short.workbench.registry
    controller.time.express()
    run_while(short, lambda controller: not controller.time.stopped)
    assert controller.source.end_ns == 6 * NS_PER_S
    at_end, folder = dead(short), controller.source.folder
    assert at_end > 8
    assert registry.reason("redrive_all")
    assert registry.trigger("continue"), registry.reason("continue")
    run_while(short, lambda controller: controller.time.background_tasks > 0)
    controller.time.pause()
    short.show()
    assert controller.source.folder != folder, "what was recorded stays as it is"
    assert controller.source.end_ns >= 6 * NS_PER_S
    assert dead(short) >= at_end
    controller.perform(Redrive(queue="jobs", offsets=[0]))
    short.show()
    assert controller.snapshot.totals.redriven == 1
    short.pass_time(60)
    assert controller.source.end_ns > 60 * NS_PER_S
    assert controller.source.status.mode is not Mode.FINISHED and not controller.time.stopped
    assert registry.reason("continue") == "The session is already continuing past its end."


def test_before_the_end_it_has_no_end_from_then_on(short: Hand) -> None:
    controller = short.workbench.controller
    short.pass_time(2)
    assert short.workbench.registry.trigger("continue")
    controller.time.express()
    run_while(short, lambda controller: controller.source.end_ns < 20 * NS_PER_S)
    assert not controller.time.stopped
    controller.stop()
    assert controller.time.stopped
    assert "was stopped" in short.workbench.window.status.last_action.whole


def test_a_session_that_was_stopped_goes_on_from_there_and_ends_with_its_scenario(short: Hand) -> None:
    controller, window = short.workbench.controller, short.workbench.window
    short.pass_time(2.3)
    controller.perform(SetProducerRate("boss", 5))
    short.show()
    published = controller.snapshot.totals.published
    controller.stop()
    assert "Shift+F8 goes on from here" in window.status.last_action.whole
    short.workbench.draw()
    assert "Shift+F8" in window.toolbar.badge.toolTip()
    assert short.workbench.registry.trigger("continue"), short.workbench.registry.reason("continue")
    run_while(short, lambda controller: controller.time.background_tasks > 0)
    assert "continues from 00:02.300, where it was stopped" in window.status.last_action.whole
    controller.time.pause()
    short.show()
    assert not controller.time.stopped and controller.snapshot.totals.published >= published
    assert shown_badge(controller).look != "branch", "it is the same session, not another one"
    controller.time.express()
    run_while(short, lambda controller: not controller.time.stopped)
    assert controller.source.end_ns == 6 * NS_PER_S and controller.time.passed_end_ns is None


def test_nothing_can_be_continued_that_has_not_begun(short: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = short.workbench.controller
    controller.stop()
    assert controller.branching.at_end is not None
    monkeypatch.setattr(controller.branching, "at_end", Snapshot(0, 0))
    assert "start it again" in short.workbench.registry.reason("continue")


def test_the_timeline_marks_the_end_that_was_passed(short: Hand) -> None:
    controller, timeline = short.workbench.controller, short.workbench.window.timeline
    controller.time.express()
    run_while(short, lambda controller: not controller.time.stopped)
    assert timeline.facts.scenario_end_ns is None
    assert short.workbench.registry.trigger("continue")
    run_while(short, lambda controller: controller.time.background_tasks > 0)
    assert short.workbench.window.toolbar.property("mode") == "live"
    short.pass_time(6)
    assert timeline.facts.scenario_end_ns == 6 * NS_PER_S
    assert "The end of the scenario" in timeline.tip_at(timeline.shape.x_of(6 * NS_PER_S))
    assert "The end of the scenario" not in timeline.tip_at(timeline.shape.x_of(3 * NS_PER_S))


def test_a_branch_that_is_continued_stays_a_branch(short: Hand) -> None:
    controller, registry = short.workbench.controller, short.workbench.registry
    short.pass_time(3)
    assert registry.trigger("branch")
    run_while(short, lambda controller: controller.time.background_tasks > 0)
    controller.time.express()
    run_while(short, lambda controller: not controller.time.stopped)
    assert registry.trigger("continue")
    run_while(short, lambda controller: controller.time.background_tasks > 0)
    short.show()
    assert shown_badge(controller).look == "branch" and controller.branching.at_ns == 3 * NS_PER_S
    assert short.workbench.window.timeline.facts.branch_ns == 3 * NS_PER_S


def test_with_other_programs_it_ends_only_when_a_person_says_so(short: Hand) -> None:
    controller, hint = short.workbench.controller, short.workbench.window.hint
    host = controller.host(1)
    assert host is not None
    controller.time.express()
    run_while(short, lambda controller: controller.source.end_ns < 6 * NS_PER_S)
    controller.time.pause()
    short.show()
    assert not controller.time.stopped
    assert hint.isVisible() and "The scenario has ended" in hint.sentence.text()
    host.close()
    short.qtbot.mouseClick(hint.offer, Qt.MouseButton.LeftButton)
    assert controller.time.stopped


def test_a_branch_past_the_end_of_the_scenario_is_live(short: Hand) -> None:
    controller = short.workbench.controller
    assert short.workbench.registry.trigger("continue")
    controller.time.express()
    run_while(short, lambda controller: controller.source.end_ns < 20 * NS_PER_S)
    controller.time.pause()
    controller.travel.to(10 * NS_PER_S)
    short.wait_until(lambda: controller.travel.snapshot is not None)
    assert short.workbench.registry.trigger("branch"), short.workbench.registry.reason("branch")
    run_while(short, lambda controller: controller.time.background_tasks > 0)
    short.show()
    assert controller.branching.at_ns == 10 * NS_PER_S and not controller.time.stopped
    short.pass_time(3)
    assert controller.source.end_ns > 12 * NS_PER_S and controller.source.status.mode is not Mode.FINISHED
