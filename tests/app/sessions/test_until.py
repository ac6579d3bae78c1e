"""Run until a condition is met: it stops exactly there, or says that it never was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.commands.session import HERE, NEW_SEED, SAME_SEED, SessionHandlers
from app.environment.paths import find_scenario
from app.sessions.run_until import RunUntil, why_no_condition
from broker_core.broker.occurrences import FIELDS
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.filters import parse
from broker_core.simulation import load_scenario
from broker_core.simulation.actions.clients import AddConsumer
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.simulation import Simulation
from broker_core.simulation.specs import Scheduled
from tests.app.conftest import Hand
from tests.app.dialogs import said
from tests.app.sessions.open_dialog import open_dialog
from widgets.dialogs.form import FormDialog


def simulated() -> tuple[Simulation, list[Event]]:
    path: Path = find_scenario("first-session")
    simulation = Simulation(load_scenario(path)[0], find_file=DataFiles(path))
    events: list[Event] = []
    simulation.events.attach(events.append)
    simulation.start()
    return simulation, events


def stopped_by(text: str, until_s: int = 60) -> tuple[RunUntil, Simulation, list[Event]]:
    simulation, events = simulated()
    task = RunUntil(simulation, parse(text, FIELDS), until_s * NS_PER_S)
    assert task.go_on(lambda: False)
    return task, simulation, events


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("kind = dead_lettered", lambda event: event.kind is EventKind.DEAD_LETTERED),
        ("~dlq", lambda event: event.kind is EventKind.DEAD_LETTERED),
        (
            'client = "builder-2" and attempt >= 2',
            lambda event: event.client == "builder-2" and (event.attempt or 0) > 1,
        ),
        ("time >= 00:12", lambda event: event.time_ns >= 12 * NS_PER_S),
        ("kind = fault or kind = nacked", lambda event: event.kind is EventKind.NACKED),
    ],
)
def test_it_stops_at_the_first_event_that_fits(text: str, fits: Callable[[Event], bool]) -> None:
    task, simulation, events = stopped_by(text)
    assert task.found is not None and fits(task.found)
    assert not any(fits(event) for event in events if event.seq < task.found.seq)
    # Nothing after the step that brought it has happened.
    assert {event.time_ns for event in events if event.seq >= task.found.seq} == {simulation.loop.now_ns}
    assert f"#{task.found.seq:,} " in task.summary(True)


def test_it_stops_when_the_state_fits() -> None:
    task, simulation, _ = stopped_by('lag > 80 and group = "indexers"')
    (group,) = [view for view in simulation.snapshot().groups if view.name == "indexers"]
    started = [simulation.broker.groups.commits.start("indexers", "commits", at.partition) for at in group.offsets]
    lags = [
        at.end_offset - (at.committed if at.committed is not None else start or 0)
        for at, start in zip(group.offsets, started, strict=True)
    ]
    # Several messages may come in one step.
    assert 80 < sum(lags) < 100 and task.found is not None
    task, simulation, _ = stopped_by("dead >= 2")
    assert simulation.snapshot().queues[0].dead == 2
    task, simulation, _ = stopped_by("in_flight = 4 and depth > 6")
    queue = simulation.snapshot().queues[0]
    assert queue.in_flight == 4 and queue.ready + queue.delayed + queue.in_flight == 7


def test_what_never_happens_comes_to_the_end_and_says_so() -> None:
    task, simulation, _ = stopped_by('topic = "nowhere"', until_s=5)
    assert task.found is None and simulation.loop.now_ns == 5 * NS_PER_S
    assert task.summary(True) == task.why_unmet() == "The condition was not met before the end."


def test_the_end_of_the_session_says_that_it_was_not_met(hand: Hand) -> None:
    controller = hand.workbench.controller
    hand.workbench.family(SessionHandlers).run_until('topic = "nowhere"')

    def ended() -> bool:
        controller.time.grant(0.05)
        controller.check()
        return controller.time.stopped

    hand.qtbot.waitUntil(ended, timeout=120_000)
    assert said(hand).startswith("The condition was not met before the end.")
    controller.restart()
    assert controller.why_unmet() == ""


def test_in_slots_it_stops_at_the_same_event() -> None:
    whole, _, _ = stopped_by("dead >= 2")
    simulation, _ = simulated()
    task = RunUntil(simulation, parse("dead >= 2", FIELDS), 60 * NS_PER_S)
    turns = 0

    def often() -> bool:
        nonlocal turns
        turns += 1
        return turns % 3 == 0

    while not task.go_on(often):
        pass
    assert task.found == whole.found


@pytest.mark.parametrize(("text", "why"), [("", "needed"), ("lagg > 3", "lag"), ("lag >", ""), ("lag > 3", None)])
def test_a_condition_that_cannot_be_read_says_why(text: str, why: str | None) -> None:
    assert (why_no_condition(text) == "") if why is None else why in why_no_condition(text) != ""


def test_the_dialog_grows_with_what_it_says(hand: Hand) -> None:
    hand.workbench.registry.trigger("run_until")
    dialog = open_dialog(hand.workbench.window, FormDialog)
    QApplication.processEvents()
    before = dialog.height()
    dialog.set_values({"condition": "payload = 3"})
    QApplication.processEvents()
    problem = dialog.problem
    needed = problem.heightForWidth(problem.width())
    assert needed > 2 * problem.fontMetrics().lineSpacing(), "it lists the fields"
    assert problem.height() >= needed and dialog.height() > before
    dialog.reject()


def test_the_dialog_runs_from_here_or_from_the_beginning(hand: Hand) -> None:
    workbench, controller = hand.workbench, hand.workbench.controller

    def finish() -> None:
        def there() -> bool:
            controller.time.grant(0.05)
            return not controller.time.moving

        hand.qtbot.waitUntil(there, timeout=20_000)
        hand.show()

    workbench.registry.trigger("run_until")
    dialog = open_dialog(workbench.window, FormDialog)
    dialog.set_values({"condition": "lagg > 3"})
    assert "did you mean lag" in dialog.problem.text() and not dialog.accept_button.isEnabled()
    dialog.set_values({"condition": "time >= 00:12 and kind = delivered"})
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    finish()
    assert 12 <= controller.snapshot.time_ns / NS_PER_S < 13
    assert "Stopped right after" in workbench.window.status.last_action.whole
    assert controller.live and not controller.time.moving
    seed = controller.source.seed
    workbench.registry.trigger("run_until")
    dialog = open_dialog(workbench.window, FormDialog)
    assert dialog.values() == {"condition": "time >= 00:12 and kind = delivered", "beginning": HERE}
    dialog.set_values({"condition": "~dlq", "beginning": NEW_SEED})
    hand.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    finish()
    assert controller.source.seed != seed and controller.snapshot.totals.dead_lettered >= 1


def test_a_condition_cannot_run_from_where_the_session_has_ended(hand: Hand) -> None:
    hand.workbench.controller.stop()
    hand.workbench.registry.trigger("run_until")
    dialog = open_dialog(hand.workbench.window, FormDialog)
    dialog.set_values({"condition": "~dlq"})
    assert dialog.values()["beginning"] == SAME_SEED and "ended" in dialog.note.text()
    dialog.close()


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ('lag("indexer") > 5', "indexer has no lag here; did you mean indexers?"),
        ('lag("nosuch") > 5', "nosuch has no lag here; there are auditors, builds, indexers and 1 more."),
        ("group = indexer", "group is never indexer; did you mean indexers?"),
        ("client = builder-9 or ~dlq", "client is never builder-9; did you mean builder-4?"),
        ("group = BUILDS", ""),
        ("group != indexer", ""),
        ("group = none and kind = published", ""),
    ],
)
def test_what_the_session_never_has_is_refused(hand: Hand, condition: str, why: str) -> None:
    hand.workbench.registry.trigger("run_until")
    dialog = open_dialog(hand.workbench.window, FormDialog)
    dialog.set_values({"condition": condition})
    assert dialog.problem.text() == why and dialog.accept_button.isEnabled() is not bool(why)
    dialog.reject()


def test_what_the_schedule_makes_and_what_other_programs_bring_is_waited_for(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = hand.workbench.family(SessionHandlers)
    source = hand.simulated
    makes = Scheduled(at_s=5, do=AddConsumer("late-1", "later"))
    monkeypatch.setattr(source, "scenario", msgspec.structs.replace(source.scenario, schedule=(makes,)))
    assert not session._why_not_until('members("later") > 0 and client = late-1')
    assert session._why_not_until("client = mine")
    monkeypatch.setattr(type(source), "outside_clients", True)
    assert not session._why_not_until("client = mine")


def test_space_stops_it(hand: Hand) -> None:
    hand.workbench.family(SessionHandlers).run_until('topic = "nowhere"')
    hand.workbench.controller.time.grant(0.001)
    hand.workbench.controller.time.pause()
    hand.qtbot.waitUntil(lambda: not hand.workbench.controller.time.moving, timeout=5_000)
    assert not hand.workbench.controller.time.stopped


def test_what_is_not_there_is_told_and_waited_for(hand: Hand) -> None:
    """A group may come yet; a name that is mistyped does not."""
    hand.workbench.family(SessionHandlers).run_until('lag("indexer") > 5')
    assert said(hand) == (
        'Running until lag("indexer") > 5; Space stops it. indexer has no lag here; did you mean indexers?'
    )
