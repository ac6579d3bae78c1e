from __future__ import annotations

import os
from pathlib import Path

# Before Qt is loaded: a picture needs no screen, even if there is one.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication

from app.environment.language import SYSTEM, install_language
from app.shell.workbench import Workbench
from broker_core.clock import NS_PER_S, ns_from_s
from broker_core.errors import ScenarioError

# Rates, trends and the timeline need history: the window draws the time before in this many frames at most.
MAX_LOOKS = 1_500
LEAST_STEP_NS = NS_PER_S // 10


def draw(scenario: Path, *, at_s: float, size: tuple[int, int], theme: str, seed: int | None, out: Path) -> None:
    """Run `scenario` to `at_s`, draw the window, and write it to `out`. Raises OSError if that cannot be written."""
    app = QApplication.instance() or QApplication(["brokerscope"])
    assert isinstance(app, QApplication)
    install_language(app, SYSTEM)
    workbench = Workbench(app, theme=theme, record=False)
    workbench.settings.hints = False
    try:
        workbench.controller.open(scenario, seed)
        opened = workbench.controller.source.scenario
        if workbench.controller.source.engine is None:
            raise ScenarioError(f"{scenario.stem} has a cluster of its own and is not drawn; brokerscope run runs it.")
        if opened is not None and at_s > opened.until_s:
            raise ScenarioError(f"{scenario.stem} ends at {opened.until_s:g} s; give a time up to that, not {at_s:g}.")
        window = workbench.window
        window.resize(QSize(*size))
        window.show()
        workbench.canvas.set_reduced_motion(True)
        at_ns = ns_from_s(at_s)
        step_ns = max(LEAST_STEP_NS, at_ns // MAX_LOOKS)
        while workbench.controller.snapshot.time_ns < at_ns:
            workbench.controller.time.run_until(min(at_ns, workbench.controller.snapshot.time_ns + step_ns))
            workbench.draw()
        workbench.draw()
        for _ in range(3):  # words that wrap anew ask for another height, and what is around them for another one then
            app.processEvents()
        picture = window.grab()
        if not picture.save(str(out), "PNG"):
            raise OSError(0, "The picture cannot be written", str(out))
    finally:
        workbench.quit()
