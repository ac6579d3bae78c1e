"""What the program loads to open its window, and what not."""

from __future__ import annotations

import subprocess
import sys


def test_the_command_line_loads_nothing_that_takes_long_nor_the_window_what_it_may_never_need() -> None:
    code = """
import sys, app.cli.main
heavy = ("numpy", "pyarrow", "pyqtgraph", "msgspec", "broker_core.simulation", "app.sessions", "widgets.canvas")
assert not [name for name in sys.modules if name.startswith(heavy)]
import app.shell.workbench
seldom = {"pyqtgraph", "jsonschema", "fastavro", "aiokafka", "asyncio", "starlette", "uvicorn", "pyspark", "jinja2",
          "urllib3", "kio", "hypothesis"}
assert not seldom & set(sys.modules), seldom & set(sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
