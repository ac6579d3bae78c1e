"""Large redrives, part by part, followed by a job; the controller is a stand-in."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal

from app.commands import redrives
from app.commands.redrives import Redrives
from app.sessions.jobs import Work
from broker_core.errors import BrokerError
from broker_core.simulation.actions.dead_letters import Redrive
from broker_core.simulation.handlers import Performed


class Controller(QObject):
    """Keeps what it is to perform until it is told how that ended."""

    acted = Signal(object, str)
    refused = Signal(str, str, bool)

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[Any, str]] = []
        self.source: Any = SimpleNamespace(ask=lambda _request: Future(), perform=lambda _action: Future())

    def why_not(self, _does: object = None) -> str:
        return ""

    def perform(self, action: Any, source: str = "") -> None:
        self.asked.append((action, source))

    def do(self, *, refused: bool = False) -> int:
        """The next action ends; how many letters it was for."""
        action, source = self.asked.pop(0)
        if refused:
            self.refused.emit("there is no such letter", source, False)
        else:
            self.acted.emit(Performed(action, "", None), source)
        return len(action.offsets)


class Setup:
    def __init__(self) -> None:
        self.controller = Controller()
        self.jobs: list[tuple[str, Any, Any]] = []
        jobs = SimpleNamespace(work=lambda *job: self.jobs.append(job))
        context: Any = SimpleNamespace(controller=self.controller, jobs=jobs, show_message=lambda _text: None)
        self.redrives = Redrives(context)

    def followed(self, job: int = 0) -> tuple[list[tuple[float, str]], str]:
        """What the job reports until all is done, and its last sentence; an action ends after each report."""
        _title, watch, describe = self.jobs[job]
        reports: list[tuple[float, str]] = []

        def report(fraction: float, message: str) -> None:
            reports.append((round(fraction, 2), message))
            self.controller.do()

        return reports, describe(watch(Work(report)))


@pytest.fixture
def setup(qapp, monkeypatch):
    monkeypatch.setattr(redrives, "LOOK_S", 0.0)
    monkeypatch.setattr(redrives, "REPLY_TIMEOUT_S", 0.0)
    return Setup()


def letters(count: int) -> dict[str, tuple[int, ...]]:
    return {"builds": tuple(range(count))}


def test_what_is_added_to_a_large_redrive_is_part_of_its_job(setup):
    setup.redrives.add(letters(1_000))
    setup.redrives.add(letters(1_000))
    assert [title for title, *_ in setup.jobs] == ["Redrive of dead letters: 1,000"]
    reports, end = setup.followed()
    assert reports == [(0.0, "0 of 2,000"), (0.25, "500 of 2,000"), (0.5, "1,000 of 2,000"), (0.75, "1,500 of 2,000")]
    assert end.startswith("The redrive of 2,000 has finished")


def test_a_redrive_at_a_rate_starts_no_job_for_parts_that_wait(setup):
    setup.redrives.add(letters(1_500))
    setup.redrives.add(letters(2), rate_per_s=1.0)
    assert len(setup.jobs) == 1 and len(setup.controller.asked) == 2


def test_a_stopped_redrive_says_how_many_were_redriven(setup):
    setup.redrives.add(letters(1_500))
    assert setup.controller.do() == 500
    setup.redrives.stop()
    assert setup.redrives.why_no_stop() == "", "a part is under way"
    reports, end = setup.followed()
    assert reports == [(0.33, "500 of 1,500")]
    assert end.startswith("The redrive of 1,000 has finished") and not setup.controller.asked
    assert setup.redrives.why_no_stop()


def test_parts_that_are_refused_are_not_counted_and_what_others_refuse_ends_no_part(setup):
    setup.redrives.add(letters(1_500))
    setup.controller.refused.emit("a topic of another's action is gone", "produce", False)
    assert len(setup.controller.asked) == 1
    for _ in range(3):
        setup.controller.do(refused=True)
    reports, end = setup.followed()
    assert not reports and end.startswith("The redrive of 0 has finished")


def test_a_broker_that_does_not_reply_ends_the_job_with_a_sentence(setup):
    setup.controller.acted.emit(Performed(Redrive(queue="builds", offsets=[1, 2], rate_per_s=1.0), "", None), "")
    assert setup.redrives.why_no_stop() == ""
    with pytest.raises(BrokerError, match="whether the redrive of builds goes on is not known"):
        setup.followed()
    assert setup.redrives.why_no_stop() == "No redrive is under way."


def test_what_is_added_after_a_stop_follows_the_part_that_was_under_way(setup):
    setup.redrives.add(letters(1_000))
    setup.redrives.stop()
    setup.redrives.add({"other": tuple(range(7))})
    assert setup.redrives.why_no_stop() == "" and len(setup.controller.asked) == 1
    assert setup.followed() == ([], "The redrive of 0 has finished; the view Redriven lists the results.")
    reports, end = setup.followed(job=1)
    assert reports == [(0.0, "0 of 507"), (0.99, "500 of 507")] and end.startswith("The redrive of 507 has finished")
    assert setup.redrives.why_no_stop() and not setup.controller.asked
