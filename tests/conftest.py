"""What every test shares."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Before anything imports Qt: tests open no windows on the screen of whoever runs them.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests import costs, long_form, processes

_CI = bool(os.environ.get("CI"))
settings.register_profile("short", deadline=None, derandomize=_CI, max_examples=30)
settings.register_profile("long", deadline=None, derandomize=_CI, print_blob=True)


def pytest_configure(config: pytest.Config) -> None:
    """What has a long form has it where tests that are marked so run."""
    long_form.on = "not long" not in config.option.markexpr
    settings.load_profile("long" if long_form.on else "short")


ENDING = (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT)
# Their tests are long, and share no more than a window.
SPREAD = ("tests/figures/test_figures.py::",)
LONGEST = ("tests/spark_reports/", "tests/figures/", "tests/test_commands.py", "tests/app/", "tests/crash/")
WITHOUT_SPARK = tuple(f"tests/spark_reports/{name}/" for name in ("findings", "page"))


class Files(LoadScopeScheduling):
    """A file after the other on each processor; all that shares the one Spark on one of them."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(SPREAD):
            return nodeid
        if nodeid.startswith("tests/spark_reports/") and not nodeid.startswith(WITHOUT_SPARK):
            return "Spark"
        return nodeid.partition("::")[0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever asks for a window or a Spark is marked by that, so that `make quick` can leave it out.

    Whatever Hypothesis tries has a long form, of more examples. What takes long as a whole begins first, so that no
    processor has it left at the end.
    """
    costly = costs.costly()
    items.sort(key=lambda item: next((n for n, folder in enumerate(LONGEST) if item.nodeid.startswith(folder)), 99))
    for item in items:
        test = getattr(item, "obj", None)
        if long_form.on and getattr(test, "is_hypothesis_test", False) and item.get_closest_marker("soak") is None:
            item.add_marker("long")
        if item.nodeid in costly:
            item.add_marker("costly")
        for fixture, mark in (("open_workbench", "window"), ("spark", "spark")):
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(mark)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """After a checkout the asserts of all tests are rewritten once, and not by every worker at the same time."""
    sources = [path for path in Path(__file__).parent.rglob("*.py") if path.name.startswith("test_")]
    if sys.dont_write_bytecode or sum(not _rewritten(path) for path in sources) < 100:
        return
    command = [sys.executable, "-m", "pytest", "-qq", "--collect-only", "-p", "no:cacheprovider"]
    halves = (["tests/broker_core"], ["tests", "--ignore", "tests/broker_core"])
    started = [subprocess.Popen([*command, *half], cwd=config.rootpath, stdout=subprocess.DEVNULL) for half in halves]
    for process in started:
        process.wait()


def _rewritten(path: Path) -> bool:
    return any((path.parent / "__pycache__").glob(f"{path.stem}.*-pytest-*.pyc"))


def pytest_collection() -> None:
    """What is loaded stays: each collection of garbage would look through it again."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    config.option.loadscopereorder = False  # by how many tests a file has
    return Files(config, log)


@pytest.fixture(autouse=True, scope="session")
def signals_reach_children() -> Iterator[None]:
    """What nohup, a script's background or CI ignores would be ignored by whatever tests start in order to end it.

    A handler is no handler in a child; this process goes on as it was told to.
    """
    ignored = [each for each in (signal.SIGINT, *ENDING) if signal.getsignal(each) is signal.SIG_IGN]
    for each in ignored:
        signal.signal(each, signal.default_int_handler if each is signal.SIGINT else lambda *_: None)
    yield
    for each in ignored:
        signal.signal(each, signal.SIG_IGN)


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    """Whatever became of the test that started it."""
    yield
    processes.end_all()


@pytest.fixture(autouse=True, scope="module")
def no_garbage_is_left() -> Iterator[None]:
    """Whoever changes the theme pays for each widget there is, also for those that wait for the collector."""
    yield
    if "PySide6.QtWidgets" in sys.modules:
        gc.collect()


@pytest.fixture
def keyframe_each_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is; keyframes take a limited share of the time otherwise."""
    monkeypatch.setattr("broker_core.recording.keyframes.MOST_SHARE", 1e9)


@pytest.fixture(autouse=True, scope="session")
def no_spark_ahead() -> Iterator[None]:
    """No session that ends in a test starts a Spark for a report that may follow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.reports.warm_spark.memory_allows", lambda: False)
        yield
