"""Promise 18: the same scenario, seed and actions give the same events, to the byte, in any process."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import resources
from broker_core.errors import BrokerError
from broker_core.simulation import Scenario, Simulation, load_scenario
from broker_core.simulation.actions.dead_letters import Redrive
from broker_core.simulation.actions.faults import Crash, DropHeartbeats, FillDisk, JumpClock, Pause, SlowDown
from broker_core.simulation.actions.groups import MoveConsumer
from broker_core.simulation.replay import EventDigest, RecordedAction, recorded_action
from tests.broker_core.simulation.rerun import rerun

ROOT = Path(__file__).parents[3]


def sample(name: str) -> Path:
    return resources.path("sample_data", name)


def first_session() -> Scenario:
    return load_scenario(resources.path("scenarios", "first-session.yaml"))[0]


def live_run(until_s: float = 60) -> tuple[str, list[str]]:
    """A run as a window drives it: uneven slots, each cut off after some steps, actions in between.

    Gives the digest of its events and what a recording keeps of the actions, as JSON.
    """
    simulation = Simulation(first_session(), find_file=sample)
    digest = EventDigest(simulation.events)
    kept: list[str] = []
    simulation.on_action(lambda time_ns, action: kept.append(json.dumps({"time_ns": time_ns, "action": action})))
    simulation.start()
    slots = random.Random(5)
    wanted = iter(
        [
            MoveConsumer("indexer-4", "indexers"),
            Crash("indexer-2", 7.5),
            Pause("builder-1", 5),
            MoveConsumer("auditor-1", "new-group"),
            SlowDown("mailer-1", 4, 10),
            DropHeartbeats("auditor-2", 9),
            FillDisk(2),
            JumpClock(-86_400),
            "redrive",
            MoveConsumer("indexer-1", ""),
        ]
    )
    loop = simulation.loop
    time_s = 0.0
    while time_s < until_s:
        time_s = min(until_s, time_s + slots.uniform(0.01, 0.6))
        target_ns = int(time_s * 1e9)
        for _ in range(slots.randrange(5, 60)):
            if not loop.run_next(target_ns):
                loop.advance_to(target_ns)
                break
        if time_s > 12 and slots.random() < 0.15:
            action = next(wanted, None)
            if action == "redrive":
                letters = simulation.snapshot().queues[0].dead_letters
                action = Redrive(queue="builds", offsets=[letter.offset for letter in letters])
                assert letters
            if action is not None:
                simulation.perform(action)  # type: ignore[arg-type]
    assert next(wanted, None) is None
    simulation.run(until_s)
    return digest.hex, kept


def again(kept: list[str], until_s: float = 60) -> str:
    digests: list[EventDigest] = []
    actions = [recorded_action(row["time_ns"], row["action"]) for row in map(json.loads, kept)]
    rerun(
        first_session(),
        actions,
        until_s=until_s,
        find_file=sample,
        prepare=lambda simulation: digests.append(EventDigest(simulation.events)),
    )
    return digests[0].hex


def test_a_rerun_with_the_recorded_actions_gives_the_same_events() -> None:
    digest, kept = live_run()
    assert len(kept) == 10
    assert again(kept) == digest
    assert again(kept[:-1]) != digest


@pytest.mark.promise("18")
@pytest.mark.long  # each run has its own hash seed, and must give the frozen digests
def test_two_hash_seeds_give_the_same_events_and_the_same_recording() -> None:
    program = """
import json
from tests.broker_core.simulation.test_replay import again, live_run
digest, kept = live_run(40)
print(json.dumps([digest, kept, again(kept, 40)]))
"""

    def run(hash_seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", program],
            check=False,
            capture_output=True,
            text=True,
            timeout=100,
            env=environment,
            cwd=ROOT,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    first = run("1")
    assert run("2") == first
    digest, _kept, rerun_digest = json.loads(first)
    assert digest == rerun_digest


def test_another_seed_is_another_run() -> None:
    def digest_of(seed: int) -> str:
        simulation = Simulation(first_session(), find_file=sample, seed=seed)
        digest = EventDigest(simulation.events)
        simulation.run(20)
        return digest.hex

    assert digest_of(1) == digest_of(1) != digest_of(2)


def test_an_action_without_a_step_comes_after_all_that_was_due() -> None:
    simulation = rerun(
        first_session(), [RecordedAction(10**10, MoveConsumer("indexer-4", "indexers"))], until_s=20, find_file=sample
    )
    assert simulation.actors["indexer-4"].target == "indexers"


def test_an_action_that_fits_no_more_is_an_error_and_so_is_one_that_is_none() -> None:
    with pytest.raises(BrokerError, match="no-such"):
        rerun(first_session(), [RecordedAction(10**9, Crash("no-such"))], find_file=sample)
    with pytest.raises(msgspec.ValidationError):
        recorded_action(0, {"action": "explode"})


def test_a_schema_that_a_person_registers_is_recorded_and_played_again() -> None:
    scenario = load_scenario(resources.path("scenarios", "schema-evolution.yaml"))[0]
    register = scenario.schedule[0].do
    simulation = Simulation(scenario)
    digest = EventDigest(simulation.events)
    kept: list[RecordedAction] = []
    simulation.on_action(lambda time_ns, plain: kept.append(recorded_action(time_ns, plain)))
    simulation.run(30.05)
    simulation.perform(register)
    with pytest.raises(BrokerError, match="not compatible"):
        simulation.perform(scenario.schedule[1].do)
    simulation.run()
    assert [recorded.action for recorded in kept] == [register]
    digests: list[EventDigest] = []
    rerun(scenario, kept, prepare=lambda again: digests.append(EventDigest(again.events)))
    assert digests[0].hex == digest.hex
