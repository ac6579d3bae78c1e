"""Opening a large log, a message's memory, a simulated second, the recorder. Printed, never asserted."""

from __future__ import annotations

import cProfile
import io
import json
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from broker_core import BrokerHost
from broker_core.recording.live_session import LiveSession
from broker_core.simulation import Simulation, parse_scenario
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.scenario import load_scenario
from tests.benchmarks.core.child import WAYS
from tests.benchmarks.core.measure import ROUNDS, show_rows, timed

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

GIGABYTE = 1 << 30
ROOT = Path(__file__).resolve().parents[3]
BUSY = ROOT / "tests" / "benchmarks" / "busy.yaml"
BUSY_S = 60.0  # simulated: the rate counts, not what beginning a folder costs once
RECORDED_ROUNDS = 8
STEPS_PER_LOOK = 500

CROWD = """
title: Excerpt
about: A hundred producers and a thousand consumers.
until_s: 100
topics: [{name: orders, partitions: 1000}]
groups: [{name: readers, topics: [orders]}]
producers: [PRODUCERS]
consumers: [{name: reader, count: 1000, group: readers}]
"""
PRODUCER = "{name: shop-%d, to: orders, arrivals: {kind: rate, per_s: 100, spacing: poisson, keys: 1000}}"


def child(name: str, *arguments: str) -> float:
    """What one function of `child` prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.core.child", name, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found: float = json.loads(done.stdout.splitlines()[-1])
    return found


def rows(title: str, table: list[tuple[str, str, str]]) -> None:
    show_rows(title, ("measured", "goal"), table)


def test_opening_a_log_of_a_gigabyte() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        child("fill", name, str(GIGABYTE))
        size = sum(path.stat().st_size for path in directory.rglob("*.log"))

        def opened() -> float:
            started = time.perf_counter()
            host = BrokerHost(directory)
            seconds = time.perf_counter() - started
            host.close()
            return seconds

        def without(*patterns: str) -> Callable[[], float]:
            def open_again() -> float:
                for pattern in patterns:
                    for path in directory.rglob(pattern):
                        path.unlink()
                return opened()

            return open_again

        killed = opened()  # the process that wrote it has closed nothing
        clean = statistics.median(opened() for _ in range(ROUNDS))
        bare = without("*.index", "checkpoint")
        scanned = statistics.median(bare() for _ in range(ROUNDS))
        rows(
            f"Opening {size / 1e9:.2f} GB",
            [
                ("after a close", f"{clean:.2f} s", "2 s"),
                ("after a kill", f"{killed:.2f} s", "2 s"),
                ("with neither indexes nor checkpoints: every byte is read", f"{scanned:.2f} s", "2 s"),
            ],
        )


def test_memory_of_a_retained_message() -> None:
    rows(
        "Memory of a retained message of 100 bytes",
        [(way, f"{child('memory', way):.0f} bytes", "160 bytes") for way in WAYS],
    )


def test_a_simulated_second() -> None:
    text = CROWD.replace("PRODUCERS", ", ".join(PRODUCER % number for number in range(100)))
    simulation = Simulation(parse_scenario(text))
    simulation.run(9.0)
    before, events = simulation.totals(), simulation.events.count
    seconds = [timed(lambda second=second: simulation.run(10.0 + second)) for second in range(ROUNDS)]  # type: ignore[misc]
    after, told = simulation.totals(), simulation.events.count - events
    profile = cProfile.Profile()
    profile.enable()
    simulation.run(10.0 + ROUNDS)
    profile.disable()
    cycles = (after.acknowledged - before.acknowledged) / ROUNDS
    median = statistics.median(seconds)
    rows(
        "A simulated second of 100 producers and 1,000 consumers",
        [
            ("costs", f"{median:.2f} s", ""),
            ("messages published, delivered and acknowledged", f"{cycles:,.0f}", ""),
            ("each", f"{median / cycles * 1e6:.1f} us", ""),
            ("events", f"{told / ROUNDS:,.0f}", ""),
        ],
    )
    out = io.StringIO()
    pstats.Stats(profile, stream=out).strip_dirs().sort_stats("tottime").print_stats(10)
    print(out.getvalue())
    simulation.close()


def test_what_recording_costs() -> None:
    """Each round has one run of each way, and its costs are told beside the run without a recording in that round."""
    scenario, text = load_scenario(BUSY)

    def run(folder: Path | None) -> tuple[float, float]:
        """Seconds on the wall, and of this process's CPU."""
        live = LiveSession(scenario, text, folder=folder, find_file=DataFiles(BUSY))
        loop, until_ns = live.simulation.loop, round(BUSY_S * 1e9)
        going = True
        started = time.perf_counter(), time.process_time()
        while going:
            live.take_due_keyframe()
            for _ in range(STEPS_PER_LOOK):
                if not loop.run_next(until_ns):
                    going = False
                    break
        if live.recorder is not None:
            live.recorder.flush()  # what is not written yet is a cost, too
        cost = time.perf_counter() - started[0], time.process_time() - started[1]
        live.close(finished=False)
        return cost

    def bare() -> tuple[float, float]:
        simulation = Simulation(scenario)
        started = time.perf_counter(), time.process_time()
        simulation.run(BUSY_S)
        cost = time.perf_counter() - started[0], time.process_time() - started[1]
        simulation.close()
        return cost

    def recorded() -> tuple[float, float]:
        with tempfile.TemporaryDirectory() as name:
            return run(Path(name) / "session")

    ways = (bare, lambda: run(None), recorded)
    costs: list[list[tuple[float, float]]] = [[], [], []]
    for number in range(RECORDED_ROUNDS):
        for at in (0, 1, 2) if number % 2 else (2, 1, 0):  # whatever grows or shrinks with time meets each as often
            costs[at].append(ways[at]())
    alone, kept, written = costs

    def row(name: str, mine: list[tuple[float, float]], goal: str) -> tuple[str, str, str]:
        wall, cpu = (
            statistics.median(one[at] / other[at] - 1 for one, other in zip(mine, alone, strict=True)) for at in (0, 1)
        )
        return name, f"{statistics.median(one[0] for one in mine):.2f} s, {wall:+.1%}; CPU {cpu:+.1%}", goal

    rows(
        f"{BUSY_S:g} s of the busy scenario, medians of {RECORDED_ROUNDS} rounds",
        [
            ("the simulation alone", f"{statistics.median(one[0] for one in alone):.2f} s", ""),
            row("with keyframes in memory", kept, ""),
            row("recorded into a folder", written, "+8%"),
        ],
    )
