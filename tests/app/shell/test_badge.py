"""The badge says where the session is, and that it cannot keep up with the speed that was asked for."""

from types import SimpleNamespace
from typing import Any

import pytest

from app.shell.badge import badge, shown_badge
from broker_core.engine.runner import EngineStatus, Mode


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
    assert badge(found, stopped=False)[:2] == shown


def test_a_branch_that_lags_says_so_too() -> None:
    controller: Any = SimpleNamespace(
        source=SimpleNamespace(standing=None),
        live=True,
        status=status(behind_s=2),
        stopped=False,
        rerunning=False,
        branched_from="x",
        branched_at_ns=42_000_000_000,
    )
    look, word, tip = shown_badge(controller)
    assert (look, word) == ("branch", "BRANCH 1×, behind by 2.0 s")
    assert "the same as the original session up to 00:42.000" in tip


def test_the_end_says_how_to_go_on() -> None:
    assert badge(status(), stopped=True)[1:] == ("STOPPED", "Shift+F8 goes on from here, Ctrl+R starts it again.")
    assert "Shift+F8" in badge(status(Mode.FINISHED), stopped=True).tip
