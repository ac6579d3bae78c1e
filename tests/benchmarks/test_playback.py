"""What going back costs: a seek in a session of ten million events, and what keyframes take from the broker.

Printed, never asserted: machines are noisy.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from pathlib import Path

import pytest

from broker_core.clock import NS_PER_S
from broker_core.recording.live_session import LiveSession
from broker_core.recording.playback import FolderPlayback
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.scenario import load_scenario

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1_200)]

BUSY = Path(__file__).with_name("busy.yaml")
EVENTS = int(os.environ.get("BENCH_FILM_EVENTS", "10000000"))
SEEKS, ROUNDS, ROUND_S = 60, 5, 3.0
FAR_NS = 10**18


def session(folder: Path) -> LiveSession:
    scenario, text = load_scenario(BUSY)
    return LiveSession(scenario, text, folder=folder, find_file=DataFiles(BUSY))


def rate(folder: Path, *, keyframes: bool) -> float:
    """Events a second while they are recorded."""
    live = session(folder)
    loop, look = live.simulation.loop, live.take_due_keyframe if keyframes else lambda: None
    started_s = time.perf_counter()
    while time.perf_counter() - started_s < ROUND_S:
        for _ in range(8):
            loop.run_next(FAR_NS)
        look()
    found = live.simulation.events.count / (time.perf_counter() - started_s)
    live.close(finished=False)
    return found


def test_keyframes_take_little_from_the_broker(tmp_path: Path) -> None:
    with_them, without = [], []
    for number in range(ROUNDS):
        without.append(rate(tmp_path / f"without-{number}", keyframes=False))
        with_them.append(rate(tmp_path / f"with-{number}", keyframes=True))
    kept = statistics.median(one / other for one, other in zip(with_them, without, strict=True))
    print(f"\nRecording with keyframes, medians of {ROUNDS}, load {os.getloadavg()[0]:.1f}")
    print(f"  events/s without {statistics.median(without):12,.0f}")
    print(f"  events/s with    {statistics.median(with_them):12,.0f}")
    print(f"  kept             {kept:12.1%}")
    assert kept > 0


def test_a_seek_in_a_long_session(tmp_path: Path) -> None:
    live = session(tmp_path / "s")
    loop = live.simulation.loop
    numbers = random.Random(3)

    def seeks(playback: FolderPlayback, end_ns: int) -> list[float]:
        costs = []
        for _ in range(SEEKS):
            started_s = time.perf_counter()
            playback.at(numbers.randrange(end_ns))
            costs.append((time.perf_counter() - started_s) * 1000)
        return sorted(costs)

    while live.simulation.events.count < EVENTS:
        for _ in range(64):
            loop.run_next(FAR_NS)
        live.take_due_keyframe()
    end_ns = loop.now_ns
    running = live.playback()
    assert isinstance(running, FolderPlayback)
    while_recording = seeks(running, end_ns)
    live.close(finished=False)
    started_s = time.perf_counter()
    playback = FolderPlayback(tmp_path / "s")
    playback.at(end_ns // 2)
    opened_ms = (time.perf_counter() - started_s) * 1000
    sealed = seeks(playback, end_ns)
    frames = len(list(playback.keyframes.spread(1 << 30)))
    size = sum(path.stat().st_size for path in (tmp_path / "s" / "keyframes").iterdir())
    print(f"\nA session of {EVENTS:,} events, {end_ns / NS_PER_S:,.0f} s, load {os.getloadavg()[0]:.1f}")
    print(f"  keyframes {frames:,}, {size / 2**20:,.1f} MiB")
    print(f"  opened, and the first seek: {opened_ms:,.0f} ms")
    for name, costs in (("while it is recorded", while_recording), ("sealed", sealed)):
        print(f"  seek {name}: median {statistics.median(costs):,.0f} ms, worst {costs[-1]:,.0f} ms")
    assert sealed
