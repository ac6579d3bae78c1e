"""Every bundled scenario gives the events that it gave on 2026-11-22: a change of the code does not change a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.broker_core.simulation.session_run import SessionRun

FROZEN: dict[str, str] = json.loads(Path(__file__).with_name("digests.json").read_text(encoding="utf-8"))


def test_every_scenario_is_frozen() -> None:
    import resources

    assert sorted(FROZEN) == sorted(path.stem for path in resources.path("scenarios").glob("*.yaml"))


@pytest.mark.parametrize("name", FROZEN)
def test_the_same_seed_gives_the_same_digest(name: str) -> None:
    assert SessionRun(name).digest.hex == FROZEN[name]
