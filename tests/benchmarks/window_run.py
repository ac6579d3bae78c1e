"""One measurement of a window and its broker under express mode, as a process of its own; prints JSON."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.shell.workbench import Workbench
from broker_core.recording.live_session import LiveSession
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.scenario import load_scenario

BUSY = Path(__file__).with_name("busy.yaml")
PACED = Path(__file__).with_name("paced.yaml")  # 20,000 messages/s
HEADLESS_S, WARM_UP_MS, MEASURED_MS = 3.0, 1_500, 6_000
FAR_NS = 10**18


def headless_rate(path: Path, folder: Path) -> float:
    """Events a second without a window, recorded as the window's session is."""
    scenario, text = load_scenario(path)
    live = LiveSession(scenario, text, folder=folder / "headless", find_file=DataFiles(path))
    started_s = time.perf_counter()
    while time.perf_counter() - started_s < HEADLESS_S:
        for _ in range(256):
            live.simulation.loop.run_next(FAR_NS)
        live.take_due_keyframe()
    rate = live.simulation.events.count / (time.perf_counter() - started_s)
    live.close(finished=False)
    return rate


def main() -> None:
    """Headless, then with a window, in this one process: express, or with the argument paced in real time."""
    paced = "paced" in sys.argv[1:]
    path = PACED if paced else BUSY
    app = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = headless_rate(path, folder)
        workbench = Workbench(app, theme="light", sessions=folder / "sessions")
        workbench.window.resize(1600, 1000)
        workbench.controller.open(path)
        workbench.window.show()
        workbench.frames.start()
        if paced:
            workbench.controller.time.run()
        else:
            workbench.controller.time.express()
        began: dict[str, float] = {}

        def begin() -> None:
            workbench.frames.forget()
            began.update(
                events=workbench.controller.snapshot.events,
                published=workbench.controller.snapshot.totals.published,
                at_s=time.perf_counter(),
            )

        QTimer.singleShot(WARM_UP_MS, begin)
        QTimer.singleShot(WARM_UP_MS + MEASURED_MS, app.quit)
        app.exec()
        elapsed_s = time.perf_counter() - began["at_s"]
        frames, figures = workbench.frames, workbench.frames.figures()
        assert figures is not None
        published = workbench.controller.snapshot.totals.published - began["published"]
        measured = {
            "messages_per_s": published / elapsed_s,
            "headless_events_per_s": before,
            "window_events_per_s": (workbench.controller.snapshot.events - began["events"]) / elapsed_s,
            "frames_per_s": frames.count / elapsed_s,
            "cost_p50_ms": figures.cost_p50_ms,
            "cost_p99_ms": figures.cost_p99_ms,
            "delay_p50_ms": figures.delay_p50_ms,
            "delay_p99_ms": figures.delay_p99_ms,
            "delay_max_ms": figures.worst_ms,
            "dropped": frames.dropped,
        }
        workbench.window.close()
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
