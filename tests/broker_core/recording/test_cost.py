"""What a session cost is noted beside it."""

from __future__ import annotations

import json
from pathlib import Path

from app.environment.paths import shipped_scenarios
from broker_core.clock import NS_PER_S
from broker_core.recording.keyframes import Cadence
from broker_core.recording.live_session import Cost, LiveSession
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.scenario import load_scenario


def test_a_session_notes_what_the_process_spent_on_it(tmp_path: Path) -> None:
    scenario = next(path for path in shipped_scenarios() if path.stem == "hot-key")
    parsed, text = load_scenario(scenario)
    live = LiveSession(parsed, text, folder=tmp_path / "session", find_file=DataFiles(scenario))
    live.simulation.run(1.0)
    live.cost.add(engine_s=0.25)
    live.close(finished=False)
    noted = json.loads((tmp_path / "session" / "session.json").read_text())["extra"]["cost"]
    assert noted["engine_s"] == 0.25
    assert noted["process_cpu_s"] > 0 and 0 < noted["wall_s"] < 60
    assert noted["peak_memory_bytes"] > 1_000_000


def test_figures_of_others_are_added() -> None:
    cost = Cost()
    cost.add(engine_s=1.0, frames_s=2.0)
    cost.add(engine_s=3.0)
    found = cost.figures()
    assert (found["engine_s"], found["frames_s"]) == (3.0, 2.0) and found["wall_s"] >= 0


def test_keyframes_cost_a_bounded_share_of_the_time() -> None:
    clock = Cadence()
    assert clock.due(0, 0)
    clock.took(0, 0, cost_s=3600.0)
    assert not clock.due(100 * NS_PER_S, 1_000_000)
