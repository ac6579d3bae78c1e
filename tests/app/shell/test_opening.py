"""Something is on the screen before the program is loaded, and goes once its window is there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from app.cli import main as command_line


def splashes() -> list[QWidget]:
    splash = Qt.WindowType.SplashScreen
    return [one for one in QApplication.topLevelWidgets() if one.windowType() == splash and one.isVisible()]


def test_it_is_seen_until_the_window_is_shown(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def opens(*, shown: Callable[[], object]) -> int:
        seen.append(len(splashes()))
        shown()
        seen.append(len(splashes()))
        return 0

    monkeypatch.setattr("app.shell.workbench.open_window", opens)
    monkeypatch.setattr(command_line, "why_no_window", lambda: "")
    assert command_line._open_window("") == 0
    assert seen == [1, 0]


def test_it_loads_nothing_that_takes_long_nor_does_the_window_what_it_may_never_need() -> None:
    code = """
import sys, app.cli.main, app.shell.opening
heavy = ("numpy", "pyarrow", "pyqtgraph", "msgspec", "broker_core.simulation", "app.sessions", "widgets.canvas")
assert not [name for name in sys.modules if name.startswith(heavy)]
import app.shell.workbench
seldom = {"pyqtgraph", "jsonschema", "fastavro", "aiokafka", "asyncio", "starlette", "uvicorn", "pyspark", "jinja2",
          "urllib3"}
assert not seldom & set(sys.modules), seldom & set(sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
