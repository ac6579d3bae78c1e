"""One measurement of a window and its broker under express mode, as a process of its own; prints JSON."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.places import DataFiles
from app.workbench import Workbench
from broker_core.lab.scenario import load_scenario
from broker_core.session.live_session import LiveSession

BUSY = Path(__file__).with_name("busy.yaml")
HEADLESS_S, WARM_UP_MS, MEASURED_MS = 3.0, 1_500, 6_000
FAR_NS = 10**18


def headless_rate(folder: Path) -> float:
    """Events a second without a window, recorded as the window's session is."""
    scenario, text = load_scenario(BUSY)
    live = LiveSession(scenario, text, folder=folder / "headless", find_file=DataFiles(BUSY))
    started_s = time.perf_counter()
    while time.perf_counter() - started_s < HEADLESS_S:
        for _ in range(500):
            live.simulation.loop.run_next(FAR_NS)
    rate = live.simulation.events.count / (time.perf_counter() - started_s)
    live.close(finished=False)
    return rate


def main() -> None:
    """Measure headless, then with a window, in this one process."""
    app = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = headless_rate(folder)
        workbench = Workbench(app, theme="light", sessions=folder / "sessions")
        workbench.window.resize(1600, 1000)
        workbench.player.open(BUSY)
        workbench.window.show()
        workbench.frames.start()
        workbench.player.express()
        began: dict[str, float] = {}

        def begin() -> None:
            workbench.frames.forget()
            began.update(events=workbench.player.snapshot.events, at_s=time.perf_counter())

        QTimer.singleShot(WARM_UP_MS, begin)
        QTimer.singleShot(WARM_UP_MS + MEASURED_MS, app.quit)
        app.exec()
        elapsed_s = time.perf_counter() - began["at_s"]
        frames = workbench.frames
        measured = {
            "headless_events_per_s": before,
            "window_events_per_s": (workbench.player.snapshot.events - began["events"]) / elapsed_s,
            "frames_per_s": frames.count / elapsed_s,
            "cost_p50_ms": frames.cost_ms(50),
            "cost_p99_ms": frames.cost_ms(99),
            "delay_p50_ms": frames.delay_ms(50),
            "delay_p99_ms": frames.delay_ms(99),
            "delay_max_ms": frames.delay_ms(100),
        }
        workbench.window.close()
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
