"""The badge says where the session is, and that it cannot keep up with the speed that was asked for."""

from types import SimpleNamespace
from typing import Any

import pytest

from app.sessions.source import Standing
from app.shell.badge import badge, shown_badge
from broker_core.engine.runner import EngineStatus, Mode
from broker_core.observation.guard import Guard


def status(mode: Mode = Mode.RUNNING, behind_s: float = 0.0, speed: float = 1.0) -> EngineStatus:
    return EngineStatus(mode, speed, 0, behind_s, "")


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (status(), ("live", "LIVE")),
        (status(behind_s=0.4), ("live", "LIVE")),
        (status(behind_s=5.4), ("warning", "LIVE 1×, behind by 5.4 s")),
        (status(behind_s=4.0, speed=10), ("live", "LIVE")),
        (status(behind_s=75, speed=10), ("warning", "LIVE 10×, behind by 1 min 15 s")),
        (status(Mode.PAUSED), ("warning", "LIVE, PAUSED")),
    ],
)
def test_a_speed_that_is_not_held_is_not_told_as_held(found: EngineStatus, shown: tuple[str, str]) -> None:
    assert badge(found, stopped=False, live="LIVE")[:2] == shown


@pytest.mark.parametrize(
    ("found", "stopped", "shown"),
    [
        (status(), False, "BRANCH"),
        (status(behind_s=2), False, "BRANCH 1×, behind by 2.0 s"),
        (status(Mode.PAUSED), False, "BRANCH, PAUSED"),
        (status(), True, "BRANCH, STOPPED"),
        (status(Mode.FINISHED), True, "BRANCH, FINISHED"),
    ],
)
def test_a_branch_says_how_it_does_as_the_original_session(found: EngineStatus, stopped: bool, shown: str) -> None:
    controller: Any = SimpleNamespace(
        source=SimpleNamespace(standing=None, guarded=None, status=found),
        live=True,
        time=SimpleNamespace(stopped=stopped),
        branching=SimpleNamespace(origin="x", at_ns=42_000_000_000, rerunning=False),
    )
    look, word, tip, _lock = shown_badge(controller)
    assert (look, word) == ("branch", shown)
    assert "the same as the original session up to 00:42.000" in tip


@pytest.mark.parametrize(("time_s", "shown"), [(-5, "REPLAY -00:05"), (42, "REPLAY 00:42"), (4_500, "REPLAY 1:15:00")])
def test_the_past_is_told_with_its_time(time_s: int, shown: str) -> None:
    source, snapshot = SimpleNamespace(guarded=None), SimpleNamespace(time_ns=time_s * 1_000_000_000)
    controller: Any = SimpleNamespace(source=source, live=False, stored=None, snapshot=snapshot)
    assert shown_badge(controller)[:2] == ("replay", shown)


def test_the_end_says_how_to_go_on() -> None:
    told = ("STOPPED", "Shift+F8 goes on from here, Ctrl+R starts it again.")
    assert badge(status(), stopped=True, live="LIVE")[1:3] == told
    assert "Shift+F8" in badge(status(Mode.FINISHED), stopped=True, live="LIVE").tip


@pytest.mark.parametrize(
    "standing",
    [
        Standing("warning", "BETWEEN, cluster not seen for 4 s", "", "", stale=True),
        Standing("failure", "BETWEEN, DISTURBED", "", ""),
        Standing("attached", "ATTACHED kafka:9092", "", ""),
    ],
)
def test_how_long_a_cluster_stays_unlocked_is_always_in_sight(
    standing: Standing, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = Guard()
    controller: Any = SimpleNamespace(
        source=SimpleNamespace(standing=standing, guarded=SimpleNamespace(guard=guard)),
        live=True,
        stored=None,
        snapshot=SimpleNamespace(time_ns=0),
    )
    assert shown_badge(controller).word == standing.word + (", read-only" if standing.look == "attached" else "")
    assert shown_badge(controller).lock == "unlock"
    guard.unlock(["redrive"], 900.0)
    monkeypatch.setattr(Guard, "left_s", 899.9)
    for controller.live in (True, False):
        assert shown_badge(controller).word.endswith(", UNLOCKED 14:59")
        assert shown_badge(controller).lock == "lock"
    assert shown_badge(controller)[:2] == ("replay", "REPLAY 00:00, UNLOCKED 14:59")
    monkeypatch.undo()
    controller.source.guarded.guard = Guard(["redrive"])
    assert "UNLOCKED ∞" in shown_badge(controller).word
