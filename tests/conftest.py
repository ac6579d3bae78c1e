"""What every test shares."""

import os
import signal
from collections.abc import Iterator

# Before anything imports Qt: tests open no windows on the screen of whoever runs them.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from hypothesis import settings

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(autouse=True, scope="session")
def interrupts_reach_children() -> Iterator[None]:
    """A script's background ignores Ctrl+C, and so would whatever tests start in order to interrupt it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
