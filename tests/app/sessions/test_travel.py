"""Going back in a session, branching from its past, and opening what was recorded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.sessions.session_controller import Player
from app.shell.paths import find_scenario
from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError
from broker_core.events import Event
from broker_core.recording.reader import open_session
from broker_core.simulation.actions import MoveConsumer
from tests.broker_core.recording.test_fold import differences, told
from tests.broker_core.recording.test_recorder import SAMPLES


@pytest.fixture(autouse=True)
def _keyframes_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker_core.recording.keyframes.MOST_SHARE", 1e9)


@pytest.fixture
def player(qtbot: QtBot, tmp_path: Path) -> Iterator[Player]:
    """First session at 00:20, recorded."""
    player = Player(sessions=tmp_path / "sessions")
    player.open(find_scenario("first-session"))
    for tenth in range(1, 201):
        # In small steps, as between frames, so that keyframes are taken.
        player.run_until(tenth * NS_PER_S // 10)
        assert player.running is not None
        player.running.look()
        if tenth == 120:
            player.perform(MoveConsumer("indexer-4", "indexers"))
    yield player
    player.close()


def arrive(player: Player, qtbot: QtBot) -> None:
    """What was asked for is shown."""
    qtbot.waitUntil(lambda: not player.travel.busy, timeout=10_000)


def catch_up(player: Player, qtbot: QtBot) -> None:
    """A branch has come to its moment."""

    def there() -> bool:
        player.grant(0.05)
        return not player.moving

    qtbot.waitUntil(there, timeout=20_000)
    assert player.running is not None
    player.ask(lambda simulation: simulation.loop.now_ns).result(10)


def test_a_moment_of_the_past_is_shown_and_the_present_comes_back(player: Player, qtbot: QtBot) -> None:
    present = player.snapshot
    player.travel.to(12 * NS_PER_S)
    arrive(player, qtbot)
    assert player.snapshot.time_ns == 12 * NS_PER_S and not player.live
    assert player.snapshot.totals.published < present.totals.published
    player.travel.by(-2 * NS_PER_S)
    player.travel.by(-NS_PER_S)
    arrive(player, qtbot)
    assert player.snapshot.time_ns == 9 * NS_PER_S
    player.run_until(21 * NS_PER_S)
    assert player.snapshot.time_ns == 9 * NS_PER_S and player.end_ns == 21 * NS_PER_S
    player.travel.to_present()
    assert player.live and player.snapshot.time_ns == 21 * NS_PER_S


def test_going_beyond_the_end_follows_live(player: Player, qtbot: QtBot) -> None:
    player.travel.by(-5 * NS_PER_S)
    arrive(player, qtbot)
    player.travel.by(10 * NS_PER_S)
    assert player.live


def test_steps_go_from_event_to_event(player: Player, qtbot: QtBot) -> None:
    last = player.snapshot.events
    player.travel.step(-1, player.snapshot)
    arrive(player, qtbot)
    assert player.snapshot.events == last - 1
    player.step()
    arrive(player, qtbot)
    assert player.snapshot.events == last
    assert isinstance(player.travel.shown_event, Event)
    assert player.travel.shown_event.seq == last - 1


def test_the_past_plays_and_stops_at_its_end(player: Player, qtbot: QtBot) -> None:
    player.travel.to(18 * NS_PER_S)
    arrive(player, qtbot)
    player.run(10.0)
    assert player.moving
    qtbot.waitUntil(lambda: not player.moving, timeout=10_000)
    arrive(player, qtbot)
    assert player.snapshot.time_ns == 20 * NS_PER_S and not player.live


def test_a_branch_is_the_same_up_to_its_moment_and_live_from_there(player: Player, qtbot: QtBot) -> None:
    first = player.folder
    assert first is not None
    player.travel.to(15 * NS_PER_S)
    arrive(player, qtbot)
    moment = told(player.snapshot)
    player.branch()
    catch_up(player, qtbot)
    assert player.live and player.end_ns == 15 * NS_PER_S
    assert differences(moment, told(player.snapshot)) == []
    assert player.folder != first and first.name in player.branched_from
    player.perform(MoveConsumer("indexer-1", ""))
    player.run_until(17 * NS_PER_S)
    folder = player.folder
    player.close()
    assert folder is not None
    extra = open_session(folder).metadata.extra
    assert extra["branched_from"]["at_s"] == 15 and extra["branched_from"]["name"] == first.name
    assert [action["action"] for _, action in open_session(folder).actions] == ["move_consumer"] * 2
    before = [event for event in open_session(first).events() if event.seq < moment["events"]]
    again = [event for event in open_session(folder).events() if event.seq < moment["events"]]
    assert again == before


def test_a_recorded_session_opens_in_its_past_and_branches(player: Player, qtbot: QtBot) -> None:
    folder = player.folder
    assert folder is not None
    player.stop()
    player.open_session(folder, 7 * NS_PER_S)
    arrive(player, qtbot)
    assert not player.live and player.snapshot.time_ns == 7 * NS_PER_S and player.end_ns == 20 * NS_PER_S
    qtbot.waitUntil(lambda: player.feeds.timeline.last is not None, timeout=10_000)
    player.branch()
    catch_up(player, qtbot)
    assert player.live and player.end_ns == 7 * NS_PER_S


def test_a_branch_that_is_stopped_on_its_way_is_live_from_there(player: Player, qtbot: QtBot) -> None:
    said: list[str] = []
    player.said.connect(said.append)
    player.branch()
    player.grant(0.001)
    player.pause()
    qtbot.waitUntil(lambda: not player.moving, timeout=5_000)
    assert player.live and player.end_ns < 20 * NS_PER_S
    assert "stopped before it came to 00:20" in said[-1]


def test_a_branch_at_an_event_stops_right_after_it(player: Player, qtbot: QtBot) -> None:
    player.travel.to_event(700)
    arrive(player, qtbot)
    player.branch()
    catch_up(player, qtbot)
    assert player.snapshot.events == 701


def test_an_unrecorded_session_branches_too(qtbot: QtBot) -> None:
    player = Player(record=False)
    player.open(find_scenario("first-session"))
    player.run_until(5 * NS_PER_S)
    events = player.snapshot.events
    player.branch()
    catch_up(player, qtbot)
    assert player.live and player.snapshot.events == events
    player.close()


def test_a_session_with_outside_clients_is_replayed_not_branched(player: Player, qtbot: QtBot) -> None:
    assert player.running is not None
    player.running.let_outside_clients_in()
    with pytest.raises(BrokerError, match="not branched"):
        player.branch()
    folder = player.folder
    assert folder is not None
    player.stop()
    player.open_session(folder)
    with pytest.raises(BrokerError, match="not run again"):
        player.branch()


def test_a_session_of_version_1_and_one_that_is_damaged_open_as_far_as_they_go(
    player: Player, qtbot: QtBot, tmp_path: Path
) -> None:
    stored = player.open_session(SAMPLES / "version-1", 3 * NS_PER_S)
    arrive(player, qtbot)
    assert player.snapshot.totals.published and not stored.problems
    assert "scenario cannot be run again" in stored.why_not_again()
    shutil.copytree(SAMPLES / "version-2", tmp_path / "damaged")
    part = tmp_path / "damaged" / "messages" / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:-100])
    stored = player.open_session(tmp_path / "damaged", 3 * NS_PER_S)
    arrive(player, qtbot)
    assert any("truncated" in problem for problem in stored.problems)
    assert player.snapshot.events > 0


def test_what_is_no_session_leaves_the_present_one(player: Player, tmp_path: Path) -> None:
    with pytest.raises(BrokerError):
        player.open_session(tmp_path)
    assert player.live


def test_another_seed_gives_another_run(player: Player) -> None:
    seed = player.seed
    player.restart(new_seed=True)
    assert player.seed != seed
    player.restart()
    assert player.live
