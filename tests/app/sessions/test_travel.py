"""Going back in a session, branching from its past, and opening what was recorded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.environment.paths import find_scenario
from app.sessions.session_controller import SessionController
from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError
from broker_core.events import Event
from broker_core.recording.reader import open_session
from broker_core.simulation.actions.groups import MoveConsumer
from tests.broker_core.recording.test_fold import differences, told
from tests.broker_core.recording.test_recorder import SAMPLES

pytestmark = pytest.mark.usefixtures("keyframe_each_second")


@pytest.fixture
def controller(qtbot: QtBot, tmp_path: Path) -> Iterator[SessionController]:
    """First session at 00:20, recorded."""
    controller = SessionController(sessions=tmp_path / "sessions")
    controller.open(find_scenario("first-session"))
    for tenth in range(1, 201):
        # In small steps, as between frames, so that keyframes are taken.
        controller.time.run_until(tenth * NS_PER_S // 10)
        assert controller.simulated is not None
        controller.simulated.session.take_due_keyframe()
        if tenth == 120:
            controller.perform(MoveConsumer("indexer-4", "indexers"))
    yield controller
    controller.close()


def arrive(controller: SessionController, qtbot: QtBot) -> None:
    """What was asked for is shown."""
    qtbot.waitUntil(lambda: not controller.travel.busy, timeout=10_000)


def catch_up(controller: SessionController, qtbot: QtBot) -> None:
    """A branch has come to its moment."""

    def there() -> bool:
        controller.time.grant(0.05)
        return not controller.time.moving

    qtbot.waitUntil(there, timeout=20_000)
    assert controller.simulated is not None
    controller.simulated.look(lambda simulation: simulation.loop.now_ns).result(10)


def test_a_moment_of_the_past_is_shown_and_the_present_comes_back(controller: SessionController, qtbot: QtBot) -> None:
    present = controller.snapshot
    controller.travel.to(12 * NS_PER_S)
    arrive(controller, qtbot)
    assert controller.snapshot.time_ns == 12 * NS_PER_S and not controller.live
    assert controller.snapshot.totals.published < present.totals.published
    controller.travel.by(-2 * NS_PER_S)
    controller.travel.by(-NS_PER_S)
    arrive(controller, qtbot)
    assert controller.snapshot.time_ns == 9 * NS_PER_S
    controller.time.run_until(21 * NS_PER_S)
    assert controller.snapshot.time_ns == 9 * NS_PER_S and controller.source.end_ns == 21 * NS_PER_S
    controller.travel.to_present()
    assert controller.live and controller.snapshot.time_ns == 21 * NS_PER_S


def test_going_beyond_the_end_follows_live(controller: SessionController, qtbot: QtBot) -> None:
    controller.travel.by(-5 * NS_PER_S)
    arrive(controller, qtbot)
    controller.travel.by(10 * NS_PER_S)
    assert controller.live


def test_steps_go_from_event_to_event(controller: SessionController, qtbot: QtBot) -> None:
    last = controller.snapshot.events
    controller.travel.step(-1)
    arrive(controller, qtbot)
    assert controller.snapshot.events == last - 1
    controller.time.step()
    arrive(controller, qtbot)
    assert controller.snapshot.events == last
    assert isinstance(controller.travel.shown_event, Event)
    assert controller.travel.shown_event.seq == last - 1


def test_steps_count_from_the_event_that_was_asked_for_also_while_it_is_not_shown_yet(
    controller: SessionController, qtbot: QtBot
) -> None:
    last = controller.snapshot.events
    for _ in range(3):
        controller.travel.step(-1)
    arrive(controller, qtbot)
    assert controller.snapshot.events == last - 3
    controller.travel.step(1)
    controller.travel.to(15 * NS_PER_S)
    arrive(controller, qtbot)
    there = controller.snapshot.events
    controller.travel.step(1)
    arrive(controller, qtbot)
    assert controller.snapshot.events == there + 1


def test_quick_steps_stop_at_the_last_event(controller: SessionController, qtbot: QtBot) -> None:
    last = controller.snapshot.events
    controller.travel.step(-2)
    arrive(controller, qtbot)
    for _ in range(5):
        controller.travel.step(1)
    controller.travel.step(-1)
    arrive(controller, qtbot)
    assert controller.snapshot.events == last - 1
    for _ in range(5):
        controller.travel.step(1)
    arrive(controller, qtbot)
    event = controller.travel.shown_event
    assert event is not None and event.seq == last - 1


def test_the_past_plays_and_stops_at_its_end(controller: SessionController, qtbot: QtBot) -> None:
    controller.travel.to(18 * NS_PER_S)
    arrive(controller, qtbot)
    controller.time.run(10.0)
    assert controller.time.moving
    qtbot.waitUntil(lambda: not controller.time.moving, timeout=10_000)
    arrive(controller, qtbot)
    assert controller.snapshot.time_ns == 20 * NS_PER_S and not controller.live


def test_a_branch_is_the_same_up_to_its_moment_and_live_from_there(controller: SessionController, qtbot: QtBot) -> None:
    first = controller.source.folder
    assert first is not None
    controller.travel.to(15 * NS_PER_S)
    arrive(controller, qtbot)
    moment = told(controller.snapshot)
    controller.branching.branch()
    catch_up(controller, qtbot)
    assert controller.live and controller.source.end_ns == 15 * NS_PER_S
    assert differences(moment, told(controller.snapshot)) == []
    assert controller.source.folder != first and first.name in controller.branching.origin
    controller.perform(MoveConsumer("indexer-1", ""))
    controller.time.run_until(17 * NS_PER_S)
    folder = controller.source.folder
    controller.close()
    assert folder is not None
    extra = open_session(folder).metadata.extra
    assert extra["branched_from"]["at_s"] == 15 and extra["branched_from"]["name"] == first.name
    assert [action["action"] for _, action in open_session(folder).actions] == ["move_consumer"] * 2
    before = [event for event in open_session(first).index.events() if event.seq < moment["events"]]
    again = [event for event in open_session(folder).index.events() if event.seq < moment["events"]]
    assert again == before


def test_a_recorded_session_opens_in_its_past_and_branches(controller: SessionController, qtbot: QtBot) -> None:
    folder = controller.source.folder
    assert folder is not None
    controller.stop()
    controller.open_session(folder, 7 * NS_PER_S)
    arrive(controller, qtbot)
    assert (
        not controller.live
        and controller.snapshot.time_ns == 7 * NS_PER_S
        and controller.source.end_ns == 20 * NS_PER_S
    )
    qtbot.waitUntil(lambda: bool(controller.collectors.series.names("published")), timeout=10_000)
    controller.branching.branch()
    catch_up(controller, qtbot)
    assert controller.live and controller.source.end_ns == 7 * NS_PER_S


def test_a_branch_that_is_stopped_on_its_way_is_live_from_there(controller: SessionController, qtbot: QtBot) -> None:
    said: list[str] = []
    controller.reported.connect(said.append)
    controller.branching.branch()
    controller.time.grant(0.001)
    controller.time.pause()
    qtbot.waitUntil(lambda: not controller.time.moving, timeout=5_000)
    assert controller.live and controller.source.end_ns < 20 * NS_PER_S
    assert "stopped before it reached 00:20" in said[-1]


def test_a_branch_at_an_event_stops_right_after_it(controller: SessionController, qtbot: QtBot) -> None:
    controller.travel.to_event(700)
    arrive(controller, qtbot)
    controller.branching.branch()
    catch_up(controller, qtbot)
    assert controller.snapshot.events == 701


def test_an_unrecorded_session_branches_too(qtbot: QtBot) -> None:
    controller = SessionController(record=False)
    controller.open(find_scenario("first-session"))
    controller.time.run_until(5 * NS_PER_S)
    events = controller.snapshot.events
    controller.branching.branch()
    catch_up(controller, qtbot)
    assert controller.live and controller.snapshot.events == events
    controller.close()


def test_a_session_with_outside_clients_is_replayed_not_branched(controller: SessionController, qtbot: QtBot) -> None:
    assert controller.simulated is not None
    controller.simulated.session.let_outside_clients_in()
    with pytest.raises(BrokerError, match="not branched"):
        controller.branching.branch()
    folder = controller.source.folder
    assert folder is not None
    controller.stop()
    controller.open_session(folder)
    with pytest.raises(BrokerError, match="not rerun"):
        controller.branching.branch()


def test_a_sample_and_one_that_is_damaged_open_as_far_as_they_go(
    controller: SessionController, qtbot: QtBot, tmp_path: Path
) -> None:
    stored = controller.open_session(SAMPLES / "version-2", 3 * NS_PER_S)
    arrive(controller, qtbot)
    assert controller.snapshot.totals.published and not stored.problems
    assert "scenario cannot be run again" in stored.why_no_branch()
    shutil.copytree(SAMPLES / "version-2", tmp_path / "damaged")
    part = tmp_path / "damaged" / "messages" / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:-100])
    stored = controller.open_session(tmp_path / "damaged", 3 * NS_PER_S)
    arrive(controller, qtbot)
    assert any("truncated" in problem for problem in stored.problems)
    assert controller.snapshot.events > 0


def test_what_is_no_session_leaves_the_present_one(controller: SessionController, tmp_path: Path) -> None:
    with pytest.raises(BrokerError):
        controller.open_session(tmp_path)
    assert controller.live


def test_another_seed_gives_another_run(controller: SessionController) -> None:
    seed = controller.source.seed
    controller.restart(new_seed=True)
    assert controller.source.seed != seed
    controller.restart()
    assert controller.live
