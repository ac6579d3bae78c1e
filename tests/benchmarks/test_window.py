"""The window under the fastest scenario: what a frame costs, how late it comes, and what is left for the broker.

Printed, never asserted: machines are noisy. Under Xvfb where it is installed, offscreen elsewhere.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]

RUNS, STARTS = 5, 7
DISPLAY = ":97"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def screen() -> Iterator[dict[str, str]]:
    """The environment of a process that can open a window."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    xvfb = shutil.which("Xvfb")
    if xvfb is None:
        yield environment | {"QT_QPA_PLATFORM": "offscreen"}
        return
    server = subprocess.Popen([xvfb, DISPLAY, "-screen", "0", "1600x1000x24", "-nolisten", "tcp"])
    time.sleep(1.0)
    environment.pop("QT_QPA_PLATFORM", None)
    yield environment | {"DISPLAY": DISPLAY}
    server.terminate()
    server.wait()


@pytest.mark.parametrize("pace", ["express", "paced"])
def test_window_under_load(screen: dict[str, str], pace: str) -> None:
    """Goals: median frame <= 16 ms, p99 <= 50, no freeze above 200, half the headless rate; paced, p99 <= 33 ms."""
    runs = []
    for _ in range(RUNS):
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.window_run", pace],
            env=screen,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    median = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    ratio = statistics.median(run["window_events_per_s"] / run["headless_events_per_s"] for run in runs)
    where = screen.get("DISPLAY", "offscreen")
    what = "in express mode" if pace == "express" else "at 20,000 messages/s"
    print(f"\nWindow {what}, medians of {RUNS}, load {os.getloadavg()[0]:.1f}, on {where}")
    for name, value in median.items():
        print(f"  {name:24} {value:10,.1f}")
    print(f"  {'kept of headless rate':24} {ratio:10.2f}")
    assert median["frames_per_s"] > 0


def test_start_of_the_window(screen: dict[str, str], tmp_path: Path) -> None:
    """Goal: its first picture within 1.5 s of wall time, warm."""
    runs = []
    for number in range(STARTS + 1):
        home = {name: str(tmp_path) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.window_start"],
            env=screen | home | {"BEGUN_S": str(time.time())},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        if number:  # the first one compiles what is new
            runs.append(json.loads(done.stdout.splitlines()[-1]))
    print(f"\nStart of the window, medians of {STARTS}, load {os.getloadavg()[0]:.1f}")
    for name in runs[0]:
        values = sorted(run[name] for run in runs)
        print(f"  {name:10} {statistics.median(values):8.2f}  ({values[0]:.2f} to {values[-1]:.2f})")
    assert runs
